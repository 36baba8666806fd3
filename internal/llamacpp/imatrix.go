package llamacpp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// ReadImportance reads an importance matrix of llama.cpp's imatrix, in a GGUF file or in its
// older format: by the name of a tensor, the mean square of the inputs of its columns.
func ReadImportance(path string) (map[string][]float32, error) {
	f, err := gguf.Open(path)
	var all map[string][]float32
	switch {
	case err == nil:
		defer f.Close()
		all, err = importanceOf(f)
	case beginsAsGGUF(path) || os.IsNotExist(err):
		return nil, err
	default:
		all, err = readDat(path)
	}
	if err == nil && len(all) == 0 {
		err = errors.New("it has no importance of any tensor")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files.Name(path), files.Reason(err))
	}
	return all, nil
}

// IsGGUF reports whether a path names a GGUF file: by its ending or, as in the stores of other programs, by its
// first bytes.
func IsGGUF(path string) bool {
	info, err := os.Stat(path)
	return strings.EqualFold(filepath.Ext(path), ".gguf") && (err != nil || !info.IsDir()) || beginsAsGGUF(path)
}

func beginsAsGGUF(path string) bool {
	f, err := files.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = f.ReadAt(magic[:], 0)
	return err == nil && string(magic[:]) == "GGUF"
}

// importanceOf reads a GGUF file, with sums of squares and their numbers for each matrix of a
// stack.
func importanceOf(f *gguf.File) (map[string][]float32, error) {
	all := map[string][]float32{}
	for _, info := range f.Tensors() {
		name, ok := strings.CutSuffix(info.Name, ".in_sum2")
		if !ok {
			continue
		}
		sums, err := numbers(f, info.Name)
		if err != nil {
			return nil, err
		}
		counts, err := numbers(f, name+".counts")
		if err != nil {
			return nil, err
		}
		if len(counts) == 0 || len(sums)%len(counts) != 0 {
			return nil, fmt.Errorf("%q has %d sums and %d counts", name, len(sums), len(counts))
		}
		columns := len(sums) / len(counts)
		for i := range sums {
			// A matrix that no text reached weighs all columns alike.
			if n := counts[i/max(1, columns)]; n > 0 {
				sums[i] /= n
			} else {
				sums[i] = 1
			}
		}
		all[name] = sums
	}
	return all, nil
}

func numbers(f *gguf.File, name string) ([]float32, error) {
	x, err := f.Tensor(name)
	if err != nil {
		return nil, err
	}
	return tensor.Data[float32](x.Cast(tensor.Float32))
}

// maxDat is the most bytes of the older format, which has a number for each column of a model.
const maxDat = 1 << 30

// readDat reads the older format: lists of name, number of calls and sums.
func readDat(path string) (map[string][]float32, error) {
	b, err := files.ReadAll(path, maxDat)
	if err != nil {
		return nil, err
	}
	at := 0
	next := func(n int) []byte {
		if err != nil || n < 0 || n > len(b)-at {
			err = errors.New("it is neither a GGUF file nor an importance matrix, or is cut short")
			return make([]byte, 4)
		}
		at += n
		return b[at-n : at]
	}
	count := func() int { return int(int32(binary.LittleEndian.Uint32(next(4)))) }
	const perEntry = 192 // of the map
	entries := count()
	if entries > len(b)/12 { // each has three numbers
		next(-1)
		return nil, err
	}
	if err := hostmem.Check(max(0, entries), perEntry); err != nil {
		return nil, err
	}
	all := map[string][]float32{}
	for range entries {
		name := string(next(count()))
		calls := float32(max(1, count()))
		n := count()
		if n < 0 || n > len(b)/4 {
			n = -1
		}
		data := next(4 * n)
		if err != nil {
			return nil, err
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])) / calls
		}
		all[name] = values
	}
	return all, err
}

package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/internal/treefile"
	"github.com/tensorken/tensorken/tensor"
)

// A File is an open file of tensors, or several files (shards) with their index. Any
// number of goroutines may use it.
type File struct {
	Meta map[string]string // nil if the file has none

	path    string
	tensors treefile.Tensors[location]
	shards  []*mapped.Handle
}

// A location is a tensor's entry and its file.
type location struct {
	entry
	file *mapped.Handle
	data int64 // offset of the file's data, in bytes
}

// Open opens a file and checks its header. A path that ends in .json names an index,
// such as model.safetensors.index.json, of shards in the same folder.
//
// A tensor is read by Tensor or Load, which need the file open.
func Open(path string) (*File, error) {
	f := &File{path: path, tensors: treefile.Tensors[location]{}}
	open := f.openShard
	if strings.EqualFold(filepath.Ext(path), ".json") {
		open = f.openIndex
	}
	if err := open(path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close closes the file. Tensors read from it stay valid.
func (f *File) Close() error {
	var errs []error
	for _, s := range f.shards {
		errs = append(errs, s.Close())
	}
	f.shards = nil
	return errors.Join(errs...)
}

// Names returns the names of the tensors, sorted.
func (f *File) Names() []string { return f.tensors.Names() }

// Tensor reads a tensor.
func (f *File) Tensor(name string) (tensor.Tensor, error) {
	t, err := f.tensors.Tensor(name)
	if err != nil {
		return tensor.Tensor{}, fail(f.path, err)
	}
	return t, nil
}

// Describe returns the type and the shape of a tensor without reading it.
func (f *File) Describe(name string) (tensor.DType, []int, error) {
	p, ok := f.tensors[name]
	if !ok {
		return 0, nil, fail(f.path, fmt.Errorf("there is no tensor named %q", name))
	}
	d, typ := p.Type()
	if d == 0 {
		return 0, nil, fail(f.path, fmt.Errorf("%q: there are no tensors of type %s", name, typ))
	}
	return d, slices.Clone(p.shape), nil
}

func fail(path string, err error) error {
	return fmt.Errorf("safetensors: %s: %w", files.Name(path), err)
}

// Type returns the type and its name.
func (p location) Type() (tensor.DType, string) {
	typ := elementTypes[p.typ]
	return typ.dtype, typ.name
}

// Shape returns the lengths of the axes.
func (p location) Shape() []int { return p.shape }

// Read returns the elements where the file has them mapped, else it reads them.
func (p location) Read() (tensor.Tensor, error) {
	if t, ok, err := tensor.Internal.FromFile(graph.Token{}, elementTypes[p.typ].dtype, p.shape, p.file, p.data+p.start); ok || err != nil {
		return t, err
	}
	data, err := tensor.Internal.Allocate(graph.Token{}, int(p.end-p.start))
	if err != nil {
		return tensor.Tensor{}, err
	}
	if err := p.file.ReadAll(data, p.data+p.start); err != nil {
		return tensor.Tensor{}, err
	}
	return tensor.FromBytes(elementTypes[p.typ].dtype, p.shape, data), nil
}

// openShard opens a file and adds its tensors to f.
func (f *File) openShard(path string) error {
	file, err := files.Open(path)
	if err != nil {
		return fail(path, files.Reason(err))
	}
	handle := mapped.HandleOf(file, path)
	f.shards = append(f.shards, handle)
	entries, meta, data, err := readHeader(file)
	if err != nil {
		return fail(path, files.Reason(err))
	}
	f.Meta = meta
	for _, e := range entries {
		f.tensors[e.name] = location{e, handle, data}
	}
	return nil
}

// readHeader reads and checks a file's header; data is the offset of its end.
func readHeader(file *os.File) (entries []entry, meta map[string]string, data int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, 0, err
	}
	var head [8]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return nil, nil, 0, fmt.Errorf("%d bytes are too few for a safetensors file", info.Size())
	}
	n := binary.LittleEndian.Uint64(head[:])
	rest := info.Size() - 8
	switch {
	case n > maxHeader:
		return nil, nil, 0, fmt.Errorf("its header would have %d bytes, more than %d: not a safetensors file?", n, maxHeader)
	case n > uint64(rest):
		return nil, nil, 0, fmt.Errorf("its header has %d bytes, but only %d follow: cut short?", n, rest)
	}
	text, err := hostmem.Make(int(n), 1)
	if err != nil {
		return nil, nil, 0, err
	}
	if _, err := file.ReadAt(text, 8); err != nil && err != io.EOF {
		return nil, nil, 0, err
	}
	entries, meta, err = parseHeader(text, rest-int64(n))
	return entries, meta, 8 + int64(n), err
}

// openIndex opens all shards of an index.
func (f *File) openIndex(path string) error {
	text, err := files.ReadAll(path, maxHeader)
	if err == nil {
		err = hostmem.Check(len(text), perHeaderByte)
	}
	if err != nil {
		return fail(path, files.Reason(err))
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // the byte order mark that some editors write
	var metadata map[string]any
	var weights map[string]string // files by tensor
	err = eachMember("it", text, func(key string, value json.RawMessage) (err error) {
		switch key {
		case "metadata":
			err = json.Unmarshal(value, &metadata)
		case "weight_map":
			weights, err = parseStrings(`its "weight_map"`, value)
		}
		return err
	})
	if err == nil && weights == nil {
		err = errors.New(`it has no "weight_map"`)
	}
	if err != nil {
		return fail(path, fmt.Errorf("not an index of safetensors files: %w", err))
	}
	names := map[string][]string{} // of the tensors of a shard
	for name, shard := range weights {
		if !filepath.IsLocal(shard) {
			return fail(path, fmt.Errorf("it names a file outside its folder: %q", shard))
		}
		shard = filepath.Clean(shard)
		names[shard] = append(names[shard], name)
	}
	tensors := treefile.Tensors[location]{}
	for _, shard := range slices.Sorted(maps.Keys(names)) {
		f.tensors = treefile.Tensors[location]{}
		if err := f.openShard(filepath.Join(filepath.Dir(path), shard)); err != nil {
			return err
		}
		for _, name := range names[shard] {
			p, ok := f.tensors[name]
			if !ok {
				return fail(path, fmt.Errorf("%q should be in %q, but is not", name, shard))
			}
			tensors[name] = p
		}
	}
	f.tensors, f.Meta = tensors, nil
	if metadata != nil {
		f.Meta = make(map[string]string, len(metadata))
		for k, v := range metadata {
			f.Meta[k] = fmt.Sprint(v)
		}
	}
	return nil
}

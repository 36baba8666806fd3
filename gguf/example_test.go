package gguf_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	f, err := gguf.Open("testdata/quants.gguf")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	name, err := gguf.Get[string](f.Meta, "general.name")
	if err != nil {
		panic(err)
	}
	fmt.Println(name)
	for _, t := range f.Tensors()[:3] {
		fmt.Println(t.Name, t.Type, t.Shape, t.Bytes)
	}
	x, err := f.Tensor("t.Q4_K") // decoded
	if err != nil {
		panic(err)
	}
	fmt.Println(x.DType(), x.Shape())
	// Output:
	// quantised blocks
	// t.Q8_0 Q8_0 [6 512] 3264
	// t.Q4_0 Q4_0 [6 512] 1728
	// t.Q4_K Q4_K [6 512] 1728
	// float32 [6 512]
}

// inFolder calls f with the path of a file in a folder of its own.
func inFolder(f func(path string) error) {
	dir, err := os.MkdirTemp("", "")
	if err == nil {
		defer os.RemoveAll(dir)
		err = f(filepath.Join(dir, "model.gguf"))
	}
	if err != nil {
		panic(err)
	}
}

// Matrices are quantised, vectors stay as they are.
func ExampleSave() {
	inFolder(func(path string) error {
		model := map[string]tensor.Tensor{"weight": tensor.Eye(32).Mul(127), "bias": tensor.Ones(32)}
		meta := gguf.Meta{{Key: "general.architecture", Value: "example"}}
		err := gguf.Save(path, model, meta, func(_ string, shape []int) gguf.Type {
			if len(shape) > 1 {
				return gguf.Q8_0
			}
			return gguf.F32
		})
		if err != nil {
			return err
		}
		f, err := gguf.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var loaded struct{ Weight, Bias tensor.Tensor }
		err = f.Load(&loaded, nil)
		fmt.Println(f.Tensors()[1].Type, f.Tensors()[1].Bytes, loaded.Weight.Sum(), loaded.Bias.Sum())
		return err
	})
	// Output: Q8_0 1088 4064 32
}

// Write takes tensors one at a time: a large model need not be in memory.
func ExampleWrite() {
	inFolder(func(path string) error {
		source := gguf.Source{Name: "x", Type: gguf.F16, Shape: []int{3}, Tensor: func() (tensor.Tensor, error) {
			return tensor.New([]float32{1, 2, 3}), nil
		}}
		if err := gguf.Write(path, nil, []gguf.Source{source}); err != nil {
			return err
		}
		f, err := gguf.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		x, err := f.Tensor("x")
		fmt.Println(x.DType(), x)
		return err
	})
	// Output: float16 [1 2 3]
}

// A file keeps its metadata and its list of tensors; elements are read when they are asked for.
func ExampleFile() {
	f, err := gguf.Open("testdata/quants.gguf")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	raw, err := f.Raw("t.Q4_K")
	fmt.Println(f.Version, len(f.Names()), len(raw), err)
	// Output: 3 8 1728 <nil>
}

// Size follows from type and shape, for tensors that are not in a file yet, too.
func ExampleInfo() {
	info := gguf.Info{Name: "weight", Type: gguf.Q4_K, Shape: []int{4, 256}}
	fmt.Println(info.Len(), info.Size(), info.DType())
	// Output: 1024 576 float32
}

// Metadata is a list of pairs, in the order of the file.
func ExampleMeta() {
	meta := gguf.Meta{gguf.Pair{Key: "llama.block_count", Value: uint32(2)}}
	next := meta.With("llama.block_count", uint32(4)).With("general.name", "tiny")
	blocks, err := gguf.Get[int](next, "llama.block_count") // numbers are converted
	fmt.Println(len(meta), len(next), blocks, next.Value("general.name"), err)
	// Output: 1 2 4 tiny <nil>
}

// Types are element types of package tensor, or blocks of quantised numbers.
func ExampleType() {
	for _, name := range []string{"F16", "q4_k"} {
		t, err := gguf.ParseType(name)
		if err != nil {
			panic(err)
		}
		length, bytes := t.Block()
		fmt.Println(t, t.Quantised(), length, bytes)
	}
	t, err := gguf.TypeOf(tensor.BFloat16)
	fmt.Println(t, err, gguf.Types()[:3])
	// Output:
	// F16 false 1 2
	// Q4_K true 256 144
	// BF16 <nil> [F32 F16 Q4_0]
}

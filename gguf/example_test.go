package gguf_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/tensor"
)

// inFolder calls f with a path in a folder of its own.
func inFolder(f func(path string) error) {
	dir, err := os.MkdirTemp("", "gguf")
	if err == nil {
		defer os.RemoveAll(dir)
		err = f(filepath.Join(dir, "model.gguf"))
	}
	if err != nil {
		panic(err)
	}
}

// A tree with metadata is written in eight bits a weight, and read.
func ExampleSave() {
	inFolder(func(path string) error {
		tree := map[string]tensor.Tensor{"weight": tensor.Full(0.5, 2, 32), "bias": tensor.Ones(2)}
		meta := gguf.Meta{{Key: "general.architecture", Value: "llama"}}
		err := gguf.Save(path, tree, meta, func(name string, shape []int) gguf.Type {
			if len(shape) > 1 {
				return gguf.Q8_0
			}
			return gguf.F32
		})
		if err != nil {
			return err
		}
		var f *gguf.File
		if f, err = gguf.Open(path); err != nil {
			return err
		}
		defer f.Close()
		for _, info := range f.Tensors() {
			var x gguf.Info = info
			fmt.Println(x.Name, x.Type, x.Shape, x.Size())
		}
		arch, err := gguf.Get[string](f.Meta, "general.architecture")
		fmt.Println(arch)
		return err
	})
	// Output:
	// bias F32 [2] 8
	// weight Q8_0 [2 32] 68
	// llama
}

// Write takes tensors one at a time, so that a large model need not be in memory.
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

// Metadata is a list of pairs, in the order of the file.
func ExampleMeta() {
	meta := gguf.Meta{gguf.Pair{Key: "llama.block_count", Value: uint32(2)}}
	next := meta.With("llama.block_count", uint32(4)).With("general.name", "tiny")
	blocks, err := gguf.Get[int](next, "llama.block_count") // numbers are converted
	fmt.Println(len(meta), len(next), blocks, next.Value("general.name"), err)
	// Output: 1 2 4 tiny <nil>
}

// Types are elements of package tensor, or blocks of quantised numbers.
func ExampleType() {
	for _, name := range []string{"F16", "Q4_K"} {
		t, err := gguf.ParseType(name)
		if err != nil {
			panic(err)
		}
		length, bytes := t.Block()
		fmt.Println(t, t.Quantised(), length, bytes)
	}
	t, err := gguf.TypeOf(tensor.BFloat16)
	fmt.Println(t, err, len(gguf.Types()) > 30)
	// Output:
	// F16 false 1 2
	// Q4_K true 256 144
	// BF16 <nil> true
}

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

// Matrices are quantised, vectors stay as they are.
func ExampleSave() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.gguf")

	model := map[string]tensor.Tensor{"weight": tensor.Eye(32).Mul(127), "bias": tensor.Ones(32)}
	meta := gguf.Meta{{Key: "general.architecture", Value: "example"}}
	err = gguf.Save(path, model, meta, func(_ string, shape []int) gguf.Type {
		if len(shape) > 1 {
			return gguf.Q8_0
		}
		return gguf.F32
	})
	if err != nil {
		panic(err)
	}

	var loaded struct{ Weight, Bias tensor.Tensor }
	f, err := gguf.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if err := f.Load(&loaded, nil); err != nil {
		panic(err)
	}
	fmt.Println(f.Tensors()[1].Type, f.Tensors()[1].Bytes, loaded.Weight.Sum(), loaded.Bias.Sum())
	// Output: Q8_0 1088 4064 32
}

package npy_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/tensor"
)

// A File lists its arrays, and reads one or fills a tree whose names differ.
func ExampleFile() {
	dir, err := os.MkdirTemp("", "npy")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "layer.npz")
	if err := npy.Save(path, map[string]tensor.Tensor{"kernel": tensor.Ones(2, 3), "bias": tensor.Zeros(3)}); err != nil {
		panic(err)
	}

	var f *npy.File
	if f, err = npy.Open(path); err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Println(f.Names())
	var layer struct{ Weight, Bias tensor.Tensor }
	rename := func(name string) string { // Keras' kernels are [in out]
		if name == "kernel" {
			return npy.Transposed("weight")
		}
		return name
	}
	if err := f.Load(&layer, rename); err != nil {
		panic(err)
	}
	fmt.Println(layer.Weight.Shape(), layer.Bias.Shape())
	// Output:
	// [bias kernel]
	// [3 2] [3]
}

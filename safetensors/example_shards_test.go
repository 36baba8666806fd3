package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// A large model is several files and an index, which Load reads as one file.
func ExampleSaveSharded() {
	dir, err := os.MkdirTemp("", "shards")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors.index.json")
	model := map[string]tensor.Tensor{"a": tensor.Ones(100), "b": tensor.Ones(100)}
	if err := safetensors.SaveSharded(path, model, 500); err != nil {
		panic(err)
	}

	files, _ := filepath.Glob(filepath.Join(dir, "*.safetensors"))
	loaded := map[string]*tensor.Tensor{}
	err = safetensors.Load(path, &loaded)
	fmt.Println(len(files), "shards,", len(loaded), "tensors", err)
	// Output: 2 shards, 2 tensors <nil>
}

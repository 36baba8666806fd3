package npy_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "digits.npz")

	// In Python: d = numpy.load("digits.npz"); d["images"], d["labels"]
	type digits struct{ Images, Labels tensor.Tensor }
	if err := npy.Save(path, digits{tensor.Zeros(2, 8, 8), tensor.Arange(2)}); err != nil {
		panic(err)
	}
	var d digits
	err = npy.Load(path, &d)
	fmt.Println(d.Images.Shape(), d.Labels, err)
	// Output: [2 8 8] [0 1] <nil>
}

package webgpu_test

import (
	"fmt"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/webgpu"
)

// It needs a GPU, so its output is not checked.
func ExampleOpen() {
	list, err := webgpu.Adapters()
	if err != nil {
		fmt.Println(err)
		return
	}
	var first webgpu.Adapter = list[0]
	d, err := webgpu.Open(&webgpu.Options{Adapter: first.Name})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(tensor.Arange(3).To(d).Add(1))
}

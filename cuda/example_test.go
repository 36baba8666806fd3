package cuda_test

import (
	"fmt"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/tensor"
)

// It needs a GPU of NVIDIA, so its output is not checked.
func ExampleOpen() {
	list, err := cuda.GPUs()
	if err != nil {
		fmt.Println(err)
		return
	}
	var first cuda.GPU = list[0]
	fmt.Println(first.Name, first.Memory>>30, "GiB")
	d, err := cuda.Open(&cuda.Options{TF32: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(tensor.Arange(3).To(d).Add(1))
}

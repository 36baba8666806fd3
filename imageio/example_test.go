package imageio_test

import (
	"bytes"
	"fmt"

	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	red := tensor.New([]uint8{255, 0, 0}).Expand(2, 4, 3)
	var file bytes.Buffer // or imageio.Save("red.png", red)
	if err := imageio.Encode(&file, ".png", red); err != nil {
		panic(err)
	}
	gray, err := imageio.Decode(&file, 1) // or imageio.Load("red.png", 1)
	fmt.Println(gray.Shape(), gray.At(0).At(0), err)
	// Output: [2 4 1] [76] <nil>
}

package imageio_test

import (
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/tensor"
)

// Save names the format by the end of the path.
func ExampleSave() {
	dir, err := os.MkdirTemp("", "imageio")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ramp.png")
	ramp := tensor.Arange(4).Mul(80).Cast(tensor.Uint8).Reshape(1, 4, 1)
	if err := imageio.Save(path, ramp); err != nil {
		panic(err)
	}
	x, err := imageio.Load(path, 3)
	fmt.Println(x.Shape(), x.At(0).At(3), err)
	// Output: [1 4 3] [240 240 240] <nil>
}

// Images of package image, there and back.
func ExampleFromImage() {
	m := image.NewRGBA(image.Rect(0, 0, 2, 1))
	m.Set(1, 0, color.RGBA{R: 255, A: 255})
	t := imageio.FromImage(m, 3)
	fmt.Println(t.Shape(), t.At(0).At(1))
	back, err := imageio.ToImage(t)
	fmt.Println(back.At(1, 0), err)
	// Output:
	// [1 2 3] [255 0 0]
	// {255 0 0 255} <nil>
}

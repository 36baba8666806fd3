package images_test

import (
	"context"
	"fmt"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/data/images"
	"github.com/tensorken/tensorken/tensor"
)

// Each image is changed by draws of its own, which depend on seed, epoch and place in the epoch. The
// function of a training step may change the whole batch on the device too: see Batch and MixUp.
func ExampleAugment() {
	set := data.Of(images.Example{
		X: tensor.NewRNG(1).Uniform(6, 3, 40, 50), // six images; Folder reads them from files
		Y: tensor.New([]int32{0, 1, 2, 0, 1, 2}),
	})
	l := data.Loader[images.Example]{Set: set, Batch: 4, Shuffle: true, Workers: 2, Augment: images.Augment(
		images.ResizedCrop{Height: 32, Width: 32},
		images.HorizontalFlip{},
		images.ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1},
	)}
	for batch, err := range l.All(context.Background()) {
		if err != nil {
			panic(err)
		}
		y := batch.Y.OneHot(3).Cast(tensor.Float32)
		x, y := images.MixUp(batch.X, y, 0.2, tensor.NewRNG(2))
		fmt.Println(x.Shape(), y.Shape())
	}
	// Output:
	// [4 3 32 32] [4 3]
	// [2 3 32 32] [2 3]
}

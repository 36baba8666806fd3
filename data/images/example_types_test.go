package images_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/data/images"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/tensor"
)

// Folder has a class for each folder of images.
func ExampleFolder() {
	root, err := os.MkdirTemp("", "images")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	for _, class := range []string{"cat", "dog"} {
		if err := os.Mkdir(filepath.Join(root, class), 0o777); err != nil {
			panic(err)
		}
		if err := imageio.Save(filepath.Join(root, class, "1.png"), tensor.ZerosOf(tensor.Uint8, 40, 60, 3)); err != nil {
			panic(err)
		}
	}
	set, classes, err := images.Folder(root, &images.Options{Channels: 1, Height: 32, Width: 32})
	if err != nil {
		panic(err)
	}
	e, err := set.At(1)
	if err != nil {
		panic(err)
	}
	fmt.Println(classes, e.X.Shape(), e.Y)
	// Output: [cat dog] [1 32 32] 1
}

// An image of a gray ramp, flipped from left to right and then from top to bottom.
func ExampleApply() {
	x := tensor.Linspace(0, 1, 6).Reshape(1, 2, 3)
	y, err := images.Apply(x, rand.New(rand.NewPCG(1, 2)), images.HorizontalFlip{P: 1}, images.VerticalFlip{P: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(x.At(0))
	fmt.Println(y.At(0))
	// Output:
	// [[0.0 0.2 0.4]
	//  [0.6 0.8 1.0]]
	// [[1.0 0.8 0.6]
	//  [0.4 0.2 0.0]]
}

// The transforms of an image classifier's training, each with its draws.
func ExampleTransform() {
	x := tensor.NewRNG(1).Uniform(3, 40, 40)
	for _, t := range []images.Transform{
		images.Crop{Height: 32, Width: 32, Padding: 4},
		images.Rotation{Degrees: 10},
		images.Affine{Degrees: 5, Shear: 5},
		images.Grayscale{P: 1},
		images.Erasing{P: 1},
	} {
		y, err := images.Apply(x, rand.New(rand.NewPCG(1, 2)), t)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%T %v\n", t, y.Shape())
	}
	// Output:
	// images.Crop [3 32 32]
	// images.Rotation [3 40 40]
	// images.Affine [3 40 40]
	// images.Grayscale [3 40 40]
	// images.Erasing [3 40 40]
}

// Normalize subtracts a mean and divides by a standard deviation, by channel.
func ExampleNormalize() {
	x := tensor.Full(0.6, 1, 3, 1, 1)
	n := images.Normalize{Mean: []float64{0.5, 0.4, 0.3}, Std: []float64{0.1, 0.2, 0.3}}
	fmt.Println(images.Batch(x, tensor.NewRNG(1), n).Reshape(3))
	// Output: [1.0000 1.0000 1.0000]
}

// A rectangle of another image, and its share of the target.
func ExampleCutMix() {
	x := tensor.Arange(2).Cast(tensor.Float32).Reshape(2, 1, 1, 1).Expand(2, 1, 8, 8)
	y := tensor.Eye(2)
	x, y = images.CutMix(x, y, 1, tensor.NewRNG(3))
	fmt.Printf("%.3f\n", x.Mean(1, 2, 3).Reshape(2)) // the share of ones
	fmt.Printf("%.3f\n", y.Index(tensor.All, 1))
	// Output:
	// [0.562 0.438]
	// [0.562 0.438]
}

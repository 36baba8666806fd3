package main

import (
	"math"
	"math/rand/v2"

	"github.com/tensorken/tensorken/tensor"
)

// copies is the number of distorted images for each image.
const copies = 8

// distort adds, after each example, copies of it whose images are turned, slanted, scaled and
// moved a little, so that drawings are recognised that were not normalized as the set was.
func distort(e example) (example, error) {
	images, err := tensor.Data[float32](e.X)
	if err != nil {
		return e, err
	}
	labels, err := tensor.Data[int32](e.Y)
	if err != nil {
		return e, err
	}
	var x []float32
	var y []int32
	random := rand.New(rand.NewPCG(1, 1))
	around := func(mean, deviation float64) float64 { return mean + deviation*random.NormFloat64() }
	for i, label := range labels {
		image := images[i*64 : i*64+64]
		x, y = append(x, image...), append(y, label)
		for range copies {
			m := affine{
				around(1, 0.15), around(0, 0.25), around(0, 0.4),
				around(0, 0.12), around(1, 0.15), around(0, 0.4),
			}
			x, y = m.warp(x, image), append(y, label)
		}
	}
	return example{tensor.New(x, len(y), 64), tensor.New(y, len(y))}, nil
}

// An affine map is the first two rows of its matrix. It maps positions from the image's centre.
type affine [6]float64

// warp appends the pixels of an image at mapped positions.
func (m affine) warp(to, image []float32) []float32 {
	const centre = 3.5
	for row := range 8 {
		for column := range 8 {
			x, y := float64(column)-centre, float64(row)-centre
			to = append(to, sample(image, m[0]*x+m[1]*y+m[2]+centre, m[3]*x+m[4]*y+m[5]+centre))
		}
	}
	return to
}

// sample interpolates between the four pixels around a position.
func sample(image []float32, x, y float64) float32 {
	x0, y0 := math.Floor(x), math.Floor(y)
	pixel := func(dx, dy int) float64 {
		column, row := int(x0)+dx, int(y0)+dy
		if column < 0 || column > 7 || row < 0 || row > 7 {
			return 0 // background
		}
		return float64(image[row*8+column])
	}
	mix := func(a, b, t float64) float64 { return a + (b-a)*t }
	return float32(mix(mix(pixel(0, 0), pixel(1, 0), x-x0), mix(pixel(0, 1), pixel(1, 1), x-x0), y-y0))
}

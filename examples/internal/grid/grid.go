// Package grid draws small images in rows and columns.
package grid

import (
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/tensor"
)

// Pixels that an element of an image, and the margin around an image, have on a side.
const (
	scale  = 4
	margin = 3
)

// Draw returns images of shape [rows columns h w], numbers from 0, white, to 1, black, as
// one image for package imageio.
func Draw(images tensor.Tensor) tensor.Tensor {
	x := images.Clamp(0, 1).Repeat(2, scale).Repeat(3, scale)
	x = x.Pad(2, margin, margin).Pad(3, margin, margin) // by white
	rows, columns, h, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	x = x.Transpose(1, 2).Reshape(rows*h, columns*w, 1)
	return x.Neg().Add(1).Mul(255).Round().Cast(tensor.Uint8)
}

// Save draws images into a file, whose name imageio.Save knows.
func Save(path string, images tensor.Tensor) error { return imageio.Save(path, Draw(images)) }

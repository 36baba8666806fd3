// Package image has the operators of images: sizes, samples at places, regions and boxes. Read resize.go first.
package image

import "github.com/tensorken/tensorken/tensor"

// T is a tensor.
type T = tensor.Tensor

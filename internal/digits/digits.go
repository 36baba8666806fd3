// Package digits has the handwritten digits that programs of this module learn.
//
// They are the test set of "Optical Recognition of Handwritten Digits" by E. Alpaydin and
// C. Kaynak, UCI Machine Learning Repository, 1998, https://doi.org/10.24432/C50P49, under
// the Creative Commons Attribution 4.0 International licence (CC BY 4.0),
// https://creativecommons.org/licenses/by/4.0/. The lines are unchanged.
package digits

import (
	_ "embed"

	"github.com/tensorken/tensorken/tensor"
)

// CSV has 1,797 images as CSV, one a line: 8 rows of 8 pixels from 0 to 16, then the
// digit.
//
//go:embed digits.csv
var CSV string

// Load returns the images, float32 [1797 1 8 8] from 0, the background, to 1, and the digits,
// int32 [1797].
func Load() (images, labels tensor.Tensor, err error) {
	rows := tensor.New(numbers(CSV), 1797, 8*8+1)
	images = rows.Slice(1, 0, -1).Div(16).Reshape(-1, 1, 8, 8)
	labels = rows.Index(tensor.All, -1).Cast(tensor.Int32)
	return images, labels, tensor.Eval(images, labels)
}

// numbers returns the whole numbers of a text, each before a comma or the end of a line. Packages
// data and data/table, which read other tables too, would be a hundredth of a program for browsers.
func numbers(text string) []float32 {
	var list []float32
	var n float32
	for _, c := range []byte(text) {
		if c == ',' || c == '\n' {
			list, n = append(list, n), 0
			continue
		}
		n = 10*n + float32(c-'0')
	}
	return list
}

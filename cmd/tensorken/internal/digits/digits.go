// Package digits has 1,797 images of handwritten digits: 8 rows of 8 pixels
// from 0 to 16, and the digit.
//
// They are the test set of "Optical Recognition of Handwritten Digits" by
// E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, 1998,
// https://doi.org/10.24432/C50P49, under the Creative Commons Attribution 4.0
// International licence (CC BY 4.0), https://creativecommons.org/licenses/by/4.0/.
// Lines are as there; the file is compressed.
package digits

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

//go:embed digits.csv.gz
var compressed []byte

// Open returns the images as CSV, one a line: 64 pixels by rows, then the
// digit.
func Open() (io.ReadCloser, error) { return gzip.NewReader(bytes.NewReader(compressed)) }

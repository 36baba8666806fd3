package data

import (
	"io"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/tensor"
)

// ReadCSV reads a table of numbers, one row a line, into a float32 tensor [rows columns].
// columns has the names in the header, nil without one. It is for tables whose columns all are
// numbers, none missing: package table reads others too.
//
// The first line is a header if it has a text above numbers, and data if it has a number above
// numbers; both is an error, and so are other fields, and lines that differ in length.
func ReadCSV(r io.Reader) (columns []string, rows tensor.Tensor, err error) {
	return table.Numbers(r)
}

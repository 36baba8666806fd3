package data

import (
	"fmt"
	"io"

	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/tensor"
)

// ReadCSV reads a table of numbers, one row a line, into a float32 tensor [rows columns].
// columns has the names in the header, nil if there is none. It is for tables whose columns all
// are numbers, none missing: package table reads others too.
//
// The first line is a header if it has a text above numbers, and data if it has a number above
// numbers; both is an error, and so are other fields, and lines that differ in length.
func ReadCSV(r io.Reader) (columns []string, rows tensor.Tensor, err error) {
	f, err := table.Read(r, &table.Options{Missing: []string{}})
	if err != nil {
		return nil, rows, err
	}
	header, _ := f.Header()
	for i, c := range f.Columns() {
		if c.Missing > 0 {
			return nil, rows, fmt.Errorf("line %d, column %d is empty: write a number there, or use package table, which reads NaN", c.MissingLine, i+1)
		}
		if header {
			columns = append(columns, c.Name)
		}
	}
	rows, err = f.Tensor(tensor.Float32)
	return columns, rows, err
}

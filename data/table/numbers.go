package table

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// Numbers reads a table whose columns all are numbers, none missing, into a float32 tensor
// [rows columns]. names has the names in the header, nil without one.
func Numbers(r io.Reader) (names []string, rows tensor.Tensor, err error) {
	text, err := readText(r, 0)
	if err != nil {
		return nil, rows, err
	}
	f := &Frame{options: (&Options{Missing: []string{}}).checked("Numbers"), text: text, firstLine: 1}
	kept := &numbers{o: &f.options}
	f.kept = kept
	if err := f.inferSchema(); err != nil {
		return nil, rows, err
	}
	for i, c := range f.columns {
		if c.Missing > 0 {
			return nil, rows, fmt.Errorf("line %d, column %d is empty: write a number there, or use package table, which reads NaN", c.MissingLine, i+1)
		}
		if f.header {
			names = append(names, c.Name)
		}
	}
	if len(kept.rows) != f.rows*len(f.columns) {
		_, err = f.Tensor(tensor.Float32) // fails at the first field that is no number
		if errors.Is(err, errNumber) || errors.Is(err, errComma) {
			err = fmt.Errorf("%w: package table reads columns of text and dates, too", err)
		}
		return nil, rows, err
	}
	return names, tensor.New(kept.rows, f.rows, len(f.columns)), nil
}

// numbers keeps the rows of a table while Frame.inferSchema reads it, until a field is not a number.
type numbers struct {
	o      *Options
	rows   []float32
	failed bool
}

// add adds a row, and reports whether all its fields are numbers.
func (n *numbers) add(fields []string) (bool, error) {
	if n == nil || n.failed {
		return false, nil
	}
	var err error
	if n.rows, err = hostmem.Grow(n.rows, len(fields)); err != nil {
		return false, err
	}
	for _, field := range fields {
		x, err := n.o.parseFloat(field, 32)
		if err != nil {
			n.failed = true
			return false, nil
		}
		n.rows = append(n.rows, float32(x))
	}
	return true, nil
}

// moveToStart moves the row that was added last to the start: Frame.inferSchema adds the first record
// last if it is not a header.
func (n *numbers) moveToStart(width int) {
	if n != nil && !n.failed {
		last := slices.Clone(n.rows[len(n.rows)-width:])
		copy(n.rows[width:], n.rows)
		copy(n.rows, last)
	}
}

package plot

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// HTML returns the figure as an element of HTML, an image in PNG. It computes the tensors
// if necessary; see [tensor.Eval] for the errors.
func (f *Figure) HTML() (string, error) {
	var b bytes.Buffer
	if err := f.Encode(&b, ".png"); err != nil {
		return "", err
	}
	width, height := f.size()
	return fmt.Sprintf(`<img width="%d" height="%d" alt="%s" src="data:image/png;base64,%s">`,
		width, height, html.EscapeString(f.Title), base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

// The limits of a table. An axis of more than maxCells elements is cut to the first and the last
// edgeCells; a tensor of more than two axes is cut to its first maxTables matrices.
const (
	maxCells  = 20
	edgeCells = 5
	maxTables = 4
)

// Table returns t as HTML: a caption with type, shape and device, and rows and columns with
// their indices. It shows the first and the last 5 elements of an axis that has more than 20,
// and the first 4 matrices of a tensor with more than two axes, each as a table. Floats have 6
// digits. Table computes t if necessary; see [tensor.Eval] for the errors.
func Table(t tensor.Tensor) (string, error) {
	checkPresent("Table", t)
	var b strings.Builder
	fmt.Fprintf(&b, "<div><div>%s</div>\n", html.EscapeString(caption(t)))
	if t.Len() > 0 {
		full := t
		for full.Rank() < 2 {
			full = full.Unsqueeze(0)
		}
		stack, names, note := stacked(full, 2, maxTables)
		for i, name := range names {
			if full.Rank() > 2 {
				fmt.Fprintf(&b, "<div>%s</div>\n", name)
			}
			if err := writeTable(&b, stack.At(i)); err != nil {
				return "", fmt.Errorf("plot: %w", err)
			}
		}
		if note != "" {
			fmt.Fprintf(&b, "<div>%s</div>\n", note)
		}
	}
	b.WriteString("</div>")
	return b.String(), nil
}

// caption returns the type, shape and device of a tensor.
func caption(t tensor.Tensor) string {
	on := t.Device()
	if on == nil {
		on = tensor.Default()
	}
	return fmt.Sprintf("%v %v on %v", t.DType(), t.Shape(), on)
}

// writeTable writes a matrix.
func writeTable(b *strings.Builder, m tensor.Tensor) error {
	rows, cols := shownIndices(m.Dim(0)), shownIndices(m.Dim(1))
	ends := shownPart(shownPart(m, 0), 1)
	data, err := tensor.Internal.Bytes(graph.Token{}, "plot.Table", ends)
	if err != nil {
		return err
	}
	d := m.DType()
	b.WriteString(`<table style="text-align: right; font-family: monospace"><tr><th></th>`)
	for _, j := range cols {
		fmt.Fprintf(b, "<th>%s</th>", j)
	}
	b.WriteString("</tr>\n")
	for _, i := range rows {
		fmt.Fprintf(b, "<tr><th>%s</th>", i)
		for _, j := range cols {
			cell := gap
			if i != gap && j != gap {
				cell, data = element(d, data), data[d.Size():]
			}
			fmt.Fprintf(b, "<td>%s</td>", cell)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
	return nil
}

// element formats the first element of data.
func element(d ir.DType, data []byte) string {
	x := ir.Decode(d, data)
	if d.IsFloat() {
		return strconv.FormatFloat(x.Float64(d), 'g', 6, 64)
	}
	return x.Text(d)
}

// gap stands for elements that a table leaves out.
const gap = "…"

// shownIndices returns the indices of an axis of n elements that a table shows, and a gap.
func shownIndices(n int) (all []string) {
	for i := 0; i < n; i++ {
		if n > maxCells && i == edgeCells {
			all = append(all, gap)
			i = n - edgeCells
		}
		all = append(all, strconv.Itoa(i))
	}
	return all
}

// shownPart returns the elements of an axis that a table shows.
func shownPart(t tensor.Tensor, axis int) tensor.Tensor {
	n := t.Dim(axis)
	if n <= maxCells {
		return t
	}
	return tensor.Cat(axis, t.Slice(axis, 0, edgeCells), t.Slice(axis, n-edgeCells, n))
}

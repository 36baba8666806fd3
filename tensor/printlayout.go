package tensor

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
)

// How much of a tensor [Tensor.String] shows.
const (
	maxShown  = 1000 // elements
	edgeLen   = 3    // elements at each end of a long axis
	maxNested = 8    // axes: tensors with more of them do not show axes of length 1
	lineLen   = 80   // characters
	gap       = "…"  // in place of elements that are not shown
)

// An axis says which elements along an axis are shown: the first head, a gap if some
// are left out, and the last tail.
type axis struct {
	head, tail int
	long       bool // has a gap
}

// elements returns the number of elements that are shown.
func (a axis) elements() int { return a.head + a.tail }

// places returns the number of elements and gaps that are shown.
func (a axis) places() int {
	if a.long {
		return a.elements() + 1
	}
	return a.elements()
}

// isGap reports whether place i is the gap.
func (a axis) isGap(i int) bool { return a.long && i == a.head }

// abbreviate returns which elements of a tensor of these lengths are shown: no more than maxShown.
func abbreviate(lengths []int) []axis {
	axes, shown := make([]axis, len(lengths)), 1
	all := graph.Len(lengths) <= maxShown
	for i, n := range lengths {
		axes[i] = axis{head: n}
		if !all && n > 2*edgeLen {
			axes[i] = axis{edgeLen, edgeLen, true}
		}
		shown *= axes[i].elements()
	}
	for i := 0; shown > maxShown; i++ {
		shown /= axes[i].elements()
		axes[i] = axis{head: 1, long: lengths[i] > 1}
	}
	return axes
}

// shown computes t and returns the elements that are shown, row-major.
func (t Tensor) shown(op string, axes []axis) ([]byte, error) {
	n := t.n
	for i, a := range axes {
		if a.long {
			length := t.n.Shape[i]
			n = graph.Cat(i, []*graph.Node{graph.Slice(n, i, 0, a.head), graph.Slice(n, i, length-a.tail, a.tail)})
		}
	}
	if err := hasValue(op, t.n); err != nil {
		return nil, err
	}
	if n != t.n { // store all of t, as every read does
		d := Default().exec()
		if err := failure(op, d, exec.Eval(d, []*graph.Node{t.n})); err != nil {
			return nil, err
		}
	}
	return Tensor{n: n}.bytes(op)
}

// A printer arranges formatted elements in brackets.
type printer struct {
	axes    []axis
	cells   []string // the elements that are not arranged yet
	width   int      // of each element
	perLine int      // elements
}

// arrange returns cells in brackets. A single row that fits on a line has no columns to align.
func arrange(axes []axis, cells []string) string {
	if len(axes) == 0 {
		return cells[0]
	}
	row := printer{axes: axes, cells: cells, perLine: len(cells) + 1}
	if text := row.block(0); !strings.Contains(text, "\n") && utf8.RuneCountInString(text) <= lineLen {
		return text
	}
	p := printer{axes: axes, cells: cells}
	for _, c := range cells {
		p.width = max(p.width, utf8.RuneCountInString(c))
	}
	p.perLine = max(1, (lineLen-2*len(axes)+1)/(p.width+1)) // with its brackets
	return p.block(0)
}

// block takes the elements along the axes starting at depth.
func (p *printer) block(depth int) string {
	a, behind := p.axes[depth], len(p.axes)-1-depth
	parts := make([]string, a.places())
	for i := range parts {
		switch {
		case a.isGap(i):
			parts[i] = gap
		case behind > 0:
			parts[i] = p.block(depth + 1)
		default:
			parts[i], p.cells = p.cells[0], p.cells[1:]
		}
	}
	next := "\n" + strings.Repeat(" ", depth+1)
	if behind == 0 {
		return "[" + p.wrap(parts, next) + "]"
	}
	return "[" + strings.Join(parts, strings.Repeat("\n", min(1, behind-1))+next) + "]"
}

// wrap joins the elements of a row, aligned on the right, in lines between which next stands.
func (p *printer) wrap(row []string, next string) string {
	var lines []string
	for line := range slices.Chunk(row, p.perLine) {
		for i, c := range line {
			if c != gap { // whose column is as wide in all rows
				line[i] = fmt.Sprintf("%*s", p.width, c)
			}
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return strings.Join(lines, next)
}

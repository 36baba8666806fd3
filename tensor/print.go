package tensor

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/ir"
)

// String returns t as %v prints it: a scalar as its number, one axis as
// [0 1 2], two as one bracketed row a line, more as boxes of these in rows and
// columns, where an odd number of axes first gets a leading one of length 1.
// Numbers are the shortest decimals that give them back. An axis over 6 shows
// its first and last 3 elements when there are more than 1000 in all.
//
// It computes t; a failure to do so is printed instead.
func (t Tensor) String() string { return fmt.Sprint(t) }

// Format prints t for package fmt. Verbs, widths and precisions are those of
// each element: %.2f. %v is [Tensor.String]; %+v adds t's type, shape and
// device.
func (t Tensor) Format(s fmt.State, verb rune) { io.WriteString(s, t.format(s, verb)) }

func (t Tensor) format(s fmt.State, verb rune) string {
	if t.n == nil {
		return "<absent>"
	}
	if !strings.ContainsRune(verbs[kindOf(t.n.DType)], verb) {
		return fmt.Sprintf("%%!%c(tensor.Tensor=%v)", verb, t)
	}
	text, err := t.text(styleOf(s, verb))
	if err != nil {
		return "error: " + err.Error()
	}
	if verb == 'v' && s.Flag('+') {
		text += " (" + t.details() + ")"
	}
	return text
}

// details are t's type, shape and device.
func (t Tensor) details() string {
	on, note := t.Device(), ""
	if on == nil {
		on, note = Default(), ", uncommitted"
	}
	return fmt.Sprintf("%v %v on %v%s", t.n.DType, t.n.Shape, on, note)
}

// text computes t and lays its elements out.
func (t Tensor) text(style style) (string, error) {
	if t.n.Len() == 0 {
		return fmt.Sprintf("[] (shape %v)", t.n.Shape), nil
	}
	data, err := t.edges("String")
	if err != nil {
		return "", err
	}
	if err := hostmem.Check(shownLen(t.n.Shape), 256); err != nil { // what the text of one takes
		return "", &DeviceError{Device: "host", Op: "String", Err: err}
	}
	shown, at := elide(t.n.Shape)
	cells := make([]string, len(at))
	for i, p := range at {
		cells[i] = gap
		if p >= 0 {
			cells[i] = style.element(t.n.DType, data, p)
		}
	}
	return layout(shown, cells), nil
}

// gap stands for elements that are not shown.
const gap = "…"

// edge is how many elements are shown at each end of a long axis.
const edge = 3

// isLong reports whether an axis of a tensor of that shape shows its ends only.
func isLong(axis int, lengths []int) bool {
	return lengths[axis] > 2*edge && graph.Len(lengths) > 1000
}

// shownLen is how many cells show a tensor of that shape.
func shownLen(lengths []int) int {
	n := 1
	for axis, length := range lengths {
		if isLong(axis, lengths) {
			length = 2*edge + 1
		}
		n *= length
	}
	return n
}

// edges computes t and returns the elements that are shown, row-major: those of
// t at both ends of its long axes.
func (t Tensor) edges(op string) ([]byte, error) {
	n := t.n
	for axis, length := range t.n.Shape {
		if isLong(axis, t.n.Shape) {
			n = graph.Cat(axis, []*graph.Node{crop(n, axis, 0, 1, edge), crop(n, axis, length-edge, 1, edge)})
		}
	}
	if err := hasValue(op, t.n); err != nil {
		return nil, err
	}
	if n != t.n { // store all of t, as for any tensor that is read
		d := Default().exec()
		if err := failure(op, d, exec.Eval(d, []*graph.Node{t.n})); err != nil {
			return nil, err
		}
	}
	return Tensor{n: n}.bytes(op)
}

// elide returns the shape in which a tensor is shown and, for each cell of
// it, the position of its element among the edges, or -1 for a gap.
func elide(lengths []int) (shown, at []int) {
	shown, at = slices.Clone(lengths), []int{0}
	for axis, n := range lengths {
		long := isLong(axis, lengths)
		if long {
			n = 2 * edge
		}
		index := make([]int, 0, n+1)
		for i := range n {
			if long && i == edge {
				index = append(index, -1)
			}
			index = append(index, i)
		}
		shown[axis] = len(index)
		next := make([]int, 0, len(at)*len(index))
		for _, p := range at {
			for _, i := range index {
				if p < 0 || i < 0 {
					next = append(next, -1)
				} else {
					next = append(next, p*n+i)
				}
			}
		}
		at = next
	}
	return shown, at
}

// verbs are those that print an element.
var verbs = map[byte]string{
	'b': "tsv",
	'i': "bcdoOqxXUeEfFgGsv",
	'f': "beEfFgGxXsv",
}

// kindOf is b for bool, i for an integer, f for a floating-point type.
func kindOf(d DType) byte {
	switch {
	case d.IsFloat():
		return 'f'
	case d.IsInt():
		return 'i'
	}
	return 'b'
}

// A style is how an element is printed.
type style struct {
	number string // a format for numbers, "" for the shortest decimals
	text   string // a format for text
	float  bool   // number is for floating-point numbers
}

func styleOf(s fmt.State, verb rune) style {
	flags := ""
	for _, f := range "+-# 0" {
		if s.Flag(int(f)) && !(f == '+' && verb == 'v') {
			flags += string(f)
		}
	}
	width, precision := "", ""
	if w, ok := s.Width(); ok {
		width = strconv.Itoa(w)
	}
	p, precise := s.Precision()
	if precise {
		precision = "." + strconv.Itoa(p)
	}
	st := style{text: "%" + strings.Trim(flags, "+# 0") + width + "s"}
	switch {
	case verb != 'v' && verb != 's':
		st.number = "%" + flags + width + precision + string(verb)
		st.float = strings.ContainsRune("eEfFgG", verb)
	case precise:
		st.number, st.float = "%"+flags+width+precision+"g", true
	}
	return st
}

// element is element i of data.
func (s style) element(d DType, data []byte, i int) string {
	switch x := float64At(d, data, i); {
	case d == ir.Bool:
		return fmt.Sprintf(s.text, strconv.FormatBool(x != 0))
	case d.IsInt() && (s.number == "" || !s.float):
		n := int64At(d, data, i)
		if s.number != "" {
			return fmt.Sprintf(s.number, n)
		}
		return fmt.Sprintf(s.text, strconv.FormatInt(n, 10))
	case s.number == "" || math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Sprintf(s.text, decimal(d, x))
	case d == ir.Float64 || d.IsInt():
		return fmt.Sprintf(s.number, x)
	default:
		return fmt.Sprintf(s.number, float32(x))
	}
}

// int64At is element i of an integer type or Bool.
func int64At(d DType, data []byte, i int) int64 {
	if d == ir.Int64 {
		return elementsOf[int64](data)[i]
	}
	return int64(float64At(d, data, i))
}

// decimal is the shortest decimal, without exponent, that reads back as x of
// type d.
func decimal(d DType, x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case d == ir.Float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case d.IsHalf():
		x = shortHalf(d, x)
	}
	return strconv.FormatFloat(x, 'f', -1, 32)
}

// shortHalf is the number of the fewest digits that is x when rounded to d.
func shortHalf(d DType, x float64) float64 {
	for digits := range 8 {
		y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits, 64), 32)
		if ir.Float(d, y) == ir.Float(d, x) {
			return y
		}
	}
	return x
}

// layout arranges cells, which are row-major in a shape without zeros, as
// [Tensor.String] says.
func layout(lengths []int, cells []string) string {
	switch rank := len(lengths); {
	case rank == 0:
		return cells[0]
	case rank == 1:
		return row(cells)
	case rank == 2:
		return strings.Join(rows(lengths[1], cells), "\n")
	case rank%2 == 1:
		lengths = append([]int{1}, lengths...)
	}
	return strings.Join(block(lengths, cells), "\n")
}

func row(cells []string) string { return "[" + strings.Join(cells, " ") + "]" }

// rows are the lines of a matrix, its columns aligned.
func rows(columns int, cells []string) []string {
	widths := make([]int, columns)
	for i, c := range cells {
		widths[i%columns] = max(widths[i%columns], utf8.RuneCountInString(c))
	}
	var lines []string
	for r := range slices.Chunk(cells, columns) {
		padded := make([]string, columns)
		for i, c := range r {
			padded[i] = fit(c, widths[i])
		}
		lines = append(lines, row(padded))
	}
	return lines
}

// fit pads s with spaces on the right.
func fit(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// block are the lines of a tensor of even rank: a box of rows and columns,
// the cells of which are elements or again blocks. A matrix of one row has no
// box, and what is all gap is one.
func block(lengths []int, cells []string) []string {
	if !slices.ContainsFunc(cells, func(c string) bool { return c != gap }) {
		return []string{gap}
	}
	if len(lengths) == 2 && lengths[0] == 1 {
		return []string{"[ " + strings.Join(cells, "  ") + "]"}
	}
	var blocks [][]string
	for part := range slices.Chunk(cells, graph.Len(lengths[2:])) {
		if len(lengths) == 2 {
			blocks = append(blocks, part)
		} else {
			blocks = append(blocks, block(lengths[2:], part))
		}
	}
	return box(lengths[1], blocks)
}

// box draws blocks in columns, left-aligned, three spaces apart, in a frame.
func box(columns int, blocks [][]string) []string {
	widths := make([]int, columns)
	for i, b := range blocks {
		for _, line := range b {
			widths[i%columns] = max(widths[i%columns], utf8.RuneCountInString(line))
		}
	}
	inner := 3*columns - 1
	for _, w := range widths {
		inner += w
	}
	frame := strings.Repeat(" ", inner)
	lines := []string{"┌" + frame + "┐"}
	for r := range slices.Chunk(blocks, columns) {
		height := 0
		for _, b := range r {
			height = max(height, len(b))
		}
		for y := range height {
			line := make([]string, columns)
			for i, b := range r {
				if y < len(b) {
					line[i] = b[y]
				}
				line[i] = fit(line[i], widths[i])
			}
			lines = append(lines, "│ "+strings.Join(line, "   ")+" │")
		}
	}
	return append(lines, "└"+frame+"┘")
}

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

// String returns t as %v prints it: a scalar as its number, one axis as [0 1 2], two
// axes as one bracketed row a line, more as nested boxes of these in rows and columns;
// an odd number of axes gets a leading axis of length 1. Numbers are the shortest
// decimals that read back as the same value. If t has more than 1000 elements, an axis
// of more than 6 shows its first and last 3.
//
// String computes t; it prints the error if that fails.
func (t Tensor) String() string { return fmt.Sprint(t) }

// Format implements [fmt.Formatter]. Verbs, widths and precisions, as in %.2f, apply to
// each element. %v is [Tensor.String]; %+v adds t's type, shape and device.
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

// details returns t's type, shape and device.
func (t Tensor) details() string {
	on, note := t.Device(), ""
	if on == nil {
		on, note = Default(), ", uncommitted"
	}
	return fmt.Sprintf("%v %v on %v%s", t.n.DType, t.n.Shape, on, note)
}

// text computes t and formats its elements.
func (t Tensor) text(style style) (string, error) {
	if t.n.Len() == 0 {
		return fmt.Sprintf("[] (shape %v)", t.n.Shape), nil
	}
	data, err := t.edges("String")
	if err != nil {
		return "", err
	}
	if err := hostmem.Check(shownLen(t.n.Shape), 256); err != nil { // bytes of text for an element
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

// gap replaces elements that are not shown.
const gap = "…"

// edgeLen is the number of elements shown at each end of a long axis.
const edgeLen = 3

// isLong reports whether an axis of a tensor of that shape shows only its ends.
func isLong(axis int, lengths []int) bool {
	return lengths[axis] > 2*edgeLen && graph.Len(lengths) > 1000
}

// shownLen returns the number of cells that show a tensor of that shape.
func shownLen(lengths []int) int {
	n := 1
	for axis, length := range lengths {
		if isLong(axis, lengths) {
			length = 2*edgeLen + 1
		}
		n *= length
	}
	return n
}

// edges computes t and returns the elements that are shown, row-major.
func (t Tensor) edges(op string) ([]byte, error) {
	n := t.n
	for axis, length := range t.n.Shape {
		if isLong(axis, t.n.Shape) {
			n = graph.Cat(axis, []*graph.Node{graph.Slice(n, axis, 0, edgeLen), graph.Slice(n, axis, length-edgeLen, edgeLen)})
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

// elide returns the shape in which a tensor is shown and, for each cell, the position
// of its element in edges, -1 for a gap.
func elide(lengths []int) (shown, at []int) {
	shown, at = slices.Clone(lengths), []int{0}
	for axis, n := range lengths {
		long := isLong(axis, lengths)
		if long {
			n = 2 * edgeLen
		}
		index := make([]int, 0, n+1)
		for i := range n {
			if long && i == edgeLen {
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

// verbs lists, for each kind of type, the verbs that print an element.
var verbs = map[byte]string{
	'b': "tsv",
	'i': "bcdoOqxXUeEfFgGsv",
	'f': "beEfFgGxXsv",
}

// kindOf returns b for bool, i for an integer type, f for a floating-point type.
func kindOf(d DType) byte {
	switch {
	case d.IsFloat():
		return 'f'
	case d.IsInt():
		return 'i'
	}
	return 'b'
}

// A style is the format of elements.
type style struct {
	number string // format of numbers, "" for the shortest decimals
	text   string // format of text
	float  bool   // number formats floating-point numbers
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

// element formats element i of data.
func (s style) element(d DType, data []byte, i int) string {
	num := element(d, data, i)
	switch x := num.Float64(d); {
	case d == ir.Bool:
		return fmt.Sprintf(s.text, strconv.FormatBool(x != 0))
	case d.IsInt() && (s.number == "" || !s.float):
		switch {
		case s.number == "":
			return fmt.Sprintf(s.text, num.Text(d))
		case d.IsSigned():
			return fmt.Sprintf(s.number, int64(num))
		}
		return fmt.Sprintf(s.number, uint64(num))
	case s.number == "" || math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Sprintf(s.text, decimal(d, x))
	case d == ir.Float64 || d.IsInt():
		return fmt.Sprintf(s.number, x)
	default:
		return fmt.Sprintf(s.number, float32(x))
	}
}

// decimal returns the shortest decimal, without exponent, that reads back as x of type
// d.
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

// shortHalf returns the number with the fewest digits that rounds to x in type d.
func shortHalf(d DType, x float64) float64 {
	for digits := range 8 {
		y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits, 64), 32)
		if ir.Float(d, y) == ir.Float(d, x) {
			return y
		}
	}
	return x
}

// layout arranges cells as [Tensor.String] describes. Cells are row-major; no length
// is 0.
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

// rows returns the lines of a matrix with aligned columns.
func rows(columns int, cells []string) []string {
	widths := make([]int, columns)
	for i, c := range cells {
		widths[i%columns] = max(widths[i%columns], utf8.RuneCountInString(c))
	}
	var lines []string
	for r := range slices.Chunk(cells, columns) {
		padded := make([]string, columns)
		for i, c := range r {
			padded[i] = padRight(c, widths[i])
		}
		lines = append(lines, row(padded))
	}
	return lines
}

// padRight pads s with spaces.
func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// block returns the lines of a tensor of even rank: a box of rows and columns whose
// cells are elements or, recursively, blocks. A matrix of one row has no box; a block of
// gaps only is a single gap.
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

// box draws a frame around blocks in columns, left-aligned, three spaces apart.
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
				line[i] = padRight(line[i], widths[i])
			}
			lines = append(lines, "│ "+strings.Join(line, "   ")+" │")
		}
	}
	return append(lines, "└"+frame+"┘")
}

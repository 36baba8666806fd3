package tensor

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/ir"
)

// String returns t as %v prints it: a scalar as its number, one axis as [0 1 2], more as
// brackets in brackets, rows below each other and a blank line between matrices:
//
//	[[0.5000 1.2500]
//	 [2.0000 0.3333]]
//
// The numbers of a floating-point tensor share a format: as many decimals, at most 4, as
// their shortest decimals have, so none if all are whole; with an exponent, as 1.235e-05, if
// one that is not 0 is below 1e-4 or at least 1e8, or if 4 decimals would cut digits off and
// the largest is more than 1000 times the smallest. %g prints each as the shortest decimal
// that reads back as the same value.
//
// Lines are at most 80 characters, unless one element is longer: longer rows continue on the next line.
// If t has more than 1000 elements, an axis of more than 6 shows its first and last 3, and leading axes
// show their first alone where that is still too much. A tensor of more than 8 axes is printed without
// its axes of length 1, with its shape.
//
// String computes t; it prints the error if that fails.
func (t Tensor) String() string { return fmt.Sprint(t) }

// Format implements [fmt.Formatter]. Verbs, widths and precisions, as in %.2f, apply to
// each element. %v is [Tensor.String]; %+v adds t's type, shape and device. The rows of a
// matrix align if it is the first of its line.
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
	axes := abbreviate(t.n.Shape)
	data, err := t.shown("String", axes)
	if err != nil {
		return "", err
	}
	note := ""
	if len(axes) > maxNested {
		if few := slices.DeleteFunc(axes, func(a axis) bool { return a == axis{head: 1} }); len(few) < len(t.n.Shape) {
			axes, note = few, fmt.Sprintf(" (shape %v)", t.n.Shape)
		}
	}
	style = style.fit(t.n.DType, data)
	cells := make([]string, len(data)/t.n.DType.Size())
	for i := range cells {
		cells[i] = style.element(t.n.DType, data, i)
	}
	return arrange(axes, cells) + note, nil
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
	number   string // format of numbers, "" for that which fit chooses
	shared   string // the format that fit chose for floating-point numbers
	text     string // format of text
	float    bool   // number formats floating-point numbers
	shortest bool   // number prints the shortest decimal
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
	st := style{text: "%" + strings.Trim(flags, "+# 0") + width + "s", shortest: !precise && strings.ContainsRune("gG", verb)}
	switch {
	case verb != 'v' && verb != 's':
		st.number = "%" + flags + width + precision + string(verb)
		st.float = strings.ContainsRune("eEfFgG", verb)
	case precise:
		st.number, st.float = "%"+flags+width+precision+"g", true
	}
	return st
}

// Limits of the format that the elements of a tensor share, as [Tensor.String] says.
const (
	maxDecimals = 4
	minExponent = -4 // the least exponent of a number that is printed without one
	maxExponent = 7
	maxRatio    = 1000 // of the largest to the smallest number that is rounded without an exponent
)

// fit returns s with a format for all elements of data, which NumPy and PyTorch choose by the same
// limits. They also write whole numbers and short decimals of a greater ratio with an exponent, where
// it shows no more digits.
func (s style) fit(d DType, data []byte) style {
	if s.number != "" || !d.IsFloat() {
		return s
	}
	least, most, fixed, exponential := 0, 0, 0, 0
	smallest, largest := math.Inf(1), 0.0
	for i := range len(data) / d.Size() {
		x := math.Abs(element(d, data, i).Float64(d))
		if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		digits, exponent := shortest(d, x)
		smallest, largest = min(smallest, x), max(largest, x)
		least, most = min(least, exponent), max(most, exponent)
		fixed, exponential = max(fixed, digits-1-exponent), max(exponential, digits-1)
	}
	cut := fixed > maxDecimals && largest/smallest > maxRatio
	if least < minExponent || most > maxExponent || cut {
		s.shared = fmt.Sprintf("%%.%de", min(exponential, maxDecimals-1))
	} else {
		s.shared = fmt.Sprintf("%%.%df", min(fixed, maxDecimals))
	}
	return s
}

// shortest returns the number of digits and the exponent of the shortest decimal that reads back as x.
func shortest(d DType, x float64) (digits, exponent int) {
	bits := 32
	switch {
	case d == ir.Float64:
		bits = 64
	case d.IsHalf():
		x = shortHalf(d, x)
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, bits), "e")
	exponent, _ = strconv.Atoi(power)
	return len(strings.Replace(mantissa, ".", "", 1)), exponent
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
	case math.IsNaN(x):
		return fmt.Sprintf(s.text, "NaN")
	case math.IsInf(x, 0):
		return fmt.Sprintf(s.text, strings.TrimPrefix(strings.ToLower(fmt.Sprint(x)), "+"))
	case s.number == "":
		return fmt.Sprintf(s.text, fmt.Sprintf(s.shared, x))
	case d == ir.Float64 || d.IsInt():
		return fmt.Sprintf(s.number, x)
	case s.shortest && d.IsHalf():
		return fmt.Sprintf(s.number, float32(shortHalf(d, x)))
	default:
		return fmt.Sprintf(s.number, float32(x))
	}
}

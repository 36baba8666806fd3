package tensor

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// MarshalJSON returns t as {"shape":[2],"values":[1,2]}, without its type. Values are
// row-major; bools are true and false, and NaN, Inf and -Inf are strings. An absent tensor
// is null. MarshalJSON computes t; see [Eval] for the errors.
func (t Tensor) MarshalJSON() ([]byte, error) {
	if t.n == nil {
		return []byte("null"), nil
	}
	data, err := t.bytes("MarshalJSON")
	if err != nil {
		return nil, err
	}
	out := []byte(`{"shape":[`)
	for i, n := range t.n.Shape {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(n), 10)
	}
	out = append(out, `],"values":[`...)
	for i := range t.n.Len() {
		if out, err = hostmem.Grow(out, maxElementText); err != nil {
			return nil, &DeviceError{Device: "host", Op: "MarshalJSON", Err: err}
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = appendJSON(out, t.n.DType, data, i)
	}
	return append(out, "]}"...), nil
}

// maxElementText bounds the bytes of an element in JSON, separator included.
const maxElementText = 64

// appendJSON appends element i of data.
func appendJSON(out []byte, d DType, data []byte, i int) []byte {
	num := element(d, data, i)
	switch {
	case d == ir.Bool:
		return strconv.AppendBool(out, num != 0)
	case !d.IsFloat():
		return append(out, num.Text(d)...)
	}
	x := num.Float64(d)
	switch {
	case math.IsNaN(x):
		return append(out, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(out, `"Inf"`...)
	case math.IsInf(x, -1):
		return append(out, `"-Inf"`...)
	}
	bits, verb := 32, byte('f')
	if d == ir.Float64 {
		bits = 64
	}
	if abs := math.Abs(x); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		verb = 'e'
	}
	return strconv.AppendFloat(out, x, verb, -1, bits)
}

// UnmarshalJSON sets t to a tensor written by [Tensor.MarshalJSON]. Its type is bool if
// the values are true and false, otherwise t's type, or float32 if t is absent. It is an
// error if a value does not fit the type, or if the number of values does not fit the
// shape.
func (t *Tensor) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var file struct {
		Shape  jsonArray `json:"shape"`
		Values jsonArray `json:"values"`
	}
	err := json.Unmarshal(b, &file)
	var other *json.UnmarshalTypeError // JSON of a wrong form
	switch {
	case errors.As(err, &other), err == nil && (file.Shape == "" || file.Values == ""):
		return errWantTensor
	case err != nil:
		return fmt.Errorf("tensor from JSON: %w", err)
	}
	s, err := file.Shape.lengths()
	if err != nil {
		return err
	}
	count := 0
	for range file.Values.elements() {
		count++
	}
	if count != graph.Len(s) {
		return fmt.Errorf("tensor from JSON: %s cannot make shape %v", shape.Count(count, "value"), s)
	}
	d := Float32
	if t.n != nil {
		d = t.n.DType
	}
	for v := range file.Values.elements() {
		if v == "true" || v == "false" {
			d = Bool
		}
	}
	data, err := storage.Allocate(count, d.Size())
	if err != nil {
		return fmt.Errorf("tensor from JSON: %w", err)
	}
	data = data[:0]
	for v := range file.Values.elements() {
		x, ok := v.number(d)
		if !ok {
			return fmt.Errorf("tensor from JSON: value %d: %s is no %v", len(data)/d.Size(), files.Name(string(v[:min(len(v), 40)])), d)
		}
		data = x.Append(data, d)
	}
	*t = newStored(d, s, data)
	return nil
}

var errWantTensor = errors.New(`tensor from JSON: want {"shape":[…],"values":[…]}`)

// A jsonArray is the text of a JSON array, "" for other JSON. It is not decoded into a slice,
// which would take many times the memory of the text.
type jsonArray string

// UnmarshalJSON stores the text.
func (a *jsonArray) UnmarshalJSON(b []byte) error {
	*a = ""
	if b[0] == '[' {
		*a = jsonArray(b)
	}
	return nil
}

// elements yields the text of the elements.
func (a jsonArray) elements() iter.Seq[jsonValue] {
	return func(yield func(jsonValue) bool) {
		start, depth, quoted := 1, 0, false
		for i := 0; i < len(a); i++ {
			c := a[i]
			switch {
			case quoted && c == '\\':
				i++ // whatever it escapes
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '[', c == '{':
				depth++
			case c == ',' && depth == 1, c == ']' && depth == 1:
				v := strings.TrimSpace(string(a[start:i]))
				if v != "" && !yield(jsonValue(v)) { // "" only in []
					return
				}
				start = i + 1
			case c == ']', c == '}':
				depth--
			}
		}
	}
}

// lengths returns the elements as the lengths of a shape.
func (a jsonArray) lengths() ([]int, error) {
	s := []int{}
	for v := range a.elements() {
		n, err := strconv.Atoi(string(v))
		if err != nil {
			return nil, errWantTensor
		}
		if s = append(s, n); len(s) > shape.MaxFileRank {
			break
		}
	}
	if err := shape.CheckFile(s); err != nil {
		return nil, fmt.Errorf("tensor from JSON: shape %v has %w", s, err)
	}
	return s, nil
}

// A jsonValue is an element's JSON text.
type jsonValue string

// number returns v as an element of type d, false if it does not fit.
func (v jsonValue) number(d DType) (ir.Number, bool) {
	switch {
	case d == Bool:
		if v == "true" {
			return 1, true
		}
		return 0, v == "false"
	case d.IsFloat():
		if x, ok := specials[v]; ok {
			return ir.Float(d, x), true
		}
		bits := 32 // also of halves, which ir.Float rounds once more
		if d == Float64 {
			bits = 64
		}
		x, err := strconv.ParseFloat(string(v), bits)
		num := ir.Float(d, x)
		return num, err == nil && !math.IsInf(num.Float64(d), 0)
	}
	text, negative := strings.CutPrefix(string(v), "-")
	n, ok := jsonValue(text).natural()
	num, verdict := uintNumber(d, n)
	if negative && n > 0 {
		num, verdict = intNumber(d, -int64(n))
		ok = ok && n <= 1<<63
	}
	return num, ok && verdict == fits
}

// natural returns v if it is a natural number that fits a uint64. 1.0 and 1e3 are natural
// numbers, too; going through a float64 would round them.
func (v jsonValue) natural() (n uint64, ok bool) {
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(string(v)), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	if digits == "" {
		return 0, true // whatever the exponent
	}
	zeros := len(whole) - len(digits) // to append to digits, negative if v has a fraction
	if scaled {
		e, err := strconv.Atoi(exponent)
		if err != nil {
			return 0, false
		}
		zeros += e
	}
	if zeros < 0 || zeros > 19 { // 10^20 is too large
		return 0, false
	}
	n, err := strconv.ParseUint(digits+strings.Repeat("0", zeros), 10, 64)
	return n, err == nil
}

var specials = map[jsonValue]float64{
	`"NaN"`: math.NaN(), `"Inf"`: math.Inf(1), `"-Inf"`: math.Inf(-1),
}

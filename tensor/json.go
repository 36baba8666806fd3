package tensor

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// MarshalJSON returns t as {"shape":[2],"values":[1,2]}, without its type. Values are
// row-major; those of a bool tensor are true and false, and NaN, Inf and -Inf are
// strings. An absent tensor is null. MarshalJSON computes t; see [Eval] for the errors.
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
		Shape  *[]int       `json:"shape"`
		Values *[]jsonValue `json:"values"`
	}
	err := json.Unmarshal(b, &file)
	var other *json.UnmarshalTypeError // JSON of a wrong form
	switch {
	case errors.As(err, &other), err == nil && (file.Shape == nil || file.Values == nil):
		return errors.New(`tensor from JSON: want {"shape":[…],"values":[…]}`)
	case err != nil:
		return fmt.Errorf("tensor from JSON: %w", err)
	}
	s, values := *file.Shape, *file.Values
	if err := shape.Check(s); err != nil {
		return fmt.Errorf("tensor from JSON: shape %v has %w", s, err)
	}
	if len(values) != graph.Len(s) {
		return fmt.Errorf("tensor from JSON: %s cannot make shape %v", shape.Count(len(values), "value"), s)
	}
	d := Float32
	if t.n != nil {
		d = t.n.DType
	}
	if slices.ContainsFunc(values, jsonValue.isBool) {
		d = Bool
	}
	data, err := exec.Allocate(len(values), d.Size())
	if err != nil {
		return fmt.Errorf("tensor from JSON: %w", err)
	}
	data = data[:0]
	for i, v := range values {
		x, ok := v.number(d)
		if !ok {
			return fmt.Errorf("tensor from JSON: value %d: %s is no %v", i, v, d)
		}
		data = x.Append(data, d)
	}
	*t = newStored(d, slices.Clone(s), data)
	return nil
}

// A jsonValue is an element's JSON text.
type jsonValue string

// UnmarshalJSON stores the text.
func (v *jsonValue) UnmarshalJSON(b []byte) error {
	*v = jsonValue(b)
	return nil
}

func (v jsonValue) isBool() bool { return v == "true" || v == "false" }

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

package tensor

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An Operand is a [Tensor] or a Go number: a value of any integer or floating-point
// type, or of a type based on one, or a bool for a tensor of bools. A number takes the
// type of the tensor it is combined with, and must fit it: 0.5 does not fit int32.
type Operand = any

// operands returns t's node and o as a node of its type, both broadcast to one shape.
func operands(op string, t Tensor, o Operand) (x, y *graph.Node) {
	x = t.node(op)
	u, ok := o.(Tensor)
	if !ok {
		return x, numberLike(op, x, o)
	}
	y = u.node(op)
	x, y = promote(op, x, y)
	if !slices.Equal(x.Shape, y.Shape) {
		x, y = broadcast(op, x, y)
	}
	return x, y
}

// exactOperands is operands for an operation that rounds its result: see exactLike.
func exactOperands(op string, t Tensor, o Operand) (x, y *graph.Node) {
	if _, ok := o.(Tensor); ok {
		return operands(op, t, o)
	}
	x = t.node(op)
	return x, exactLike(op, x, o)
}

// promote returns x and y in one type: if their types differ, an untyped constant takes
// the type of the other. It panics if neither can, or if they are on two devices.
func promote(op string, x, y *graph.Node) (*graph.Node, *graph.Node) {
	checkDevices(op, x, y)
	switch {
	case x.DType == y.DType:
	case takesType(y, x.DType):
		y = converted(op, y, x)
	case takesType(x, y.DType):
		x = converted(op, x, y)
	default:
		fail(op, "the types differ: Cast one of them", x, y)
	}
	return x, y
}

// promoteAll is promote for any number of nodes. It changes the slice.
func promoteAll(op string, ns []*graph.Node) {
	for i := range ns[1:] { // the first has the type of all before it
		ns[0], ns[i+1] = promote(op, ns[0], ns[i+1])
	}
	for i, n := range ns {
		_, ns[i] = promote(op, ns[0], n)
	}
}

// takesType reports whether x is an untyped constant that can become one of type d: any
// can become a float, and one of integers integers that hold its positions.
func takesType(x *graph.Node, d DType) bool {
	return x.IsUntyped() && (d.IsFloat() || d.IsInt() && x.DType.IsInt() && d.Size() >= 4)
}

// converted returns an untyped x in the type of y, and still untyped if y is. As in Go, a
// negative constant is not an unsigned integer.
func converted(op string, x, y *graph.Node) *graph.Node {
	if y.IsUntyped() {
		return graph.Cast(x, y.DType)
	}
	if y.DType.IsInt() && !y.DType.IsSigned() && graph.HasNegative(x) {
		fail(op, fmt.Sprintf("the constant has negative elements, which %v lacks: Cast one of them", y.DType), x, y)
	}
	return graph.Convert(x, y.DType)
}

// checkDevices panics if x and y are committed to two devices.
func checkDevices(op string, x, y *graph.Node) {
	if x.Device == y.Device || x.Device == nil || y.Device == nil {
		return
	}
	if x.Device.String() == y.Device.String() {
		fail(op, fmt.Sprintf("both are on %v, which was opened twice: share one Device, or move one with To", x.Device), x, y)
	}
	fail(op, fmt.Sprintf("one is on %v, the other on %v: move one with To", x.Device, y.Device), x, y)
}

// broadcast expands x and y to one shape.
func broadcast(op string, x, y *graph.Node) (*graph.Node, *graph.Node) {
	s, ok := shape.Broadcast(x.Shape, y.Shape)
	if !ok {
		fail(op, "the shapes do not broadcast: from the last axis on, lengths must be equal or 1", x, y)
	}
	checkLen(op, s, x, y)
	return graph.BroadcastTo(x, s), graph.BroadcastTo(y, s)
}

// numberLike returns a tensor like x with all elements equal to a Go number, which is an
// argument of the compiled program.
func numberLike(op string, x *graph.Node, v any) *graph.Node {
	return numberIn(op, x, v, x.Shape)
}

// exactLike is numberLike for an operation that rounds its result. Kernels compute 16-bit
// floats in float32, in which the number comes to them; a Cast of it takes no time and drops
// no digits.
func exactLike(op string, x *graph.Node, v any) *graph.Node {
	if !x.DType.IsHalf() {
		return numberLike(op, x, v)
	}
	numberOf(op, x, v) // checks
	wide := graph.Fill(ir.Float32, 0, x.Shape)
	return graph.Cast(numberLike(op, wide, v), x.DType)
}

// numberIn is numberLike in another shape.
func numberIn(op string, x *graph.Node, v any, shape []int) *graph.Node {
	s := graph.Scalar(x.DType, numberOf(op, x, v), shape)
	if exact, status := number(ir.Float64, v); status == fits && x.DType.IsFloat() && !x.IsTyped() {
		s.Exactly(exact.Float64(ir.Float64))
	}
	return s
}

// numberOf returns v as an element of x's type.
func numberOf(op string, x *graph.Node, v any) ir.Number {
	num, verdict := number(x.DType, v)
	switch verdict {
	case doesNotFit:
		fail(op, fmt.Sprintf("%v does not fit %v%s", v, x.DType, hintFor(x.DType, v)), x, v)
	case notNumber:
		fail(op, fmt.Sprintf("a %T is neither a Tensor nor a number", v), x)
	}
	return num
}

// hintFor says to which type a tensor of type d must be cast for a number that does not fit.
func hintFor(d DType, v any) string {
	types := []DType{ir.Int32, ir.Int64, ir.Uint64, ir.Float32, ir.Float64, ir.Bool}
	if d.IsFloat() {
		types = types[3:]
	}
	for _, d := range types {
		if _, status := number(d, v); status == fits {
			return ": Cast(" + goName(d) + ") the tensor"
		}
	}
	return ""
}

// goName is the name of a type in programs, such as tensor.Float32.
func goName(d DType) string {
	name := d.String()
	if d == ir.BFloat16 {
		return "tensor.BFloat16"
	}
	return "tensor." + strings.ToUpper(name[:1]) + name[1:]
}

type numberStatus uint8

const (
	fits       numberStatus = iota
	doesNotFit              // a number that the type cannot hold
	notNumber               // not a number at all
)

// number returns v as an element of type d.
func number(d DType, v any) (ir.Number, numberStatus) {
	switch v := v.(type) {
	case float64:
		return floatNumber(d, v)
	case int:
		return intNumber(d, int64(v))
	case float32:
		return floatNumber(d, float64(v))
	case bool:
		return boolNumber(d, v)
	case F16:
		return floatNumber(d, float64(v.Float32()))
	case BF16:
		return floatNumber(d, float64(v.Float32()))
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return intNumber(d, r.Int())
	case r.CanUint():
		return uintNumber(d, r.Uint())
	case r.CanFloat():
		return floatNumber(d, r.Float())
	case r.Kind() == reflect.Bool:
		return boolNumber(d, r.Bool())
	}
	return 0, notNumber
}

func boolNumber(d DType, v bool) (ir.Number, numberStatus) {
	switch {
	case d != ir.Bool:
		return 0, doesNotFit
	case v:
		return 1, fits
	}
	return 0, fits
}

func intNumber(d DType, v int64) (ir.Number, numberStatus) {
	switch {
	case v >= 0:
		return uintNumber(d, uint64(v))
	case d.IsFloat():
		return floatNumber(d, float64(v))
	}
	if lo, _ := ir.Limits(d); v < int64(lo) {
		return 0, doesNotFit
	}
	return ir.Int(d, v), fits
}

func uintNumber(d DType, v uint64) (ir.Number, numberStatus) {
	if d.IsFloat() {
		return floatNumber(d, float64(v))
	}
	if _, hi := ir.Limits(d); d == ir.Bool || v > uint64(hi) {
		return 0, doesNotFit
	}
	return ir.Number(v), fits
}

func floatNumber(d DType, v float64) (ir.Number, numberStatus) {
	if !d.IsFloat() {
		// 2^64 is the first float64 past the uint64s.
		switch {
		case v != math.Trunc(v) || v < -1<<63 || v >= 1<<64:
			return 0, doesNotFit
		case v < 0:
			return intNumber(d, int64(v))
		}
		return uintNumber(d, uint64(v))
	}
	num := ir.Float(d, v)
	if math.IsInf(num.Float64(d), 0) && !math.IsInf(v, 0) {
		return 0, doesNotFit
	}
	return num, fits
}

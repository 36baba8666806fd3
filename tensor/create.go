package tensor

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// New returns a tensor with a copy of data, row-major. Without a shape it has one
// axis.
func New[E Element](data []E, lengths ...int) Tensor {
	d := dtypeOf[E]()
	s := slices.Clone(lengths)
	if lengths == nil {
		s = []int{len(data)}
	}
	checkShape("New", s)
	if graph.Len(s) != len(data) {
		fail("New", fmt.Sprintf("%s cannot make shape %v", shape.Count(len(data), "element"), s))
	}
	copied := allocate("New", len(data), d)
	copy(copied, bytesOf(data))
	return newStored(d, s, copied)
}

// allocate returns memory for n elements; it panics with a *DeviceError if there is too
// little.
func allocate(op string, n int, d DType) []byte {
	data, err := storage.Allocate(n, d.Size())
	if err != nil {
		panic(&DeviceError{Device: "host", Op: op, Err: err})
	}
	return data
}

// newStored returns a tensor that owns data, elements on the host.
func newStored(d DType, s []int, data []byte) Tensor {
	return Tensor{n: storage.HostNode(d, s, data)}
}

// From returns a tensor of nested slices or arrays of one [Element] type, such as
// [][]float32{{1, 2}, {3, 4}}, or of a single element. Rows must have equal lengths.
func From(nested any) Tensor {
	v := reflect.ValueOf(nested)
	if !v.IsValid() {
		fail("From", "nil has no elements")
	}
	var s []int
	elem := v.Type()
	for r := v; elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array; elem = elem.Elem() {
		n := 0
		if r.IsValid() {
			n = r.Len()
		} else if elem.Kind() == reflect.Array {
			n = elem.Len()
		}
		s = append(s, n)
		if n > 0 && r.IsValid() {
			r = r.Index(0)
		} else {
			r = reflect.Value{}
		}
	}
	d, ok := dtype(elem)
	if !ok {
		fail("From", fmt.Sprintf("no element type for %v: use %s", elem, goTypes()), v.Type())
	}
	checkShape("From", s)
	data := allocate("From", graph.Len(s), d)
	return newStored(d, s, appendNested(data[:0], v, d, s))
}

func appendNested(data []byte, v reflect.Value, d DType, s []int) []byte {
	if len(s) == 0 {
		return appendElement(data, v, d)
	}
	if v.Len() != s[0] {
		fail("From", fmt.Sprintf("rows have different lengths: one has %s, another %d", shape.Count(v.Len(), "element"), s[0]))
	}
	for i := range v.Len() {
		data = appendNested(data, v.Index(i), d, s[1:])
	}
	return data
}

// checkShape panics if a user's shape has a negative length or is too large.
func checkShape(op string, s []int) {
	if err := shape.Check(s); err != nil {
		fail(op, fmt.Sprintf("shape %v has %v", s, err))
	}
}

// constant returns a tensor of v, a number known to fit the type.
func constant(op string, d DType, v float64, lengths []int) Tensor {
	s := slices.Clone(lengths)
	checkShape(op, s)
	return Tensor{n: graph.Fill(d, v, s)}
}

// Zeros returns zeros, an untyped constant of float32; without a shape, a scalar.
func Zeros(lengths ...int) Tensor { return untyped(constant("Zeros", ir.Float32, 0, lengths)) }

// Ones returns ones, an untyped constant of float32; without a shape, a scalar.
func Ones(lengths ...int) Tensor { return untyped(constant("Ones", ir.Float32, 1, lengths)) }

// untyped makes a new constant untyped: see the package comment.
func untyped(t Tensor) Tensor { return Tensor{n: t.n.AsUntyped()} }

// ZerosLike returns zeros of t's shape and type.
func ZerosLike(t Tensor) Tensor { return like("ZerosLike", t, 0) }

// OnesLike returns ones of t's shape and type.
func OnesLike(t Tensor) Tensor { return like("OnesLike", t, 1) }

func like(op string, t Tensor, v float64) Tensor { return Tensor{n: fill(t.node(op), v)} }

// Full returns a tensor with all elements equal to v, an untyped constant of float32.
func Full(v float64, lengths ...int) Tensor {
	s := slices.Clone(lengths)
	checkShape("Full", s)
	return Tensor{n: fullNode(v, s)}
}

func fullNode(v float64, s []int) *graph.Node {
	return graph.Scalar(ir.Float32, ir.Float(ir.Float32, v), s).Exactly(v).AsUntyped()
}

// Scalar returns v as a tensor of rank 0, an untyped constant of float32.
func Scalar(v float64) Tensor { return Full(v) }

// Arange returns numbers in equal steps: Arange(n) 0, 1, …, n-1; Arange(start, stop)
// start, start+1, … up to but not including stop; Arange(start, stop, step) start,
// start+step, …, in either direction. It is empty where stop does not lie ahead. The result is
// an untyped constant: of int32 for ints, of float32 for float64s, as in Arange(0, 1, 0.1). If
// the step is rounded, as 0.1 is, stop may be included: [Linspace] has a length that does not
// depend on rounding.
func Arange[N int | float64](bounds ...N) Tensor {
	var start, stop N
	step := N(1)
	switch len(bounds) {
	case 1:
		stop = bounds[0]
		if stop < 0 {
			fail("Arange", fmt.Sprintf("length %v: want 0 to 2147483647, as positions are int32", stop))
		}
	case 2:
		start, stop = bounds[0], bounds[1]
	case 3:
		start, stop, step = bounds[0], bounds[1], bounds[2]
	default:
		fail("Arange", fmt.Sprintf("%s: want a length, or start, stop and perhaps a step", shape.Count(len(bounds), "number")))
	}
	if step == 0 {
		fail("Arange", "the step is 0")
	}
	if ints, ok := any(bounds).([]int); ok {
		return arange(ints, int(start), int(stop), int(step))
	}
	return arangeFloats(float64(start), float64(stop), float64(step))
}

func arange(bounds []int, start, stop, step int) Tensor {
	for _, v := range bounds {
		if v < math.MinInt32 || v > math.MaxInt32 {
			fail("Arange", fmt.Sprintf("%d is no int32", v))
		}
	}
	n := (stop - start + step - sign(step)) / step
	if (stop-start)*sign(step) <= 0 {
		n = 0
	}
	checkCount("Arange", n)
	x := graph.Iota([]int{n}, 0).AsUntyped()
	if step != 1 {
		x = mul(x, numberLike("Arange", x, step))
	}
	if start != 0 {
		x = add(x, numberLike("Arange", x, start))
	}
	return Tensor{n: x}
}

func arangeFloats(start, stop, step float64) Tensor {
	n := math.Ceil((stop - start) / step)
	if !(math.Abs(n) <= math.MaxInt32) {
		fail("Arange", fmt.Sprintf("%v to %v in steps of %v: want at most 2147483647 numbers", start, stop, step))
	}
	s := []int{max(0, int(n))}
	if n <= 1 {
		step = 0 // it may be none of float32, and 0·Inf is NaN
	}
	line := fullNode(start, s)
	for _, part := range places(s) {
		line = add(line, mul(part, fullNode(step, s)))
	}
	return Tensor{n: line}
}

// places returns the places of elements in float32 or, where it lacks some of them, two parts of which
// they are the sums: multiples of 4096, and the rest.
func places(s []int) []*graph.Node {
	i := graph.Iota(s, 0)
	if s[0] <= 1<<24 {
		return []*graph.Node{graph.Cast(i, ir.Float32)}
	}
	rest := graph.Binary(ir.And, i, fill(i, 4095))
	return []*graph.Node{graph.Cast(sub(i, rest), ir.Float32), graph.Cast(rest, ir.Float32)}
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// checkCount panics unless n is from 0 to the greatest int32.
func checkCount(op string, n int) {
	if n < 0 || n > 1<<31-1 {
		fail(op, fmt.Sprintf("length %d: want 0 to 2147483647, as positions are int32", n))
	}
}

// checkPositions panics if a length exceeds the greatest int32.
func checkPositions(op string, x *graph.Node, lengths ...int) {
	for _, n := range lengths {
		if n > math.MaxInt32 {
			fail(op, fmt.Sprintf("axis of %d elements: positions are int32, at most 2147483647: Reshape it to more axes", n), x)
		}
	}
}

// Eye returns the identity matrix [n n], an untyped constant of float32.
func Eye(n int) Tensor {
	checkShape("Eye", []int{n, n})
	one := graph.Fill(ir.Float32, 1, []int{1, 1}).AsUntyped()
	return Tensor{n: skew(graph.Expand(pad(one, 1, 0, n), []int{n, n + 1}))}
}

// Linspace returns n evenly spaced numbers from start to end, both included, an untyped
// constant of float32: start + i·(end-start)/(n-1). A single number is start.
func Linspace(start, end float64, n int) Tensor {
	checkCount("Linspace", n)
	if n == 1 {
		return Full(start, 1)
	}
	s := []int{n}
	value := func(v float64) *graph.Node { return fullNode(v, s) }
	i := graph.Iota(s, 0)
	unit := 1.0
	if half := end/2 - start/2; !math.IsInf(half, 0) && math.Abs(half)*float64(n) > math.MaxFloat32/2 {
		unit = 0x1p-33 // i·(end-start) would overflow: it is at most 2^31 · 2^129
	}
	line := value(start * unit)
	for _, part := range places(s) {
		way := mul(part, value(end*unit-start*unit)) // i·(end-start) is exact for small numbers
		line = add(line, div(way, fill(way, float64(n-1))))
	}
	if unit < 1 {
		line = graph.Where(eq(i, fill(i, 0)), value(start), scaled(line, 1/unit))
	}
	return Tensor{n: graph.Where(eq(i, fill(i, float64(n-1))), value(end), line)}
}

// Meshgrid returns a tensor of the common grid for each of ts, which have one axis. The
// i-th has the elements of ts[i] along axis i, repeated along the other axes.
func Meshgrid(ts ...Tensor) []Tensor {
	ns := nodes("Meshgrid", ts)
	grid := make([]int, len(ns))
	for i, n := range ns {
		if len(n.Shape) != 1 {
			fail("Meshgrid", "each tensor must have one axis", n)
		}
		grid[i] = n.Shape[0]
	}
	checkLen("Meshgrid", grid)
	out := make([]Tensor, len(ns))
	for i, n := range ns {
		out[i] = Tensor{n: spreadAxes(n, []int{i}, grid)}
	}
	return out
}

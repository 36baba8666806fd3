package tensor

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/ir"
)

// Eval computes all tensors in the given trees (see the package comment) that are not
// computed yet, in one plan, and stores their elements. It panics with an [*Error] for
// a value that is not a tree, such as a number. It returns the first failure of a
// device, or an [*Error] for the first index in a tensor that was out of range.
func Eval(trees ...any) error {
	d := Default().exec()
	ns := roots("Eval", trees)
	for _, n := range ns {
		if err := hasValue("Eval", n); err != nil {
			return err
		}
	}
	return failure("Eval", d, exec.Eval(d, ns))
}

// hasValue returns an error for a placeholder, such as one inside of grad.Vmap, which has no value.
func hasValue(op string, n *graph.Node) error {
	of, ended := n.PlaceholdersOf()
	switch {
	case of == "":
		return nil
	case ended:
		return misuse(op, "it was made inside of a "+of+" that has ended, so it has no value: return it from the function that "+of+" calls", n)
	}
	return misuse(op, "inside of "+of+" "+standsFor[of]+" and has no value: use Where instead of if, and look at results outside", n)
}

// standsFor explains, by transformation, why a tensor has no value inside of its function.
var standsFor = map[string]string{
	"grad.Vmap":   "a tensor stands for all examples",
	"grad.Jit":    "a tensor stands for those of all calls",
	"grad.Scan":   "a tensor stands for those of all steps",
	"onnx.Export": "a tensor stands for those of all runs",
	"optim.Jit":   "(and of a train.Loop that is not Eager) a tensor stands for those of all steps",
}

// Explain returns the plan of [Eval] of the trees as text: its kernels, the bytes that they
// move and the number of arithmetic operations. A plan that needs results of another device
// shows their plan as a part of itself.
func Explain(trees ...any) string {
	return exec.Explain(Default().exec(), roots("Explain", trees))
}

// roots returns the nodes of all tensors in trees that are not absent.
func roots(op string, trees []any) []*graph.Node {
	var ns []*graph.Node
	for _, tree := range trees {
		if t, ok := tree.(Tensor); ok { // no need to walk
			if t.n != nil {
				ns = append(ns, t.n)
			}
			continue
		}
		leaves, err := pytree.Flatten[Tensor](tree)
		if err != nil {
			fail(op, err.Error(), fmt.Sprintf("a %T", tree))
		}
		if len(leaves) == 0 && !pytree.IsTree[Tensor](tree) {
			fail(op, "want a Tensor, or a struct, slice, map or pointer made of them", fmt.Sprintf("a value of type %T", tree))
		}
		for _, l := range leaves {
			if l.Value.n != nil {
				ns = append(ns, l.Value.n)
			}
		}
	}
	return ns
}

// Data returns a copy of t's elements in row-major order. E must be t's type. It
// computes t if necessary; see [Eval] for the errors.
//
// In a browser, call it from a goroutine, not from a JavaScript callback.
func Data[E Element](t Tensor) ([]E, error) {
	n := t.node("Data")
	if d := dtypeOf[E](); d != n.DType {
		fail("Data", fmt.Sprintf("the elements are not %v: use Data[%s], or Cast(%s) first", reflect.TypeFor[E](), dataName(n.DType), goName(d)), n)
	}
	data, err := t.bytes("Data")
	if err != nil {
		return nil, err
	}
	return elementsOf[E](data), nil
}

// dataName is the Go type of elements of a type, as a program names it.
func dataName(d DType) string {
	switch d {
	case ir.Float16:
		return "tensor.F16"
	case ir.BFloat16:
		return "tensor.BF16"
	}
	return d.String()
}

// bytes returns a copy of t's elements as they are in memory.
func (t Tensor) bytes(op string) ([]byte, error) { return t.read(op, exec.Read) }

// read computes t and returns its elements as get does.
func (t Tensor) read(op string, get func(*exec.Device, *graph.Node) ([]byte, error)) ([]byte, error) {
	d := Default().exec()
	if err := hasValue(op, t.node(op)); err != nil {
		return nil, err
	}
	data, err := get(d, t.n)
	if own, ok := t.n.Device.(*exec.Device); ok {
		d = own
	}
	return data, failure(op, d, err)
}

// Item returns the only element of t as a float64; true is 1. Integers beyond 2^53 are
// rounded to it; [Data] returns them exactly. It panics with an
// [*Error] if t does not have exactly one element, with a [*DeviceError] if it cannot
// be computed.
func (t Tensor) Item() float64 {
	n := t.node("Item")
	if n.Len() != 1 {
		fail("Item", "there must be exactly one element: see Data for more", n)
	}
	data, err := t.bytes("Item")
	if err != nil {
		panic(err)
	}
	return element(n.DType, data, 0).Float64(n.DType)
}

// AllClose reports whether |a-b| ≤ atol + rtol·|b| for all elements of a and b, which
// have one type and are broadcast. Infinities are close to themselves, NaN to nothing.
// Integers are compared exactly if rtol and atol are 0, otherwise as float64, on the CPU.
// It computes a and b; see [Eval] for the errors.
func AllClose(a, b Tensor, rtol, atol float64) (bool, error) {
	x, y := operands("AllClose", a, b)
	checkNumber("AllClose", "rtol", rtol, limits.NotNegative, x)
	checkNumber("AllClose", "atol", atol, limits.NotNegative, x)
	if x.DType.IsInt() && (rtol != 0 || atol != 0) {
		x, y = hostFloat64(x), hostFloat64(y)
	}
	close := eq(x, y)
	if x.DType.IsFloat() {
		tol := func(v float64) *graph.Node { return numberLike("AllClose", x, v) }
		bound := add(tol(atol), mul(tol(rtol), abs(y)))
		distance := abs(sub(x, y))
		// If the bound is infinite, the distance must still be finite.
		within := graph.Binary(ir.And, atMost(distance, bound), lt(distance, fill(x, math.Inf(1))))
		close = graph.Binary(ir.Or, close, within)
	}
	data, err := Tensor{n: all(close, nil)}.bytes("AllClose")
	if err != nil {
		return false, err
	}
	return data[0] != 0, nil
}

// hostFloat64 returns x as float64, which WebGPU lacks, on the CPU.
func hostFloat64(x *graph.Node) *graph.Node {
	if cpu := CPU().exec(); x.Device != graph.Device(cpu) {
		x = graph.ToDevice(x, cpu)
	}
	return graph.Cast(x, ir.Float64)
}

package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Tensor is an immutable n-dimensional array of elements of one type. The zero Tensor
// is absent: it stands for a missing tensor, such as the bias of a layer without one,
// and operations on it panic.
//
// A Tensor is a small value; copy it freely. It may be used from any number
// of goroutines. Comparing two with == does not compile: see [Tensor.Eq] and
// [AllClose].
type Tensor struct {
	_ [0]func()
	n *graph.Node
}

// Internal connects tensors and the nodes of graphs, for this module's packages only:
// its methods need a graph.Token, which other modules cannot name.
var Internal internal

type internal struct{}

// Node returns t's node, nil if t is absent.
func (internal) Node(_ graph.Token, t Tensor) *graph.Node { return t.n }

// Tensor returns the tensor of a node.
func (internal) Tensor(_ graph.Token, n *graph.Node) Tensor { return Tensor{n: n} }

// Bitcast reads elements as another type of the same size.
func (internal) Bitcast(_ graph.Token, t Tensor, d DType) Tensor {
	return Tensor{n: graph.Bitcast(t.n, ir.DType(d))}
}

// RoundBF16 rounds float32 elements, of which none is NaN, to numbers that bfloat16 has, half to even, also where it is
// fused into a kernel, which computes a Cast to bfloat16 and back with all digits.
func (i internal) RoundBF16(token graph.Token, t Tensor) Tensor {
	bits := i.Bitcast(token, t, Uint32)
	return i.Bitcast(token, bits.Add(bits.Shr(16).And(1)).Add(1<<15-1).And(math.MaxUint32&^(1<<16-1)), Float32)
}

// node returns t's node; if t is absent, it panics on behalf of op.
func (t Tensor) node(op string) *graph.Node {
	if t.n == nil {
		failAbsent(op)
	}
	return t.n
}

func failAbsent(op string) {
	fail(op, "the tensor is absent (the zero Tensor): test with IsValid")
}

// nodes returns the node of each of ts.
func nodes(op string, ts []Tensor) []*graph.Node {
	ns := make([]*graph.Node, len(ts))
	for i, t := range ts {
		ns[i] = t.node(op)
	}
	return ns
}

// IsValid reports whether t is present: false for the zero Tensor.
func (t Tensor) IsValid() bool { return t.n != nil }

// Shape returns a copy of the lengths of t's axes.
func (t Tensor) Shape() []int {
	if s := t.node("Shape").Shape; len(s) > 0 {
		return slices.Clone(s)
	}
	return []int{}
}

// Rank returns the number of t's axes; 0 for a scalar.
func (t Tensor) Rank() int { return len(t.node("Rank").Shape) }

// Len returns the number of t's elements.
func (t Tensor) Len() int { return t.node("Len").Len() }

// Dim returns the length of an axis.
func (t Tensor) Dim(axis int) int {
	n := t.node("Dim")
	return n.Shape[axisOf("Dim", n, axis)]
}

// DType returns the type of t's elements.
func (t Tensor) DType() DType { return t.node("DType").DType }

// Device returns the device that t is committed to, nil if it is committed to none: it is
// then computed where it is needed.
func (t Tensor) Device() *Device {
	d, _ := t.node("Device").Device.(*exec.Device)
	return (*Device)(d)
}

// To returns t committed to d: it is copied there when next computed, and kept as by
// [Tensor.Keep]. GPUs of NVIDIA copy from each other, other devices through the host's memory.
func (t Tensor) To(d *Device) Tensor {
	n := t.node("To")
	if d == nil {
		fail("To", "the device is nil", n)
	}
	if n.Device != graph.Device(d.exec()) {
		n = graph.ToDevice(n, d.exec())
	}
	n.Keep()
	return Tensor{n: n}
}

// Keep makes the first evaluation that computes t store its elements, instead of
// computing them again in the next, and returns t. Tensors that are read (see [Eval]) are
// stored in any case.
func (t Tensor) Keep() Tensor {
	t.node("Keep").Keep()
	return t
}

// Cast converts t's elements to type d. From float to integer it truncates and saturates,
// and NaN becomes 0. Between integers it wraps. To bool, 0 is false and all else true. It
// is differentiable between floats. The result is typed, even if t is an untyped constant
// of type d.
func (t Tensor) Cast(d DType) Tensor {
	n := t.node("Cast")
	if !d.Valid() {
		fail("Cast", "no such type as "+d.String(), n)
	}
	if n.IsUntyped() && n.DType != d {
		return Tensor{n: graph.Convert(n, d)}
	}
	return Tensor{n: graph.Typed(graph.Cast(n, d))}
}

// axisOf resolves an axis of x, which counts from the end if negative.
func axisOf(op string, x *graph.Node, axis int) int {
	a, err := shape.AxisOf(axis, len(x.Shape))
	if err != nil {
		fail(op, err.Error(), x)
	}
	return a
}

// axesOf resolves axes of x and sorts them.
func axesOf(op string, x *graph.Node, axes []int) []int {
	out, err := shape.Axes(axes, len(x.Shape))
	if err != nil {
		fail(op, err.Error(), x)
	}
	return out
}

// checkLen panics if a shape is too large or has negative lengths.
func checkLen(op string, s []int, operands ...any) {
	if err := shape.Check(s); err != nil {
		fail(op, fmt.Sprintf("the shape would be %v, with %v", s, err), operands...)
	}
}

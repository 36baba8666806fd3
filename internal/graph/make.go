package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// The functions of this file make nodes. Operands must fit exactly: nothing is
// broadcast, and axes are not negative. Package tensor checks the arguments of
// users first, so a mistake here panics with plain text.

// makeNode makes a node. It keeps shape and ints, and copies src.
func makeNode(op ir.Op, d ir.DType, shape, ints []int, src ...*Node) *Node {
	n := newNode()
	n.Op, n.DType, n.Shape, n.Ints, n.typing = op, d, shape, ints, typingOf(op, src)
	n.setSrc(src)
	n.inherit(src)
	n.recordSite(src)
	return n
}

// inherit takes scopes and device over from the operands. A computed operand whose
// scopes have closed drops its own operands: loops must not grow chains.
func (n *Node) inherit(src []*Node) {
	for _, s := range src {
		s.DropSources()
		n.scopes = union(n.scopes, s.scopes)
		if n.Device == nil {
			n.Device = s.Device
		}
	}
}

func makeSource(op ir.Op, d ir.DType, shape, ints []int, num ir.Number) *Node {
	n := newNode()
	n.Op, n.DType, n.Shape, n.Ints, n.Num = op, d, shape, ints, num
	if op != ir.Buffer {
		n.typing = neutral
	}
	n.recordSite(nil)
	return n
}

// Const is a tensor whose every element is num, a part of the program.
func Const(d ir.DType, num ir.Number, shape []int) *Node {
	return makeSource(ir.Const, d, shape, nil, num)
}

// Fill is Const of a float64.
func Fill(d ir.DType, v float64, shape []int) *Node {
	return Const(d, ir.Float(d, v), shape).Exactly(v)
}

// Scalar is a tensor whose every element is num, an argument of the program.
func Scalar(d ir.DType, num ir.Number, shape []int) *Node {
	return makeSource(ir.Scalar, d, shape, nil, num)
}

// Iota is the int32 position along an axis.
func Iota(shape []int, axis int) *Node {
	if shape[axis] > math.MaxInt32 {
		panic(fmt.Sprintf("graph: Iota of %v along axis %d", shape, axis))
	}
	return makeSource(ir.Iota, ir.Int32, shape, []int{axis}, 0)
}

// Buffer is stored elements.
func Buffer(d ir.DType, shape []int, v *Value) *Node {
	n := new(Node)
	n.SetBuffer(d, shape, v)
	return n
}

// SetBuffer fills in n, which is zero, as a node of [Buffer].
func (n *Node) SetBuffer(d ir.DType, shape []int, v *Value) {
	n.Op, n.DType, n.Shape = ir.Buffer, d, shape
	if v.Store != nil {
		n.Device = v.Store.Device()
	}
	n.value.Store(v)
	n.markRegion()
}

// Elementwise applies an op to operands of one shape. Cast and Bitcast have
// their own functions.
func Elementwise(op ir.Op, src ...*Node) *Node {
	row := &ir.Table[op]
	if row.Class != ir.Elementwise || row.Arity != len(src) {
		panic(fmt.Sprintf("graph: %v of %d operands", op, len(src)))
	}
	last := src[len(src)-1]
	for i, s := range src {
		if !slices.Equal(s.Shape, last.Shape) {
			panic(fmt.Sprintf("graph: %v of shapes %v and %v", op, s.Shape, last.Shape))
		}
		cond := op == ir.Where && i == 0
		if cond && s.DType != ir.Bool || !cond && (s.DType != last.DType || !row.Types.Has(s.DType)) {
			panic(fmt.Sprintf("graph: %v of %v and %v", op, s.DType, last.DType))
		}
	}
	return makeNode(op, op.ResultDType(0, last.DType), last.Shape, nil, src...)
}

// Unary is Elementwise of one operand.
func Unary(op ir.Op, x *Node) *Node { return Elementwise(op, x) }

// Binary is Elementwise of two operands.
func Binary(op ir.Op, x, y *Node) *Node { return Elementwise(op, x, y) }

// Where takes elements of a where cond is true, elsewhere of b.
func Where(cond, a, b *Node) *Node { return Elementwise(ir.Where, cond, a, b) }

// Cast converts elements to type d; x itself if it has that type.
func Cast(x *Node, d ir.DType) *Node {
	if x.DType == d {
		return x
	}
	return makeNode(ir.Cast, d, x.Shape, nil, x)
}

// Bitcast reads elements as another type of the same size. Neither type is a 16-bit
// float, which kernels hold as float32.
func Bitcast(x *Node, d ir.DType) *Node {
	if x.DType.Size() != d.Size() || x.DType.IsHalf() || d.IsHalf() {
		panic(fmt.Sprintf("graph: Bitcast of %v to %v", x.DType, d))
	}
	return makeNode(ir.Bitcast, d, x.Shape, nil, x)
}

// Reduce reduces axes, ascending and distinct, to length 1.
func Reduce(op ir.Op, x *Node, axes []int) *Node {
	shape := slices.Clone(x.Shape)
	for i, a := range axes {
		if i > 0 && axes[i-1] >= a {
			panic(fmt.Sprintf("graph: %v over axes %v", op, axes))
		}
		shape[a] = 1
	}
	if ir.Table[op].Class != ir.Reduction || !ir.Table[op].Types.Has(x.DType) {
		panic(fmt.Sprintf("graph: %v of %v", op, x.DType))
	}
	return makeNode(op, op.ResultDType(0, x.DType), shape, axes, x)
}

// Reshape gives x another shape of as many elements; x itself if it has it.
func Reshape(x *Node, shape []int) *Node {
	if slices.Equal(x.Shape, shape) {
		return x
	}
	if Len(shape) != x.Len() {
		panic(fmt.Sprintf("graph: Reshape of %v to %v", x.Shape, shape))
	}
	return makeNode(ir.Reshape, x.DType, shape, nil, x)
}

// Permute makes axis i of the result axis order[i] of x. It returns x for the order that x
// has, and the operand of a Permute that it undoes, such as the transposed factor of a
// product. It does not pass by nodes that are stored, or will be.
func Permute(x *Node, order []int) *Node {
	identity, inverse := true, x.Op == ir.Permute && !x.IsKept()
	for i, a := range order {
		identity = identity && i == a
		inverse = inverse && i == x.Ints[a]
	}
	if identity {
		return x
	}
	if src, v := x.State(); inverse && v == nil {
		return src.At(0)
	}
	shape := make([]int, len(order))
	for i, a := range order {
		shape[i] = x.Shape[a]
	}
	return makeNode(ir.Permute, x.DType, shape, order, x)
}

// Expand repeats x along axes of length 1 until it has the shape.
func Expand(x *Node, shape []int) *Node {
	if slices.Equal(x.Shape, shape) {
		return x
	}
	if len(x.Shape) != len(shape) {
		panic(fmt.Sprintf("graph: Expand of %v to %v", x.Shape, shape))
	}
	for i, d := range x.Shape {
		if d != 1 && d != shape[i] {
			panic(fmt.Sprintf("graph: Expand of %v to %v", x.Shape, shape))
		}
	}
	return makeNode(ir.Expand, x.DType, shape, nil, x)
}

// BroadcastTo is x repeated until it has the shape, by NumPy's rules.
func BroadcastTo(x *Node, shape []int) *Node {
	if extra := len(shape) - len(x.Shape); extra > 0 {
		s := make([]int, len(shape))
		for i := range s {
			s[i] = 1
		}
		copy(s[extra:], x.Shape)
		x = Reshape(x, s)
	}
	return Expand(x, shape)
}

// A Padding is how many elements Pad adds to an axis: before, after, and between
// each two.
type Padding struct{ Before, After, Interior int }

// Pad adds elements of value fill to x.
func Pad(x *Node, fill ir.Number, p []Padding) *Node {
	shape, ints, same := make([]int, len(p)), make([]int, 0, 3*len(p)), true
	for i, q := range p {
		if q.Before < 0 || q.After < 0 || q.Interior < 0 {
			panic(fmt.Sprintf("graph: Pad of %v by %v", x.Shape, p))
		}
		shape[i] = q.Before + x.Shape[i] + q.Interior*max(x.Shape[i]-1, 0) + q.After
		ints = append(ints, q.Before, q.After, q.Interior)
		same = same && q == Padding{}
	}
	if same {
		return x
	}
	n := makeNode(ir.Pad, x.DType, shape, ints, x)
	n.Num = fill
	return n
}

// A Span is a range of an axis: Len elements from Start, Step apart. Step is at
// least 1.
type Span struct{ Start, Step, Len int }

// Crop takes a span of each axis of x.
func Crop(x *Node, s []Span) *Node {
	shape, ints, same := make([]int, len(s)), make([]int, 0, 2*len(s)), true
	for i, q := range s {
		if q.Start < 0 || q.Step < 1 || q.Len < 0 || q.Len > 0 && q.Start+q.Step*(q.Len-1) >= x.Shape[i] {
			panic(fmt.Sprintf("graph: Crop of %v to %v", x.Shape, s))
		}
		shape[i] = q.Len
		ints = append(ints, q.Start, q.Step)
		same = same && q.Len == x.Shape[i]
	}
	if same {
		return x
	}
	return makeNode(ir.Crop, x.DType, shape, ints, x)
}

// FullSpans returns the spans with which Crop takes all of a shape.
func FullSpans(shape []int) []Span {
	s := make([]Span, len(shape))
	for i, n := range shape {
		s[i] = Span{Step: 1, Len: n}
	}
	return s
}

// Slice takes n elements of one axis, from start on.
func Slice(x *Node, axis, start, n int) *Node {
	s := FullSpans(x.Shape)
	s[axis] = Span{Start: start, Step: 1, Len: n}
	return Crop(x, s)
}

// Flip reverses axes, ascending and distinct.
func Flip(x *Node, axes []int) *Node {
	if len(axes) == 0 {
		return x
	}
	return makeNode(ir.Flip, x.DType, x.Shape, axes, x)
}

// Window makes axis i of length n and moves it along by axis k:
// y[..i..k..] = x[..i·s+k·d..k..], which must lie within x.
func Window(x *Node, i, k, s, d, n int) *Node {
	if n > 0 && x.Shape[k] > 0 && (n-1)*s+(x.Shape[k]-1)*d >= x.Shape[i] {
		panic(fmt.Sprintf("graph: Window of %v: axes %d, %d by %d, %d to %d", x.Shape, i, k, s, d, n))
	}
	shape := slices.Clone(x.Shape)
	shape[i] = n
	return makeNode(ir.Window, x.DType, shape, []int{i, k, s, d}, x)
}

// Unwindow is the transpose of Window from axis i of length n:
// x[..h..k..] = y[..(h-k·d)/s..k..] where that is whole and in range, else 0.
func Unwindow(y *Node, i, k, s, d, n int) *Node {
	shape := slices.Clone(y.Shape)
	shape[i] = n
	return makeNode(ir.Unwindow, y.DType, shape, []int{i, k, s, d}, y)
}

// Cat joins nodes along an axis.
func Cat(axis int, xs []*Node) *Node {
	if len(xs) == 1 {
		return xs[0]
	}
	shape := slices.Clone(xs[0].Shape)
	shape[axis] = 0
	for _, x := range xs {
		shape[axis] += x.Shape[axis]
	}
	return makeNode(ir.Cat, xs[0].DType, shape, []int{axis}, xs...)
}

// Copy is x as a node of its own, whose elements are stored apart from x's.
func Copy(x *Node) *Node { return makeNode(ir.Copy, x.DType, x.Shape, nil, x) }

// Gather is out[..i..] = x[..idx[..i..]..] along an axis; all other axes have the
// same lengths in x and idx.
func Gather(x, idx *Node, axis int) *Node {
	return makeNode(ir.Gather, x.DType, idx.Shape, []int{axis}, x, idx)
}

// Scatter is base with upd combined by kind at idx along an axis, in order, or by ir.Copy replaced
// by it; upd and idx have one shape, and all other axes are as in base.
func Scatter(kind ir.Op, base, idx, upd *Node, axis int) *Node {
	n := makeNode(ir.Scatter, base.DType, base.Shape, []int{axis}, base, idx, upd)
	n.Kind = kind
	return n
}

// GatherTranspose is the transpose of Gather: ct added at idx along an axis of a
// given length, onto zeros. The indices are in range, or Gather has said so.
func GatherTranspose(ct, idx *Node, axis, length int) *Node {
	shape := slices.Clone(ct.Shape)
	shape[axis] = length
	n := makeNode(ir.Scatter, ct.DType, shape, []int{axis, 1}, Fill(ct.DType, 0, shape), idx, ct)
	n.Kind = ir.Add
	return n
}

// WithOperands returns a node like n on other operands, which have the shapes and
// types of n's own.
func WithOperands(n *Node, src ...*Node) *Node {
	c := makeNode(n.Op, n.DType, n.Shape, n.Ints, src...)
	c.Kind, c.Num, c.RematLevel, c.Number = n.Kind, n.Num, n.RematLevel, n.Number
	switch _, recorded := n.Call().(*CallSite); {
	case n.Op == ir.CoOutput:
		c.typing = n.typing // which may differ from the operand's
	case n.Op == ir.ToDevice:
		c.Device = n.Device
	case recorded || n.Op == ir.Gather || n.Op == ir.Scatter || n.Op == ir.HostCall || n.Op == ir.Recur:
		c.setCall(n.Call())
	}
	return c
}

// WithShape is WithOperands for an elementwise n on operands of another shape.
func WithShape(n *Node, shape []int, src ...*Node) *Node {
	c := WithOperands(n, src...)
	c.Shape = shape
	return c
}

// FillLike is a Const or Scalar x with another shape.
func FillLike(x *Node, shape []int) *Node {
	n := makeSource(x.Op, x.DType, shape, x.Ints, x.Num)
	n.typing = x.typing
	return n.Exactly(x.exact())
}

// Leaf is a stored tensor of a graph to be compiled: the index-th it is
// called with, in row-major order unless Ints[1:], its strides, say
// otherwise. Ints[0] is 1 if its offset is aligned, plus twice the format that it is stored in, if any.
func Leaf(d ir.DType, shape []int, index int, ints []int) *Node {
	return makeSource(ir.Buffer, d, shape, ints, ir.Number(index))
}

// StoredType is the type of a node's elements in memory: of a Leaf it may be an ir.Format.
func StoredType(n *Node) ir.DType {
	if n.Op == ir.Buffer && len(n.Ints) > 0 && n.Ints[0] > 1 {
		return ir.DType(n.Ints[0] >> 1)
	}
	return n.DType
}

// Param is a number of a graph to be compiled: the index-th it is called with.
func Param(d ir.DType, shape []int, index int) *Node {
	return makeSource(ir.Scalar, d, shape, []int{index}, 0)
}

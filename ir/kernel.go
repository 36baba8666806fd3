package ir

import (
	"math/bits"
	"slices"
)

// A Template is a shape of kernel that every device has a way to run.
type Template uint8

// The templates; [Verify] checks their promises. A store covers the axes that it varies
// over; axes of length 1 need not be among them.
const (
	// Pointwise has no reduction, and every store covers all axes.
	Pointwise Template = iota + 1
	// Reduce reduces the same axes one or more times, with elementwise work
	// before, between and after. Every store covers the parallel axes, and all
	// the reduced ones or none.
	Reduce
	// Contraction is one Sum over the K axes of a product of a factor over
	// Batch, M and K axes and one over Batch, N and K axes. Elementwise work
	// may come before each factor and after the sum. Every store covers the
	// Batch, M and N axes.
	Contraction
	// Routine ends in an instruction with a row in [Routines].
	Routine
	// Attention computes, for each position along the Batch axes, matrices of scores with
	// rows along M and columns along N, and from them values of rows. A score is a Sum over
	// K axes of a product of a factor over Batch, M, K and one over Batch, N, K. Reductions
	// over all N axes are of values over Batch, M and N; or they are the Sum of a product
	// of such a value and a factor over Batch, N and Width axes. Elementwise work may come
	// before factors, between scores and reductions, and after these. Every store covers the
	// Batch and M axes, and the Width axes of one product or none.
	Attention
)

// A Role is the purpose of an axis.
type Role uint8

// The roles: Parallel and Reduced in all templates but Contraction and Attention, which have
// the others. Contraction has no Width.
const (
	Parallel Role = iota + 1
	Reduced
	Batch
	M
	N
	K
	Width
)

// An Axis is one loop of a kernel.
type Axis struct {
	Len  int
	Role Role
}

// An AxisSet is a set of a kernel's axes, a bit for each.
type AxisSet uint64

// MaxAxes is the most axes a kernel may have.
const MaxAxes = 64

// Axes returns the set of axes, each less than MaxAxes.
func Axes(axes ...int) AxisSet {
	var s AxisSet
	for _, a := range axes {
		if a >= MaxAxes {
			panic("ir: a kernel has too many axes")
		}
		s |= 1 << a
	}
	return s
}

// Has reports whether axis a is in s.
func (s AxisSet) Has(a int) bool { return s>>a&1 == 1 }

// List returns the axes in ascending order.
func (s AxisSet) List() []int {
	var list []int
	for ; s != 0; s &= s - 1 {
		list = append(list, bits.TrailingZeros64(uint64(s)))
	}
	return list
}

// An ArgKind is the kind of an argument.
type ArgKind uint8

// The kinds of arguments.
const (
	In ArgKind = iota + 1 // a buffer that is read
	// Out is a buffer that is written. It shares no element with another argument. In a pointwise
	// kernel, after the sum of a contraction, and in a reduce kernel if it varies over all axes, a Load
	// with the view of its only Store reads the element that is replaced, wherever in Body it stands. No
	// index depends on it.
	Out
	Value  // a single number
	Status // StatusLen int32: zeros, or 1 + the number of the instruction that met a bad index, that index, and its position
)

// An Arg is an argument of a kernel: a buffer and the element in it that views count from,
// or a number.
type Arg struct {
	Kind  ArgKind
	DType DType // of In also a Format, of which offsets and views count the elements
	// Len, for Out: every write is to one of the Len elements from the offset
	// on. No element is written twice: [Verify] checks each store exactly, and two
	// stores if their views have equal coefficients or no gaps. Elements in the
	// gaps of a view keep their values.
	Len int
	// Part, for Out: the offset may be other than 0. The call changes no
	// element of the buffer outside the part.
	Part bool
	// Undefined, for In: some elements hold anything, where a Store was not needed. The kernel
	// does not depend on them, and devices may skip their computations.
	Undefined bool
	// Kept, for the result of a Scatter: the updates are combined with the elements that it has. Those
	// that no index names keep their values.
	Kept bool
	// Align says that the offset is a multiple of 16 bytes, so that elements
	// of stride 1 may be loaded and stored as vectors, or of a block of a Format.
	Align bool
}

// An AffineExpr is an integer that depends on a point: (Off + Σ Coef[a]·a) / Div
// over the kernel's axes a. Div is at least 1.
type AffineExpr struct {
	Off  int
	Coef []int
	Div  int
}

// A Guard is a condition on a point: the division of its affine expression
// leaves no remainder, and the quotient is in [0, Len).
type Guard struct {
	AffineExpr
	Len int
	// Stride times the quotient is part of the element's position. It is 0
	// unless Div > 1: without a division it is part of the view's Coef.
	Stride int
}

// A View maps a point to the element of a buffer at position
//
//	Off + Σ Coef[a]·a + Σ Guards[g].Stride·Guards[g].AffineExpr
//
// counted from the argument's own offset. Where a guard does not hold, the
// point has no element, and a load gives Fill.
type View struct {
	Off    int
	Coef   []int
	Guards []Guard
	Fill   Number
	// Stride and Len are for a load whose position also depends on an index v:
	// v·Stride is added, and v must be in [0, Len). A load with a v out of range
	// gives Fill and, if the guards hold, reports v in the status argument,
	// unless that has an earlier report. A Scatter with such a v stores nothing
	// and reports it in the same way; its view has no guards. For a Sort v is the place
	// in the order of its row, and Len the number of places that are stored.
	Stride, Len int
}

// Mapped returns a copy whose coefficients of axes, also of guards, are those that f returns.
func (v *View) Mapped(f func(coef []int) []int) *View {
	c := *v
	if v.Coef != nil {
		c.Coef = f(v.Coef)
	}
	c.Guards = slices.Clone(v.Guards)
	for i := range c.Guards {
		c.Guards[i].Coef = f(c.Guards[i].Coef)
	}
	return &c
}

// An Instr is one instruction. Its operands are the indices of earlier ones.
type Instr struct {
	Op Op
	// Mul: Where, by a weight. Erfc: Cast, to the digits of bfloat16. Scatter, Scan: Add, Max, Min, Mul;
	// of a Scatter also Copy, by which an update replaces.
	Kind   Op
	Type   DType // of the result; float32 for 16-bit floats: a Load widens them, a Store rounds
	Src    []int
	Arg    int     // Load, Store, Scalar, routines: the argument
	View   *View   // Load, Store, InBounds, routines
	Num    Number  // Const
	Axis   int     // Index
	Axes   AxisSet // reductions: the axes that are reduced, in the kernel's order
	Domain AxisSet // the axes the result varies over: see Kernel.Varies
}

// A Kernel is a program over a space of points: the product of its axes. Body is evaluated
// at each point; an instruction whose result does not vary over an axis is evaluated once
// for all positions along it, even on an empty axis: a reduction over an axis of length 0
// has a result.
type Kernel struct {
	Template Template
	Args     []Arg
	Axes     []Axis
	Body     []Instr
}

// DenseStrides returns the strides of a dense row-major array over those axes that are in
// a set, 0 for others.
func DenseStrides(axes []Axis, in AxisSet) []int {
	strides, n := make([]int, len(axes)), 1
	for a := len(axes) - 1; a >= 0; a-- {
		if in.Has(a) {
			strides[a] = n
			n *= axes[a].Len
		}
	}
	return strides
}

// Points is the number of points in the kernel's space.
func (k *Kernel) Points() int {
	n := 1
	for _, a := range k.Axes {
		n *= a.Len
	}
	return n
}

// Extent returns the range [lo, hi) of the elements that in's view reaches at any
// point, guards and index left out. It is empty if there are no points.
func (k *Kernel) Extent(in *Instr) (lo, hi int) {
	lo, hi = in.View.Off, in.View.Off+1
	for a, axis := range k.Axes {
		if in.Domain.Has(a) {
			if axis.Len == 0 {
				return 0, 0
			}
			d := in.View.Coef[a] * (axis.Len - 1)
			lo, hi = lo+min(d, 0), hi+max(d, 0)
		}
	}
	return lo, hi
}

// Roles returns the axes whose role is one of those given.
func (k *Kernel) Roles(roles ...Role) AxisSet {
	var s AxisSet
	for i, a := range k.Axes {
		for _, r := range roles {
			if a.Role == r {
				s |= 1 << i
			}
		}
	}
	return s
}

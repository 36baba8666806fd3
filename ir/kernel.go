package ir

import "math/bits"

// A Template is a shape of kernel that every device has a way to run.
type Template uint8

// The templates; [Verify] checks what they promise. A store covers the axes
// that it varies over, and need not those of length 1.
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
)

// A Role is what an axis is for.
type Role uint8

// The roles: Kept and Reduced in map, row and special kernels, the others in
// contractions (K is the reduced one).
const (
	Parallel Role = iota + 1
	Reduced
	Batch
	M
	N
	K
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

// Axes returns the set of axes.
func Axes(axes ...int) AxisSet {
	var s AxisSet
	for _, a := range axes {
		s |= 1 << a
	}
	return s
}

// Has reports whether axis a is in s.
func (s AxisSet) Has(a int) bool { return s>>a&1 == 1 }

// Len is the number of axes in s.
func (s AxisSet) Len() int { return bits.OnesCount64(uint64(s)) }

// An ArgKind says what an argument is.
type ArgKind uint8

// The kinds of arguments.
const (
	In     ArgKind = iota + 1 // a buffer that is read
	Out                       // a buffer that is written; it shares no element with another argument
	Value                     // a single number
	Status                    // StatusLen int32: zeros, or 1 + the number of the instruction that met a bad index, that index, and its position
)

// An Arg is what a kernel is called with: a buffer and the element in it that
// views count from, or a number.
type Arg struct {
	Kind  ArgKind
	DType DType
	// Len is for Out the number of elements, from the offset on, among which
	// all that are written are. No element is written twice.
	Len int
	// Part says of an Out that it is a part of its buffer, whose other elements
	// the call leaves alone: the offset may be other than 0.
	Part bool
	// Align says that the offset is a multiple of 16 bytes, so that elements
	// of stride 1 may be loaded and stored as vectors.
	Align bool
}

// A Form is a whole number that depends on a point: (Off + Σ Coef[a]·a) / Div
// over the kernel's axes a. Div is at least 1.
type AffineExpr struct {
	Off  int
	Coef []int
	Div  int
}

// A Guard is a condition on a point: the division of its form leaves no
// remainder and gives a number in [0, Len).
type Guard struct {
	AffineExpr
	Len int
	// Stride times the form's value is part of the element's position. It is
	// 0 unless Div > 1: other forms fold into the view's own coefficients.
	Stride int
}

// A View says which element of a buffer a point means: element
//
//	Off + Σ Coef[a]·a + Σ Guards[g].Stride·Guards[g].Form
//
// counted from the argument's own offset. Where a guard does not hold, no
// element is meant and a load gives Fill.
type View struct {
	Off    int
	Coef   []int
	Guards []Guard
	Fill   Number
	// Stride and Len are for a load whose position also depends on a value v:
	// v·Stride is added, and v must be in [0, Len). A v out of range is noted
	// in the status argument, unless a guard fails or an earlier one is noted
	// there, and the load gives Fill. Scatter's store is alike, but without
	// guards, and stores nothing.
	Stride, Len int
}

// An Instr is one instruction. Its operands are the indices of earlier ones.
type Instr struct {
	Op     Op
	Type   DType // of the result; never a 16-bit float, which are loaded as and stored from float32
	Src    []int
	Arg    int     // Load, Store, Scalar, Scatter: the argument
	View   *View   // Load, Store, InBounds, Scatter
	Num    Number  // Const
	Axis   int     // Index
	Axes   AxisSet // reductions: the axes that are reduced, in the kernel's order
	Kind   Op      // Scatter: Add, Max, Min, Mul
	Domain AxisSet // the axes the result varies over: see Kernel.Varies
}

// A Kernel is a program over a space of points: the product of its axes. Body
// is evaluated at each point; an instruction whose result does not vary over
// an axis is evaluated once for all positions along it, also if there are
// none, as where a reduction over an axis of length 0 is stored.
type Kernel struct {
	Template Template
	Args     []Arg
	Axes     []Axis
	Body     []Instr
}

// RowMajor returns the strides of a dense row-major array over those axes that are in
// a set, 0 for others.
func RowMajor(axes []Axis, in AxisSet) []int {
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

// Extent returns the elements that in's view means at all points, without guards and
// index: from lo to below hi, which are equal if there are none.
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

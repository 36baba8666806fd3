package product

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A matrix is memory whose points along an outer and an inner group of axes may be at
// equal distances, so that a product can use it where it is.
type matrix struct {
	vector.Affine
	arg, size    int
	outer, inner []vector.Term
}

func newMatrix(a *vector.Assembler, in *ir.Instr, outer, inner *vector.Tiling) *matrix {
	return &matrix{
		Affine: a.Affine(in.View.Off, in.View.Coef, 0), arg: in.Arg, size: a.Space.Args[in.Arg].DType.Size(),
		outer: a.Dims(in.View.Coef, outer.LongAxes()), inner: a.Dims(in.View.Coef, inner.LongAxes()),
	}
}

// inPlace returns the address of a block and its strides along both groups, if there
// is one for each. The stride of a single point is 1.
func (m *matrix) inPlace(f *vector.Activation) (p unsafe.Pointer, so, si int, ok bool) {
	so, one := singleStride(f, m.outer)
	si, also := singleStride(f, m.inner)
	if !one || !also {
		return nil, 0, 0, false
	}
	return unsafe.Add(f.Bind[m.arg].P, m.Pos(f)*m.size), so, si, true
}

// ahead returns a prefetch, in steps, of the block at which an activation is; an empty one if the points of a group
// are at different distances.
func (m *matrix) ahead(f *vector.Activation, outer, inner, steps int) prefetch {
	p, so, si, ok := m.inPlace(f)
	switch {
	case ok && si == 1:
		return prefetch{p: uintptr(p), bytes: inner * m.size, stride: so * m.size, rows: outer, steps: steps}
	case ok && so == 1:
		return prefetch{p: uintptr(p), bytes: outer * m.size, stride: si * m.size, rows: inner, steps: steps}
	}
	return prefetch{}
}

// singleStride returns the stride of the one loop that covers all of dims, if there is one.
func singleStride(f *vector.Activation, dims []vector.Term) (stride int, ok bool) {
	loops := vector.Merge(f, dims)
	if len(loops) == 0 {
		return 1, true
	}
	return loops[0].From, len(loops) == 1
}

// A factor is an operand of the product, over an outer and an inner group of axes:
// rows and depth, or depth and columns.
type factor struct {
	program    *vector.Program
	root       int                   // the register that holds a panel
	transposed bool                  // in the register, the outer group's lanes are the inner ones
	direct     *matrix               // of a factor that is just a load, or nil
	usable     func(so, si int) bool // strides of direct that the product reads at speed
	pack       simd.Packer           // copies panels, or nil
	packed     int                   // bytes of a copy
	weights    *weights              // of the right factor in a block format, or nil
}

// conflicts reports whether rows of instruction i, a factor, would compete for few sets of a
// cache.
func conflicts(s *vector.Space, i, stride int) bool {
	return stride*s.Body[i].Type.Size()%s.Tune.Conflict == 0
}

// newFactor returns instruction i over two groups of axes, as the left factor of a product or the right one. It is
// packed if the product wants that. A left factor of memory along the rows is read along them; few rows say
// that a copy takes longer than it saves.
func newFactor(s *vector.Space, i int, outer, inner *vector.Tiling, p *simd.Packing, left, few bool) *factor {
	x := &factor{transposed: left && p == nil && s.PrefersInnermost(s.Loads(i), outer.Axes, inner.Axes)}
	first, second := outer, inner
	if x.transposed {
		first, second = inner, outer
	}
	a := vector.Assemble(s, vector.Schedule{Lanes: slices.Concat(first.LongAxes(), second.LongAxes()), Extent: s.Extents(outer, inner), Roots: []int{i}, Value: true})
	x.program, x.root = a.Program, a.Root
	if in := &s.Body[i]; s.Plain(i) {
		x.direct = newMatrix(a, in, outer, inner)
	}
	x.usable = func(so, si int) bool {
		switch {
		case p != nil:
			return si == 1
		case left:
			return few || so == 1 || si == 1 && !conflicts(s, i, so)
		}
		return si == 1 && (few || !conflicts(s, i, so))
	}
	if p != nil {
		x.pack = p.Right
		bytes := p.Bytes(outer.MaxPoints(), inner.MaxPoints())
		if left {
			x.pack, bytes = p.Left, p.Bytes(inner.MaxPoints(), outer.MaxPoints())
		}
		x.packed = vector.Align(bytes)
	}
	return x
}

// needs implements reader.
func (x *factor) needs() (p *vector.Program, scratch int) { return x.program, x.scratch() }

// read implements reader.
func (x *factor) read(f *vector.Activation, _ *vector.Worker, rows, depth int) (m leftPanel) {
	m.left.at, m.left.row, m.left.column = x.panel(f, rows, depth)
	return m
}

// ahead returns a prefetch, in steps, of the block at which an activation is; an empty one
// if the factor is computed.
func (x *factor) ahead(f *vector.Activation, outer, inner, steps int) prefetch {
	if x.direct == nil {
		return prefetch{}
	}
	return x.direct.ahead(f, outer, inner, steps)
}

// scratch is the memory that an activation of the factor's program needs: for registers and
// the copy of a panel.
func (x *factor) scratch() int { return vector.Align(x.program.Scratch) + x.packed }

// panel returns the address of a block of outer by inner points, in the form that the product
// reads, and its strides along both groups.
func (x *factor) panel(f *vector.Activation, outer, inner int) (p unsafe.Pointer, so, si int) {
	if x.weights != nil {
		return x.weights.pack(f, unsafe.Add(f.Mem, vector.Align(x.program.Scratch)), outer, inner)
	}
	p, so, si = x.evaluate(f, outer, inner)
	if x.pack == nil {
		return p, so, si
	}
	to := unsafe.Add(f.Mem, vector.Align(x.program.Scratch))
	return to, x.pack(to, p, outer, inner, so), 1
}

// evaluate returns the address of a block of outer by inner points and its strides along both
// groups.
func (x *factor) evaluate(f *vector.Activation, outer, inner int) (p unsafe.Pointer, so, si int) {
	if x.direct != nil {
		if p, so, si, ok := x.direct.inPlace(f); ok && x.usable(so, si) {
			return p, so, si
		}
	}
	f.Run()
	if x.transposed {
		return f.Reg[x.root], 1, outer
	}
	return f.Reg[x.root], inner, 1
}

// inPlace reports whether a product can use instruction i, its right factor, where it is.
func inPlace(s *vector.Space, i int, deep, cols *vector.Tiling) bool {
	if !s.Plain(i) {
		return false
	}
	coef := s.Body[i].View.Coef
	_, one := deep.Stride(coef)
	step, also := cols.Stride(coef)
	return one && also && step == 1
}

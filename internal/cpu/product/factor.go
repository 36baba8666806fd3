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

// A spread says how points lie in memory: in runs of n points that are step apart. The runs are far apart.
// A single point has a step of 1.
type spread struct{ n, step, runs, far int }

// locate returns the address of a block and how it lies along both groups of axes. ok is false if it lies in
// another way.
func (m *matrix) locate(f *vector.Activation) (p unsafe.Pointer, outer, inner spread, ok bool) {
	outer, one := spreadOf(f, m.outer)
	inner, also := spreadOf(f, m.inner)
	return unsafe.Add(f.Bind[m.arg].P, m.Pos(f)*m.size), outer, inner, one && also
}

// inPlace returns the address of a block and its strides along both groups, if there is one for each.
func (m *matrix) inPlace(f *vector.Activation) (p unsafe.Pointer, so, si int, ok bool) {
	p, outer, inner, ok := m.locate(f)
	return p, outer.step, inner.step, ok && outer.runs == 1 && inner.runs == 1
}

// ahead returns a prefetch, in steps, of the block at which an activation is; an empty one for a block whose rows
// are not contiguous.
func (m *matrix) ahead(f *vector.Activation, steps int) prefetch {
	p, rows, row, ok := m.locate(f)
	if ok && (row.step != 1 || rows.runs > 1) {
		rows, row = row, rows
	}
	if !ok || row.step != 1 || rows.runs > 1 {
		return prefetch{}
	}
	x := prefetch{p: uintptr(p), bytes: row.n * m.size, stride: rows.step * m.size, rows: rows.n, far: row.far * m.size, groups: row.runs, steps: steps}
	return x.joined()
}

func spreadOf(f *vector.Activation, dims []vector.Term) (x spread, ok bool) {
	x = spread{1, 1, 1, 0}
	loops := vector.Merge(f, dims)
	if len(loops) > 0 {
		x.n, x.step = loops[0].Len(), loops[0].From
	}
	if len(loops) > 1 {
		x.runs, x.far = loops[1].Len(), loops[1].From
	}
	return x, len(loops) <= 2
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
	height     int                   // rows of the product's tile
	group      int                   // columns of the tile, which direct may have beside each other; 0 for other factors
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
func newFactor(s *vector.Space, i int, outer, inner *vector.Tiling, product *simd.Product, left, few bool) *factor {
	p := product.Packing
	x := &factor{height: product.Rows, transposed: left && p == nil && s.PrefersInnermost(s.Loads(i), outer.Axes, inner.Axes)}
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
	if p == nil && !left {
		x.group = product.Cols
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
func (x *factor) read(f *vector.Activation, w *vector.Worker, rows, depth int) (m leftPanel) {
	if x.direct != nil && x.pack == nil {
		if p, along, deep, ok := x.direct.locate(f); ok && along.inRuns(x.height) && deep.runs == 1 {
			w.Runs = w.Runs[:0]
			for i := range along.runs {
				w.Runs = append(w.Runs, i*along.far)
			}
			return leftPanel{left: panel{p, 1, deep.step}, runs: w.Runs, runRows: along.n}
		}
	}
	m.left.at, m.left.row, m.left.column = x.panel(f, rows, depth)
	return m
}

// inRuns reports whether rows lie in contiguous runs, each of which is tiles of its own. Tiles of half the
// height are nearly as fast.
func (x spread) inRuns(height int) bool { return x.runs > 1 && x.step == 1 && 2*x.n >= height }

// ahead returns a prefetch, in steps, of the block at which an activation is; an empty one
// if the factor is computed.
func (x *factor) ahead(f *vector.Activation, steps int) prefetch {
	if x.direct == nil {
		return prefetch{}
	}
	return x.direct.ahead(f, steps)
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
		p, rows, cols, ok := x.direct.locate(f)
		switch {
		case !ok || rows.runs > 1:
		case cols.runs == 1 && x.usable(rows.step, cols.step):
			return p, rows.step, cols.step
		case cols.runs > 1 && cols.inTiles(x.group) && x.usable(rows.step, 1):
			return p, rows.step, cols.far / x.group
		}
	}
	f.Run()
	if x.transposed {
		return f.Reg[x.root], 1, outer
	}
	return f.Reg[x.root], inner, 1
}

// inTiles reports whether columns lie in tiles of some width, each contiguous.
func (x spread) inTiles(width int) bool {
	return width > 0 && x.step == 1 && x.n == width && x.far%width == 0
}

// located returns how instruction i, a factor, lies along two groups of axes. ok is false if it lies in another way.
func located(s *vector.Space, i int, outer, inner *vector.Tiling) (x, y spread, ok bool) {
	if !s.Plain(i) {
		return x, y, false
	}
	coef := s.Body[i].View.Coef
	var one, also bool
	x.n, x.step, x.runs, x.far, one = outer.Groups(coef)
	y.n, y.step, y.runs, y.far, also = inner.Groups(coef)
	return x, y, one && also
}

// leftInPlace reports whether a product reads instruction i, its left factor, where it is.
func leftInPlace(s *vector.Space, i int, rows, deep *vector.Tiling, p *simd.Product) bool {
	x, y, ok := located(s, i, rows, deep)
	return ok && y.runs == 1 && (x.inRuns(p.Rows) || x.runs == 1 && (x.step == 1 || y.step == 1 && !conflicts(s, i, x.step)))
}

// inPlace reports whether a product can use instruction i, its right factor, where it is.
func inPlace(s *vector.Space, i int, deep, cols *vector.Tiling, p *simd.Product) bool {
	x, y, ok := located(s, i, deep, cols)
	return ok && x.runs == 1 && (y.runs == 1 && y.step == 1 || y.inTiles(p.Cols) && p.Packing == nil)
}

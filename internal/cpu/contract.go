package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A contractRunner computes a matrix product tile by tile, as Goto and van de Geijn
// describe: it packs a panel of each factor, which evaluates the prologue,
// multiplies the panels, and evaluates the epilogue while the tile is in the cache.
// The rows of the result are the M axes and its columns the N axes, or the reverse
// if the result is contiguous along M.
type contractRunner struct {
	space         *space
	rows, cols    *tiling
	tiles         tilings // of the batch, the columns and the rows
	depth         *tiling // of the axes that are summed over
	left          *factor // rows by depth
	right         *factor // depth by columns
	product       simd.Product
	add           simd.Binary
	after         *program
	sum           int // the register of the sum in the epilogue
	size          int // bytes of an element
	parts         int // of the depth (split-K), each with a tile of its own
	chunksPerPart int // boxes of the depth in a part
	work          int
}

// newContract returns nil for types without a micro-kernel.
func newContract(s *space) *contractRunner {
	sum, x, y := loopnest.Factors(s.Body, s.Roles(ir.M), s.Roles(ir.N))
	typ := s.Body[x].Type
	r := &contractRunner{space: s, product: simd.Products[typ], size: typ.Size()}
	if r.product == nil || typ != s.Body[sum].Type {
		return nil
	}
	r.add = simd.Binaries[ir.Add][typ].VV
	rows, cols := s.List(ir.M), s.List(ir.N)
	if s.ColumnMajor() {
		rows, cols, x, y = cols, rows, y, x
	}
	r.cut(rows, cols)
	r.left = newLeft(s, x, r.rows, r.depth)
	r.right = newRight(s, y, r.depth, r.cols)
	s.Body[sum].Domain = s.Roles(ir.Batch, ir.M, ir.N)

	lanes := slices.Concat(r.rows.longAxes(), r.cols.longAxes())
	a := assemble(s, schedule{lanes: lanes, extent: s.extents(r.rows, r.cols), roots: s.Stores(0, false), given: []int{sum}})
	r.after, r.sum = a.program, a.body[sum]
	return r
}

// cut chooses the tiles.
func (r *contractRunner) cut(rows, cols []int) {
	s, t := r.space, r.space.tune
	depth := s.List(ir.K)
	batch := newTiling(s, s.List(ir.Batch), 1, 1)
	r.depth = newTiling(s, depth, t.depth/2, t.depth)
	r.work = s.work(s.Stores(0, false))
	for most := t.rows; ; most /= 2 {
		r.rows = newTiling(s, rows, most/2, most)
		r.cols = newTiling(s, cols, t.cols/2, t.cols)
		r.tiles = tilings{batch, r.cols, r.rows}
		if n := r.tiles.count(); 2*n >= t.minTiles || most <= t.rows/8 || r.work/max(n, 1) < 8*t.parallelThreshold {
			break
		}
	}
	most := 1
	if n := r.tiles.count(); n > 0 && n < t.minTiles {
		most = min(2*t.minTiles/n, s.Size(depth)/t.minPart)
	}
	r.parts, r.chunksPerPart = split(r.depth, most)
}

// tileBytes is the size of the largest tile of the result.
func (r *contractRunner) tileBytes() int {
	return align(r.rows.maxPoints() * r.cols.maxPoints() * r.size)
}

func (r *contractRunner) run(x *executor) error {
	tiles := r.tiles.count()
	if r.parts == 1 {
		return x.do(r, tiles, r.work)
	}
	x.shared = grow(x.shared, tiles*r.parts*r.tileBytes())
	if err := x.do(partJob{r}, tiles*r.parts, r.work); err != nil {
		return err
	}
	return x.do(sumJob{r}, tiles, r.work)
}

// begin lays out a worker's scratch: a tile, then the registers of three programs.
func (r *contractRunner) begin(x *executor, w *worker) {
	tile, left, right := r.tileBytes(), r.left.program.scratch, r.right.program.scratch
	mem := w.scratch(tile + left + right + r.after.scratch)
	w.activations[0].enter(r.left.program, x.bind, unsafe.Add(mem, tile), &w.bad)
	w.activations[1].enter(r.right.program, x.bind, unsafe.Add(mem, tile+left), &w.bad)
	w.activations[2].enter(r.after, x.bind, unsafe.Add(mem, tile+left+right), &w.bad)
}

// task computes one tile of the result.
func (r *contractRunner) task(_ *executor, w *worker, i int) {
	tile := w.scratch(0)
	r.multiply(w, i, 0, tile)
	r.finish(w, i, tile)
}

// multiply computes one part of a tile.
func (r *contractRunner) multiply(w *worker, i, part int, tile unsafe.Pointer) {
	a, b := &w.activations[0], &w.activations[1]
	r.tiles.moveTo(a, i)
	r.tiles.moveTo(b, i)
	rows, cols := r.rows.size(a), r.cols.size(a)
	clear(unsafe.Slice((*byte)(tile), rows*cols*r.size))
	for k := part * r.chunksPerPart; k < min((part+1)*r.chunksPerPart, r.depth.count); k++ {
		r.depth.moveTo(a, k)
		r.depth.moveTo(b, k)
		depth := r.depth.size(a)
		x, lda, sa := r.left.panel(a, rows, depth)
		y, ldb, _ := r.right.panel(b, depth, cols)
		r.product(tile, x, y, rows, cols, depth, cols, lda, sa, ldb)
	}
}

// finish evaluates the epilogue over a tile.
func (r *contractRunner) finish(w *worker, i int, tile unsafe.Pointer) {
	f := &w.activations[2]
	r.tiles.moveTo(f, i)
	f.reg[r.sum] = tile
	f.run()
}

// A partJob computes one part of a tile per task.
type partJob struct{ *contractRunner }

func (j partJob) task(x *executor, w *worker, i int) {
	j.multiply(w, i/j.parts, i%j.parts, unsafe.Add(base(x.shared), i*j.tileBytes()))
}

// A sumJob adds the parts of a tile, in order, and finishes it.
type sumJob struct{ *contractRunner }

func (j sumJob) task(x *executor, w *worker, i int) {
	first := unsafe.Add(base(x.shared), i*j.parts*j.tileBytes())
	f := &w.activations[2]
	j.tiles.moveTo(f, i)
	n := j.rows.size(f) * j.cols.size(f)
	for p := 1; p < j.parts; p++ {
		j.add(first, first, unsafe.Add(first, p*j.tileBytes()), n)
	}
	j.finish(w, i, first)
}

// A factor is an operand of the product, over an outer and an inner group of axes:
// rows and depth, or depth and columns.
type factor struct {
	program    *program
	root       int  // the register that holds a panel
	transposed bool // a packed panel has the outer group's lanes inside
	unit       bool // stride 1 is needed along the inner group

	maxStride    int   // of elements that are used where they are
	load         *load // of a factor that is just a load, which may need no packing; or nil
	outer, inner []term
}

func newLeft(s *space, i int, rows, deep *tiling) *factor {
	if s.prefersInnermost(s.Loads(i), rows.axes, deep.axes) {
		f := newFactor(s, i, deep, rows)
		f.transposed = true
		f.outer, f.inner = f.inner, f.outer
		return f
	}
	return newFactor(s, i, rows, deep)
}

func newRight(s *space, i int, deep, cols *tiling) *factor {
	f := newFactor(s, i, deep, cols)
	f.unit = true
	return f
}

func newFactor(s *space, i int, outer, inner *tiling) *factor {
	f := &factor{maxStride: s.tune.maxStride}
	lanes := slices.Concat(outer.longAxes(), inner.longAxes())
	a := assemble(s, schedule{lanes: lanes, extent: s.extents(outer, inner), roots: []int{i}, value: true})
	f.program, f.root = a.program, a.root
	in := &s.Body[i]
	if in.Op == ir.Load && len(in.View.Guards) == 0 && len(in.Src) == 0 && !s.Args[in.Arg].DType.IsHalf() {
		f.load = &load{affine: a.affine(in.View.Off, in.View.Coef, 0), arg: in.Arg, size: in.Type.Size()}
		f.outer, f.inner = a.dims(in.View.Coef, outer.longAxes()), a.dims(in.View.Coef, inner.longAxes())
	}
	return f
}

// panel returns the address of a block of outer by inner points and its strides
// along both groups.
func (x *factor) panel(f *activation, outer, inner int) (p unsafe.Pointer, so, si int) {
	if x.load != nil {
		so, ok := x.single(f, x.outer)
		si, also := x.single(f, x.inner)
		if ok && also && (!x.unit || si == 1 || inner == 1) {
			return unsafe.Add(f.bind[x.load.arg].p, x.load.pos(f)*x.load.size), so, si
		}
	}
	f.run()
	if x.transposed {
		return f.reg[x.root], 1, outer
	}
	return f.reg[x.root], inner, 1
}

// single returns the stride of the one loop that covers all of dims, if there is
// one and its stride is in range.
func (x *factor) single(f *activation, dims []term) (stride int, ok bool) {
	loops := merge(f, dims)
	if len(loops) == 0 {
		return 0, true
	}
	stride = loops[0].from
	return stride, len(loops) == 1 && 0 <= stride && stride <= x.maxStride
}

package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A contractRunner computes a product of matrices a tile at a time: it packs
// the part of each factor that the tile needs into a panel, which evaluates
// what comes before the product, multiplies panels, and evaluates what comes
// after while the tile is in the cache. Rows and columns of the result are
// the M and N axes, or the other way round if M lies closer in memory.
type contractRunner struct {
	space   *space
	batch   *tiling
	rows    *tiling
	cols    *tiling
	deep    *tiling // along the axes that are summed over
	left    *factor // over rows
	right   *factor // over columns
	product simd.Product
	add     simd.Binary
	after   *code
	sum     int // the register of the sum in after
	size    int // bytes of an element
	parts   int // the depth is cut into so many, each with a tile of its own
	per     int // boxes of the depth in a part
	work    int
}

// newContract returns nil if the kernel has no fast way.
func newContract(s *space) *contractRunner {
	var sum int
	for i := range s.body {
		if s.body[i].Op == ir.Sum {
			sum = i
		}
	}
	mul := &s.body[s.body[sum].Src[0]]
	typ := mul.Type
	r := &contractRunner{space: s, product: simd.Products[typ], size: typ.Size()}
	if r.product == nil || typ != s.body[sum].Type {
		return nil
	}
	r.add = simd.Binaries[ir.Add][typ].VV
	rows, cols := s.roles(ir.M), s.roles(ir.N)
	x, y := mul.Src[0], mul.Src[1]
	if s.body[x].Domain&ir.Axes(cols...) != 0 || s.body[y].Domain&ir.Axes(rows...) != 0 {
		x, y = y, x
	}
	if s.closer(rows, cols) {
		rows, cols, x, y = cols, rows, y, x
	}
	r.cut(rows, cols)
	r.left = newLeft(s, x, r.rows, r.deep)
	r.right = newRight(s, y, r.deep, r.cols)
	s.body[sum].Domain = ir.Axes(s.roles(ir.Batch, ir.M, ir.N)...)

	lanes := slices.Concat(r.rows.block(), r.cols.block())
	a := assemble(s, plan{lanes: lanes, extent: s.extents(r.rows, r.cols), roots: s.stores(), given: []int{sum}})
	r.after, r.sum = a.code, a.body[sum]
	return r
}

// closer reports whether the last of the rows' axes, and not the last of the
// columns', has stride 1 in what is stored.
func (s *space) closer(rows, cols []int) bool {
	last := func(axes []int) int {
		if len(axes) == 0 {
			return 0
		}
		return s.body[s.stores()[0]].View.Coef[axes[len(axes)-1]]
	}
	return last(cols) != 1 && last(rows) == 1
}

// cut chooses the tiles.
func (r *contractRunner) cut(rows, cols []int) {
	s, t := r.space, r.space.tune
	depth := s.roles(ir.K)
	r.batch = newTiling(s, s.roles(ir.Batch), 1, 1)
	r.deep = newTiling(s, depth, t.depth/2, t.depth)
	r.work = s.points(s.roles(ir.Batch, ir.M, ir.N)) * max(2*s.points(depth), s.cost())
	for most := t.rows; ; most /= 2 {
		r.rows = newTiling(s, rows, most/2, most)
		r.cols = newTiling(s, cols, t.cols/2, t.cols)
		if n := r.tiles(); 2*n >= t.tiles || most <= t.rows/8 || r.work/max(n, 1) < 8*t.small {
			break
		}
	}
	r.parts, r.per = 1, max(r.deep.count, 1)
	if n := r.tiles(); n > 0 && n < t.tiles {
		if parts := min(2*t.tiles/n, s.points(depth)/t.part, r.deep.count); parts > 1 {
			r.per = (r.deep.count + parts - 1) / parts
			r.parts = (r.deep.count + r.per - 1) / r.per
		}
	}
}

func (r *contractRunner) tiles() int { return r.batch.count * r.rows.count * r.cols.count }

// tileBytes is the room for a tile of the result.
func (r *contractRunner) tileBytes() int { return align(r.rows.most() * r.cols.most() * r.size) }

func (r *contractRunner) run(d *device) error {
	if r.parts == 1 {
		return d.do(&contractJob{contractRunner: r, bind: d.bind}, r.tiles(), r.work)
	}
	d.shared = grow(d.shared, r.tiles()*r.parts*r.tileBytes())
	mem := base(d.shared)
	if err := d.do(&partJob{contractJob{r, d.bind, mem}}, r.tiles()*r.parts, r.work); err != nil {
		return err
	}
	return d.do(&afterJob{contractJob{r, d.bind, mem}}, r.tiles(), r.work)
}

// A contractJob computes a tile of the result in a task.
type contractJob struct {
	*contractRunner
	bind []binding
	mem  unsafe.Pointer // tiles, if the depth is cut
}

// begin lays out a worker's scratch: a tile, then the registers of three
// codes.
func (j *contractJob) begin(w *worker) {
	tile, left, right := j.tileBytes(), j.left.code.scratch, j.right.code.scratch
	mem := w.scratch(tile + left + right + j.after.scratch)
	w.frames[0].enter(j.left.code, j.bind, unsafe.Add(mem, tile), &w.bad)
	w.frames[1].enter(j.right.code, j.bind, unsafe.Add(mem, tile+left), &w.bad)
	w.frames[2].enter(j.after, j.bind, unsafe.Add(mem, tile+left+right), &w.bad)
}

func (j *contractJob) task(w *worker, i int) {
	tile := w.scratch(0)
	j.multiply(w, i, 0, tile)
	j.finish(w, i, tile)
}

// place moves frames to a tile.
func (j *contractJob) place(i int, frames []frame) {
	row := i % j.rows.count
	i /= j.rows.count
	col, batch := i%j.cols.count, i/j.cols.count
	for k := range frames {
		f := &frames[k]
		j.batch.set(f, batch)
		j.rows.set(f, row)
		j.cols.set(f, col)
	}
}

// multiply computes one part of a tile.
func (j *contractJob) multiply(w *worker, i, part int, tile unsafe.Pointer) {
	j.place(i, w.frames[:2])
	a, b := &w.frames[0], &w.frames[1]
	rows, cols := j.rows.size(a), j.cols.size(a)
	clear(unsafe.Slice((*byte)(tile), rows*cols*j.size))
	for k := part * j.per; k < min((part+1)*j.per, j.deep.count); k++ {
		j.deep.set(a, k)
		j.deep.set(b, k)
		depth := j.deep.size(a)
		x, lda, sa := j.left.panel(a, rows, depth)
		y, ldb, _ := j.right.panel(b, depth, cols)
		j.product(tile, x, y, rows, cols, depth, cols, lda, sa, ldb)
	}
}

// finish evaluates what comes after the product over a tile.
func (j *contractJob) finish(w *worker, i int, tile unsafe.Pointer) {
	f := &w.frames[2]
	j.place(i, w.frames[2:])
	f.reg[j.sum] = tile
	f.run()
}

// A partJob computes one part of a tile in a task.
type partJob struct{ contractJob }

func (j *partJob) task(w *worker, i int) {
	j.multiply(w, i/j.parts, i%j.parts, unsafe.Add(j.mem, i*j.tileBytes()))
}

// An afterJob adds the parts of a tile, in order, and finishes it.
type afterJob struct{ contractJob }

func (j *afterJob) task(w *worker, i int) {
	first := unsafe.Add(j.mem, i*j.parts*j.tileBytes())
	n := j.rows.points(i%j.rows.count) * j.cols.points(i/j.rows.count%j.cols.count)
	for p := 1; p < j.parts; p++ {
		j.add(first, first, unsafe.Add(first, p*j.tileBytes()), n)
	}
	j.finish(w, i, first)
}

// A factor is one operand of the product, over two groups of axes: rows and
// depth, or depth and columns.
type factor struct {
	code   *code
	root   int  // the register that holds a panel
	turned bool // the panel's inner lanes are those of the outer group
	unit   bool // elements must lie side by side along the inner group

	most         int   // strides of elements used in place are no longer
	load         *load // a plain load, which may be used where it is, or nil
	outer, inner []term
}

func newLeft(s *space, i int, rows, deep *tiling) *factor {
	if s.nearer(s.needs([]int{i}, nil), rows.axes, deep.axes) {
		f := newFactor(s, i, deep, rows)
		f.turned = true
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
	f := &factor{most: s.tune.stride}
	lanes := slices.Concat(outer.block(), inner.block())
	a := assemble(s, plan{lanes: lanes, extent: s.extents(outer, inner), roots: []int{i}, value: true})
	f.code, f.root = a.code, a.root
	in := &s.body[i]
	if in.Op == ir.Load && len(in.View.Guards) == 0 && len(in.Src) == 0 && !s.args[in.Arg].DType.IsHalf() {
		f.load = &load{affine: a.affine(in.View.Off, in.View.Coef, 0), arg: in.Arg, size: in.Type.Size()}
		f.outer, f.inner = a.dims(in.View.Coef, outer.block()), a.dims(in.View.Coef, inner.block())
	}
	return f
}

// panel returns where a block of a factor begins and its strides along the
// outer and the inner group, which have so many points.
func (x *factor) panel(f *frame, outer, inner int) (p unsafe.Pointer, so, si int) {
	if x.load != nil {
		so, ok := x.single(f, x.outer)
		si, also := x.single(f, x.inner)
		if ok && also && (!x.unit || si == 1 || inner == 1) {
			return unsafe.Add(f.bind[x.load.arg].p, x.load.pos(f)*x.load.size), so, si
		}
	}
	f.run()
	if x.turned {
		return f.reg[x.root], 1, outer
	}
	return f.reg[x.root], inner, 1
}

// single returns the stride of one loop that walks all of dims, if there is
// one that a Product can take.
func (x *factor) single(f *frame, dims []term) (stride int, ok bool) {
	points := 1
	for i := len(dims) - 1; i >= 0; i-- {
		n, c := f.n[dims[i].axis], dims[i].coef
		switch {
		case n == 1:
		case points == 1:
			stride, points = c, n
		case c == stride*points:
			points *= n
		default:
			return 0, false
		}
	}
	return stride, 0 <= stride && stride <= x.most
}

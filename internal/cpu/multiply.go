package cpu

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// begin lays out a worker's scratch: a tile, then the registers of three programs.
func (r *contractRunner) begin(x *executor, w *worker) {
	tile, left, right := r.span*r.stripBytes(), r.leftScratch, r.right.scratch()
	mem := w.scratch(tile + left + right + r.after.program.scratch)
	w.activations[0].enter(r.leftProgram, x.bind, unsafe.Add(mem, tile), &w.bad)
	w.activations[1].enter(r.right.program, x.bind, unsafe.Add(mem, tile+left), &w.bad)
	w.activations[2].enter(r.after.program, x.bind, unsafe.Add(mem, tile+left+right), &w.bad)
}

// task computes a tile of the result.
func (r *contractRunner) task(_ *executor, w *worker, i int) {
	t := r.part(w, i, 0, w.scratch(0))
	t.multiply(true)
}

// A tilePart is the sum over one part of the depth for one tile, which a worker computes.
type tilePart struct {
	*contractRunner
	worker      *worker
	x, y, z     *activation    // of the left factor, the right factor, the epilogue
	first, last int            // strips of the tile
	from, to    int            // boxes of the depth
	tile        unsafe.Pointer // memory for the strips, one after the other
}

// part returns a part of tile i.
func (r *contractRunner) part(w *worker, i, part int, tile unsafe.Pointer) tilePart {
	t := tilePart{contractRunner: r, worker: w, x: &w.activations[0], y: &w.activations[1], z: &w.activations[2], tile: tile}
	t.first, t.last = r.stripsOf(i)
	t.from, t.to = part*r.chunksPerPart, min((part+1)*r.chunksPerPart, r.depth.count)
	return t
}

// multiply computes the part, and stores the strips by the epilogue if it is the only part
// of the tile.
//
// The loops follow Goto and van de Geijn: over boxes of the depth, each with a panel of
// the right factor; over strips, each with a panel of the left one; and in
// multiplication.run over small tiles. The routine of simd.Product sums over the depth.
func (t *tilePart) multiply(finish bool) {
	for _, f := range []*activation{t.x, t.y, t.z} {
		t.strips.moveTo(f, t.first)
	}
	t.to = max(t.from, min(t.to, t.depth.needed(t.y)))
	// Where the depth is 0, one iteration sets the strips to 0.
	for k := t.from; k < max(t.to, t.from+1); k++ {
		m := multiplication{m: t.rows.size(t.z), n: t.cols.size(t.z), add: k - t.from}
		if k < t.to {
			t.loadRight(&m, k)
		}
		for i := t.first; i < t.last; i++ {
			t.strips.moveTo(t.z, i)
			if m.m = t.rows.size(t.z); m.m*m.n == 0 {
				continue
			}
			stored := t.locate(&m, i, finish)
			if k < t.to {
				t.loadLeft(&m, i, k)
			}
			m.run(&t.product, t.size)
			if finish && !stored && k >= t.to-1 {
				t.after.run(t.z, m.c)
			}
		}
	}
}

// loadRight loads the panel of the right factor for box k. The products of all strips
// prefetch the next one.
func (t *tilePart) loadRight(m *multiplication, k int) {
	t.depth.moveTo(t.x, k)
	t.depth.moveTo(t.y, k)
	m.k = t.product.Depth(t.depth.size(t.y))
	cols := t.cols.size(t.y)
	m.b, m.ldb, _ = t.right.panel(t.y, t.depth.size(t.y), cols)
	if k+1 < t.to {
		t.depth.moveTo(t.y, k+1)
		m.ahead[1] = t.right.ahead(t.y, t.depth.size(t.y), cols, (t.last-t.first)*m.tiles(&t.product))
	}
}

// loadLeft loads the panel of the left factor for strip i and box k. The products of this
// strip prefetch the next one.
func (t *tilePart) loadLeft(m *multiplication, i, k int) {
	t.strips.moveTo(t.x, i)
	if t.windows != nil {
		t.windows.load(t.x, t.worker, m)
		return
	}
	if i == t.first && k == t.from { // nothing has prefetched this panel
		now := t.left.ahead(t.x, m.m, t.depth.size(t.x), 1)
		now.step()
	}
	m.a, m.lda, m.sa = t.left.panel(t.x, m.m, t.depth.size(t.x))
	switch {
	case i+1 < t.last:
		t.strips.moveTo(t.x, i+1)
	case k+1 < t.to:
		t.strips.moveTo(t.x, t.first)
		t.depth.moveTo(t.x, k+1)
	default:
		m.ahead[0] = prefetch{}
		return
	}
	m.ahead[0] = t.left.ahead(t.x, t.rows.size(t.x), t.depth.size(t.x), m.tiles(&t.product))
}

// locate sets where the sums of strip i go: to the result, if the epilogue only stores,
// else to the part's memory. It sums in the result even if its rows compete for sets of
// the cache, because a copy takes longer.
func (t *tilePart) locate(m *multiplication, i int, finish bool) (stored bool) {
	if finish && t.after.out != nil {
		if p, so, si, ok := t.after.out.inPlace(t.z); ok && si == 1 {
			m.c, m.ldc = p, so
			return true
		}
	}
	m.c, m.ldc = unsafe.Add(t.tile, (i-t.first)*t.stripBytes()), m.n
	return false
}

// A multiplication is the product of a panel of each factor, c[m n] = a[m k]·b[k n], by the
// names of BLAS: see simd.ProductTile. ld… are distances of rows and s… of columns.
type multiplication struct {
	c, a, b           unsafe.Pointer
	m, n, k           int
	ldc, lda, sa, ldb int
	add               int
	ahead             [2]prefetch // of the panels that are used next

	// For windows: runs has the position in a of each run of runRows rows, lda apart, and
	// columns the positions of the columns within a run.
	runs, columns []int
	runRows       int
}

// tiles is the number of calls of the product's routine, if rows are not in runs.
func (x *multiplication) tiles(p *simd.Product) int {
	return ir.CeilDiv(x.m, p.Rows) * ir.CeilDiv(x.n, p.Cols)
}

// run multiplies tile by tile of the product's routine: a few rows of the left panel, which
// stay in the first-level cache, by all columns of the right one, which stays in the
// second-level cache.
func (x *multiplication) run(p *simd.Product, size int) {
	if x.columns == nil {
		x.runOf(p, size, x.c, x.a, x.m)
		return
	}
	for i, at := range x.runs {
		x.runOf(p, size, unsafe.Add(x.c, i*x.runRows*x.ldc*size), unsafe.Add(x.a, at*size), x.runRows)
	}
}

// runOf multiplies some rows of the left panel, cut into tiles of about equal height.
func (x *multiplication) runOf(p *simd.Product, size int, c, a unsafe.Pointer, rows int) {
	step := ir.CeilDiv(rows, ir.CeilDiv(rows, p.Rows))
	for i := 0; i < rows; i += step {
		for j := 0; j < x.n; j += p.Cols {
			x.ahead[0].step()
			x.ahead[1].step()
			c, a, b := unsafe.Add(c, (i*x.ldc+j)*size), unsafe.Add(a, i*x.lda*size), unsafe.Add(x.b, j*size)
			m, n := min(step, rows-i), min(p.Cols, x.n-j)
			if x.columns == nil {
				p.Tile(c, a, b, m, n, x.k, x.ldc, x.lda, x.sa, x.ldb, x.add)
			} else {
				p.Indexed(c, a, b, m, n, x.k, x.ldc, x.lda, unsafe.Pointer(&x.columns[0]), x.ldb, x.add)
			}
		}
	}
}

// A prefetch reads a number of rows of memory into the cache in a number of steps. Processors
// by themselves prefetch only contiguous memory.
type prefetch struct {
	p                   uintptr // of the next row; it keeps no memory alive
	bytes, stride, rows int
	steps, credit       int // a row is due for each steps of credit
}

func (x *prefetch) step() {
	for x.credit += x.rows; x.steps > 0 && x.credit >= x.steps; x.credit -= x.steps {
		simd.Prefetch(x.p, x.bytes)
		x.p += uintptr(x.stride)
	}
}

// A partJob computes one part of a tile per task.
type partJob struct {
	*contractRunner
	at int // of the parts in shared memory
}

func (j partJob) task(x *executor, w *worker, i int) {
	t := j.part(w, i/j.parts, i%j.parts, unsafe.Add(base(x.shared), j.at+i*j.span*j.stripBytes()))
	t.multiply(false)
}

// A sumJob adds the parts of a tile, in order, and stores the strips by the epilogue.
type sumJob struct {
	*contractRunner
	at int
}

func (j sumJob) task(x *executor, w *worker, i int) {
	first, last := j.stripsOf(i)
	f := &w.activations[2]
	for s := first; s < last; s++ {
		sum := unsafe.Add(base(x.shared), j.at+(i*j.parts*j.span+s-first)*j.stripBytes())
		j.strips.moveTo(f, s)
		n := j.rows.size(f) * j.cols.size(f)
		if n == 0 {
			continue
		}
		for p := 1; p < j.parts; p++ {
			j.add(sum, sum, unsafe.Add(sum, p*j.span*j.stripBytes()), n)
		}
		j.after.run(f, sum)
	}
}

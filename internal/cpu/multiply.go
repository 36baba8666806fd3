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
	worker *worker

	ofLeft, ofRight, ofResult *activation // of the programs of the factors, and of the epilogue

	first, last int            // strips of the tile
	from, to    int            // boxes of the depth
	tile        unsafe.Pointer // memory for the strips, one after the other
}

// part returns a part of tile i.
func (r *contractRunner) part(w *worker, i, part int, tile unsafe.Pointer) tilePart {
	t := tilePart{contractRunner: r, worker: w, tile: tile, ofLeft: &w.activations[0], ofRight: &w.activations[1], ofResult: &w.activations[2]}
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
	for _, f := range []*activation{t.ofLeft, t.ofRight, t.ofResult} {
		t.strips.moveTo(f, t.first)
	}
	t.to = max(t.from, min(t.to, t.depth.needed(t.ofRight)))
	// Where the depth is 0, one iteration sets the strips to 0.
	for k := t.from; k < max(t.to, t.from+1); k++ {
		m := multiplication{rows: t.rows.size(t.ofResult), cols: t.cols.size(t.ofResult), add: k - t.from}
		if k < t.to {
			t.loadRight(&m, k)
		}
		for i := t.first; i < t.last; i++ {
			t.strips.moveTo(t.ofResult, i)
			if m.rows = t.rows.size(t.ofResult); m.rows*m.cols == 0 {
				continue
			}
			stored := t.locate(&m, i, finish)
			if k < t.to {
				t.loadLeft(&m, i, k)
			}
			m.run(&t.product, t.size)
			if finish && !stored && k >= t.to-1 {
				t.after.run(t.ofResult, m.result.at)
			}
		}
	}
}

// loadRight loads the panel of the right factor for box k. The products of all strips
// prefetch the next one.
func (t *tilePart) loadRight(m *multiplication, k int) {
	t.depth.moveTo(t.ofLeft, k)
	t.depth.moveTo(t.ofRight, k)
	m.depth = t.product.Depth(t.depth.size(t.ofRight))
	cols := t.cols.size(t.ofRight)
	m.right.at, m.right.row, _ = t.right.panel(t.ofRight, t.depth.size(t.ofRight), cols)
	if k+1 < t.to {
		t.depth.moveTo(t.ofRight, k+1)
		m.ahead[1] = t.right.ahead(t.ofRight, t.depth.size(t.ofRight), cols, (t.last-t.first)*m.tiles(&t.product))
	}
}

// loadLeft loads the panel of the left factor for strip i and box k. The products of this
// strip prefetch the next one.
func (t *tilePart) loadLeft(m *multiplication, i, k int) {
	t.strips.moveTo(t.ofLeft, i)
	if t.windows != nil {
		t.windows.load(t.ofLeft, t.worker, m)
		return
	}
	if i == t.first && k == t.from { // nothing has prefetched this panel
		now := t.left.ahead(t.ofLeft, m.rows, t.depth.size(t.ofLeft), 1)
		now.step()
	}
	m.left.at, m.left.row, m.left.column = t.left.panel(t.ofLeft, m.rows, t.depth.size(t.ofLeft))
	switch {
	case i+1 < t.last:
		t.strips.moveTo(t.ofLeft, i+1)
	case k+1 < t.to:
		t.strips.moveTo(t.ofLeft, t.first)
		t.depth.moveTo(t.ofLeft, k+1)
	default:
		m.ahead[0] = prefetch{}
		return
	}
	m.ahead[0] = t.left.ahead(t.ofLeft, t.rows.size(t.ofLeft), t.depth.size(t.ofLeft), m.tiles(&t.product))
}

// locate sets where the sums of strip i go: to the result, if the epilogue only stores,
// else to the part's memory. It sums in the result even if its rows compete for sets of
// the cache, because a copy takes longer.
func (t *tilePart) locate(m *multiplication, i int, finish bool) (stored bool) {
	if finish && t.after.out != nil {
		if at, row, column, ok := t.after.out.inPlace(t.ofResult); ok && column == 1 {
			m.result = panel{at: at, row: row}
			return true
		}
	}
	m.result = panel{at: unsafe.Add(t.tile, (i-t.first)*t.stripBytes()), row: m.cols}
	return false
}

// A panel is a matrix in memory, with the distances of neighbours in a column and in a row, in elements.
type panel struct {
	at          unsafe.Pointer
	row, column int // column is 1 where it is not set
}

// A multiplication is the product of a panel of each factor, result[rows cols] = left[rows depth] ·
// right[depth cols].
type multiplication struct {
	result, left, right panel
	rows, cols, depth   int
	add                 int         // 0: the result is not read, but set
	ahead               [2]prefetch // of the panels that are used next

	// For windows: runs has the position in left of each run of runRows rows, and columns the
	// positions of the columns within a run.
	runs, columns []int
	runRows       int
}

// tiles is the number of calls of the product's routine, if rows are not in runs.
func (x *multiplication) tiles(p *simd.Product) int {
	return ir.CeilDiv(x.rows, p.Rows) * ir.CeilDiv(x.cols, p.Cols)
}

// run multiplies tile by tile of the product's routine: a few rows of the left panel, which
// stay in the first-level cache, by all columns of the right one, which stays in the
// second-level cache.
func (x *multiplication) run(p *simd.Product, size int) {
	if x.columns == nil {
		x.runOf(p, size, x.result.at, x.left.at, x.rows)
		return
	}
	for i, at := range x.runs {
		x.runOf(p, size, unsafe.Add(x.result.at, i*x.runRows*x.result.row*size), unsafe.Add(x.left.at, at*size), x.runRows)
	}
}

// runOf multiplies some rows of the left panel, cut into tiles of about equal height.
func (x *multiplication) runOf(p *simd.Product, size int, result, left unsafe.Pointer, rows int) {
	step := ir.CeilDiv(rows, ir.CeilDiv(rows, p.Rows))
	for i := 0; i < rows; i += step {
		for j := 0; j < x.cols; j += p.Cols {
			x.ahead[0].step()
			x.ahead[1].step()
			c, a, b := unsafe.Add(result, (i*x.result.row+j)*size), unsafe.Add(left, i*x.left.row*size), x.right.at
			if b != nil { // the depth is not 0
				b = unsafe.Add(b, j*size)
			}
			m, n := min(step, rows-i), min(p.Cols, x.cols-j)
			if x.columns == nil {
				p.Tile(c, a, b, m, n, x.depth, x.result.row, x.left.row, x.left.column, x.right.row, x.add)
			} else {
				p.Indexed(c, a, b, m, n, x.depth, x.result.row, x.left.row, unsafe.Pointer(&x.columns[0]), x.right.row, x.add)
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

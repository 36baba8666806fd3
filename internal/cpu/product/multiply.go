package product

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// Begin lays out a worker's scratch: the strips of a tile, then the registers of three programs.
func (r *contractRunner) Begin(x *vector.Executor, w *vector.Worker) {
	w.Last = -1
	program, left := r.left.needs()
	strips, right := r.span*r.stripBytes(), r.right.scratch()
	mem := w.Scratch(strips + left + right + r.after.program.Scratch)
	w.Activations[0].Enter(program, x.Bind, unsafe.Add(mem, strips), &w.Bad)
	w.Activations[1].Enter(r.right.program, x.Bind, unsafe.Add(mem, strips+left), &w.Bad)
	w.Activations[2].Enter(r.after.program, x.Bind, unsafe.Add(mem, strips+left+right), &w.Bad)
}

// Task computes a tile of the result.
func (r *contractRunner) Task(_ *vector.Executor, w *vector.Worker, i int) {
	t := r.part(w, i, 0, w.Scratch(0))
	t.expect(i+1, 0)
	t.multiply(true)
}

// A tilePart computes one tile over one part of the depth (split-K). The tile is a list of strips of
// rows; the depth is a list of blocks, the boxes of its tiling.
type tilePart struct {
	*contractRunner
	worker *vector.Worker

	ofLeft, ofRight, ofResult *vector.Activation // of the programs of the factors, and of the epilogue

	firstStrip, endStrip int
	nextStrip, nextBlock int // the first ones of the next part that this worker is likely to compute, or -1
	firstBlock, endBlock int
	begins, hasLeft      bool           // it is the worker's first; the worker's caches have the left factor
	stripMemory          unsafe.Pointer // for the sums of the strips, one strip after the other
}

// part returns a part of tile i.
func (r *contractRunner) part(w *vector.Worker, i, part int, stripMemory unsafe.Pointer) tilePart {
	t := tilePart{contractRunner: r, worker: w, stripMemory: stripMemory, ofLeft: &w.Activations[0], ofRight: &w.Activations[1], ofResult: &w.Activations[2]}
	t.firstStrip, t.endStrip = r.stripsOf(i)
	t.firstBlock, t.endBlock = part*r.blocksPerPart, min((part+1)*r.blocksPerPart, r.depth.Count)
	above := r.rows.Count * r.cols.Count // strips of a batch
	left := (t.firstStrip/above*r.rows.Count+t.firstStrip%r.rows.Count)*r.depth.Count + t.firstBlock
	bytes := r.span * r.rows.MaxPoints() * min(r.blocksPerPart, r.depth.Count) * r.depth.MaxPoints() * r.size
	t.begins, t.hasLeft = w.Last < 0, w.Last == left && bytes <= r.space.Tune.Panel
	w.Last = left
	return t
}

// expect sets the next part that this worker is likely to compute.
func (t *tilePart) expect(i, part int) {
	if t.nextStrip, t.nextBlock = -1, part*t.blocksPerPart; i < t.tasks() {
		t.nextStrip, _ = t.stripsOf(i)
	}
}

// multiply computes the part. If finish is set, which says that the tile has no other part, it
// stores the strips by the epilogue.
//
// The loops follow Goto and van de Geijn: over blocks of the depth, each with a panel of
// the right factor; over strips, each with a panel of the left one; and in
// multiplication.run over microtiles, which the routine of simd.Product computes.
func (t *tilePart) multiply(finish bool) {
	for _, f := range []*vector.Activation{t.ofLeft, t.ofRight, t.ofResult} {
		t.strips.MoveTo(f, t.firstStrip)
	}
	t.endBlock = max(t.firstBlock, min(t.endBlock, t.depth.Needed(t.ofRight)))
	// Where the depth is 0, one iteration sets the strips to 0.
	for k := t.firstBlock; k < max(t.endBlock, t.firstBlock+1); k++ {
		m := multiplication{rows: t.rows.Size(t.ofResult), cols: t.cols.Size(t.ofResult)}
		if k < t.endBlock {
			t.loadRight(&m, k)
		}
		for i := t.firstStrip; i < t.endStrip; i++ {
			t.strips.MoveTo(t.ofResult, i)
			if m.rows = t.rows.Size(t.ofResult); m.rows*m.cols == 0 {
				continue
			}
			inResult, stored := t.locate(&m, i, finish)
			if m.add = (panel{}); k > t.firstBlock {
				m.add = m.result
			} else if k == 0 {
				m.add = t.after.beside(t.ofResult)
			}
			if k < t.endBlock {
				t.loadLeft(&m, i, k)
			}
			if m.prefetchResult = (prefetch{}); finish && t.after.large != nil && !inResult && k >= t.endBlock-1 {
				m.prefetchResult = t.after.large.ahead(t.ofResult, m.microTiles(&t.product))
			}
			m.finish = bands{}
			if finish && !stored && k >= t.endBlock-1 {
				m.finish = t.after.begin(t.ofResult, m.result.at)
			}
			m.run(&t.product, t.size)
		}
	}
}

// loadRight loads the panel of the right factor for block k. The products of all strips
// prefetch the next one, of the next tile after the last block.
func (t *tilePart) loadRight(m *multiplication, k int) {
	t.depth.MoveTo(t.ofLeft, k)
	t.depth.MoveTo(t.ofRight, k)
	m.depth = t.product.Depth(t.depth.Size(t.ofRight))
	m.right.at, m.right.row, m.right.column = t.right.panel(t.ofRight, t.depth.Size(t.ofRight), t.cols.Size(t.ofRight))
	if t.begins && k == t.firstBlock { // nothing has prefetched this panel
		now := t.right.ahead(t.ofRight, 1)
		now.advance()
	}
	switch {
	case k+1 < t.endBlock:
		t.depth.MoveTo(t.ofRight, k+1)
	case t.nextStrip >= 0 && (t.nextStrip/t.rows.Count != t.firstStrip/t.rows.Count || t.nextBlock != t.firstBlock): // another panel
		t.strips.MoveTo(t.ofRight, t.nextStrip)
		t.depth.MoveTo(t.ofRight, t.nextBlock)
	default:
		return
	}
	m.prefetchRight = t.right.ahead(t.ofRight, (t.endStrip-t.firstStrip)*m.microTiles(&t.product))
	if t.product.Packing == nil {
		m.prefetchRight = m.prefetchRight.inside(m.depth)
	}
}

// loadLeft loads the panel of the left factor for strip i and block k. The products of this
// strip prefetch the next one.
func (t *tilePart) loadLeft(m *multiplication, i, k int) {
	t.strips.MoveTo(t.ofLeft, i)
	if i == t.firstStrip && k == t.firstBlock && !t.hasLeft { // nothing has prefetched this panel
		now := t.left.ahead(t.ofLeft, 1)
		now.advance()
	}
	m.leftPanel = t.left.read(t.ofLeft, t.worker, m.rows, t.depth.Size(t.ofLeft))
	switch {
	case t.product.Packing == nil && m.runs == nil && m.left.column == 1 && m.left.row == m.depth: // read in order
		m.prefetchLeft = prefetch{}
		return
	case i+1 < t.endStrip:
		t.strips.MoveTo(t.ofLeft, i+1)
	case k+1 < t.endBlock:
		t.strips.MoveTo(t.ofLeft, t.firstStrip)
		t.depth.MoveTo(t.ofLeft, k+1)
	default:
		m.prefetchLeft = prefetch{}
		return
	}
	m.prefetchLeft = t.left.ahead(t.ofLeft, m.microTiles(&t.product))
}

// locate sets where strip i is summed: in the result if the epilogue only stores, even if its rows compete for sets
// of the cache, because a copy takes longer; or if the strip has its rows without gaps, as the epilogue reads them;
// otherwise in stripMemory. It reports whether sums stand in the result, and whether they are the result.
func (t *tilePart) locate(m *multiplication, i int, finish bool) (inResult, stored bool) {
	if finish && t.after.out != nil {
		at, row, column, ok := t.after.out.inPlace(t.ofResult)
		if ok && column == 1 && (t.after.stored || row == m.cols || m.rows == 1) {
			m.result = panel{at: at, row: row}
			return true, t.after.stored
		}
	}
	at := i - t.firstStrip
	if finish && t.endBlock-t.firstBlock <= 1 { // the epilogue has read the strip before
		at = 0
	}
	m.result = panel{at: unsafe.Add(t.stripMemory, at*t.stripBytes()), row: m.cols}
	return false, false
}

// A panel is a matrix in memory, with the distances of neighbours in a column and in a row, in elements.
type panel struct {
	at          unsafe.Pointer
	row, column int // column is 1 where it is not set
}

// A multiplication is the product of a panel of each factor, result[rows cols] = left[rows depth] ·
// right[depth cols].
type multiplication struct {
	result, right panel
	add           panel // to which sums are added: the result, or the addend of the epilogue, or empty
	leftPanel
	rows, cols, depth           int
	prefetchLeft, prefetchRight prefetch // of the panels that are used next
	prefetchResult              prefetch // of where the epilogue stores
	finish                      bands    // the epilogue of sums that are complete, if any
}

// A leftPanel is a panel of the left factor.
type leftPanel struct {
	left panel
	// For rows in runs: runs has the position in left of each run of runRows rows, and columns, for windows, the
	// positions of the columns within a run.
	runs, columns []int
	runRows       int
}

// microTiles is the number of calls of the product's routine.
func (x *multiplication) microTiles(p *simd.Product) int {
	if x.runs != nil {
		return len(x.runs) * ir.CeilDiv(x.runRows, p.Rows) * ir.CeilDiv(x.cols, p.Cols)
	}
	return ir.CeilDiv(x.rows, p.Rows) * ir.CeilDiv(x.cols, p.Cols)
}

// run multiplies microtile by microtile: a few rows of the left panel, which stay in the
// first-level cache, by all columns of the right one, which stays in the second-level cache.
func (x *multiplication) run(p *simd.Product, size int) {
	if x.runs == nil {
		x.runOf(p, size, 0, x.left.at, x.rows)
		return
	}
	for i, at := range x.runs {
		x.runOf(p, size, i*x.runRows, unsafe.Add(x.left.at, at*size), x.runRows)
	}
}

// runOf multiplies some rows of the left panel, from row first of the result on, cut into microtiles of about equal height.
func (x *multiplication) runOf(p *simd.Product, size, first int, left unsafe.Pointer, rows int) {
	result := unsafe.Add(x.result.at, first*x.result.row*size)
	height := ir.CeilDiv(rows, ir.CeilDiv(rows, p.Rows))
	for i := 0; i < rows; i += height {
		for j := 0; j < x.cols; j += p.Cols {
			x.prefetchLeft.advance()
			x.prefetchResult.advance()
			ahead, step := x.prefetchRight.next()
			c, a, b := unsafe.Add(result, (i*x.result.row+j)*size), unsafe.Add(left, i*x.left.row*size), x.right.at
			if b != nil { // the depth is not 0
				b = unsafe.Add(b, j*x.right.column*size)
			}
			if step == 0 {
				ahead = uintptr(b) // its page is known
			}
			add := x.add.at
			if add != nil {
				add = unsafe.Add(add, ((first+i)*x.add.row+j)*size)
			}
			m, n := min(height, rows-i), min(p.Cols, x.cols-j)
			if x.columns == nil {
				p.Tile(c, a, b, m, n, x.depth, x.result.row, x.left.row, x.left.column, x.right.row, add, x.add.row*size, int(ahead), step)
			} else {
				p.Indexed(c, a, b, m, n, x.depth, x.result.row, x.left.row, unsafe.Pointer(&x.columns[0]), x.right.row, add, x.add.row*size, int(ahead), step)
			}
		}
		x.finish.upTo(first + min(i+height, rows))
	}
}

// A prefetch reads groups of rows of memory into the cache in a number of steps. Processors
// by themselves prefetch only contiguous memory.
type prefetch struct {
	p                   uintptr // of the next row; it keeps no memory alive
	bytes, stride, rows int     // of a group
	far, groups, group  int     // the group that is read now
	steps, credit, done int     // each call of advance adds all rows to credit, and a row costs steps; done are of this group
	piece, line         int     // if a product's routine reads: bytes of a group in a step, and from one line to the next
}

// pieceBytes is the length of contiguous memory that one call reads: a call for each row of a tile would take longer
// than the lines that it reads.
const pieceBytes = 512

// joined returns x with contiguous rows joined to pieces, of which the last may end after the last row.
func (x prefetch) joined() prefetch {
	if n := pieceBytes / max(1, x.bytes); n > 1 && x.stride == x.bytes {
		x.rows = ir.CeilDiv(x.rows, n)
		x.bytes *= n
		x.stride *= n
	}
	return x
}

// inside returns x for the routine of products of some depth, which then reads a line for each position of the depth
// while it multiplies: many reads at once would wait for each other. Where groups are not contiguous, or too large for
// that, it returns x as it is.
func (x prefetch) inside(depth int) prefetch {
	group := x.rows * x.bytes
	if per := x.steps / max(1, x.groups); per > 0 && x.stride == x.bytes && group <= per*depth*vector.CacheLine {
		x.piece = ir.CeilDiv(group, per)
		x.line = ir.CeilDiv(x.piece, depth)
	}
	return x
}

// advance prefetches its share of the rows: over `steps` calls, all of them.
func (x *prefetch) advance() {
	if x.group < x.groups {
		x.read()
	}
}

func (x *prefetch) read() {
	for x.credit += x.rows * x.groups; x.credit >= x.steps; x.credit -= x.steps {
		simd.Prefetch(x.p, x.bytes)
		x.p += uintptr(x.stride)
		if x.done++; x.done == x.rows {
			if x.nextGroup(x.rows * x.stride); x.group == x.groups {
				return
			}
		}
	}
}

// nextGroup moves from the end of a group, some bytes from its start, to the next one.
func (x *prefetch) nextGroup(bytes int) {
	if x.groups > 1 {
		x.p += uintptr(x.far - bytes)
	}
	x.done = 0
	x.group++
}

// next returns the address and step of the lines that a product's routine reads ahead. With a step of 0 it advances.
func (x *prefetch) next() (ahead uintptr, step int) {
	if x.piece == 0 || x.group == x.groups {
		x.advance()
		return 0, 0
	}
	ahead = x.p
	x.p += uintptr(x.piece)
	if x.done += x.piece; x.done >= x.rows*x.bytes {
		x.nextGroup(x.done)
	}
	return ahead, x.line
}

// A partJob computes one part of a tile per task.
type partJob struct {
	*contractRunner
	at int // offset in shared memory of the strips of all parts
}

func (j partJob) Task(x *vector.Executor, w *vector.Worker, i int) {
	t := j.part(w, i/j.parts, i%j.parts, unsafe.Add(vector.Base(x.Shared), j.at+i*j.span*j.stripBytes()))
	t.expect((i+1)/j.parts, (i+1)%j.parts)
	t.multiply(false)
}

// A sumJob adds the parts of a tile, in order, and stores the strips by the epilogue.
type sumJob struct {
	*contractRunner
	at int // as in partJob
}

func (j sumJob) Task(x *vector.Executor, w *vector.Worker, i int) {
	first, end := j.stripsOf(i)
	f := &w.Activations[2]
	for s := first; s < end; s++ {
		sum := unsafe.Add(vector.Base(x.Shared), j.at+(i*j.parts*j.span+s-first)*j.stripBytes())
		j.strips.MoveTo(f, s)
		n := j.rows.Size(f) * j.cols.Size(f)
		if n == 0 {
			continue
		}
		for p := 1; p < j.parts; p++ {
			j.add(sum, sum, unsafe.Add(sum, p*j.span*j.stripBytes()), n)
		}
		j.after.run(f, sum)
	}
}

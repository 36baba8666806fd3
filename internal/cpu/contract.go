package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A contractRunner computes a matrix product tile by tile, as Goto and van de Geijn
// describe. The rows of the result are the M axes and its columns the N axes, or the
// reverse if the result is contiguous along M, or if the reverse copies fewer elements.
// Tiles are tasks; a task sums over the depth in blocks, evaluates the prologues over the
// block of each factor, or reads the factor in place, multiplies by microtiles that fit in
// registers, and evaluates the epilogue while the tile is in the cache.
type contractRunner struct {
	space         *space
	rows, cols    *tiling
	strips        tilings          // of the batch, the columns and the rows
	span          int              // strips in a tile
	whole         bool             // a tile has all rows, so that the parts share the right factor
	depth         *tiling          // of the axes that are summed over
	left          *factor          // rows by depth, if windows is nil
	windows       *windows         // a left factor as convolutions have
	leftProgram   *program         // of either
	leftScratch   int              // bytes of its memory
	right         *factor          // depth by columns
	pack          *pointwiseRunner // stores the right factor, if tiles share it, or nil
	packed        int              // bytes of the stored right factor
	product       simd.Product
	add           simd.Binary
	after         *epilogue
	size          int // bytes of an element of the sum, and of the factors of the product's microtile
	parts         int // of the depth (split-K), each with a tile of its own
	blocksPerPart int // blocks of the depth in a part
	work          int
}

// newContract returns nil for types without a micro-kernel, and the number of bindings
// that the runner adds to the kernel's.
func newContract(s *space) (r *contractRunner, extra int) {
	sum, x, y := loopnest.Factors(s.Body, s.Roles(ir.M), s.Roles(ir.N))
	typ := s.Body[sum].Type
	r = &contractRunner{space: s, product: simd.Products[typ], size: typ.Size()}
	if r.product.Tile == nil || typ != s.Body[x].Type {
		return nil, 0
	}
	if p := simd.Products[ir.Int8]; p.Tile != nil && s.widens(x) && s.widens(y) {
		r.product = p
		x, y = s.Body[x].Src[0], s.Body[y].Src[0]
	}
	r.add = simd.Binaries[ir.Add][typ].VV
	rows, cols := s.List(ir.M), s.List(ir.N)
	turn := func() { rows, cols, x, y = cols, rows, y, x }
	columnMajor := s.ColumnMajor()
	switch {
	case r.cutWindows(x, rows, cols, columnMajor):
	case r.cutWindows(y, cols, rows, !columnMajor):
		turn()
	default:
		if columnMajor {
			turn()
		}
		r.cut(rows, cols)
		if r.turnPays(x, y, rows, cols) {
			turn()
			r.cut(rows, cols)
		}
	}
	r.narrow()
	extra = r.share(y)
	s = r.space
	if p := r.product.Packing; p != nil {
		r.left = newPacked(s, x, r.rows, r.depth, p.Left, p.Bytes(r.depth.maxPoints(), r.rows.maxPoints()))
		r.right = newPacked(s, y, r.depth, r.cols, p.Right, p.Bytes(r.depth.maxPoints(), r.cols.maxPoints()))
	} else {
		r.right = newRight(s, y, r.rows, r.depth, r.cols)
		if r.windows == nil {
			r.left = newLeft(s, x, r.rows, r.depth)
		}
	}
	if r.windows == nil {
		r.leftProgram, r.leftScratch = r.left.program, r.left.scratch()
	}
	s.Body[sum].Domain = s.Roles(ir.Batch, ir.M, ir.N)
	r.after = newEpilogue(s, sum, r.rows, r.cols)
	return r, extra
}

// cutWindows chooses the tiles if left factor i is windows. It returns false if it is not,
// or if the result is transposed and has more elements than the windows.
func (r *contractRunner) cutWindows(i int, rows, cols []int, transposed bool) bool {
	s := r.space
	results := float64(s.Size(s.List(ir.Batch)) * s.Size(rows) * s.Size(cols))
	if r.product.Indexed == nil || len(s.limits) > 0 || transposed && results > loopnest.Points(s.Axes, s.Body[i].Domain) {
		return false
	}
	if r.windows = s.findWindows(i); r.windows == nil {
		return false
	}
	r.cut(rows, cols)
	if r.leftProgram = r.windows.prepare(r.rows, r.depth); r.leftProgram == nil {
		r.windows = nil
		return false
	}
	r.leftScratch = r.leftProgram.scratch
	return true
}

// turnPays reports whether to exchange the rows and the columns of the result, because
// that copies fewer elements. As they are, the right factor y is copied. Exchanged, y is
// read in place as the left factor; x is copied, and the result, which is stored
// transposed.
func (r *contractRunner) turnPays(x, y int, rows, cols []int) bool {
	s := r.space
	if r.product.Packing != nil || !s.plain(y) || s.inPlace(y, r.depth, r.cols) || s.Size(rows) <= fewRows {
		return false
	}
	turned := s.Size(s.List(ir.Batch)) * s.Size(rows) * s.Size(cols)
	if !s.inPlace(x, r.depth, r.rows) {
		turned += int(loopnest.Points(s.Axes, s.Body[x].Domain))
	}
	return turned < int(loopnest.Points(s.Axes, s.Body[y].Domain))
}

// widens reports whether instruction i converts int8 to int32.
func (s *space) widens(i int) bool {
	in := &s.Body[i]
	return in.Op == ir.Cast && in.Type == ir.Int32 && s.Body[in.Src[0]].Type == ir.Int8
}

// cut chooses the tiles: as large as the caches allow, or smaller if that gives too few
// for many cores.
func (r *contractRunner) cut(rows, cols []int) {
	s, t := r.space, r.space.tune
	depth := s.List(ir.K)
	batch := newTiling(s, s.List(ir.Batch), 1, 1)
	deep := t.depth
	if p := r.product.Packing; p != nil {
		deep *= p.Group
	}
	r.depth = newTiling(s, depth, deep/2, deep)
	r.work = s.work(s.Stores(0, false)) / r.product.Speed
	height, width, minPart := t.rows, t.cols, t.minPart
	if r.windows != nil {
		// Strips are high, because the blocks of neighbouring strips have elements in
		// common. For more tasks the depth is split and not the strips.
		rows, minPart = s.orderRows(rows), max(1, t.minPart/4)
		height = min(t.span, t.rows*t.cols/max(1, min(t.cols, s.Size(cols))))
	}
	most := max(1, s.Size(depth)/minPart)
	for least := height / 8; ; {
		r.rows = newTilingBy(s, rows, height/2, height, r.product.Rows)
		r.cols = newTilingBy(s, cols, width/2, width, r.product.Cols)
		r.strips = tilings{batch, r.cols, r.rows}
		n := r.strips.count()
		if 2*n >= t.minTiles || r.work/max(n, 1) < 8*t.parallelThreshold || r.windows != nil && most > 1 {
			break
		}
		// Each strip reads the right factor, so few rows stay one strip, and strips that are
		// far wider than high are cut along the columns.
		few := s.Size(rows) <= fewRows
		wide := min(width, s.Size(cols)) >= 4*min(height, s.Size(rows))
		if (few || wide) && width > t.cols/8 {
			width /= 2
		} else if !few && height > least {
			height /= 2
		} else {
			break
		}
	}
	n := r.strips.count()
	r.whole = false
	switch {
	case n == 0 || n >= t.minTiles:
		most = 1
	case r.windows == nil || most == 1:
		most = min(2*t.minTiles/n, most)
	default:
		r.whole = true
		most = min(t.minTiles*r.rows.count/n, most)
	}
	r.parts, r.blocksPerPart = split(r.depth, most)
}

// narrow cuts the columns so that a panel of the right factor fits in the cache, and
// groups the strips into tiles. It comes after all choices that change a result, of the
// parts and of which side is the rows, because results must not depend on the size of the
// cache.
func (r *contractRunner) narrow() {
	s, t := r.space, r.space.tune
	fits := max(t.panel/max(1, r.depth.maxPoints()*r.size), r.product.Cols)
	if r.cols.maxPoints() > fits && s.Size(r.rows.axes) > fewRows {
		r.cols = newTilingBy(s, r.cols.axes, fits/2, fits, r.product.Cols)
		r.strips[1] = r.cols
	}
	if r.span = r.rows.count; !r.whole {
		n := r.strips.count()
		r.span = min(max(1, n/t.minTiles), r.rows.count, max(1, t.span/max(1, r.rows.maxPoints())))
	}
}

// share makes instruction i, the right factor, a load of a buffer that a first job fills,
// if several rows of tiles read it and cannot read it in place. It returns the number of
// bindings that it adds.
func (r *contractRunner) share(i int) int {
	s := r.space
	in := s.Body[i]
	size := in.Type.Size()
	r.packed = size * int(loopnest.Points(s.Axes, in.Domain))
	if r.rows.count <= r.span || r.packed == 0 || r.packed > s.tune.maxShared || s.inPlace(i, r.depth, r.cols) {
		return 0
	}
	k := *s.Kernel
	k.Body, k.Args = slices.Clone(k.Body), append(slices.Clone(k.Args), ir.Arg{Kind: ir.In, DType: in.Type})
	r.space = s.with(&k)
	axes := slices.Concat(s.List(ir.Batch), r.depth.axes, r.cols.axes)
	axes = slices.DeleteFunc(axes, func(a int) bool { return !in.Domain.Has(a) })
	view := &ir.View{Coef: make([]int, len(s.Axes))}
	stride := 1
	for j, a := range slices.Backward(axes) {
		view.Coef[a] = stride
		stride *= s.Axes[a].Len
		if j == len(axes)-len(r.cols.axes) && s.conflicts(i, stride) {
			stride += 64 / size
		}
	}
	r.packed = stride * size
	store := ir.Instr{Op: ir.Store, Type: in.Type, Src: []int{i}, Arg: len(s.Args), View: view, Domain: in.Domain}
	first := k
	first.Body = append(slices.Clone(k.Body), store)
	r.pack = newPointwiseOver(s.with(&first), axes, []int{len(k.Body)})
	k.Body[i] = ir.Instr{Op: ir.Load, Type: in.Type, Arg: len(s.Args), View: view, Domain: in.Domain}
	return 1
}

// stripBytes is the size of the largest strip of the result.
func (r *contractRunner) stripBytes() int {
	return align(r.rows.maxPoints() * r.cols.maxPoints() * r.size)
}

// tasks is the number of tiles: spans of strips one below the other.
func (r *contractRunner) tasks() int {
	if r.strips.count() == 0 {
		return 0
	}
	return r.strips.count() / r.rows.count * ir.CeilDiv(r.rows.count, r.span)
}

// stripsOf returns the strips of tile i, from first to the one before end.
func (r *contractRunner) stripsOf(i int) (first, end int) {
	n := ir.CeilDiv(r.rows.count, r.span)
	first = i % n * r.span
	above := i / n * r.rows.count
	return above + first, above + min(first+r.span, r.rows.count)
}

func (r *contractRunner) run(x *executor) error {
	need := 0
	if r.pack != nil {
		need = align(r.packed)
	}
	tasks, at := r.tasks(), need
	if r.parts > 1 {
		need += tasks * r.parts * r.span * r.stripBytes()
	}
	x.shared = grow(x.shared, need)
	if r.pack != nil {
		x.bind[len(x.bind)-1] = binding{p: base(x.shared)}
		if err := r.pack.run(x); err != nil {
			return err
		}
	}
	if r.parts == 1 {
		return x.do(r, tasks, r.work)
	}
	if err := x.do(partJob{r, at}, tasks*r.parts, r.work); err != nil {
		return err
	}
	return x.do(sumJob{r, at}, tasks, r.work)
}

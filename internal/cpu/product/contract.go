// Package product runs contractions on the host: tiles of matrix products, convolutions by windows,
// and dot products of few rows. Read contract.go first.
package product

import (
	"slices"

	"github.com/tensorken/tensorken/internal/cpu/vector"
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
	space         *vector.Space
	rows, cols    *vector.Tiling
	strips        vector.Tilings          // of the batch, the columns and the rows
	span          int                     // strips in a tile
	whole         bool                    // a tile has all rows, so that the parts share the right factor
	depth         *vector.Tiling          // of the axes that are summed over
	left          *factor                 // rows by depth, if windows is nil
	Windows       *windows                // a left factor as convolutions have
	leftProgram   *vector.Program         // of either
	leftScratch   int                     // bytes of its memory
	right         *factor                 // depth by columns
	pack          *vector.PointwiseRunner // stores the right factor, if tiles share it, or nil
	packed        int                     // bytes of the stored right factor
	product       simd.Product
	add           simd.Binary
	after         *epilogue
	size          int // bytes of an element of the sum, and of the factors of the product's microtile
	parts         int // of the depth (split-K), each with a tile of its own
	blocksPerPart int // blocks of the depth in a part
	work          int
}

// NewContract returns nil for types without a micro-kernel, and the number of bindings
// that the runner adds to the kernel's.
func NewContract(s *vector.Space) (r *contractRunner, extra int) {
	sum, x, y := loopnest.Factors(s.Body, s.Roles(ir.M), s.Roles(ir.N))
	typ := s.Body[sum].Type
	r = &contractRunner{space: s, product: simd.Products[typ], size: typ.Size()}
	if r.product.Tile == nil || typ != s.Body[x].Type {
		return nil, 0
	}
	if p := simd.Products[ir.Int8]; p.Tile != nil && widens(s, x) && widens(s, y) {
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
		r.left = newPacked(s, x, r.rows, r.depth, p.Left, p.Bytes(r.depth.MaxPoints(), r.rows.MaxPoints()))
		r.right = newPacked(s, y, r.depth, r.cols, p.Right, p.Bytes(r.depth.MaxPoints(), r.cols.MaxPoints()))
	} else {
		r.right = newRight(s, y, r.rows, r.depth, r.cols)
		if r.Windows == nil {
			r.left = newLeft(s, x, r.rows, r.depth)
		}
	}
	if r.Windows == nil {
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
	if r.product.Indexed == nil || len(s.Limits) > 0 || transposed && results > loopnest.Points(s.Axes, s.Body[i].Domain) {
		return false
	}
	if r.Windows = findWindows(s, i); r.Windows == nil {
		return false
	}
	r.cut(rows, cols)
	if r.leftProgram = r.Windows.prepare(r.rows, r.depth); r.leftProgram == nil {
		r.Windows = nil
		return false
	}
	r.leftScratch = r.leftProgram.Scratch
	return true
}

// turnPays reports whether to exchange the rows and the columns of the result, because
// that copies fewer elements. As they are, the right factor y is copied. Exchanged, y is
// read in place as the left factor; x is copied, and the result, which is stored
// transposed.
func (r *contractRunner) turnPays(x, y int, rows, cols []int) bool {
	s := r.space
	if r.product.Packing != nil || !s.Plain(y) || inPlace(s, y, r.depth, r.cols) || s.Size(rows) <= fewRows {
		return false
	}
	turned := s.Size(s.List(ir.Batch)) * s.Size(rows) * s.Size(cols)
	if !inPlace(s, x, r.depth, r.rows) {
		turned += int(loopnest.Points(s.Axes, s.Body[x].Domain))
	}
	return turned < int(loopnest.Points(s.Axes, s.Body[y].Domain))
}

// widens reports whether instruction i converts int8 to int32.
func widens(s *vector.Space, i int) bool {
	in := &s.Body[i]
	return in.Op == ir.Cast && in.Type == ir.Int32 && s.Body[in.Src[0]].Type == ir.Int8
}

// cut chooses the tiles: as large as the caches allow, or smaller if that gives too few
// for many cores.
func (r *contractRunner) cut(rows, cols []int) {
	s, t := r.space, r.space.Tune
	depth := s.List(ir.K)
	batch := vector.NewTiling(s, s.List(ir.Batch), 1, 1)
	deep := t.Depth
	if p := r.product.Packing; p != nil {
		deep *= p.Group
	}
	r.depth = vector.NewTiling(s, depth, deep/2, deep)
	r.work = s.Work(s.Stores(0, false)) / r.product.Speed
	height, width, minPart := t.Rows, t.Cols, t.MinPart
	if r.Windows != nil {
		// Strips are high, because the blocks of neighbouring strips have elements in
		// common. For more tasks the depth is split and not the strips.
		rows, minPart = orderRows(s, rows), max(1, t.MinPart/4)
		height = min(t.Span, t.Rows*t.Cols/max(1, min(t.Cols, s.Size(cols))))
	}
	most := max(1, s.Size(depth)/minPart)
	for least := height / 8; ; {
		r.rows = vector.NewTilingBy(s, rows, height/2, height, r.product.Rows)
		r.cols = vector.NewTilingBy(s, cols, width/2, width, r.product.Cols)
		r.strips = vector.Tilings{batch, r.cols, r.rows}
		n := r.strips.Count()
		if 2*n >= t.MinTiles || r.work/max(n, 1) < 8*t.ParallelThreshold || r.Windows != nil && most > 1 {
			break
		}
		// Each strip reads the right factor, so few rows stay one strip, and strips that are
		// far wider than high are cut along the columns.
		few := s.Size(rows) <= fewRows
		wide := min(width, s.Size(cols)) >= 4*min(height, s.Size(rows))
		if (few || wide) && width > t.Cols/8 {
			width /= 2
		} else if !few && height > least {
			height /= 2
		} else {
			break
		}
	}
	n := r.strips.Count()
	r.whole = false
	switch {
	case n == 0 || n >= t.MinTiles:
		most = 1
	case r.Windows == nil || most == 1:
		most = min(2*t.MinTiles/n, most)
	default:
		r.whole = true
		most = min(t.MinTiles*r.rows.Count/n, most)
	}
	r.parts, r.blocksPerPart = vector.Split(r.depth, most)
}

// narrow cuts the columns so that a panel of the right factor fits in the cache, and
// groups the strips into tiles. It comes after all choices that change a result, of the
// parts and of which side is the rows, because results must not depend on the size of the
// cache.
func (r *contractRunner) narrow() {
	s, t := r.space, r.space.Tune
	fits := max(t.Panel/max(1, r.depth.MaxPoints()*r.size), r.product.Cols)
	if r.cols.MaxPoints() > fits && s.Size(r.rows.Axes) > fewRows {
		r.cols = vector.NewTilingBy(s, r.cols.Axes, fits/2, fits, r.product.Cols)
		r.strips[1] = r.cols
	}
	if r.span = r.rows.Count; !r.whole {
		n := r.strips.Count()
		r.span = min(max(1, n/t.MinTiles), r.rows.Count, max(1, t.Span/max(1, r.rows.MaxPoints())))
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
	if r.rows.Count <= r.span || r.packed == 0 || r.packed > s.Tune.MaxShared || inPlace(s, i, r.depth, r.cols) {
		return 0
	}
	k := *s.Kernel
	k.Body, k.Args = slices.Clone(k.Body), append(slices.Clone(k.Args), ir.Arg{Kind: ir.In, DType: in.Type})
	r.space = s.With(&k)
	axes := slices.Concat(s.List(ir.Batch), r.depth.Axes, r.cols.Axes)
	axes = slices.DeleteFunc(axes, func(a int) bool { return !in.Domain.Has(a) })
	view := &ir.View{Coef: make([]int, len(s.Axes))}
	stride := 1
	for j, a := range slices.Backward(axes) {
		view.Coef[a] = stride
		stride *= s.Axes[a].Len
		if j == len(axes)-len(r.cols.Axes) && conflicts(s, i, stride) {
			stride += 64 / size
		}
	}
	r.packed = stride * size
	store := ir.Instr{Op: ir.Store, Type: in.Type, Src: []int{i}, Arg: len(s.Args), View: view, Domain: in.Domain}
	first := k
	first.Body = append(slices.Clone(k.Body), store)
	r.pack = vector.NewPointwiseOver(s.With(&first), axes, []int{len(k.Body)})
	k.Body[i] = ir.Instr{Op: ir.Load, Type: in.Type, Arg: len(s.Args), View: view, Domain: in.Domain}
	return 1
}

// stripBytes is the size of the largest strip of the result.
func (r *contractRunner) stripBytes() int {
	return vector.Align(r.rows.MaxPoints() * r.cols.MaxPoints() * r.size)
}

// tasks is the number of tiles: spans of strips one below the other.
func (r *contractRunner) tasks() int {
	if r.strips.Count() == 0 {
		return 0
	}
	return r.strips.Count() / r.rows.Count * ir.CeilDiv(r.rows.Count, r.span)
}

// stripsOf returns the strips of tile i, from first to the one before end.
func (r *contractRunner) stripsOf(i int) (first, end int) {
	n := ir.CeilDiv(r.rows.Count, r.span)
	first = i % n * r.span
	above := i / n * r.rows.Count
	return above + first, above + min(first+r.span, r.rows.Count)
}

func (r *contractRunner) Run(x *vector.Executor) error {
	need := 0
	if r.pack != nil {
		need = vector.Align(r.packed)
	}
	tasks, at := r.tasks(), need
	if r.parts > 1 {
		need += tasks * r.parts * r.span * r.stripBytes()
	}
	x.Shared = vector.Grow(x.Shared, need)
	if r.pack != nil {
		x.Bind[len(x.Bind)-1] = vector.Binding{P: vector.Base(x.Shared)}
		if err := r.pack.Run(x); err != nil {
			return err
		}
	}
	if r.parts == 1 {
		return x.Do(r, tasks, r.work)
	}
	if err := x.Do(partJob{r, at}, tasks*r.parts, r.work); err != nil {
		return err
	}
	return x.Do(sumJob{r, at}, tasks, r.work)
}

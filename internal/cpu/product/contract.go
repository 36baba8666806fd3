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
// reverse if the result is contiguous along M, or if the reverse takes less work: see cost.
// Tiles are tasks; a task sums over the depth in blocks, evaluates the prologues over the
// block of each factor, or reads the factor in place, multiplies by microtiles that fit in
// registers, and evaluates the epilogue while the tile is in the cache.
type contractRunner struct {
	*cutting
	space   *vector.Space
	left    reader                  // of panels of rows by depth
	right   *factor                 // depth by columns
	pack    *vector.PointwiseRunner // stores the right factor, if tiles share it, or nil
	packed  int                     // bytes of the stored right factor
	product simd.Product
	pairs   bool // elements of the factors are pairs of bfloat16
	unit    int  // of the depth: blocks are of whole units
	add     simd.Binary
	after   *epilogue
	size    int // bytes of an element of the sum, and of the factors of the product's microtile
	work    int
}

// A reader gives a product panels of its left factor: memory as it is or packed, values, or windows.
type reader interface {
	// needs returns the program that computes panels, and the bytes of scratch that it runs in.
	needs() (p *vector.Program, scratch int)
	// read returns the panel at which an activation is, of some rows and depth.
	read(f *vector.Activation, w *vector.Worker, rows, depth int) leftPanel
	// ahead returns a prefetch, in steps, of the panel at which an activation is.
	ahead(f *vector.Activation, steps int) prefetch
}

// ReadsWindows reports whether the left factor is windows.
func (r *contractRunner) ReadsWindows() bool {
	_, ok := r.left.(*windows)
	return ok
}

// ReadsPairs reports whether elements of the factors are pairs of bfloat16.
func (r *contractRunner) ReadsPairs() bool { return r.pairs }

// NewContract returns nil for types without a micro-kernel, and the number of bindings
// that the runner adds to the kernel's.
func NewContract(s *vector.Space) (r *contractRunner, extra int) {
	sum, x, y := loopnest.Factors(s.Body, s.Roles(ir.M), s.Roles(ir.N))
	typ := s.Body[sum].Type
	r = &contractRunner{space: s, product: simd.Products[typ], size: typ.Size(), unit: 1}
	if r.product.Tile == nil || typ != s.Body[x].Type {
		return nil, 0
	}
	if p := simd.Products[ir.Int8]; p.Tile != nil && widens(s, x) && widens(s, y) {
		r.product = p
		x, y = s.Body[x].Src[0], s.Body[y].Src[0]
	}
	if p := pairs(s, x, y); p != nil && typ == ir.Float32 {
		s, r.space, r.product, r.pairs = p, p, simd.Products[ir.BFloat16], true
	}
	weights := fixedFactor(s, x, y)
	if weights >= 0 {
		r.product, r.unit = simd.FixedProduct, s.Args[s.Body[weights].Arg].DType.Unit()
	}
	r.add, r.work = simd.Binaries[ir.Add][typ].VV, s.Work(s.Stores(0, false))/r.product.Speed
	rows, cols := s.List(ir.M), s.List(ir.N)
	turn := func() { rows, cols, x, y = cols, rows, y, x }
	columnMajor := s.ColumnMajor()
	switch {
	case weights >= 0: // they are the right factor
		if weights == x {
			turn()
		}
		r.cutting = newCutting(s, &r.product, rows, cols, r.work, r.unit, false)
	case r.cutWindows(x, rows, cols, columnMajor):
	case r.cutWindows(y, cols, rows, !columnMajor):
		turn()
	default:
		if columnMajor {
			turn()
		}
		r.cutting = newCutting(s, &r.product, rows, cols, r.work, 1, false)
		if r.product.Packing != nil || !s.Plain(x) || !s.Plain(y) || s.Size(rows) <= s.Tune.FewRows {
			break
		}
		turned := newCutting(s, &r.product, cols, rows, r.work, 1, false)
		if turned.cost(s, &r.product, y, x) < r.cost(s, &r.product, x, y) {
			turn()
			r.cutting = turned
		}
	}
	r.narrow(s, &r.product, r.size)
	if r.left == nil || r.whole { // the rows of windows are prepared
		r.divide(s, &r.product, min(s.Tune.Threads, r.work/s.Tune.ParallelThreshold))
	}
	if weights >= 0 {
		r.right = newWeights(s, y, r.depth, r.cols)
	} else {
		extra = r.share(y)
		s = r.space
		r.right = newFactor(s, y, r.depth, r.cols, &r.product, false, s.Size(r.rows.Axes) <= s.Tune.FewRows)
	}
	if r.left == nil {
		r.left = newFactor(s, x, r.rows, r.depth, &r.product, true, s.Size(r.rows.Axes) <= s.Tune.FewRows)
	}
	s.Body[sum].Domain = s.Roles(ir.Batch, ir.M, ir.N)
	load, sum := addend(s, sum, r.rows, r.cols)
	r.after = newEpilogue(s, sum, load, r.rows, r.cols)
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
	w := findWindows(s, i)
	if w == nil {
		return false
	}
	if r.cutting = newCutting(s, &r.product, rows, cols, r.work, 1, true); !w.prepare(r.rows, r.depth) {
		return false
	}
	r.left = w
	return true
}

// widens reports whether instruction i converts int8 to int32.
func widens(s *vector.Space, i int) bool {
	in := &s.Body[i]
	return in.Op == ir.Cast && in.Type == ir.Int32 && s.Body[in.Src[0]].Type == ir.Int8
}

// share makes instruction i, the right factor, a load of a buffer that a first job fills,
// if several rows of tiles read it and cannot read it in place. It returns the number of
// bindings that it adds.
func (r *contractRunner) share(i int) int {
	s := r.space
	in := s.Body[i]
	size := in.Type.Size()
	r.packed = size * int(loopnest.Points(s.Axes, in.Domain))
	if r.rows.Count <= r.span || r.packed == 0 || r.packed > s.Tune.MaxShared || inPlace(s, i, r.depth, r.cols, &r.product) {
		return 0
	}
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
	k := loopnest.Loaded(s.Kernel, i, view)
	first := *k
	store := ir.Instr{Op: ir.Store, Type: in.Type, Src: []int{i}, Arg: len(s.Args), View: view, Domain: in.Domain}
	first.Body = append(slices.Clone(s.Body), store)
	r.pack = vector.NewPointwiseOver(s.With(&first), axes, []int{len(s.Body)})
	r.space = s.With(k)
	return 1
}

// stripBytes is the size of the largest strip of the result.
func (r *contractRunner) stripBytes() int {
	return vector.Align(r.rows.MaxPoints() * r.cols.MaxPoints() * r.size)
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

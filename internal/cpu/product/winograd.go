package product

import (
	"slices"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A winogradRunner computes convolutions by windows of 3 by 3, one position apart, by Winograd's algorithm F(2×2, 3×3): a
// tile of 2 by 2 results takes 16 products of transformed elements and weights, and not 36. Each of the 16 elements
// of tiles is a product of matrices, of tiles by channels and of channels by columns. A task transforms the elements of
// some tiles once, and then computes columns, a few at a time. Sums that are not finite are computed by
// windows, because differences of infinities are NaN.
type winogradRunner struct {
	space       *vector.Space
	product     simd.Product
	windows     *windows // of tiles
	down, along slide    // coordinates of the images' rows and of positions in a row
	weights     *vector.Program
	weight      int     // the register of the weights: by channel, tap and column
	inMemory    *matrix // the weights by channel and column, if they are just a load, or nil
	apart       [2]int  // strides of inMemory along taps: down, along
	after       *epilogue
	rows, cols  *vector.Tiling
	depth       *vector.Tiling // of channels and taps
	channels    []int          // axes
	groups      int            // of columns, which are tasks
	shared      bool           // a first job transforms the weights
	tiles, deep int            // of a strip of rows, and channels of a block, at most
	bytes       [7]int         // of a worker's memory: three programs', transformed elements, weights and products, sums
	work        int
}

// A slide is a coordinate of a window: a position plus or, if it is reversed, minus a tap.
type slide struct {
	position, tap, axis int
	reversed            bool
}

// Of Winograd's algorithm: sides of weights, of a tile's results and of its elements.
const (
	tapSide      = 3
	tileResults  = 2
	tileSide     = tapSide + tileResults - 1
	tileElements = tileSide * tileSide
)

// NewWinograd returns nil for other kernels, and for those that take less time otherwise.
func NewWinograd(s *vector.Space) *winogradRunner {
	if s.Template != ir.Contraction || len(s.Limits) > 0 || len(s.List(ir.Batch)) > 0 || simd.Winograd.Input == nil {
		return nil
	}
	sum, x, y := loopnest.Factors(s.Body, s.Roles(ir.M), s.Roles(ir.N))
	rows, cols := s.List(ir.M), s.List(ir.N)
	if s.Body[sum].Type != ir.Float32 || s.Body[x].Type != ir.Float32 || s.Body[y].Type != ir.Float32 {
		return nil
	}
	for range 2 {
		r := &winogradRunner{space: s, product: simd.Products[ir.Float32]}
		if r.findSlides(x, rows) && r.pays(rows, cols) {
			r.cut(rows, cols)
			r.prepare(sum, y)
			return r
		}
		x, y, rows, cols = y, x, cols, rows
	}
	return nil
}

// findSlides returns false unless instruction x is a load of windows of 3 by 3 positions, one apart, of zeros beyond
// the image.
func (r *winogradRunner) findSlides(x int, rows []int) bool {
	s := r.space
	in := &s.Body[x]
	if in.Op != ir.Load || len(in.Src) > 0 || len(in.View.Guards) < 2 || in.View.Fill != ir.Float(ir.Float32, 0) {
		return false
	}
	r.windows = findWindows(s, x)
	if r.windows == nil || len(r.windows.coordinates) != 2 {
		return false
	}
	slides := []*slide{&r.down, &r.along}
	for i, c := range r.windows.coordinates {
		*slides[i] = slide{position: -1, tap: -1, axis: c.axis}
		for a, n := range c.coef {
			switch {
			case n == 0:
			case n == 1 && slices.Contains(rows, a) && slides[i].position < 0:
				slides[i].position = a
			case max(n, -n) == 1 && s.Axes[a].Len == tapSide && s.Axes[a].Role == ir.K && slides[i].tap < 0:
				slides[i].tap, slides[i].reversed = a, n < 0
			default:
				return false
			}
		}
		if slides[i].position < 0 || slides[i].tap < 0 {
			return false
		}
	}
	for _, g := range in.View.Guards {
		if r.windows.find(g.Coef) == nil && len(g.Coef)-count(g.Coef, 0) > 1 {
			return false
		}
	}
	if coef := in.View.Coef; coef[r.down.position] < coef[r.along.position] {
		r.down, r.along = r.along, r.down
	}
	r.channels = slices.DeleteFunc(s.List(ir.K), func(a int) bool { return a == r.down.tap || a == r.along.tap })
	// Blocks have a lane for each row and channel.
	return !slices.ContainsFunc(slices.Concat(rows, r.channels), func(a int) bool { return !in.Domain.Has(a) && s.Axes[a].Len > 1 })
}

// planeOf is the distance, in numbers, between the elements of tiles, of n numbers each: not a multiple of a size at
// which they would compete for a set of the cache.
func planeOf(n int) int { return (n+15)&^15 + 16 }

// planesOf is the size in bytes of the elements of tiles.
func planesOf(n int) int { return vector.Align(tileElements * planeOf(n) * ir.Float32.Size()) }

// sides is the numbers of tiles of an image, along both coordinates.
func (r *winogradRunner) sides() (down, along int) {
	s := r.space
	return ir.CeilDiv(s.Axes[r.down.position].Len, tileResults), ir.CeilDiv(s.Axes[r.along.position].Len, tileResults)
}

// pays reports whether transforms take less time than they save.
func (r *winogradRunner) pays(rows, cols []int) bool {
	s := r.space
	down, along := r.sides()
	results, columns, channels := s.Size(rows), s.Size(cols), s.Size(r.channels)
	tiles := results / s.Axes[r.down.position].Len / s.Axes[r.along.position].Len * down * along
	direct := float64(results*tapSide*tapSide*channels) * registers(columns, &r.product)
	sums := float64(tileElements*tiles*channels) * registers(columns, &r.product)
	lanes := r.product.Cols / 2
	whole := func(n int) int { return ir.CeilDiv(n, lanes) * lanes }
	copies := float64(tileElements * tiles * (whole(channels) + whole(columns)))
	weights := float64(tileElements * channels * columns)
	return sums+s.Tune.CopyCost*copies+s.Tune.AcrossCost*weights < direct
}

// cut chooses the strips of rows and the blocks of columns and channels. Results depend on the latter alone.
func (r *winogradRunner) cut(rows, cols []int) {
	s, t := r.space, r.space.Tune
	threads := max(1, t.Threads)
	others := slices.DeleteFunc(slices.Clone(rows), func(a int) bool { return a == r.down.position || a == r.along.position })
	deep := s.Extents(vector.NewTiling(s, r.channels, t.Depth/2, t.Depth))
	box := make([]int, len(s.Axes))
	r.deep = 1
	for _, a := range r.channels {
		box[a] = deep[a]
		r.deep *= deep[a]
	}
	box[r.down.tap], box[r.along.tap] = tapSide, tapSide
	r.depth = vector.NewBoxes(s, slices.Concat(r.channels, []int{r.down.tap, r.along.tap}), box)

	// A strip is some images, some lines of tiles or a part of one.
	down, along := r.sides()
	most := max(r.product.Rows, min(t.Rows, t.Panel/(tileSide*s.Size(r.channels))))
	for _, a := range others {
		box[a] = 1
	}
	box[r.down.position], box[r.along.position] = s.Axes[r.down.position].Len, s.Axes[r.along.position].Len
	r.tiles = down * along
	switch {
	case along > most:
		r.tiles = even(along, most, threads)
		box[r.down.position], box[r.along.position] = tileResults, tileResults*r.tiles
	case down*along > most:
		n := even(down, most/along, threads)
		r.tiles = n * along
		box[r.down.position] = tileResults * n
	case len(others) > 0:
		last := others[len(others)-1]
		box[last] = even(s.Axes[last].Len, most/(down*along), threads)
		r.tiles *= box[last]
	}
	r.rows = vector.NewBoxes(s, slices.Concat(others, []int{r.down.position, r.along.position}), box)
	strips, columns := max(1, r.rows.Count), s.Size(cols)
	width := t.Panel / (tileElements * ir.Float32.Size() * r.tiles)
	if r.shared = strips > 1 && r.sharedBytes(columns) <= t.MaxShared; !r.shared {
		width = min(width, 2*t.Panel/(tileElements*ir.Float32.Size()*r.deep))
	}
	if strips < threads {
		width = min(width, ir.CeilDiv(columns*strips, threads))
	}
	width = max(width/r.product.Cols, 1) * r.product.Cols
	r.cols = vector.NewTilingBy(s, cols, width/2, width, r.product.Cols)
	if r.groups = 1; threads > 1 {
		r.groups = min(ir.CeilDiv(mostRounds*threads, strips), r.cols.Count)
	}
}

// even returns a length of at most most into which n is cut so that threads have about as much work.
func even(n, most, threads int) int {
	best, least := 1, n*most+1
	for i := max(1, min(n, most)); 2*i > min(n, most); i-- {
		if t := ir.CeilDiv(ir.CeilDiv(n, i), threads) * i; t < least {
			best, least = i, t
		}
	}
	return best
}

// sharedBytes is the size of the transformed weights of some columns.
func (r *winogradRunner) sharedBytes(columns int) int {
	return tileElements * ir.Float32.Size() * r.deep * ir.CeilDiv(r.space.Size(r.channels), r.deep) * columns
}

// prepare assembles the programs.
func (r *winogradRunner) prepare(sum, y int) {
	s, w := r.space, r.windows
	w.rows, w.depth = r.rows, r.depth
	extent := w.space.Extents(r.rows, r.depth)
	for _, c := range []slide{r.down, r.along} {
		extent[c.axis] = ir.CeilDiv(extent[c.position], tileResults)*tileResults + tapSide - 1
	}
	others := r.rows.Axes[:len(r.rows.Axes)-2]
	for _, a := range slices.Concat(others, []int{r.down.axis, r.along.axis}, r.channels) {
		if w.space.Body[w.instr].Domain.Has(a) && extent[a] > 1 {
			w.lanes = append(w.lanes, a)
		}
	}
	a := vector.Assemble(w.space, vector.Schedule{Lanes: w.lanes, Extent: extent, Roots: []int{w.instr}, Value: true})
	w.program, w.root = a.Program, a.Root

	lanes := slices.Concat(r.depth.LongAxes(), r.cols.LongAxes())
	a = vector.Assemble(s, vector.Schedule{Lanes: lanes, Extent: s.Extents(r.depth, r.cols), Roots: []int{y}, Value: true})
	r.weights, r.weight = a.Program, a.Root
	if in := &s.Body[y]; s.Plain(y) {
		r.inMemory = newMatrix(a, in, vector.NewBoxes(s, r.channels, s.Extents(r.depth)), r.cols)
		r.apart = [2]int{in.View.Coef[r.down.tap], in.View.Coef[r.along.tap]}
	}
	s.Body[sum].Domain = s.Roles(ir.M, ir.N)
	stores := s.Stores(0, false)
	r.after = newEpilogue(s, sum, -1, r.rows, r.cols)
	r.work = s.Work(stores) / r.product.Speed

	width, weights := r.cols.MaxPoints(), r.panelBytes()
	if r.shared {
		weights = 0
	}
	r.bytes = [7]int{
		vector.Align(w.program.Scratch), vector.Align(r.weights.Scratch), vector.Align(r.after.program.Scratch),
		r.depth.Count * planesOf(r.tiles*r.deep), weights, planesOf(r.tiles * width),
		vector.Align(ir.Float32.Size() * width * (r.rows.MaxPoints() + tileResults*tileResults)),
	}
}

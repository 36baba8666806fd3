package product

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

const (
	// fewDepth is how much deeper blocks of few rows by packed weights are: reading these takes most of the time,
	// and long runs of memory are read faster.
	fewDepth = 8
	// dotColumns is the number of columns that stay in the cache for several passes over them.
	dotColumns = 16
	// dotPart is about the greatest depth of a call of a simd.DotTile: rows stay in the first-level
	// cache, and lanes add up so few products that their sum is as exact as a simd.Product's.
	dotPart = 1024
)

// NewDots returns a runner of products of few rows by memory that is contiguous along the depth, as
// the weights of a linear layer are: each sum reads its right factor where it is, and once. The
// kernel may have several sums with the same axes; the axes of the rows belong to all left factors,
// which a worker evaluates once, and the axes of the columns, which are cut into tasks, to all
// right ones. A right factor that is computed from memory along the depth is computed for a few columns at a time. NewDots
// returns nil for other kernels, and for many short sums: to copy the right factor
// takes less time than to add up their lanes. Halves would be copied to be widened. Several rows of bfloat16 are multiplied by
// pairs, where the level can: one row waits for memory.
func NewDots(s *vector.Space) *vector.PointwiseRunner {
	deep := s.List(ir.Reduced, ir.K)
	if len(deep) == 0 || s.Size(deep) < s.Tune.DotDepth || s.Reuses() {
		return nil
	}
	d := findDots(s, deep)
	if d == nil {
		return nil
	}
	list := func(set ir.AxisSet) []int {
		return slices.DeleteFunc(s.List(ir.Parallel, ir.Batch, ir.M, ir.N), func(a int) bool { return !set.Has(a) })
	}
	rows, cols := list(d.left&^d.right), list(d.right&^d.left)
	m, n, depth := s.Size(rows), s.Size(cols), s.Size(deep)
	if !d.halves && depth < m*s.Tune.DotDepth || m > s.Tune.FewRows || n < dotColumns && depth > s.Tune.MaxBlock || m*depth*d.size > s.Tune.LoopBytes {
		return nil
	}
	limit := min(max(n/32, s.Tune.ParallelThreshold/max(1, m*depth), 1), s.Tune.MaxBlock/2)
	limit = ir.CeilDiv(limit, dotColumns) * dotColumns
	if d.computed {
		if depth > s.Tune.MaxBlock {
			return nil
		}
		limit = min(limit, max(decodedColumns, s.Tune.MaxBlock/depth))
	}
	w := &vector.PointwiseRunner{Tiles: vector.Tilings{vector.NewTiling(s, list(d.left&d.right), 1, 1), vector.NewTiling(s, cols, limit, limit)}}
	if len(s.Limits) > 0 && len(w.Tiles[1].LongAxes()) > 1 {
		return nil
	}
	for _, y := range d.factors {
		if _, ok := w.Tiles[1].Stride(s.Body[y].View.Coef); !ok {
			return nil
		}
	}
	if m > 1 && len(d.factors) == 1 {
		if p := pairs(s, d.x, d.factors[0]); p != nil {
			if of := findDots(p, deep); of != nil {
				s, d = p, of
			}
		}
	}
	whole := slices.Concat(rows, deep)
	extent := s.Extents(w.Tiles...)
	for _, a := range whole {
		extent[a] = s.Axes[a].Len
	}
	lanes := slices.Concat(rows, w.Tiles[1].LongAxes(), deep)
	stores := s.Stores(0, false)
	w.Program = vector.Assemble(s.With(&d.kernel), vector.Schedule{Lanes: lanes, Extent: extent, Roots: stores, Emitters: d.emitters}).Program
	w.Program.WholeAxes = whole
	w.Work = s.Work(stores)
	w.BlocksPerTask = s.Tune.Grain(w.Tiles.Count(), w.Work)
	return w
}

// A dots is the products of a kernel.
type dots struct {
	kernel      ir.Kernel // without the right factors that are read where they are
	emitters    map[int]vector.Emitter
	left, right ir.AxisSet // kept axes of the factors
	x           int        // a left factor
	factors     []int      // the right ones in memory
	halves      bool       // or others that would be copied
	computed    bool       // a right factor is
	size        int        // bytes of an element of a left factor
}

// findDots returns nil if a sum has no right factor for dot products, or if sums have different axes.
func findDots(s *vector.Space, deep []int) *dots {
	kept := s.Roles(ir.Parallel, ir.Batch, ir.M, ir.N)
	d := &dots{kernel: *s.Kernel, emitters: map[int]vector.Emitter{}}
	d.kernel.Body = slices.Clone(s.Body)
	fixed := map[int]int{}
	for i := range s.Body {
		if s.Body[i].Op.Class() != ir.Reduction {
			continue
		}
		x, y := dotFactors(s, i, deep)
		if x < 0 {
			return nil
		}
		l, r := s.Body[x].Domain&kept, s.Body[y].Domain&kept
		if len(d.emitters) > 0 && (l != d.left || r != d.right) || l|r != kept {
			return nil
		}
		d.x, d.left, d.right, d.halves, d.size = x, l, r, d.halves || !s.Plain(y), s.Body[x].Type.Size()
		if s.IsLoad(y) {
			d.factors = append(d.factors, y)
			d.emitters[i] = func(a *vector.Assembler, i int) int { return emitDots(a, i, y, fixed) }
			d.kernel.Body[i].Src = []int{x}
		} else {
			d.computed, d.emitters[i] = true, emitComputed
			d.kernel.Body[i].Src = []int{x, y}
		}
	}
	return d
}

// dotFactors returns the factors of reduction i if simd.DotTiles can read one, y, where it is, or if the larger one is
// computed along the depth; else x is -1. Of two in memory y is the larger.
func dotFactors(s *vector.Space, i int, deep []int) (x, y int) {
	in := &s.Body[i]
	if m := &s.Body[in.Src[0]]; in.Op == ir.Sum && m.Op == ir.Mul && m.Type == in.Type && in.Type.IsFloat() {
		x, y = m.Src[0], m.Src[1]
		if loopnest.Points(s.Axes, s.Body[x].Domain) > loopnest.Points(s.Axes, s.Body[y].Domain) {
			x, y = y, x
		}
		switch {
		case isDotted(s, y, deep), isComputed(s, y, deep):
			return x, y
		case isDotted(s, x, deep):
			return y, x
		}
	}
	return -1, -1
}

// isComputed reports whether instruction i is computed from loads that are contiguous along the depth or do not vary
// with its innermost axis.
func isComputed(s *vector.Space, i int, deep []int) bool {
	last := deep[len(deep)-1]
	if s.IsLoad(i) || simd.DotTiles[s.Body[i].Type].Dots == nil || !s.Body[i].Domain.Has(last) {
		return false
	}
	return !slices.ContainsFunc(s.Loads(i), func(l int) bool {
		return !s.IsLoad(l) || s.Body[l].View.Coef[last]&^1 != 0
	})
}

// isDotted reports whether instruction i is a load, contiguous along the depth, of a type that
// simd.DotTiles multiplies, or of rows of whole blocks.
func isDotted(s *vector.Space, i int, deep []int) bool {
	in := &s.Body[i]
	if !s.IsLoad(i) {
		return false
	}
	arg, step := &s.Args[in.Arg], 1
	if f := arg.DType.Format(); f != nil {
		outside := func(axis int) bool { return !slices.Contains(deep, axis) && in.View.Coef[axis]%f.Len != 0 }
		if !arg.Align || in.View.Off%f.Len != 0 || s.Size(deep)%f.Len != 0 || s.Limited(deep) || slices.ContainsFunc(in.Domain.List(), outside) {
			return false
		}
	} else if simd.DotTiles[arg.DType].Dots == nil {
		return false
	}
	for _, a := range slices.Backward(deep) {
		if in.View.Coef[a] != step {
			return false
		}
		step *= s.Axes[a].Len
	}
	return true
}

// A dotProduct is a sum that newDots computes.
type dotProduct struct {
	simd.DotTile
	vector.Affine      // of the right factor
	typ                ir.DType
	arg                int
	blocks             simd.Blocks // of a format
	fixed              bool        // the rows are in fixed point
	stride             int         // between columns, in elements
	from               int         // bytes of an element of the left factor
	rows, cols, depths int         // indices of sets of lanes
}

// emitDots emits sum i, whose operand is the left factor, with instruction y as the right one. fixed has
// the registers of left factors in fixed point.
func emitDots(a *vector.Assembler, i, y int, fixed map[int]int) int {
	sum, in := &a.Space.Body[i], &a.Space.Body[y]
	typ := a.Space.Args[in.Arg].DType
	p := &dotProduct{Affine: a.Affine(in.View.Off, in.View.Coef, 0), typ: typ, arg: in.Arg, from: in.Type.Size()}
	if f := typ.Format(); f != nil {
		p.blocks, typ = simd.BlocksOf(f), in.Type
	}
	p.DotTile = simd.DotTiles[typ]
	lanes := ir.Axes(a.Schedule.Lanes...)
	cols, deep := in.Domain&lanes&^sum.Axes, sum.Axes&lanes
	for _, l := range a.Schedule.Lanes {
		if cols.Has(l) {
			p.stride = in.View.Coef[l]
		}
	}
	p.rows, p.cols, p.depths = a.SetIndex(sum.Domain&lanes&^cols), a.SetIndex(cols), a.SetIndex(deep)
	left := sum.Domain&^cols | deep
	x := a.Widen(a.Body[sum.Src[0]], left)
	depth := a.Space.Size(sum.Axes.List())
	if p.fixed = p.blocks.Fixed != nil && simd.FixedBytes(depth) <= depth*p.from; p.fixed {
		if _, ok := fixed[x]; !ok {
			fixed[x] = a.Emit(vector.Op{Do: p.fix, Src: [4]int{x, -1, -1, -1}}, in.Type, left)
		}
		x = fixed[x]
	}
	s := vector.Op{Do: p.run, Src: [4]int{x, -1, -1, -1}}
	switch {
	case p.fixed:
		s.Extra = simd.FixedScratch
	case p.blocks.Decode != nil:
		s.Extra = decodedColumns * dotPart * 4
	}
	return a.Emit(s, sum.Type, sum.Domain)
}

// A computedDots is a sum that newDots computes of factors in registers.
type computedDots struct {
	simd.DotTile
	size               int
	rows, cols, depths int
}

// emitComputed emits sum i of the product of a left and a right factor.
func emitComputed(a *vector.Assembler, i int) int {
	sum := &a.Space.Body[i]
	lanes := ir.Axes(a.Schedule.Lanes...)
	right := a.Space.Body[sum.Src[1]].Domain & lanes
	deep := sum.Axes & lanes
	cols := right &^ deep
	p := &computedDots{DotTile: simd.DotTiles[sum.Type], size: sum.Type.Size(), rows: a.SetIndex(sum.Domain & lanes &^ cols), cols: a.SetIndex(cols), depths: a.SetIndex(deep)}
	x, y := a.Widen(a.Body[sum.Src[0]], sum.Domain&^cols|deep), a.Widen(a.Body[sum.Src[1]], cols|deep)
	return a.Emit(vector.Op{Do: p.run, Src: [4]int{x, y, -1, -1}}, sum.Type, sum.Domain)
}

func (p *computedDots) run(f *vector.Activation, s *vector.Op) {
	m, n, k := f.Count[p.rows], f.Count[p.cols], f.Count[p.depths]
	if k == 0 {
		clear(unsafe.Slice((*byte)(f.Out(s)), m*n*p.size))
	}
	for i, rows := 0, vector.Even(m, p.Rows, 1); i < m && k > 0; i += rows {
		p.Dots(unsafe.Add(f.Out(s), i*n*p.size), unsafe.Add(f.Reg[s.Src[0]], i*k*p.size), f.Reg[s.Src[1]], min(rows, m-i), n, k, n, k, k, 0)
	}
}

// run computes a block of sums. Where several passes over the columns are needed, these stay in
// the cache.
func (p *dotProduct) run(f *vector.Activation, s *vector.Op) {
	c, a, b := f.Out(s), f.Reg[s.Src[0]], unsafe.Add(f.Bind[p.arg].P, p.typ.Bytes(p.Pos(f)))
	m, n, k := f.Count[p.rows], f.Count[p.cols], f.Count[p.depths]
	if k == 0 {
		clear(unsafe.Slice((*byte)(c), m*n*p.from))
	}
	rows, cols, part := vector.Even(m, p.Rows, 1), n, vector.Even(k, dotPart, 16)
	switch {
	case p.fixed:
		p.multiplyFixed(unsafe.Add(f.Mem, s.Raw), c, a, b, m, n, k)
		return
	case p.blocks.Decode != nil:
		p.decodeColumns(unsafe.Add(f.Mem, s.Raw), c, a, b, m, n, k, rows)
		return
	}
	if rows < m {
		cols = dotColumns
	}
	for at := 0; at < k; at += part {
		for j := 0; j < n; j += cols {
			for i := 0; i < m; i += rows {
				p.Dots(unsafe.Add(c, (i*n+j)*p.from), unsafe.Add(a, (i*k+at)*p.from), unsafe.Add(b, p.typ.Bytes(j*p.stride+at)),
					min(rows, m-i), min(cols, n-j), min(part, k-at), n, k, p.stride, at)
			}
		}
	}
}

// fix converts the rows of the left factor to fixed point.
func (p *dotProduct) fix(f *vector.Activation, s *vector.Op) {
	y, k := f.Out(s), f.Count[p.depths]
	for i := range f.Count[p.rows] {
		simd.Fix(unsafe.Add(y, i*simd.FixedStride(k)), unsafe.Add(f.Reg[s.Src[0]], i*k*p.from), k/32)
	}
}

// multiplyFixed is run for rows in fixed point.
func (p *dotProduct) multiplyFixed(scratch, c, a, b unsafe.Pointer, m, n, k int) {
	if k > 0 {
		p.blocks.Fixed(c, a, b, scratch, m, n, k/p.typ.Unit(), n*p.from, simd.FixedStride(k), p.typ.Bytes(p.stride))
	}
}

// decodedColumns is the number of columns of which parts are decoded at a time.
const decodedColumns = 4

// decodeColumns is run for columns in a format: parts of a few are decoded to scratch, in the first-level cache, or
// multiplied as they are decoded if there is one row.
func (p *dotProduct) decodeColumns(to, c, a, b unsafe.Pointer, m, n, k, rows int) {
	if m == 1 && p.blocks.Dot != nil && n > 0 {
		cols := n
		if k > dotPart {
			cols = 1
		}
		for j := 0; j < n; j += cols {
			for at := 0; at < k; at += dotPart {
				p.blocks.Dot(unsafe.Add(c, j*p.from), unsafe.Add(a, at*p.from), unsafe.Add(b, p.typ.Bytes(j*p.stride+at)),
					cols, min(dotPart, k-at)/p.typ.Unit(), p.typ.Bytes(p.stride), at)
			}
		}
		return
	}
	for j := 0; j < n; j += decodedColumns {
		cols := min(decodedColumns, n-j)
		for at := 0; at < k; at += dotPart {
			depth := min(dotPart, k-at)
			for col := range cols {
				p.blocks.Decode(unsafe.Add(to, col*depth*p.from), unsafe.Add(b, p.typ.Bytes((j+col)*p.stride+at)), depth/p.typ.Unit())
			}
			for i := 0; i < m; i += rows {
				p.Dots(unsafe.Add(c, (i*n+j)*p.from), unsafe.Add(a, (i*k+at)*p.from), to, min(rows, m-i), cols, depth, n, k, depth, at)
			}
		}
	}
}

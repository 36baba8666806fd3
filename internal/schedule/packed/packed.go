// Package packed schedules products of few rows by weights in an ir.Format, as a decoder's step has. A
// vector of 16 bytes has the codes of 16 to 64 weights. A thread loads a vector of each of several columns, and
// multiplies them by the same elements of the rows. Sums of codes are scaled by runs: no weight is decoded. Read
// packed.go first, then worker.go; digits.go multiplies bytes.
package packed

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A product is a kernel of sums of products of rows of a few factors, which are the left ones, by columns of as
// many matrices in formats. All sums are along one axis, and vectors of all formats have the same elements.
type product struct {
	*build.Builder
	deep       int
	rows, cols []int // axes
	m, n       int   // their points
	sums       []sum
	shape
	layout
	inDigits bool // threads multiply bytes
	shared   int  // levels of reductions that all columns share, before the sums
}

// A sum is one of them: the instruction and its factors.
type sum struct{ instr, left, right int }

// A layout is the part of a product that threads compute: threads go along the depth together, each has columns at
// once, and a workgroup has groups of such threads.
type layout struct {
	along, columns, groups int
	turns                  int // times that a group of threads has columns
	vectors                int // of a strip
	strips                 int // along the depth
}

// Limits of a thread's accumulators and of the columns whose vectors it holds.
const (
	maxRows    = 8
	maxSums    = 32
	maxColumns = 8
	heldWords  = 24 << 10 // that a workgroup's threads load ahead: a part of a compute unit's registers
)

var _ = build.Link(template{})

type template struct{}

// Takes reports whether a kernel is such a product.
func (template) Takes(c *build.Builder) bool { return find(c) != nil }

func find(c *build.Builder) *product {
	x := &product{Builder: c}
	if !c.Target.Traits().Concurrent || !x.find() {
		return nil
	}
	x.choose()
	return x
}

// Compile adds the pass of a kernel, and reports false if it is no such product.
func (template) Compile(c *build.Builder) bool {
	x := find(c)
	if x == nil {
		return false
	}
	x.AddPass(x.along*x.groups, func(p *build.Pass) { x.multiply(p) })
	c.Report()
	return true
}

// find fills in the product.
func (x *product) find() bool {
	deep, kept := x.Nest.List(ir.Reduced, ir.K), x.Nest.Roles(ir.Parallel, ir.Batch, ir.M, ir.N)
	if len(deep) != 1 || len(x.Nest.Stores(ir.Axes(deep...), true)) > 0 || x.Skips() {
		return false
	}
	x.deep = deep[0]
	level, shared := x.SharedLevels(x.Target.Threads())
	x.shared = shared
	var left, right ir.AxisSet
	for i := range x.Nest.Body {
		if x.Nest.Body[i].Op.Class() != ir.Reduction || level[i] == 0 {
			continue
		}
		s, ok := x.sumOf(i)
		if !ok {
			return false
		}
		l, r, shape := x.Nest.Body[s.left].Domain&kept, x.Nest.Body[s.right].Domain&kept, shapeOf(x.format(s))
		if len(x.sums) > 0 && (l != left || r != right || shape != x.shape) || l&r != 0 || l|r != kept {
			return false
		}
		left, right, x.shape = l, r, shape
		x.sums = append(x.sums, s)
	}
	for _, a := range x.Nest.List(ir.Parallel, ir.Batch, ir.M, ir.N) {
		if left.Has(a) {
			x.rows = append(x.rows, a)
		} else {
			x.cols = append(x.cols, a)
		}
	}
	x.m, x.n = x.Nest.Size(x.rows), x.Nest.Size(x.cols)
	return len(x.sums) > 0 && len(x.sums) <= maxColumns && x.m <= maxRows && x.n > 0 && x.m > 0
}

// sumOf returns reduction i, of which one factor is a load of whole blocks along the depth.
func (x *product) sumOf(i int) (s sum, ok bool) {
	in := &x.Nest.Body[i]
	mul := &x.Nest.Body[in.Src[0]]
	if in.Op != ir.Sum || mul.Op != ir.Mul || mul.Type != ir.Float32 || in.Type != ir.Float32 {
		return s, false
	}
	s = sum{i, mul.Src[0], mul.Src[1]}
	if !x.isPacked(s.right) {
		s.left, s.right = s.right, s.left
	}
	return s, x.isPacked(s.right) && x.Nest.Body[s.left].Domain.Has(x.deep)
}

// isPacked reports whether an instruction loads whole blocks along the depth, in a format with a shape.
func (x *product) isPacked(i int) bool {
	in := &x.Nest.Body[i]
	if in.Op != ir.Load || len(in.Src) > 0 || len(in.View.Guards) > 0 {
		return false
	}
	arg := &x.Nest.Args[in.Arg]
	f := arg.DType.Format()
	if f == nil || !arg.Align || shapeOf(f) == (shape{}) || in.View.Off%f.Len != 0 || in.View.Coef[x.deep] != 1 || x.Nest.Axes[x.deep].Len%f.Len != 0 {
		return false
	}
	return !slices.ContainsFunc(in.Domain.List(), func(a int) bool { return a != x.deep && in.View.Coef[a]%f.Len != 0 })
}

func (x *product) format(s sum) *ir.Format {
	return x.Nest.Args[x.Nest.Body[s.right].Arg].DType.Format()
}

// choose finds the layout. There are enough threads to keep loads of all compute units under way: where columns are
// many, few threads along the depth suffice, and less is added up at the end. Where threads multiply bytes, a workgroup
// prepares the rows once, and each thread loads the strips of its next columns while it multiplies: there are as few
// workgroups as occupy the device. Otherwise as many columns as fit share the elements of the rows.
func (x *product) choose() {
	vectors, threads := x.Nest.Axes[x.deep].Len/x.elements(), x.Target.Busy()/2*len(x.sums)
	x.vectors, x.columns, x.turns = 2-vectors%2, maxColumns/len(x.sums), 1
	if x.inDigits = x.usesDigits(); !x.inDigits {
		x.vectors = 1
	} else {
		threads = x.Target.Busy() / 8
		if x.columns /= 2; x.m == 1 {
			x.columns /= 2
		}
		x.columns = max(1, x.columns)
	}
	for x.columns > 1 && (x.columns*len(x.sums)*x.m > maxSums || x.columns > x.n) {
		x.columns /= 2
	}
	x.strips = vectors / x.vectors
	count := ir.CeilDiv(x.n, x.columns)
	x.along = max(32, min(128, build.CeilPow2(threads/count)))
	x.groups = 4
	if x.inDigits {
		most := min(x.Target.MaxThreads, heldWords/(x.columns*x.words()))
		x.groups = max(1, most/x.along)
		turns := func(groups int) int { return ir.CeilDiv(count, groups*x.Target.Units) }
		for g := x.groups - 1; g > 0; g-- { // the least work of a unit
			if turns(g)*g < turns(x.groups)*x.groups && (4*g >= 3*most/x.along || turns(g) == 1) {
				x.groups = g
			}
		}
		if x.along == 32 && !x.Replaces() {
			x.turns = turns(x.groups)
		}
	}
	for x.along > x.Target.MaxThreads {
		x.along /= 2
	}
	x.groups = max(1, min(x.groups, x.Target.MaxThreads/x.along))
}

// multiply makes the pass.
func (x *product) multiply(p *build.Pass) {
	root := p.Root
	p.Workgroups = ir.CeilDiv(ir.CeilDiv(x.n, x.columns), x.groups*x.turns)
	w := &worker{product: x, p: p, t: root.Let("t", shader.ThreadID.Rem(x.along))}
	w.accumulators()
	steps := ir.CeilDiv(x.strips, x.along)
	if x.inDigits {
		w.multiplyAhead(steps)
		return
	}
	if x.shared > 0 {
		p.Vector([]int{x.deep}).Reduce(x.shared)
	}
	first := w.first(root, build.U32(0))
	blocks := w.locate(root, first)
	loop, number := root.Inner(), w.t
	if steps > 1 {
		var step *shader.Expr
		loop, step = root.Loop("step", build.U32(0), build.U32(steps), 1)
		number = loop.Let("number", step.Mul(x.along).Add(w.t))
	}
	loop.Under(w.within(number), func(sc *build.Scope) {
		x := w.loadAll(sc, blocks, number, build.U32(0))
		for n := range w.segments {
			w.multiplySegment(sc, x.columns, n, x.depth.Plus(n*w.apart))
		}
	})
	loop.End()
	w.finish(root, w.results(root, first))
}

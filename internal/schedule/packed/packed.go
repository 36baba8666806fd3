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
}

// A sum is one of them: the instruction and its factors.
type sum struct{ instr, left, right int }

// A layout is the part of a product that threads compute: threads go along the depth together, each has columns at
// once, and a workgroup has groups of such threads.
type layout struct{ along, columns, groups int }

// Limits of a thread's accumulators and of the columns whose vectors it holds.
const (
	maxRows    = 8
	maxSums    = 32
	maxColumns = 8
)

// Takes reports whether a kernel is such a product.
func Takes(c *build.Builder) bool { return find(c) != nil }

func find(c *build.Builder) *product {
	x := &product{Builder: c}
	if !c.Target.Traits().Concurrent || !x.find() {
		return nil
	}
	x.choose()
	return x
}

// Compile adds the pass of a kernel, and reports false if it is no such product.
func Compile(c *build.Builder) bool {
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
	var left, right ir.AxisSet
	for i := range x.Nest.Body {
		if x.Nest.Body[i].Op.Class() != ir.Reduction {
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

// choose finds the layout. As many columns as fit share the elements of the rows. There are enough threads to keep
// loads of all compute units under way: where columns are many, few threads along the depth suffice, and less is added
// up at the end.
func (x *product) choose() {
	x.inDigits = x.usesDigits()
	x.columns = maxColumns / len(x.sums)
	for x.columns > 1 && (x.columns*len(x.sums)*x.m > maxSums || x.columns > x.n) {
		x.columns /= 2
	}
	threads := x.Target.Busy() / 2 / max(1, x.n/(x.columns*len(x.sums)))
	x.along = max(32, min(128, build.CeilPow2(threads)))
	x.groups = max(1, min(4, x.Target.MaxThreads/x.along))
	for x.along*x.groups > x.Target.MaxThreads {
		x.along /= 2
	}
}

// multiply makes the pass.
func (x *product) multiply(p *build.Pass) {
	root := p.Root
	count := ir.CeilDiv(x.n, x.columns)
	p.Workgroups = ir.CeilDiv(count, x.groups)
	t := root.Let("t", shader.ThreadID.Rem(x.along))
	group := root.Let("group", shader.GroupID.Mul(x.groups).Add(shader.ThreadID.Div(x.along)))
	group = p.Repeating("own", group, count)
	first := root.Let("first", group.Convert(x.CountType(x.n)).Mul(x.columns))
	w := &worker{product: x, p: p, t: t, first: first}
	w.accumulators()
	w.locate()
	vectors := x.Nest.Axes[x.deep].Len / x.elements()
	steps := ir.CeilDiv(vectors, x.along)
	w.digits.vectors = vectors
	if steps == 1 && vectors == x.along { // its loads are under way while the rows are prepared
		all := w.loadAll(root, t)
		if x.inDigits {
			w.prepare()
		}
		w.multiplyAll(root, all)
		w.finish()
		return
	}
	if x.inDigits {
		w.prepare()
	}
	loop, number := root.Inner(), t
	if steps > 1 {
		var step *shader.Expr
		loop, step = root.Loop("step", build.U32(0), build.U32(steps), 1)
		number = loop.Let("number", step.Mul(x.along).Add(t))
	}
	var within *shader.Expr
	if vectors%x.along != 0 {
		within = number.Lt(vectors)
	}
	loop.Under(within, func(sc *build.Scope) { w.multiplyAll(sc, w.loadAll(sc, number)) })
	loop.End()
	w.finish()
}

// Package product has the common parts of schedules of products: the two sides, the split of the depth,
// and how sums are finished and stored.
package product

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/pointwise"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// A Product multiplies, for each position along the batch axes, a matrix
// of rows × depth by one of depth × cols. The axes of a side, rows or cols,
// and of the depth are each flattened to one; M and N change places if the
// result is contiguous along M, so that it is stored along cols.
//
// A product of few workgroups and great depth is split along the depth (split-K), and
// a second pass adds the splits in order.
type Product struct {
	*build.Builder
	Batch       []int
	Rows, Cols  Side
	Deep        []int // the K axes
	Taps        []int // the axes among them along which a step has one position: see tiles.Tap
	Depth       int
	Batches     int
	Sum         int  // the instruction
	Weight      int  // the factor that is a weight, or -1
	Selects     bool // products by the weight select
	FactorType  shader.Type
	ResultType  shader.Type
	productType ir.DType
	Cut
	Between     int // columns from one component of an accumulator to the next
	partScratch int
	InFours     bool            // sums of parts are stored as vectors of four
	Within      loopnest.Bounds // of the results that are needed
	DeepWithin  []build.Bound   // of the positions along the depth that a result needs
}

// A Side is one of the two factors.
type Side struct {
	Name   string // "m" or "n"
	Axes   []int
	N      int
	Factor int  // the instruction
	AlongK bool // four neighbours along the depth are loaded at once, not along the side
	Turned bool // neighbouring threads load neighbours along the depth nevertheless
}

// New returns the product of a contraction.
func New(c *build.Builder) *Product {
	sum, m, n := loopnest.Factors(c.Nest.Body, c.Nest.Roles(ir.M), c.Nest.Roles(ir.N))
	rows, cols := Side{Axes: c.Nest.List(ir.M), Factor: m}, Side{Axes: c.Nest.List(ir.N), Factor: n}
	if c.Nest.ColumnMajor() {
		rows, cols = cols, rows
	}
	rows.Name, cols.Name = "m", "n"
	x := Of(c, sum, rows, cols, c.Nest.List(ir.K))
	x.findHidden()
	return x
}

// Of returns a product of a kernel: the number of a sum along axes, and the sides.
func Of(c *build.Builder, sum int, rows, cols Side, deep []int) *Product {
	x := &Product{Builder: c, Sum: sum, Rows: rows, Cols: cols, Batch: c.Nest.List(ir.Batch), Deep: deep, Cut: Cut{Splits: 1}, Between: 1}
	x.Batches, x.Depth = c.Nest.Size(x.Batch), c.Nest.Size(deep)
	for _, s := range []*Side{&x.Rows, &x.Cols} {
		s.N = c.Nest.Size(s.Axes)
		s.AlongK = x.LoadsAlong(s)
	}
	in := &c.Nest.Body[sum]
	m := &c.Nest.Body[in.Src[0]]
	x.productType, x.Weight = m.Type, -1
	if build.ByWeight(m) {
		x.Weight = m.Src[0]
	}
	x.FactorType, x.ResultType = shader.Register(x.productType), shader.Register(in.Type)
	return x
}

// A layout is a workgroup's part of a product, a tile or a gemv: its threads, and its
// memory in bytes for words of some bytes.
type layout interface {
	Threads() int
	Bytes(word int) int
}

// A Cut is how the depth is split. A workgroup has a part of a tile; or all parts have the same steps, and more
// workgroups have equal shares of the rest of all tiles' depths.
type Cut struct {
	Splits   int // parts of the depth of a result: in shares the most
	PerSplit int // tiles or steps along the depth of a part
	Shares   int // workgroups that share the rest; 0: none do
}

// An Option is a layout, and how the depth is split.
type Option[L layout] struct {
	Layout L
	Cut
	time float64 // estimated
}

// Options returns the layouts of a list that fit, in the order of their estimated times. best
// returns the best split for a layout, and its time.
func Options[L layout](x *Product, list []L, best func(L) (cut Cut, time float64)) []Option[L] {
	var fit []Option[L]
	for _, l := range list {
		if x.Target.Fits(l.Threads(), l.Bytes(x.ResultType.Bytes())) {
			cut, time := best(l)
			fit = append(fit, Option[L]{l, cut, time})
		}
	}
	sorts.Stable(fit, func(a, b Option[L]) int { return cmp.Compare(a.time, b.time) })
	return fit
}

// A Cost has the seconds that parts of a contraction's schedule take.
type Cost struct {
	Step  float64 // the least for a step along the depth, whose loads begin a step before
	Block float64 // a block of columns of attention of few rows, whose loads nothing hides
	Pass  float64 // the second pass, which adds the splits
	Part  float64 // in that pass, for each split
	Moves float64 // how often it moves the splits to and from memory: less than once, as some stay in caches
	Join  float64 // one level of the tree that adds threads along the depth
}

// LoadsAlong reports whether a side's factor is better loaded along the depth.
func (x *Product) LoadsAlong(s *Side) bool {
	vote := 0.0
	for _, i := range x.Nest.Loads(s.Factor) {
		in := &x.Nest.Body[i]
		score := func(axes []int) float64 {
			if len(axes) == 0 {
				return 0
			}
			step := build.Abs(in.View.Coef[axes[len(axes)-1]])
			switch {
			case step == 0:
				return 0
			case loadsFours(x.Builder, in, axes):
				return 4
			}
			return 1 / float64(step)
		}
		vote += score(x.Deep) - score(s.Axes)
	}
	return vote > 0
}

// loadsFours reports whether a load reads four neighbours along axes at once.
func loadsFours(c *build.Builder, in *ir.Instr, axes []int) bool {
	inner := axes[len(axes)-1]
	return c.Fours(axes) && c.StepsBy(4, in, inner) &&
		!slices.ContainsFunc(in.View.Guards, func(g ir.Guard) bool { return g.Coef[inner] != 0 })
}

// A Place locates a thread's results: the numbers of batch, row, column and split.
type Place struct{ Batch, Row, Col, Split *shader.Expr }

// Finish stores four results, or leaves them for the second pass. They
// are x.between columns apart, from at.col on.
func (x *Product) Finish(sc *build.Scope, acc build.Value, at Place) {
	if x.Splits == 1 {
		sc.Values[x.Sum] = acc
		sc.StoreEach(x.Nest.Stores(0, false))
		return
	}
	b := x.Parts(sc.Pass, true)
	t := x.CountType(x.Splits * x.Results())
	row := at.Split.Convert(t).Mul(x.Batches).Add(at.Batch.Convert(t)).Mul(x.Rows.N).Add(at.Row.Convert(t)).Mul(x.Cols.N).Add(at.Col.Convert(t))
	if x.InFours {
		sc.Under(sc.Condition(0), func(sc *build.Scope) { sc.Do(&shader.Store{Buffer: b, Index: row, Values: acc}) })
		return
	}
	for l := range 4 {
		in := sc.When(sc.Condition(l))
		in.StoreAt(b, row.Add(l*x.Between), acc[l])
		in.End()
	}
}

// Components lists the components of a vector of four.
func Components(v *shader.Expr) build.Value { return build.Value{v.At(0), v.At(1), v.At(2), v.At(3)} }

// Split splits the depth, and allocates scratch for the sums of its parts.
func (x *Product) Split(c Cut) {
	x.Cut = c
	if c.Splits > 1 {
		x.partScratch = x.Scratch(x.Splits*x.Results(), x.ResultType)
	}
}

// Parts is the buffer of sums of parts of the depth: of the first part all results, then of the next.
func (x *Product) Parts(p *build.Pass, write bool) *shader.Buffer {
	return p.Words(x.partScratch, x.ResultType, write)
}

// Results is the number of results.
func (x *Product) Results() int { return x.Batches * x.Rows.N * x.Cols.N }

// LoadsAhead is the number of loads of sums of splits that a thread starts before it adds the first.
const LoadsAhead = 32

// TogetherInParts is how many neighbouring results have sums of parts that are loaded together: 4, or 1.
func (x *Product) TogetherInParts() int {
	every := slices.Concat(x.Batch, x.Rows.Axes, x.Cols.Axes)
	inner := build.InMemory(every, x.Nest.Body[x.Nest.Stores(0, false)[0]].View)
	if x.InFours && inner[len(inner)-1] == x.Cols.Axes[len(x.Cols.Axes)-1] {
		return 4
	}
	return 1
}

// AddSplits is the second pass of a contraction that is split.
func (x *Product) AddSplits() {
	if x.Splits == 1 {
		return
	}
	every, together := slices.Concat(x.Batch, x.Rows.Axes, x.Cols.Axes), x.TogetherInParts()
	pointwise.Points(x.Builder, every, x.Nest.Stores(0, false), func(sc *build.Scope, i int) {
		owner := sc.Owner(ir.Axes(every...))
		b := x.Parts(sc.Pass, false)
		rank, t := owner.Rank(every), x.PositionType(x.Splits*x.Results())
		sums, v := make([]*shader.Var, len(rank)), make(build.Value, len(rank))
		for l := range v {
			sums[l] = owner.Var(owner.NameOf(i, l, len(v)), build.Number(x.ResultType, 0))
			v[l] = sums[l].Ref()
		}
		together := min(together, len(v))
		add := func(in *build.Scope, first *shader.Expr, n int) { // in the order of the splits
			parts := make([]*shader.Var, 0, n*len(v))
			for k := range n {
				at := first.Plus(k).Convert(t).Mul(x.Results())
				for l := 0; l < len(v); l += together {
					load := &shader.Load{Declare: true, Buffer: b, Index: at.Add(rank.Lane(l).Convert(t))}
					for _, sum := range sums[l:][:together] {
						load.Dst = append(load.Dst, &shader.Var{Name: build.Tag("k"+sum.Name[1:]+"_", k), Type: shader.Register(b.Type)})
					}
					in.Do(load)
					parts = append(parts, load.Dst...)
				}
			}
			for k, part := range parts {
				sum := sums[k%len(v)]
				in.Set(sum, sum.Ref().Add(part.Ref()))
			}
		}
		ahead := max(1, LoadsAhead/len(v))
		whole := x.Splits / ahead * ahead
		if whole > 0 {
			loop, n := owner.Loop("n", build.Number(shader.I32, 0), build.Number(shader.I32, whole), ahead)
			add(loop, n, ahead)
			loop.End()
		}
		if whole < x.Splits {
			rest := owner.Inner()
			add(rest, build.Number(shader.I32, whole), x.Splits-whole)
			rest.End()
		}
		owner.Values[i] = v
	})
}

// Multiply adds a product to an accumulator of four: b is a vector, a one or a
// scalar.
func (x *Product) Multiply(sc *build.Scope, acc *shader.Var, a, b *shader.Expr) {
	if a.Type.Width == 1 {
		a = shader.Vec(4, a)
	}
	switch {
	case !x.FactorType.IsFloat():
		sc.Set(acc, acc.Ref().Add(build.Wrap(x.productType, a.Mul(b)).Convert(acc.Type)))
	case x.Selects:
		for i := range 4 {
			sc.SetAt(acc, i, x.AddProduct(acc.Ref().At(i), a.At(i), b.At(i)))
		}
	default:
		sc.Set(acc, shader.MulAdd(a, b, acc.Ref()))
	}
}

// AddProduct is sum + a·b for an element a of the rows and b of the columns, by a select if one is a weight.
func (x *Product) AddProduct(sum, a, b *shader.Expr) *shader.Expr {
	y := shader.MulAdd(a, b, sum)
	switch x.Weight {
	case x.Rows.Factor:
		return build.IfWeighs(a, y, sum)
	case x.Cols.Factor:
		return build.IfWeighs(b, y, sum)
	}
	return y
}

// Repair computes sums of products by weights again, with selects, if one of them is not finite.
func (x *Product) Repair(sc *build.Scope, sums []*shader.Var, multiply func(sc *build.Scope)) {
	if x.Weight < 0 {
		return
	}
	again := Again(sc, sums)
	x.Selects = true
	multiply(again)
	x.Selects = false
	again.End()
}

// Again begins a scope for sums of which one is not finite. It sets all of them to 0.
func Again(sc *build.Scope, sums []*shader.Var) *build.Scope {
	var list []*shader.Expr
	for _, acc := range sums {
		list = append(list, Components(acc.Ref())...)
	}
	again := sc.When(build.AnyInfinite(sc, "worst", list))
	for _, acc := range sums {
		again.Set(acc, build.Number(acc.Type, 0))
	}
	return again
}

// Vector declares an accumulator of four zeros.
func (x *Product) Vector(sc *build.Scope, name string) *shader.Var {
	return sc.Var(name, build.Number(x.ResultType.Vec(4), 0))
}

// Contractions skip work that a mask makes useless: results that nothing needs, tile by tile, and the part
// of the depth in which a factor is 0.

// findHidden finds the bounds of the needed results and of the depth.
func (x *Product) findHidden() {
	if !x.Skips() || x.Target.Matrices {
		return
	}
	x.Within = x.StoresWithin(x.Nest.Stores(0, false))
	if len(x.Deep) == 1 {
		nonzero := loopnest.Nonzero(x.Nest.Kernel, x.Rows.Factor).Union(loopnest.Nonzero(x.Nest.Kernel, x.Cols.Factor))
		x.DeepWithin = build.BoundsOf(nonzero.Fixed(), x.Nest.Kernel, x.Deep[0])
	}
}

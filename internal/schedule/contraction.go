package schedule

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// A contraction multiplies, for each position along the batch axes, a matrix
// of rows × depth by one of depth × cols. The axes of a side, rows or cols,
// and of the depth are each flattened to one; M and N change places if the
// result is contiguous along M, so that it is stored along cols.
//
// On a GPU a workgroup computes a tile of the result, through tiles of both
// factors in shared memory: see tiled.go. Where one side is one vector or a few,
// the product is a GEMV: see gemv.go. On a CPU each thread computes a small block
// alone: see naive.go. A product of few workgroups and great depth is split along
// the depth (split-K), and a second pass adds the splits in order.
type contraction struct {
	*compiler
	batch       []int
	rows, cols  side
	deep        []int // the K axes
	taps        []int // those of them of which a step has one position: see taps.go
	depth       int
	batches     int
	sum         int // the instruction
	factorType  shader.Type
	resultType  shader.Type
	product     ir.DType
	splits      int
	perSplit    int // tiles or steps along the depth
	between     int // columns from one component of an accumulator to the next
	partScratch int
	within      loopnest.Bounds // of the results that are needed
	deepWithin  []bound         // of the positions along the depth that a result needs
}

// A side is one of the two factors.
type side struct {
	name   string // "m" or "n"
	axes   []int
	n      int
	factor int  // the instruction
	alongK bool // four neighbours along the depth are loaded at once, not along the side
	turned bool // neighbouring threads load neighbours along the depth nevertheless
}

func (c *compiler) contraction() {
	x := newContraction(c)
	switch {
	case !c.t.traits().concurrent:
		x.naive()
	case x.skinny():
		if list := x.gemvOptions(); len(list) > 0 {
			x.gemv(list[0])
		} else {
			x.naive()
		}
	default:
		if list := x.tileOptions(); len(list) > 0 {
			x.tiled(list[0])
		} else {
			x.naive()
		}
	}
	c.report()
}

// contractBy computes a contraction by a choice.
func contractBy(c *compiler, choice Choice) {
	newContraction(c).tiled(choice.option)
	c.report()
}

func newContraction(c *compiler) *contraction {
	x := &contraction{compiler: c, batch: c.k.List(ir.Batch), splits: 1, between: 1}
	sum, m, n := loopnest.Factors(c.k.Body, c.k.Roles(ir.M), c.k.Roles(ir.N))
	x.sum = sum
	x.rows = side{axes: c.k.List(ir.M), factor: m}
	x.cols = side{axes: c.k.List(ir.N), factor: n}
	x.deep = c.k.List(ir.K)
	if c.k.ColumnMajor() {
		x.rows, x.cols = x.cols, x.rows
	}
	x.batches, x.depth = c.k.Size(x.batch), c.k.Size(x.deep)
	for _, s := range []*side{&x.rows, &x.cols} {
		s.n = c.k.Size(s.axes)
		s.alongK = x.loadsAlong(s)
	}
	x.rows.name, x.cols.name = "m", "n"
	product := c.k.Body[c.k.Body[sum].Src[0]].Type
	x.product, x.factorType = product, shader.Register(product)
	x.resultType = shader.Register(c.k.Body[sum].Type)
	x.findHidden()
	return x
}

// A layout is what a workgroup needs for its part of a product, a tile or a gemv: bytes of
// memory for words of some bytes.
type layout interface {
	threads() int
	bytes(word int) int
}

// An option is a layout, and how the depth is split.
type option[L layout] struct {
	layout           L
	splits, perSplit int
	time             float64 // estimated
}

// options returns those of a list of layouts that fit, in the order of their estimated times.
// best returns the best split for a layout, and its time.
func options[L layout](x *contraction, list []L, best func(L) (splits, each int, time float64)) []option[L] {
	var fit []option[L]
	for _, l := range list {
		if x.t.fits(l.threads(), l.bytes(x.resultType.Bytes())) {
			splits, each, time := best(l)
			fit = append(fit, option[L]{l, splits, each, time})
		}
	}
	sorts.Stable(fit, func(a, b option[L]) int { return cmp.Compare(a.time, b.time) })
	return fit
}

// A productCost has the seconds that parts of a contraction's schedule take.
type productCost struct {
	step  float64 // the least for a step along the depth: the latency of memory
	pass  float64 // the second pass, which adds the splits
	part  float64 // in that pass, for each split
	moves float64 // how often it moves the splits to and from memory: less than once, as some stay in caches
	join  float64 // one level of the tree that adds threads along the depth
}

// loadsAlong reports whether a side's factor is better loaded along the depth.
func (x *contraction) loadsAlong(s *side) bool {
	vote := 0.0
	for _, i := range x.k.Loads(s.factor) {
		in := &x.k.Body[i]
		score := func(axes []int) float64 {
			if len(axes) == 0 {
				return 0
			}
			step := abs(in.View.Coef[axes[len(axes)-1]])
			switch {
			case step == 0:
				return 0
			case x.loadsFours(in, axes):
				return 4
			}
			return 1 / float64(step)
		}
		vote += score(x.deep) - score(s.axes)
	}
	return vote > 0
}

// loadsFours reports whether a load reads four neighbours along axes at once.
func (c *compiler) loadsFours(in *ir.Instr, axes []int) bool {
	inner := axes[len(axes)-1]
	return c.fours(axes) && c.stepsBy(4, in, inner) &&
		!slices.ContainsFunc(in.View.Guards, func(g ir.Guard) bool { return g.Coef[inner] != 0 })
}

// A place locates a thread's results: the numbers of batch, row, column and split.
type place struct{ batch, row, col, split *shader.Expr }

// finish stores four results, or leaves them for the second pass. They
// are x.between columns apart, from at.col on.
func (x *contraction) finish(sc *scope, acc value, at place) {
	if x.splits == 1 {
		sc.values[x.sum] = acc
		sc.storeEach(x.k.Stores(0, false))
		return
	}
	b := sc.p.words(x.partScratch, x.resultType, true)
	t := x.countType(x.splits * x.results())
	row := at.split.Convert(t).Mul(x.batches).Add(at.batch.Convert(t)).Mul(x.rows.n).Add(at.row.Convert(t)).Mul(x.cols.n).Add(at.col.Convert(t))
	for l := range 4 {
		in := sc.when(sc.condition(l))
		in.storeAt(b, row.Add(l*x.between), acc[l])
		in.end()
	}
}

// components lists the components of a vector of four.
func components(v *shader.Expr) value { return value{v.At(0), v.At(1), v.At(2), v.At(3)} }

// split splits the depth into parts of some tiles or steps, and allocates scratch for their sums.
func (x *contraction) split(splits, perSplit int) {
	x.splits, x.perSplit = splits, perSplit
	if splits > 1 {
		x.partScratch = x.scratch(x.splits*x.results(), x.resultType)
	}
}

// results is the number of results.
func (x *contraction) results() int { return x.batches * x.rows.n * x.cols.n }

// addSplits is the second pass of a contraction that is split.
func (x *contraction) addSplits() {
	if x.splits == 1 {
		return
	}
	every := slices.Concat(x.batch, x.rows.axes, x.cols.axes)
	x.points(every, x.k.Stores(0, false), func(sc *scope, i int) {
		owner := sc.owner(ir.Axes(every...))
		b := sc.p.words(x.partScratch, x.resultType, false)
		rank, t := owner.rank(every), x.positionType(x.splits*x.results())
		v := make(value, len(rank))
		for l := range v {
			name := owner.name(i, l, len(v))
			acc := owner.Var(name, number(x.resultType, 0))
			loop, n := owner.loop("n", number(shader.I32, 0), number(shader.I32, x.splits), 1)
			part := loop.loadAt(b, n.Convert(t).Mul(x.results()).Add(rank.lane(l).Convert(t)), "k"+name[1:], false)
			loop.Set(acc, acc.Ref().Add(part.Ref()))
			loop.end()
			v[l] = acc.Ref()
		}
		owner.values[i] = v
	})
}

// multiply adds a product to an accumulator of four: b is a vector, a one or a
// scalar.
func (x *contraction) multiply(sc *scope, acc *shader.Var, a, b *shader.Expr) {
	if a.Type.Width == 1 {
		a = shader.Vec(4, a)
	}
	if x.factorType.IsFloat() {
		sc.Set(acc, shader.MulAdd(a, b, acc.Ref()))
	} else {
		sc.Set(acc, acc.Ref().Add(wrap(x.product, a.Mul(b)).Convert(acc.Type)))
	}
}

// vector declares an accumulator of four zeros.
func (x *contraction) vector(sc *scope, name string) *shader.Var {
	return sc.Var(name, number(x.resultType.Vec(4), 0))
}

package wgsl

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A contraction multiplies, for each position along the batch axes, a matrix
// of rows × depth by one of depth × cols. The axes of a side, rows or cols,
// and of the depth are each walked as one; M and N change places if the
// result is contiguous along M, so that it is stored along cols.
//
// On a GPU a workgroup computes a tile of the result, through tiles of both
// factors in memory that it shares: see tile.go. Where one side is a vector, or
// a few, it computes a strip: see strip.go. On a CPU each thread computes a
// small block alone: see direct.go. Few tiles or strips of great depth are
// split along the depth, and a second pass adds the parts in order.
type contraction struct {
	*compiler
	batch       []int
	rows, cols  side
	deep        []int // the K axes
	depth       int
	batches     int
	sum         int    // the instruction
	factorType  string // register of the factors
	resultType  string // register of the sum
	narrow      bool   // products wrap to 8 bits
	splits      int
	perSplit    int // tiles or steps along the depth
	between     int // from a column of a vector to the next, if not 1
	partScratch int
}

// A side is one of the two factors.
type side struct {
	name    string // "m" or "n"
	axes    []int
	n       int
	factor  int  // the instruction
	alongK  bool // four neighbours along the depth are loaded at once, not along the side
	block   int  // of a tile
	stride  int  // of the tile's memory, in vectors
	memory  string
	loads   []part
	groups  int  // of four elements in a tile
	guarded bool // some tiles are not full
}

// A part is a thread's part of loading a tile.
type part struct {
	q, u     string // the group's place along the lanes and across them
	register string
	scope    *scope // knows the position along the side
	valid    []string
	when     string // a condition
}

func (c *compiler) contractKernel() {
	x := newContraction(c)
	switch {
	case c.t.Software:
		x.direct()
	case x.slim():
		x.stripped(x.chooseStrip())
	default:
		x.tiled(x.choose())
	}
	c.settle()
}

func newContraction(c *compiler) *contraction {
	x := &contraction{compiler: c, batch: c.long(c.axes(ir.Batch)), splits: 1}
	for i := range c.k.Body {
		if c.k.Body[i].Op.Class() == ir.Reduction {
			x.sum = i
		}
	}
	product := &c.k.Body[c.k.Body[x.sum].Src[0]]
	left := c.k.Roles(ir.Batch, ir.M, ir.K)
	m, n := product.Src[0], product.Src[1]
	right := c.k.Roles(ir.Batch, ir.N, ir.K)
	if c.k.Body[m].Domain&^left != 0 || c.k.Body[n].Domain&^right != 0 {
		m, n = n, m
	}
	x.rows = side{axes: c.long(c.axes(ir.M)), factor: m}
	x.cols = side{axes: c.long(c.axes(ir.N)), factor: n}
	x.deep = c.long(c.axes(ir.K))
	store := &c.k.Body[c.stores(0, false)[0]]
	if c.innermost(x.rows.axes, store) < c.innermost(x.cols.axes, store) {
		x.rows, x.cols = x.cols, x.rows
	}
	x.rows.name, x.cols.name = "m", "n"
	x.batches, x.depth = c.length(x.batch), c.length(x.deep)
	loads := append(c.loadsOf(m), c.loadsOf(n)...)
	x.deep = c.nearest(x.deep, loads)
	x.rows.axes = c.nearest(x.rows.axes, loads)
	x.cols.axes = c.nearest(x.cols.axes, []int{c.stores(0, false)[0]})
	for _, s := range []*side{&x.rows, &x.cols} {
		s.n = c.length(s.axes)
		s.alongK = x.loadsAlong(s)
	}
	x.factorType = storages[product.Type].register
	x.resultType = storages[c.k.Body[x.sum].Type].register
	x.narrow = product.Type == ir.Uint8
	return x
}

// innermost is the least step of a view along some axes.
func (c *compiler) innermost(axes []int, in *ir.Instr) int {
	step := math.MaxInt
	for _, a := range axes {
		if s := abs(in.View.Coef[a]); s != 0 {
			step = min(step, s)
		}
	}
	return step
}

// loadsOf lists the loads that an instruction is computed from.
func (c *compiler) loadsOf(i int) []int {
	var list []int
	seen := map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		if c.k.Body[i].Op == ir.Load {
			list = append(list, i)
		}
		for _, j := range c.k.Body[i].Src {
			visit(j)
		}
	}
	visit(i)
	return list
}

// nearest moves the axis along which instructions with views take the
// smallest steps to the end.
func (c *compiler) nearest(axes []int, loads []int) []int {
	near := func(a int) float64 {
		sum := 0.0
		for _, i := range loads {
			if s := c.k.Body[i].View.Coef[a]; s != 0 {
				sum += 1 / float64(abs(s))
			}
		}
		return sum
	}
	list := slices.Clone(axes)
	if len(list) < 2 {
		return list
	}
	best := len(list) - 1
	for n := len(list) - 2; n >= 0; n-- {
		if near(list[n]) > 1.5*near(list[best]) {
			best = n
		}
	}
	a := list[best]
	return append(slices.Delete(list, best, best+1), a)
}

// loadsAlong reports whether a side's factor is better loaded along the depth.
func (x *contraction) loadsAlong(s *side) bool {
	vote := 0.0
	for _, i := range x.loadsOf(s.factor) {
		in := &x.k.Body[i]
		score := func(axes []int) float64 {
			if len(axes) == 0 {
				return 0
			}
			a := axes[len(axes)-1]
			step := abs(in.View.Coef[a])
			switch {
			case step == 0:
				return 0
			case x.quad(in, a):
				return 4
			}
			return 1 / float64(step)
		}
		vote += score(x.deep) - score(s.axes)
	}
	return vote > 0
}

// quad reports whether a load reads four neighbours along an axis at once.
func (c *compiler) quad(in *ir.Instr, inner int) bool {
	v := in.View
	if v.Coef[inner] != 1 || v.Off%4 != 0 || !c.k.Args[in.Arg].Align || c.k.Axes[inner].Len%4 != 0 {
		return false
	}
	for a, s := range v.Coef {
		if a != inner && s%4 != 0 && c.k.Axes[a].Len != 1 {
			return false
		}
	}
	for _, g := range v.Guards {
		if g.Coef[inner] != 0 {
			return false
		}
	}
	return true
}

// quads reports whether four neighbours along axes never part.
func (c *compiler) quads(axes []int) bool {
	return len(axes) > 0 && c.k.Axes[axes[len(axes)-1]].Len%4 == 0
}

// A shape is the size of the tile that a workgroup computes, and of the steps
// along the depth; a thread has high × wide squares of 4×4.
type shape struct {
	m, n, k    int
	high, wide int
	rate       float64 // relative speed where there are many tiles
	resident   int     // workgroups that one unit runs at once
}

func (t shape) threads() int { return t.m / (4 * t.high) * t.n / (4 * t.wide) }

// bytes is the memory that a workgroup shares, twice two tiles.
func (t shape) bytes() int { return 2 * 4 * t.k * (t.m + 4 + t.n + 4) }

// shapes of tiles, as measured on an NVIDIA H200.
var shapes = []shape{
	{128, 128, 8, 2, 2, 1, 2},
	{64, 128, 8, 2, 2, 0.83, 4},
	{64, 64, 16, 1, 2, 0.8, 5},
	{64, 64, 8, 1, 2, 0.85, 5},
	{32, 32, 16, 1, 1, 0.6, 10},
	{8, 128, 16, 1, 1, 0.45, 10},
}

const (
	// stepCost is the time that a step takes at least, in multiplications of
	// one unit: for all that there is to compute, memory has to answer.
	stepCost = 75e3
	// passCost is that of a further pass.
	passCost = 600e3
	// partCost is that of an element of a part, written and read.
	partCost = 0.35
)

// choose gives the shape that promises to be done first, and sets how the
// depth is split.
func (x *contraction) choose() shape {
	best, bestCost := shapes[len(shapes)-1], math.Inf(1)
	results := float64(x.batches * x.rows.n * x.cols.n)
	for _, t := range shapes {
		if t.threads() > x.t.MaxInvocations || t.bytes() > x.t.WorkgroupBytes {
			continue
		}
		tiles := x.batches * ceilDiv(x.rows.n, t.m) * ceilDiv(x.cols.n, t.n)
		steps := max(1, ceilDiv(x.depth, t.k))
		for splits := 1; splits <= 64 && (splits == 1 || splits*4 <= steps); splits *= 2 {
			each := ceilDiv(steps, splits)
			count := ceilDiv(steps, each)
			work := float64(t.m*t.n*t.k) / t.rate
			cost := 0.0
			for left := ceilDiv(tiles*count, x.t.Units); left > 0; left -= t.resident {
				cost += float64(each) * max(stepCost, float64(min(left, t.resident))*work)
			}
			if count > 1 {
				cost += passCost + partCost*float64(count)*results
			}
			if cost < bestCost {
				best, bestCost = t, cost
				x.splits, x.perSplit = count, each
			}
		}
	}
	return best
}

// finish stores a row of four results, or adds it to the parts: acc is a
// vector along cols from col on, every between-th, row a row's number.
func (x *contraction) finish(sc *scope, acc, row, split string) {
	s := sc.s
	if x.splits > 1 {
		name := s.buffer(x.partScratch, x.resultType, true)
		for l, comp := range "xyzw" {
			in := sc.block()
			in.line("%s[((%s * %du + batch) * %du + %s) * %du + col + %du] = %s.%c;", name, split, x.batches, x.rows.n, row, x.cols.n, l*max(1, x.between), acc, comp)
			in.end(condition("if (%s)", sc.condition(l)))
		}
		return
	}
	sc.values[x.sum] = value{acc + ".x", acc + ".y", acc + ".z", acc + ".w"}
	for _, i := range x.stores(0, false) {
		sc.store(i)
	}
}

// condition puts a condition into a pattern, if there is one.
func condition(pattern, c string) string {
	if c == "" {
		return ""
	}
	return fmt.Sprintf(pattern, c)
}

// addParts is the second pass of a contraction that is split.
func (x *contraction) addParts() {
	every := slices.Concat(x.batch, x.rows.axes, x.cols.axes)
	x.points(every, x.stores(0, false), func(sc *scope, i int) {
		home := sc.home(ir.Axes(every...))
		name := sc.s.buffer(x.partScratch, x.resultType, false)
		rank := home.rank(every, ir.Axes(every...))
		v := make(value, rank.lanes())
		for l := range v {
			v[l] = home.name(i, l, len(v))
			home.line("var %s = %s(0);", v[l], x.resultType)
			loop := home.block()
			loop.line("%s += %s[n * %d + %s];", v[l], name, x.batches*x.rows.n*x.cols.n, rank.lane(l))
			loop.end(fmt.Sprintf("for (var n = 0; n < %d; n++)", x.splits))
		}
		home.values[i] = v
	})
}

// multiply adds a row's product to its accumulator.
func (x *contraction) multiply(acc, a, b string) string {
	switch {
	case x.narrow:
		return fmt.Sprintf("%s += vec4<i32>((vec4<u32>(%s) * %s) & vec4<u32>(255u));", acc, a, b)
	case x.factorType == "f32":
		return fmt.Sprintf("%s = fma(vec4<f32>(%s), %s, %s);", acc, a, b, acc)
	}
	return fmt.Sprintf("%s += vec4<%s>(%s) * %s;", acc, x.factorType, a, b)
}

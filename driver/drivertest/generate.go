package drivertest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A generator grows a random graph. It knows the right value of each node, and keeps to
// nodes whose elements are of moderate size and mostly certain.
type generator struct {
	*rand.Rand
	known results
	nodes []*graph.Node
	types []ir.DType
	size  int // the most elements of a node
	rare  int // one number of how many is special, 0 for none
}

func newGenerator(r *rand.Rand, types []ir.DType) *generator {
	g := &generator{Rand: r, known: results{}, size: 400}
	for _, d := range types {
		if d == ir.Float32 {
			g.types = append(g.types, d, d, d, d, d, d)
		}
		g.types = append(g.types, d)
	}
	return g
}

// generate returns a random program on elements of the given types.
func generate(r *rand.Rand, types []ir.DType) *program {
	g := newGenerator(r, types)
	g.rare = 400
	nodes := 14
	switch { // a few are deep, a few are wide
	case g.chance(16):
		nodes = 60
	case g.chance(32):
		g.size = 8000
	}
	for range 1 + g.IntN(3) {
		g.add(g.leaf(g.dtype(), g.shape()))
	}
	want := len(g.nodes) + 1 + g.IntN(nodes)
	for tries := 20 * want; tries > 0 && (len(g.nodes) < want || len(g.nodes) == 0); tries-- {
		growers[g.IntN(len(growers))](g)
	}
	p := &program{known: g.known}
	roots := []*graph.Node{g.nodes[len(g.nodes)-1]}
	for range g.IntN(4) {
		if n := g.pick(); !slices.Contains(roots, n) {
			roots = append(roots, n)
		}
	}
	g.Shuffle(len(roots), func(i, j int) { roots[i], roots[j] = roots[j], roots[i] })
	for len(roots) > 0 {
		n := 1 + g.IntN(len(roots))
		p.turns = append(p.turns, roots[:n])
		roots = roots[n:]
	}
	return p
}

// growers each add some nodes to the graph; simple ones stand there often.
var growers = func() (all []func(*generator)) {
	for _, w := range []struct {
		weight int
		grow   func(*generator)
	}{
		{3, (*generator).growLeaf},
		{8, (*generator).growUnary},
		{14, (*generator).growBinary},
		{3, (*generator).growWhere},
		{4, (*generator).growCast},
		{8, (*generator).growReduction},
		{24, (*generator).growMovement},
		{3, (*generator).growCat},
		{3, (*generator).growGather},
		{3, (*generator).growScatter},
		{8, (*generator).growProduct},
		{5, (*generator).growWindow},
		{2, (*generator).growSoftmax},
		{1, (*generator).growNorm},
		{1, (*generator).growLabel},
		{1, (*generator).growAgain},
	} {
		for range w.weight {
			all = append(all, w.grow)
		}
	}
	return all
}()

// add makes n part of the graph, unless its elements are too large or
// uncertain. It returns nil then, and for nil.
func (g *generator) add(n *graph.Node) *graph.Node {
	if n == nil || n.Len() > g.size || len(n.Shape) > 7 {
		return nil
	}
	for _, m := range graph.Sorted([]*graph.Node{n}) {
		if g.known[m] != nil {
			continue
		}
		r, err := g.known.compute(m)
		if err != nil || !moderate(r) || m.Op == ir.Sum && g.infinite(m) {
			return nil
		}
		g.known[m] = r
	}
	if !slices.Contains(g.nodes, n) {
		g.nodes = append(g.nodes, n)
	}
	return n
}

// infinite reports whether something that n depends on is no finite number. Sums of their
// products are not compared: whether a product is 0 or NaN depends on the place of a Pad's
// zeros and of common factors.
func (g *generator) infinite(n *graph.Node) bool {
	for _, m := range graph.Sorted(n.Src().Append(nil)) {
		if m.DType.IsFloat() && slices.ContainsFunc(g.known[m].Elems, func(x ir.Number) bool { return !isFinite(x.Float64(m.DType)) }) {
			return true
		}
	}
	return false
}

// moderate reports whether elements are neither large nor uncertain.
func moderate(r *result) bool {
	const limit = 1e4
	if r.known() < 0.5 {
		return false
	}
	if !r.DType.IsFloat() {
		return true
	}
	for i, x := range r.Elems {
		v := x.Float64(r.DType)
		e := r.off[i]
		if isFinite(v) && (math.Abs(v) > limit || !math.IsInf(e, 1) && e > 0.02*max(1, math.Abs(v))) {
			return false
		}
	}
	return true
}

// pick returns a node, a late one more likely than an early one.
func (g *generator) pick() *graph.Node {
	i := max(g.IntN(len(g.nodes)), g.IntN(len(g.nodes)))
	return g.nodes[i]
}

func (g *generator) dtype() ir.DType { return g.types[g.IntN(len(g.types))] }

func (g *generator) one(list ...int) int { return list[g.IntN(len(list))] }

func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func (g *generator) shape() []int {
	dims := make([]int, g.one(0, 1, 1, 2, 2, 2, 3, 3, 4))
	for i := range dims {
		dims[i] = g.one(1, 2, 2, 3, 3, 4, 5, 6, 8)
		switch {
		case g.chance(60):
			dims[i] = 0
		case g.size > 1000 && g.chance(2):
			dims[i] = g.one(16, 17, 31, 64, 100, 257)
		}
	}
	for graph.Len(dims) > g.size/2 {
		dims[g.IntN(len(dims))] = 1
	}
	return dims
}

// number is an element of moderate size: often of few bits, seldom special.
func (g *generator) number(d ir.DType) ir.Number {
	switch {
	case !d.IsFloat():
		return ir.Int(d, int64(g.IntN(19)-9))
	case g.rare > 0 && g.chance(g.rare):
		return ir.Float(d, []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}[g.IntN(4)])
	case g.chance(3):
		return ir.Float(d, g.NormFloat64()*2)
	}
	return ir.Float(d, float64(g.IntN(33)-16)/8)
}

func (g *generator) numbers(d ir.DType, n int) []ir.Number {
	out := make([]ir.Number, n)
	for i := range out {
		out[i] = g.number(d)
	}
	return out
}

// leaf returns a stored tensor: in row-major order, or a view of a larger
// one, in any order of axes, with steps of any sign, repeated or not, of elements or a format.
func (g *generator) leaf(d ir.DType, dims []int) *graph.Node {
	if g.chance(2) {
		return g.known.stored(d, dims, g.numbers(d, graph.Len(dims)))
	}
	strides := make([]int, len(dims))
	offset, size := g.IntN(6), 1
	for _, a := range g.Perm(len(dims)) {
		step := g.one(1, 1, 1, 2, -1, -2, 0)
		strides[a] = step * size
		reach := max(step, -step) * max(dims[a]-1, 0)
		if step < 0 {
			offset += reach * size
		}
		size *= reach + 1 + g.one(0, 0, 0, 1)
	}
	data := g.numbers(d, offset+size)
	store := storage.FromHost(encode(d, data))
	if d == ir.Float32 && g.chance(3) {
		b := make([]byte, tiny.Bytes(len(data)+tiny.Unit()-1))
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		data, store = decode(tiny, b), storage.FromBlocks(tiny, b)
	}
	n := graph.Buffer(d, dims, &graph.Value{Store: store, Offset: offset, Strides: strides})
	elems := make([]ir.Number, 0, graph.Len(dims))
	for _, pos := range shape.Positions(dims) {
		at := offset
		for a, p := range pos {
			at += p * strides[a]
		}
		elems = append(elems, data[at])
	}
	g.known.leaf(n, elems)
	return n
}

func (g *generator) growLeaf() {
	d, dims := g.dtype(), g.shape()
	switch g.IntN(6) {
	case 0:
		g.add(graph.Const(d, g.number(d), dims))
	case 1:
		g.add(graph.Scalar(d, g.number(d), dims))
	case 2:
		if len(dims) > 0 && slices.Contains(g.types, ir.Int32) {
			g.add(graph.Iota(dims, g.IntN(len(dims))))
		}
	default:
		g.add(g.leaf(d, dims))
	}
}

// partner returns a node of that type and shape: one there is, perhaps after
// a Cast or by repeating it, or a new source.
func (g *generator) partner(d ir.DType, dims []int) *graph.Node {
	switch g.IntN(10) {
	case 0:
		return graph.Const(d, g.number(d), dims)
	case 1:
		return graph.Scalar(d, g.number(d), dims)
	case 2, 3:
		thin := slices.Clone(dims)
		for i := range thin {
			if g.chance(2) {
				thin[i] = 1
			}
		}
		return graph.Expand(g.leaf(d, thin), dims)
	}
	for range 8 {
		n := g.pick()
		if len(n.Shape) > len(dims) || n.DType != d && g.chance(2) {
			continue
		}
		fits := true
		extra := len(dims) - len(n.Shape)
		for i, l := range n.Shape {
			fits = fits && (l == 1 || l == dims[extra+i])
		}
		if fits {
			return graph.Cast(graph.BroadcastTo(n, dims), d)
		}
	}
	return g.leaf(d, dims)
}

// ops lists the ops of a class and number of operands.
func ops(class ir.Class, arity int) []ir.Op {
	var list []ir.Op
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		if row := &ir.Table[op]; row.Class == class && row.Arity == arity && op != ir.Cast && op != ir.Bitcast {
			list = append(list, op)
		}
	}
	return list
}

var (
	unaryOps   = ops(ir.Elementwise, 1)
	binaryOps  = ops(ir.Elementwise, 2)
	reductions = ops(ir.Reduction, 1)
)

func (g *generator) growUnary() {
	x := g.pick()
	if op := unaryOps[g.IntN(len(unaryOps))]; ir.Table[op].Types.Has(x.DType) {
		g.add(graph.Unary(op, x))
	}
}

func (g *generator) growBinary() {
	x := g.pick()
	op := binaryOps[g.IntN(len(binaryOps))]
	if g.chance(2) {
		op = []ir.Op{ir.Add, ir.Mul, ir.Sub}[g.IntN(3)]
	}
	if !ir.Table[op].Types.Has(x.DType) {
		return
	}
	y := g.partner(x.DType, x.Shape)
	if g.chance(2) {
		x, y = y, x
	}
	g.add(graph.Binary(op, x, y))
}

func (g *generator) growWhere() {
	x := g.pick()
	cond := graph.Binary(ir.Lt, g.partner(x.DType, x.Shape), g.partner(x.DType, x.Shape))
	if slices.Contains(g.types, ir.Bool) {
		g.add(graph.Where(cond, x, g.partner(x.DType, x.Shape)))
	}
}

func (g *generator) growCast() {
	x, d := g.pick(), g.dtype()
	switch {
	case x.DType == ir.Uint32 && g.chance(2):
		g.add(graph.Elementwise(ir.Threefry, x, g.partner(x.DType, x.Shape), x, g.partner(x.DType, x.Shape)))
	case g.chance(6) && x.DType != d && x.DType.Size() == d.Size() && x.DType != ir.Bool && !x.DType.IsHalf() && d.IsInt():
		if x.DType.IsFloat() { // the bits of NaN are any
			x = graph.Where(graph.Binary(ir.Eq, x, x), x, graph.Fill(x.DType, 0, x.Shape))
		}
		g.add(graph.Bitcast(x, d))
	case x.DType != d:
		g.add(graph.Cast(x, d))
	}
}

// someAxes returns a random set of axes, ascending.
func (g *generator) someAxes(rank int) []int {
	var axes []int
	for a := range rank {
		if g.chance(2) {
			axes = append(axes, a)
		}
	}
	return axes
}

func (g *generator) growReduction() {
	x := g.pick()
	op := reductions[g.IntN(len(reductions))]
	if g.chance(2) {
		op = ir.Sum
	}
	axes := g.someAxes(len(x.Shape))
	if op == ir.ArgMax {
		if len(x.Shape) == 0 {
			return
		}
		axes = []int{g.IntN(len(x.Shape))}
		if x.Shape[axes[0]] == 0 {
			return
		}
	}
	if !ir.Table[op].Types.Has(x.DType) || !slices.Contains(g.types, op.ResultDType(0, x.DType)) {
		return
	}
	n := g.add(graph.Reduce(op, x, axes))
	if n != nil && g.chance(2) { // used beside the reduction's operand
		g.add(graph.Binary(ir.Add, graph.Cast(graph.Expand(n, x.Shape), ir.Float32), graph.Cast(x, ir.Float32)))
	}
}

func (g *generator) growAgain() {
	n := g.pick()
	if src := n.Src(); src.Len() > 0 {
		c := graph.WithOperands(n, src.Append(nil)...)
		c.RematLevel = 1
		g.add(c)
	}
}

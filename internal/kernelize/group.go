package kernelize

import (
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/ir"
)

// A group is a kernel being built: instructions over a space of axes. Each
// point of the space computes one element of each member, or shares it with
// the points that differ only on axes that the member does not have.
type group struct {
	space.Space
	template ir.Template
	reduced  []int // axes that reductions run over

	body    []instr
	members []*node
	sides   [2]ir.AxisSet // axes that the factors of a contraction vary over
	few     ir.AxisSet    // the rows of a contraction of few, which may have several sums; 0 of others
	several bool          // it has: then it is written as reductions
	emitted []emission

	*attending // of a kernel of attention

	order  int    // a group reads stores of groups of lower order only
	reader int    // the least order of a group that reads from this one
	into   *group // the group that this one was merged into, or its sum
	closed bool   // nothing joins it
}

// An instr is an instruction of a group. Operands are numbered in the group, and
// coefficients of views are by the group's axes. Some operations become several
// instructions of a kernel: Iota, whose value is position, and InBounds, which is its
// operand where the guards of its view hold and Num elsewhere.
type instr struct {
	ir.Instr
	node     *node          // that it computes or stores
	reads    *node          // from memory: by a Load, or by a Scatter whose base is no constant
	masks    bool           // a Where that applies the mask of the value that it loads
	position *ir.AffineExpr // of an Iota, its value; of an instruction that uses an index, see Index.Element
}

const pending = math.MaxInt // the order of a group that is being made

// newGroup returns a group whose space has an axis for each of dims that is
// longer than 1, and the layout of a node of that shape.
func newGroup(template ir.Template, dims []int) (*group, space.Layout) {
	s, l := space.New(dims)
	return &group{Space: s, template: template, body: make([]instr, 0, 8), order: pending, reader: pending}, l
}

// find returns the group that g has become part of.
func (g *group) find() *group {
	for g != nil && g.into != nil {
		g = g.into
	}
	return g
}

// split replaces an axis by two, the outer of number hi and the inner of hi+1.
func (g *group) split(axis, inner int) (hi int) {
	s := g.SplitAxis(axis, inner)
	g.reduced = s.Axes(g.reduced)
	if a := g.attending; a != nil {
		a.depths, a.widths = s.Axes(a.depths), s.Axes(a.widths)
	}
	for _, n := range g.members {
		s.Layout(n.layout)
	}
	for i := range g.body {
		g.body[i].eachCoef(func(coef []int) []int { return s.Expr(ir.AffineExpr{Coef: coef}).Coef })
	}
	g.emitted = g.emitted[:0] // they name the old axis
	return s.Hi
}

// A mark is where a group stood before a trial.
type mark struct{ body, emitted, splits int }

func (g *group) mark() mark { return mark{len(g.body), len(g.emitted), len(g.Splits)} }

// rollBack removes the instructions since a mark. Axes stay split, which does no harm:
// collapse merges them in the kernel.
func (g *group) rollBack(m mark) {
	g.body = g.body[:m.body]
	if a := g.attending; a != nil {
		maps.DeleteFunc(a.matrices, func(_ *node, id int) bool { return id >= m.body })
	}
	if len(g.Splits) > m.splits { // a split has removed all older emissions
		m.emitted = 0
	}
	g.emitted = g.emitted[:m.emitted]
}

// main is the node of g that probably takes the most work: the last reduction or routine,
// or else the last node that is stored.
func (g *group) main() *graph.Node {
	var last *graph.Node
	for i := range g.body {
		switch in := &g.body[i]; {
		case in.Op.Class() == ir.Reduction || ir.Routines[in.Op] != nil:
			last = in.node.Node
		case in.Op == ir.Store && (last == nil || g.template == ir.Pointwise):
			last = in.node.Node
		}
	}
	return last
}

// eachCoef replaces all coefficients of axes.
func (in *instr) eachCoef(f func(coef []int) []int) {
	if p := in.position; p != nil {
		in.position = &ir.AffineExpr{Off: p.Off, Coef: f(p.Coef), Div: p.Div}
	}
	if v := in.View; v != nil {
		v.Coef = f(v.Coef)
		for i := range v.Guards {
			v.Guards[i].Coef = f(v.Guards[i].Coef)
		}
	}
}

// operand returns the coordinates at which reduction n, read at coordinates, reads
// its operand. Over has the axes of the group that stand for those it reduces.
func (g *group) operand(n *node, at []ir.AffineExpr, over space.Layout) []ir.AffineExpr {
	src := slices.Clone(at)
	for _, a := range n.Ints {
		src[a] = g.Coordinate(over[a], make([]int, len(g.Lens)))
	}
	return src
}

// loads lists the nodes that g reads from memory.
func (g *group) loads() []*node {
	var list []*node
	for i := range g.body {
		if n := g.body[i].reads; n != nil && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// written lists the nodes that g writes to memory.
func (g *group) written() []*node { return g.nodes(ir.Op.Writes) }

// args lists the nodes of instructions of an operation.
func (g *group) args(op ir.Op) []*node { return g.nodes(func(o ir.Op) bool { return o == op }) }

// nodes lists the nodes of instructions whose operation has a property.
func (g *group) nodes(has func(op ir.Op) bool) []*node {
	var list []*node
	for i := range g.body {
		if in := &g.body[i]; has(in.Op) && !slices.Contains(list, in.node) {
			list = append(list, in.node)
		}
	}
	return list
}

// buffers is the number of buffers that g reads and writes, without the status.
func (g *group) buffers() int {
	return len(g.loads()) + len(g.written())
}

// checks reports whether g uses an index.
func (g *group) checks() bool {
	return slices.ContainsFunc(g.body, func(in instr) bool { return in.UsesIndex() })
}

// readsFailed reports whether g reads the report of all checks.
func (g *group) readsFailed() bool { return slices.ContainsFunc(g.args(ir.Scalar), isFailed) }

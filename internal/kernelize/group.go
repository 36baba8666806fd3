package kernelize

import (
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A group is a kernel being built: instructions over a space of axes. Each
// point of the space computes one element of each member, or shares it with
// the points that differ only on axes that the member does not have.
type group struct {
	template ir.Template
	lens     []int   // of every axis, by number, also of those that were split
	axes     []int   // that are not split, outermost first
	splits   []split // in order
	reduced  []int   // axes that reductions run over

	body    []instr
	members []*node
	sides   [2]ir.AxisSet // axes that the factors of a contraction vary over
	emitted []emission

	*attending // of a kernel of attention

	order  int    // a group reads stores of groups of lower order only
	reader int    // the least order of a group that reads from this one
	into   *group // the group that this one was merged into, or its sum
	closed bool   // nothing joins it
}

// A layout lists, for each axis of a node, the axes of the group's space that
// make it up, most significant first: none for an axis of length 1.
type layout [][]int

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

// A split is an axis that became two: the outer one has number hi, the inner one
// has number hi+1 and length inner.
type split struct{ axis, hi, inner int }

const pending = math.MaxInt // the order of a group that is being made

// newGroup returns a group whose space has an axis for each of dims that is
// longer than 1, and the layout of a node of that shape.
func newGroup(template ir.Template, dims []int) (*group, layout) {
	g := &group{
		template: template,
		body:     make([]instr, 0, 8),
		order:    pending,
		reader:   pending,
	}
	l := make(layout, len(dims))
	for i, n := range dims {
		if n != 1 {
			l[i] = []int{g.newAxis(n)}
		}
	}
	return g, l
}

func (g *group) newAxis(n int) int {
	g.lens = append(g.lens, n)
	g.axes = append(g.axes, len(g.lens)-1)
	return len(g.lens) - 1
}

// find returns the group that g has become part of.
func (g *group) find() *group {
	for g != nil && g.into != nil {
		g = g.into
	}
	return g
}

// hasRoom reports whether g may get that many axes more. A split uses two numbers and leaves one
// without an axis.
func (g *group) hasRoom(axes int) bool { return len(g.lens)+axes <= ir.MaxAxes }

// split replaces an axis by two, the outer of number hi and the inner of hi+1.
// Coordinates that callers hold may still name the old axis: see live.
func (g *group) split(axis, inner int) (hi int) {
	s := split{axis, len(g.lens), inner}
	g.lens = append(g.lens, g.lens[axis]/inner, inner)
	g.splits = append(g.splits, s)
	g.axes, g.reduced = s.axes(g.axes), s.axes(g.reduced)
	if a := g.attending; a != nil {
		a.depths, a.widths = s.axes(a.depths), s.axes(a.widths)
	}
	for _, n := range g.members {
		s.layout(n.layout)
	}
	for i := range g.body {
		g.body[i].eachCoef(func(coef []int) []int { return s.expr(ir.AffineExpr{Coef: coef}).Coef })
	}
	g.emitted = g.emitted[:0] // they name the old axis
	return s.hi
}

func (s *split) expr(f ir.AffineExpr) ir.AffineExpr {
	return shape.SplitAxis(f, s.axis, s.hi, s.hi+1, s.inner)
}

func (s *split) axes(axes []int) []int {
	if i := slices.Index(axes, s.axis); i >= 0 {
		return slices.Concat(axes[:i], []int{s.hi, s.hi + 1}, axes[i+1:])
	}
	return axes
}

func (s *split) layout(l layout) {
	for i := range l {
		l[i] = s.axes(l[i])
	}
}

// live returns coordinates without axes that were split.
func (g *group) live(at []ir.AffineExpr) []ir.AffineExpr {
	if len(g.splits) == 0 {
		return at
	}
	at = slices.Clone(at)
	for i := range at {
		for _, s := range g.splits {
			at[i] = s.expr(at[i])
		}
	}
	return at
}

func (g *group) liveGuards(guards []ir.Guard) []ir.Guard {
	if len(g.splits) == 0 {
		return guards
	}
	guards = slices.Clone(guards)
	for i := range guards {
		for _, s := range g.splits {
			guards[i].AffineExpr = s.expr(guards[i].AffineExpr)
		}
	}
	return guards
}

func (g *group) liveLayout(l layout) layout {
	for _, s := range g.splits {
		s.layout(l)
	}
	return l
}

// liveSet returns axes with those that were split replaced by their parts.
func (g *group) liveSet(axes ir.AxisSet) ir.AxisSet {
	for _, s := range g.splits {
		if axes.Has(s.axis) {
			axes |= ir.Axes(s.hi, s.hi+1)
		}
	}
	return axes & ir.Axes(g.axes...)
}

// A mark is where a group stood before a trial.
type mark struct{ body, emitted, splits int }

func (g *group) mark() mark { return mark{len(g.body), len(g.emitted), len(g.splits)} }

// rollBack removes the instructions since a mark. Axes stay split, which does no harm:
// collapse merges them in the kernel.
func (g *group) rollBack(m mark) {
	g.body = g.body[:m.body]
	if a := g.attending; a != nil {
		maps.DeleteFunc(a.matrices, func(_ *node, id int) bool { return id >= m.body })
	}
	if len(g.splits) > m.splits { // a split has removed all older emissions
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

// coordinates returns the position along each axis of a node of layout l.
func (g *group) coordinates(l layout) []ir.AffineExpr {
	at, n := make([]ir.AffineExpr, len(l)), len(g.lens)
	coefs := make([]int, len(l)*n)
	for i, axes := range l {
		at[i] = g.coordinate(axes, coefs[i*n:(i+1)*n:(i+1)*n])
	}
	return at
}

// coordinate returns the position along an axis of a node that is made up of axes of
// the group. Coef has a 0 for each axis of the group, and backs the result.
func (g *group) coordinate(axes, coef []int) ir.AffineExpr {
	if len(axes) == 0 {
		return shape.Constant(0)
	}
	at := ir.AffineExpr{Coef: coef, Div: 1}
	step := 1
	for _, a := range slices.Backward(axes) {
		at.Coef[a] = step
		step *= g.lens[a]
	}
	return at
}

// isAt reports whether at is the coordinates of a node of layout l.
func (g *group) isAt(at []ir.AffineExpr, l layout) bool {
	var buf [8]int
	for i, axes := range l {
		coef := append(buf[:0], make([]int, len(g.lens))...)
		if !shape.Equal(g.coordinate(axes, coef), at[i]) {
			return false
		}
	}
	return true
}

// operand returns the coordinates at which reduction n, read at coordinates, reads
// its operand. Over has the axes of the group that stand for those it reduces.
func (g *group) operand(n *node, at []ir.AffineExpr, over layout) []ir.AffineExpr {
	src := slices.Clone(at)
	for _, a := range n.Ints {
		src[a] = g.coordinate(over[a], make([]int, len(g.lens)))
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

// takeReduced moves the axes that n reduces from the layout of its operand, which becomes
// n's layout, to a layout of their own.
func takeReduced(l layout, n *node) (over layout) {
	over = make(layout, len(l))
	for _, a := range n.Ints {
		over[a], l[a] = l[a], nil
	}
	return over
}

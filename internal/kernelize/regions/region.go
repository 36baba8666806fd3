// Package regions finds attention in a graph, for kernels of that template.
package regions

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A Region is attention in the graph: scores, which are sums of products over a short depth, the
// elementwise work on matrices of them, reductions along their rows, and products with them. It is found on the
// graph, where axes have names, in whatever form it was written.
type Region struct {
	Space    *space.Space // its axes are the matrices' axes, and widths of products
	Score    *graph.Node  // the first
	matrix   ir.AxisSet
	Columns  ir.AxisSet
	Layouts  map[*graph.Node]space.Layout // of matrices and of values of rows
	Rows     Nodes                        // values of rows: reductions along columns, and functions of these
	Inner    Nodes                        // nodes that only kernels of attention compute
	Products []*Product
}

type Nodes map[*graph.Node]bool

// A Product is a sum of products of a matrix, the weights, and a factor, over columns or over rows.
type Product struct {
	Sum     *graph.Node
	between []*graph.Node // the product of factors, and sums that are parts of sum
	Weights *graph.Node   // the matrix
	Factor  *graph.Node
	Layout  space.Layout // of the product of factors
	Out     space.Layout // of sum
	Over    ir.AxisSet
	Swapped bool // over are rows
}

// A finder finds the regions of a graph.
type finder struct {
	limits  ir.LoopLimits
	refused Nodes // products
	roots   Nodes
	users   map[*graph.Node][]*graph.Node
	regions []*Region
	inside  map[*graph.Node]*Region // the region whose kernels alone compute a node
	sums    Nodes                   // of products of regions
	tried   Nodes                   // with no region, or one that is found
	*Region
	size    int // of a matrix
	queue   []found
	seen    Nodes // on the way up to scores
	reduces []*graph.Node
	expands []*graph.Node
	bad     Nodes // matrices that other work than attention's reads
}

// A found is a node with the layout of a matrix. It is up if a matrix depends on it, and otherwise it depends on one.
type found struct {
	*graph.Node
	layout space.Layout
	up     bool
}

// Find returns the regions of a graph whose kernels a device runs, by its nodes in order.
func Find(list []*graph.Node, roots, refused Nodes, limits ir.LoopLimits) ([]*Region, map[*graph.Node]*Region) {
	if limits.Attention == 0 {
		return nil, nil
	}
	f := &finder{limits: limits, refused: refused, roots: roots, users: map[*graph.Node][]*graph.Node{}, inside: map[*graph.Node]*Region{}, sums: Nodes{}, tried: Nodes{}}
	for _, n := range list {
		for _, s := range n.Src().All() {
			f.users[s] = append(f.users[s], n)
		}
	}
	for _, n := range list {
		if !f.tried[n] && f.isScore(n) {
			f.grow(n)
			for n := range f.Layouts {
				f.tried[n] = true
			}
		}
	}
	f.findShared(list)
	return f.regions, f.inside
}

// findShared finds elementwise work of which only matrices of regions are made, such as a mask of dropout: each
// kernel of attention does it again.
func (f *finder) findShared(list []*graph.Node) {
	if len(f.regions) == 0 {
		return
	}
	for _, n := range slices.Backward(list) {
		outside := func(u *graph.Node) bool { return f.inside[u] == nil || u.Len() != n.Len() }
		movement := n.Op.Class() == ir.Movement && n.Op != ir.Cat
		if f.inside[n] != nil || f.roots[n] || n.Src().Len() == 0 || n.Op.Class() != ir.Elementwise && !movement || slices.ContainsFunc(f.users[n], outside) {
			continue
		}
		for _, r := range f.regions {
			if slices.ContainsFunc(f.users[n], func(u *graph.Node) bool { return r.Inner[u] }) {
				f.inside[n], r.Inner[n] = r, true
			}
		}
	}
}

// isScore reports whether n is a sum of a product over a short depth, of one factor that varies over rows and one
// that varies over columns.
func (f *finder) isScore(n *graph.Node) bool {
	if n.Op != ir.Sum || n.DType.ComputeType() != ir.Float32 || n.Operand(0).Op != ir.Mul || n.Operand(0).DType != n.DType {
		return false
	}
	m := n.Operand(0)
	depth, rows, columns := 1, 1, 1
	for a, d := range m.Shape {
		switch x, y := varies(m.Operand(0), a), varies(m.Operand(1), a); {
		case slices.Contains(n.Ints, a):
			depth *= d
		case x && !y:
			rows *= d
		case y && !x:
			columns *= d
		}
	}
	isShort := depth <= f.limits.Attention || rows <= loopnest.FewRows && depth <= f.limits.AttentionFew
	return isShort && rows > 1 && columns > 1
}

// varies reports whether n may vary along an axis.
func varies(n *graph.Node, axis int) bool {
	switch n.Op {
	case ir.Buffer:
		return n.Ints[1+axis] != 0
	case ir.Const, ir.Scalar:
		return false
	case ir.Expand:
		return n.Operand(0).Shape[axis] == n.Shape[axis] && varies(n.Operand(0), axis)
	case ir.Permute:
		return varies(n.Operand(0), n.Ints[axis])
	}
	return true
}

// grow makes the region of a score, if there is one.
func (f *finder) grow(score *graph.Node) {
	f.Region = &Region{Score: score, Layouts: map[*graph.Node]space.Layout{}, Rows: Nodes{}, Inner: Nodes{}}
	f.size, f.seen, f.bad, f.reduces, f.expands = score.Len(), Nodes{}, Nodes{}, nil, nil
	all, l := space.New(score.Shape)
	f.Space, f.matrix = &all, ir.Axes(all.Axes...)
	f.set(found{score, l, false})
	for len(f.queue) > 0 {
		x := f.queue[0]
		if f.queue = f.queue[1:]; x.up {
			f.climb(x)
		} else {
			f.follow(x)
		}
	}
	if !f.findColumns() {
		return
	}
	f.growRows()
	for _, n := range f.expands {
		f.findProducts(n)
	}
	f.settle()
}

// set notes the layout of a matrix that depends on a score.
func (f *finder) set(x found) {
	if old, ok := f.Layouts[x.Node]; ok {
		if !space.EqualLayouts(f.Space.LiveLayout(old), f.Space.LiveLayout(x.layout)) {
			f.bad[x.Node] = true
		}
		return
	}
	f.Layouts[x.Node] = x.layout
	f.queue = append(f.queue, x)
}

// climb looks for scores that a matrix depends on.
func (f *finder) climb(x found) {
	n := x.Node
	if f.seen[n] || f.Layouts[n] != nil || n.Len() != f.size {
		return
	}
	f.seen[n] = true
	if f.isScore(n) {
		f.set(found{n, x.layout, false})
		return
	}
	l, ok := f.Space.LiveLayout(x.layout), true
	switch n.Op {
	case ir.Reshape:
		l, ok = f.Space.Reshape(l, n.Shape, n.Operand(0).Shape, f.Space.Split)
	case ir.Permute:
		from := make(space.Layout, len(l))
		for i, a := range n.Ints {
			from[a] = l[i]
		}
		l = from
	default:
		ok = n.Op.Class() == ir.Elementwise
	}
	if ok {
		f.climbAll(n, l)
	}
}

func (f *finder) climbAll(n *graph.Node, l space.Layout) {
	for _, s := range n.Src().All() {
		f.queue = append(f.queue, found{s, slices.Clone(l), true})
	}
}

// follow finds the readers of a matrix.
func (f *finder) follow(x found) {
	n := x.Node
	if f.roots[n] {
		f.bad[n] = true
	}
	if n.Op.Class() == ir.Elementwise {
		f.climbAll(n, x.layout)
	}
	for _, u := range f.users[n] {
		switch {
		case u.Op.Class() == ir.Elementwise:
			f.set(found{u, slices.Clone(x.layout), false})
		case u.Op == ir.Sum || u.Op == ir.ReduceMax:
			f.reduces = append(f.reduces, u)
		case u.Op == ir.Expand:
			f.expands = append(f.expands, u)
		default:
			l, ok := f.moved(u, x.layout)
			if !ok {
				f.bad[n] = true
				continue
			}
			f.set(found{u, l, false})
		}
	}
}

// moved returns the layout of n, a Reshape or Permute of a node of layout l.
func (f *finder) moved(n *graph.Node, l space.Layout) (space.Layout, bool) {
	l = f.Space.LiveLayout(slices.Clone(l))
	switch n.Op {
	case ir.Reshape:
		return f.Space.Reshape(l, n.Operand(0).Shape, n.Shape, f.Space.Split)
	case ir.Permute:
		return space.Permute(l, n.Ints), true
	}
	return nil, false
}

// reduced returns the layout of a reduction and the axes that it reduces.
func (f *finder) reduced(n *graph.Node) (l space.Layout, over ir.AxisSet) {
	l = f.Space.LiveLayout(slices.Clone(f.Layouts[n.Operand(0)]))
	return l, ir.Axes(slices.Concat(space.TakeReduced(l, n.Ints)...)...)
}

// findColumns finds the axes of columns: those that a softmax reduces.
func (f *finder) findColumns() bool {
	for _, n := range f.reduces {
		if n.Op == ir.ReduceMax {
			_, f.Columns = f.reduced(n)
			columns := f.Space.Count(f.Columns)
			return columns >= f.limits.Columns && columns < f.size
		}
	}
	return false
}

// growRows finds the values of rows.
func (f *finder) growRows() {
	var queue []*graph.Node
	set := func(n *graph.Node, l space.Layout) {
		if f.Layouts[n] == nil {
			f.Layouts[n], f.Rows[n] = l, true
			queue = append(queue, n)
		}
	}
	for _, n := range f.reduces {
		if l, over := f.reduced(n); over == f.Space.LiveSet(f.Columns) {
			set(n, l)
		} else {
			f.bad[n.Operand(0)] = true
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, u := range f.users[n] {
			if u.Op.Class() == ir.Elementwise {
				set(u, slices.Clone(f.Layouts[n]))
			} else if l, ok := f.moved(u, f.Layouts[n]); ok {
				set(u, l)
			}
		}
	}
}

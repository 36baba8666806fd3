package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A region is attention in the graph: scores, which are sums of products over a short depth, the elementwise
// work on matrices of them, reductions along their rows, and products with them. It is found on the graph,
// where axes have names, in whatever form it was written.
type region struct {
	space    *space // its axes are the matrices' axes, and widths of products
	score    *node  // the first
	matrix   ir.AxisSet
	columns  ir.AxisSet
	layouts  map[*node]layout // of matrices and of values of rows
	rows     nodeSet          // values of rows: reductions along columns, and functions of these
	inner    nodeSet          // nodes that only kernels of attention compute
	products []*product
	groups   []*group
	saved    map[savedRow]*node
}

// A product is a sum of products of a matrix, the weights, and a factor, over columns or over rows.
type product struct {
	*region
	sum     *node
	between []*node // the product of factors, and sums that are parts of sum
	weights *node   // the matrix
	factor  *node
	layout  layout // of the product of factors
	out     layout // of sum
	over    ir.AxisSet
	swapped bool // over are rows
}

// A finder finds the regions of a graph.
type finder struct {
	*placer
	users map[*node][]*node
	tried nodeSet // with no region, or one that is found
	*region
	size    int // of a matrix
	queue   []found
	seen    nodeSet // on the way up to scores
	reduces []*node
	expands []*node
	bad     nodeSet // matrices that other work than attention's reads
}

// A found is a node with the layout of a matrix. It is up if a matrix depends on it, and otherwise it depends on one.
type found struct {
	*node
	layout layout
	up     bool
}

// findRegions finds the regions whose kernels a device runs.
func (p *placer) findRegions() {
	if p.Loops.Attention == 0 {
		return
	}
	f := &finder{placer: p, users: map[*node][]*node{}, tried: nodeSet{}}
	for i := range p.nodes {
		for _, s := range p.nodes[i].src {
			f.users[s] = append(f.users[s], &p.nodes[i])
		}
	}
	for i := range p.nodes {
		if n := &p.nodes[i]; !f.tried[n] && f.isScore(n) {
			f.grow(n)
			for n := range f.layouts {
				f.tried[n] = true
			}
		}
	}
	f.findShared()
}

// findShared finds elementwise work of which only matrices of regions are made, such as a mask of dropout: each
// kernel of attention does it again.
func (f *finder) findShared() {
	if len(f.regions) == 0 {
		return
	}
	for i := range slices.Backward(f.nodes) {
		n := &f.nodes[i]
		outside := func(u *node) bool { return u.inside == nil || u.Len() != n.Len() }
		movement := n.Op.Class() == ir.Movement && n.Op != ir.Cat
		if n.inside != nil || n.root || len(n.src) == 0 || n.Op.Class() != ir.Elementwise && !movement || slices.ContainsFunc(f.users[n], outside) {
			continue
		}
		for _, r := range f.regions {
			if slices.ContainsFunc(f.users[n], func(u *node) bool { return r.inner[u] }) {
				n.inside, r.inner[n] = r, true
			}
		}
	}
}

// isScore reports whether n is a sum of a product over a short depth, of one factor that varies over rows and one
// that varies over columns.
func (f *finder) isScore(n *node) bool {
	if n.Op != ir.Sum || n.DType.ComputeType() != ir.Float32 || n.src[0].Op != ir.Mul || n.src[0].DType != n.DType {
		return false
	}
	m := n.src[0]
	depth, rows, columns := 1, 1, 1
	for a, d := range m.Shape {
		switch x, y := varies(m.src[0], a), varies(m.src[1], a); {
		case slices.Contains(n.Ints, a):
			depth *= d
		case x && !y:
			rows *= d
		case y && !x:
			columns *= d
		}
	}
	return depth <= f.Loops.Attention && rows > 1 && columns > 1
}

// varies reports whether n may vary along an axis.
func varies(n *node, axis int) bool {
	switch n.Op {
	case ir.Buffer:
		return n.Ints[1+axis] != 0
	case ir.Const, ir.Scalar:
		return false
	case ir.Expand:
		return n.src[0].Shape[axis] == n.Shape[axis] && varies(n.src[0], axis)
	case ir.Permute:
		return varies(n.src[0], n.Ints[axis])
	}
	return true
}

// grow makes the region of a score, if there is one.
func (f *finder) grow(score *node) {
	f.region = &region{score: score, layouts: map[*node]layout{}, rows: nodeSet{}, inner: nodeSet{}, saved: map[savedRow]*node{}}
	f.size, f.seen, f.bad, f.reduces, f.expands = score.Len(), nodeSet{}, nodeSet{}, nil, nil
	space, l := newSpace(score.Shape)
	f.space, f.matrix = &space, ir.Axes(space.axes...)
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
	if old, ok := f.layouts[x.node]; ok {
		if !equalLayouts(f.space.liveLayout(old), f.space.liveLayout(x.layout)) {
			f.bad[x.node] = true
		}
		return
	}
	f.layouts[x.node] = x.layout
	f.queue = append(f.queue, x)
}

// climb looks for scores that a matrix depends on.
func (f *finder) climb(x found) {
	n := x.node
	if f.seen[n] || f.layouts[n] != nil || n.Len() != f.size {
		return
	}
	f.seen[n] = true
	if f.isScore(n) {
		f.set(found{n, x.layout, false})
		return
	}
	l, ok := f.space.liveLayout(x.layout), true
	switch n.Op {
	case ir.Reshape:
		l, ok = f.space.reshape(l, n.Shape, n.src[0].Shape, f.space.split)
	case ir.Permute:
		from := make(layout, len(l))
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

func (f *finder) climbAll(n *node, l layout) {
	for _, s := range n.src {
		f.queue = append(f.queue, found{s, slices.Clone(l), true})
	}
}

// follow finds the readers of a matrix.
func (f *finder) follow(x found) {
	n := x.node
	if n.root {
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
func (f *finder) moved(n *node, l layout) (layout, bool) {
	l = f.space.liveLayout(slices.Clone(l))
	switch n.Op {
	case ir.Reshape:
		return f.space.reshape(l, n.src[0].Shape, n.Shape, f.space.split)
	case ir.Permute:
		return permute(l, n.Ints), true
	}
	return nil, false
}

// reduced returns the layout of a reduction and the axes that it reduces.
func (f *finder) reduced(n *node) (l layout, over ir.AxisSet) {
	l = f.space.liveLayout(slices.Clone(f.layouts[n.src[0]]))
	return l, ir.Axes(slices.Concat(takeReduced(l, n.Ints)...)...)
}

// findColumns finds the axes of columns: those that a softmax reduces.
func (f *finder) findColumns() bool {
	for _, n := range f.reduces {
		if n.Op == ir.ReduceMax {
			_, f.columns = f.reduced(n)
			columns := f.space.count(f.columns)
			return columns >= f.Loops.Columns && columns < f.size
		}
	}
	return false
}

// growRows finds the values of rows.
func (f *finder) growRows() {
	var queue []*node
	set := func(n *node, l layout) {
		if f.layouts[n] == nil {
			f.layouts[n], f.rows[n] = l, true
			queue = append(queue, n)
		}
	}
	for _, n := range f.reduces {
		if l, over := f.reduced(n); over == f.space.liveSet(f.columns) {
			set(n, l)
		} else {
			f.bad[n.src[0]] = true
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, u := range f.users[n] {
			if u.Op.Class() == ir.Elementwise {
				set(u, slices.Clone(f.layouts[n]))
			} else if l, ok := f.moved(u, f.layouts[n]); ok {
				set(u, l)
			}
		}
	}
}

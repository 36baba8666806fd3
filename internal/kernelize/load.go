package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An indexedNode is a node and the coordinates at which it is read, one of which is
// the value of an index.
type indexedNode struct {
	node *node
	at   []ir.AffineExpr
}

// load emits the load of a stored node.
func (t *trial) load(n *node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) int {
	src, strides := t.memory(n, at)
	if t.stopped() {
		return -1
	}
	id := t.add(n, ir.Instr{Op: ir.Load, Type: n.DType.ComputeType(), View: t.view(at, strides, n.Shape, guards, fill)})
	t.last().reads = src
	return id
}

// memory returns where n, a stored node read at coordinates, is in memory: the node
// whose elements are stored, and the strides of n's axes in them. The trial fails if
// they are stored by a group that is not before this one.
func (t *trial) memory(n *node, at []ir.AffineExpr) (src *node, strides []int) {
	src, _ = t.p.stored(n, t.g)
	for _, h := range src.owners {
		t.failed = t.failed || h.find().order >= t.g.order
	}
	t.cost++
	for i, f := range at {
		if n.Op != ir.Buffer || n.Ints[1+i] != 0 {
			t.vary([]ir.AffineExpr{f})
			t.exposed = t.exposed || t.leaves(f, n.Shape[i])
		}
	}
	if src == n && n.Op == ir.Buffer {
		return src, n.Ints[1:]
	}
	return src, shape.RowMajor(n.Shape)
}

// leaves reports whether a coordinate may be outside an axis of length n.
func (t *trial) leaves(f ir.AffineExpr, n int) bool {
	if n == 1 || f.Div == 1 && len(f.Coef) == 0 {
		return false
	}
	if len(f.Coef) > len(t.g.Lens) { // the range of an index is not known
		return true
	}
	lo, hi := shape.Range(f, t.g.Lens)
	return f.Div != 1 || lo < 0 || hi >= n
}

// view is the view of coordinates in a buffer with strides.
func (t *trial) view(at []ir.AffineExpr, strides, dims []int, guards []ir.Guard, fill ir.Number) *ir.View {
	sum := shape.Constant(0)
	guards = slices.Clone(guards)
	for i, f := range at {
		switch {
		case dims[i] == 1 || strides[i] == 0:
		case f.Div == 1:
			plus(&sum, f, strides[i])
		default:
			k := slices.IndexFunc(guards, func(g ir.Guard) bool { return shape.Equal(g.AffineExpr, f) })
			if k < 0 {
				k = len(guards)
				guards = append(guards, ir.Guard{AffineExpr: f, Len: dims[i]})
			}
			guards[k].Stride += strides[i]
		}
	}
	if len(guards) == 0 {
		fill = 0
	}
	return &ir.View{Off: sum.Off, Coef: sum.Coef, Guards: guards, Fill: fill}
}

// gather loads an element whose position along one axis is an index. Its first
// operand must be stored, or be a movement without guards of a stored node.
func (t *trial) gather(n *node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) int {
	x, idx, axis := n.src[0], n.src[1], n.Ints[0]
	index, filled := t.emit(idx, at, guards, 0)
	if !filled { // an index may be anything where a guard does not hold; 0 is in range
		index = t.guard(idx, index, guards, 0)
	}
	if t.stopped() {
		return -1
	}
	at, guards = t.g.Live(at), t.g.LiveGuards(guards)
	value := len(t.g.Lens) // an axis beyond the space's axes
	src := indexedNode{x, slices.Clone(at)}
	src.at[axis] = shape.Axis(value, 1)
	lens := append(slices.Clone(t.g.Lens), x.Shape[axis])
	for {
		if _, ok := t.p.stored(src.node, t.g); ok {
			break
		}
		r := shape.Source{Opaque: true}
		if src.node.Op.Class() == ir.Movement {
			r = moveOf(src.node).Push(src.at, lens)
		}
		if r.Opaque || len(r.Guards) > 0 {
			t.need = src.node
			return -1
		}
		src = indexedNode{src.node.src[0], r.At}
	}
	arg, strides := t.memory(src.node, src.at)
	if t.stopped() {
		return -1
	}
	stride := 0
	for i, f := range src.at {
		if c := shape.Coef(f, value); c != 0 { // the index's share divides evenly
			stride += c / f.Div * strides[i]
			src.at[i] = shape.Affine(ir.AffineExpr{Off: f.Off, Coef: f.Coef[:value], Div: f.Div}, 1, 0)
		}
	}
	v := t.view(src.at, strides, src.node.Shape, guards, fill)
	v.Stride, v.Len = stride, x.Shape[axis]
	id := t.add(n, ir.Instr{Op: ir.Load, Type: n.DType.ComputeType(), Src: []int{index}, View: v})
	t.last().reads, t.last().position = arg, element(n, at)
	return id
}

// scatter emits a Scatter whose updates have layout l.
func (t *trial) scatter(n *node, l space.Layout) int {
	base, idx, upd, axis := n.src[0], n.src[1], n.src[2], n.Ints[0]
	at := t.g.Coordinates(l)
	index, _ := t.emit(idx, at, nil, 0)
	update, _ := t.emit(upd, at, nil, 0)
	src := []int{index, update}
	var from *node
	if base.Op == ir.Const {
		start, _ := t.compute(base, at, nil, 0) // inline, even if it is stored elsewhere
		src = append(src, start)
	} else {
		from, _ = t.p.stored(base, t.g)
	}
	if t.stopped() {
		return -1
	}
	at = t.g.Live(at)
	strides := shape.RowMajor(n.Shape)
	to := slices.Clone(at)
	to[axis] = shape.Constant(0)
	v := t.view(to, strides, n.Shape, nil, 0)
	v.Stride, v.Len = strides[axis], n.Shape[axis]
	id := t.add(n, ir.Instr{Op: ir.Scatter, Type: t.g.body[update].Type, Kind: n.Kind, Src: src, View: v})
	t.last().reads, t.last().position = from, element(n, at)
	return id
}

// element returns the row-major number, in the tensor of indices before it was
// expanded, of the index that n, read at coordinates, uses; nil if no affine
// expression gives it.
func element(n *node, at []ir.AffineExpr) *ir.AffineExpr {
	sum := shape.Constant(0)
	dims := indexDims(n)
	for a, stride := range shape.RowMajor(dims) {
		if dims[a] == 1 {
			continue
		}
		if at[a].Div != 1 {
			return nil
		}
		plus(&sum, at[a], stride)
	}
	return &sum
}

// plus adds f, which divides by nothing, times a stride to a sum.
func plus(sum *ir.AffineExpr, f ir.AffineExpr, stride int) {
	sum.Off += f.Off * stride
	if more := len(f.Coef) - len(sum.Coef); more > 0 {
		sum.Coef = append(sum.Coef, make([]int, more)...)
	}
	for a, c := range f.Coef {
		sum.Coef[a] += c * stride
	}
}

// indexDims is the shape of the tensor of indices of n before it was expanded.
func indexDims(n *node) []int {
	idx := n.src[1]
	for idx.Op == ir.Expand {
		idx = idx.src[0]
	}
	dims := slices.Clone(idx.Shape)
	if idx.Op == ir.Buffer { // a leaf may be expanded itself
		for a, stride := range idx.Ints[1:] {
			if stride == 0 {
				dims[a] = 1
			}
		}
	}
	return dims
}

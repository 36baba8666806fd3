package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// routines has how each routine is placed in a group of its own.
var routines = [ir.Ops]func(p *placer, n *node){
	ir.Scatter:  (*placer).scatter,
	ir.Scan:     (*placer).ordered,
	ir.Sort:     (*placer).ordered,
	ir.HostCall: (*placer).collective,
}

// collective gives n, a collective of ranks, a routine of its own, for which the operands are stored in row-major order.
func (p *placer) collective(n *node) {
	for _, s := range n.src {
		p.storeWhole(s)
	}
	p.start(n, ir.Routine, nil, func(t *trial, _ space.Layout) int {
		var loads []int
		for _, s := range n.src {
			loads = append(loads, t.add(n, ir.Instr{Op: ir.Load, Type: s.DType.ComputeType(), View: &ir.View{}}))
			t.last().reads, _ = p.stored(s, t.g)
		}
		return t.add(n, ir.Instr{Op: n.Op, Type: n.DType.ComputeType(), Num: ir.Number(n.Ints[0]), Src: loads})
	})
	n.saved = true
}

// ordered gives n, a Scan or a Sort, a routine of its own over the points of its
// operand, whose axis is reduced.
func (p *placer) ordered(n *node) {
	p.start(n, ir.Routine, n.src[0].Shape, func(t *trial, l space.Layout) int { return t.ordered(n, l) })
	n.saved = true
}

// ordered emits a Scan or a Sort whose operand has layout l.
func (t *trial) ordered(n *node, l space.Layout) int {
	axis := n.Ints[0]
	t.g.reduced = slices.Clone(l[axis])
	x, _ := t.emit(n.src[0], t.g.Coordinates(l), nil, 0)
	if t.stopped() {
		return -1
	}
	to := slices.Clone(t.g.Live(t.g.Coordinates(t.g.LiveLayout(l))))
	strides := shape.RowMajor(n.Shape)
	d := t.g.body[x].Type
	place := ir.View{}
	if n.Op == ir.Sort {
		to[axis], d = shape.Constant(0), n.DType
		place.Stride, place.Len = strides[axis], n.Shape[axis]
	}
	v := t.view(to, strides, n.Shape, nil, 0)
	v.Stride, v.Len = place.Stride, place.Len
	return t.add(n, ir.Instr{Op: n.Op, Type: d, Kind: n.Kind, Src: []int{x}, View: v})
}

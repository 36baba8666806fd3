package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// routines has how each routine is placed in a group of its own.
var routines = [ir.Ops]func(p *placer, n *node){
	ir.Scatter: (*placer).scatter,
	ir.Scan:    (*placer).ordered,
	ir.Sort:    (*placer).ordered,
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

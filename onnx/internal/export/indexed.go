package export

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// gather is Gather where the index or the elements vary along the axis alone, else GatherElements.
func gather(w *writer, n *graph.Node) view {
	x, idx, axis := w.done[n.Operand(0)], w.done[n.Operand(1)], n.Ints[0]
	alone := func(v view) bool {
		for a := range n.Shape {
			if a != axis && v.varies(a) {
				return false
			}
		}
		return true
	}
	switch {
	case !x.varies(axis) && n.Operand(0).Shape[axis] == 1 && alone(idx) && !idx.varies(axis):
		return x // the only element
	case alone(idx) && x.axes[axis] >= 0 && n.Operand(0).Shape[axis] == x.v.shape[x.axes[axis]]:
		at := x.axes[axis]
		index := w.at(idx, axis)
		dims := shape.With(x.v.shape, at, index.shape[0])
		x.v = w.call("Gather", x.v.elem, dims, []*value{x.v, index}, intAttr("axis", at))
		return x
	case alone(x) && x.varies(axis):
		v := w.call("Gather", x.v.elem, idx.v.shape, []*value{w.at(x, axis), idx.v}, intAttr("axis", 0))
		return view{v, idx.axes}
	}
	from := w.full(x, n.Operand(0).Shape)
	return whole(w.call("GatherElements", from.elem, n.Shape, []*value{from, w.full(idx, n.Shape)}, intAttr("axis", axis)))
}

// reductions are the ways of ScatterElements by the kind of a Scatter.
var reductions = map[ir.Op]string{ir.Copy: "none", ir.Add: "add", ir.Mul: "mul", ir.Max: "max", ir.Min: "min"}

func scatter(w *writer, n *graph.Node) view {
	base, upd := w.full(w.done[n.Operand(0)], n.Shape), n.Operand(2)
	if upd.Len() == 0 {
		return whole(base)
	}
	if n.Kind != ir.Copy && (n.DType == ir.Bool || n.DType == ir.Uint64 && n.Kind != ir.Add) {
		refuse(n, "onnxruntime does not combine elements of %v by %v", n.DType, n.Kind)
	}
	in := []*value{base, w.full(w.done[n.Operand(1)], upd.Shape), w.full(w.done[upd], upd.Shape)}
	v := w.call("ScatterElements", base.elem, n.Shape, in, intAttr("axis", n.Ints[0]), textAttr("reduction", reductions[n.Kind]))
	return whole(w.wrap(v, n.DType))
}

// sort is TopK, which has the first of equal elements first. Floats are compared themselves instead of the
// integers that package tensor makes of their bits; NaN counts as Inf.
func sort(w *writer, n *graph.Node) view {
	key, axis, largest := n.Operand(0), n.Ints[0], 0
	m := match{}
	floats := keyPattern(m, key)
	if !floats && of(ir.Not, keyPattern)(m, key) {
		floats, largest = true, 1
	}
	if floats {
		key = m["x"]
	}
	v := w.full(w.done[key], key.Shape)
	switch {
	case floats:
		v = w.where(w.test("Equal", v, v), v, w.number(v.elem, math.Inf(1)))
	case key.DType == ir.Uint64:
		refuse(n, "onnxruntime does not sort uint64")
	case key.DType == ir.Bool:
		v = w.cast(v, op.Int32)
	}
	v = w.callResult("TopK", 1, op.Int64, n.Shape, []*value{v, w.ints(n.Shape[axis])}, intAttr("axis", axis), intAttr("largest", largest))
	return whole(w.cast(v, op.Int32))
}

// scan is CumSum, or of other kinds log n steps that combine each element with one before it.
func scan(w *writer, n *graph.Node) view {
	axis := n.Ints[0]
	v := w.full(w.done[n.Operand(0)], n.Shape)
	if n.Kind == ir.Add {
		return whole(w.wrap(w.call("CumSum", v.elem, n.Shape, []*value{v, w.integer(op.Int64, int64(axis))}), n.DType))
	}
	if n.DType == ir.Uint64 && n.Kind != ir.Mul {
		refuse(n, "onnxruntime does not compare uint64")
	}
	length := n.Shape[axis]
	for k := range bits.Len(uint(length - 1)) {
		by := 1 << k
		y := w.op(n.Kind.String(), w.slice(v, axis, by, length, 1), w.slice(v, axis, 0, length-by, 1))
		v = w.wrap(w.concat([]*value{w.slice(v, axis, 0, by, 1), y}, axis), n.DType)
	}
	return whole(v)
}

// recur is the standard's Scan, whose body may use values of the graphs around it.
func (w *writer) recur(n *graph.Node) []*value {
	r := graph.RecurrenceOf(n)
	results := r.Results()
	b := &body{writer: newWriter(w)}
	c := &call{op: "Scan", body: b, attrs: []*proto.Attr{intAttr("num_scan_inputs", r.Inputs)}}
	for i, a := range r.Args {
		src := n.Operand(i)
		b.source[a] = given
		if i >= r.Carries+r.Inputs {
			b.done[a] = w.done[src]
			continue
		}
		v := b.add(&value{elem: elemOf(a.DType), shape: a.Shape})
		b.inputs, b.done[a] = append(b.inputs, v), whole(v)
		c.in = append(c.in, w.full(w.done[src], src.Shape))
	}
	if r.Reverse {
		c.attrs = append(c.attrs, intsAttr("scan_input_directions", slices.Repeat([]int{1}, r.Inputs)),
			intsAttr("scan_output_directions", slices.Repeat([]int{1}, len(results)-r.Carries)))
	}
	b.walk(results)
	for i, x := range results {
		b.results = append(b.results, b.owned(b.full(b.done[x], x.Shape)))
		c.out = append(c.out, w.add(&value{elem: elemOf(x.DType), shape: r.Dims(results, i), from: c}))
	}
	w.calls = append(w.calls, c)
	return c.out
}

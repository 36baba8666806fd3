package lower

import (
	"slices"

	"github.com/tensorken/tensorken/internal/fuse"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// coefs takes a form's coefficients from the group's axes to the kernel's.
func (e *emitter) coefs(f ir.AffineExpr) []int {
	c := make([]int, len(e.k.Axes))
	for a, x := range f.Coef {
		if x != 0 && a < len(e.position) {
			c[e.position[a]] = x
		}
	}
	return c
}

// guards adds guards to a view.
func (e *emitter) guards(v *ir.View, guards []ir.Guard) {
	for _, g := range guards {
		g.AffineExpr = ir.AffineExpr{Off: g.Off, Coef: e.coefs(g.AffineExpr), Div: g.Div}
		v.Guards = append(v.Guards, g)
	}
}

// view is the place of coordinates in a buffer with strides.
func (e *emitter) view(at []ir.AffineExpr, strides, dims []int, guards []ir.Guard, fill ir.Number) *ir.View {
	v := &ir.View{Coef: make([]int, len(e.k.Axes)), Fill: fill}
	guards = slices.Clone(guards)
	for i, f := range at {
		if dims[i] == 1 || strides[i] == 0 {
			continue
		}
		if f.Div != 1 {
			k := slices.IndexFunc(guards, func(g ir.Guard) bool { return shape.Equal(g.AffineExpr, f) })
			if k < 0 {
				k = len(guards)
				guards = append(guards, ir.Guard{AffineExpr: f, Len: dims[i]})
			}
			guards[k].Stride += strides[i]
			continue
		}
		v.Off += f.Off * strides[i]
		for a, c := range e.coefs(f) {
			v.Coef[a] += c * strides[i]
		}
	}
	e.guards(v, guards)
	return v
}

// memory is where n, which is read from memory, lies: an argument, and the
// strides of n's axes in it.
func (e *emitter) memory(n *graph.Node) (arg int, strides []int) {
	src := e.fusion.Source(n, e.g)
	strides = shape.RowMajor(n.Shape)
	if src == n && n.Op == ir.Buffer {
		strides = n.Ints[1:]
	}
	return e.arg(ir.In, src, src.DType, 0), strides
}

func (e *emitter) load(n *graph.Node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) int {
	arg, strides := e.memory(n)
	v := e.view(at, strides, n.Shape, guards, fill)
	if len(v.Guards) == 0 {
		v.Fill = 0
	}
	return e.add(ir.Instr{Op: ir.Load, Type: n.DType.ComputeType(), Arg: arg, View: v})
}

// gather loads an element whose position along one axis is a value.
func (e *emitter) gather(n *graph.Node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	x, idx, axis := n.Src()[0], n.Src()[1], n.Ints[0]
	// Where a guard does not hold the index may be anything; 0 is in range.
	index, ok := e.emit(idx, at, guards, 0)
	if !ok {
		inside := e.add(e.inside(guards))
		zero := e.add(ir.Instr{Op: ir.Const, Type: idx.DType.ComputeType()})
		index = e.add(ir.Instr{Op: ir.Where, Type: idx.DType.ComputeType(), Src: []int{inside, index, zero}})
	}
	value := len(e.g.Lens)
	src := fuse.Reading{Node: x, At: slices.Clone(at)}
	src.At[axis] = shape.Axis(value, 1)
	lens := append(slices.Clone(e.g.Lens), x.Shape[axis])
	for !e.fusion.Readable(src.Node, e.g) {
		src, _, _, ok = fuse.Through(src.Node, src.At, lens)
		if !ok {
			panic("lower: gathered " + src.Node.Op.String() + " cannot be read through")
		}
	}
	arg, strides := e.memory(src.Node)
	stride := 0
	for i, f := range src.At {
		if c := shape.Coef(f, value); c != 0 { // the value's part is whole
			stride += c / f.Div * strides[i]
			src.At[i] = shape.Affine(ir.AffineExpr{Off: f.Off, Coef: f.Coef[:value], Div: f.Div}, 1, 0)
		}
	}
	v := e.view(src.At, strides, src.Node.Shape, guards, fill)
	v.Stride, v.Len = stride, x.Shape[axis]
	if len(v.Guards) == 0 {
		v.Fill = 0
	}
	return e.checked(n, at, ir.Instr{Op: ir.Load, Type: n.DType.ComputeType(), Src: []int{index}, Arg: arg, View: v}), true
}

// scatter emits the special routine of that name.
func (e *emitter) scatter() {
	n := e.g.Scatter
	base, idx, upd, axis := n.Src()[0], n.Src()[1], n.Src()[2], n.Ints[0]
	out := e.arg(ir.Out, n, n.DType, n.Len())
	src := e.fusion.Source(base, e.g)
	e.arg(ir.In, src, src.DType, 0)
	at := e.g.Forms(e.g.Layouts[n])
	index, _ := e.emit(idx, at, nil, 0)
	update, _ := e.emit(upd, at, nil, 0)
	strides := shape.RowMajor(n.Shape)
	to := slices.Clone(at)
	to[axis] = shape.Constant(0)
	v := e.view(to, strides, n.Shape, nil, 0)
	v.Stride, v.Len = strides[axis], n.Shape[axis]
	e.checked(n, at, ir.Instr{
		Op: ir.Scatter, Type: e.k.Body[update].Type, Kind: n.Kind, Src: []int{index, update}, Arg: out, View: v,
	})
}

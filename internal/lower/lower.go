// Package lower turns a group of nodes into a kernel.
package lower

import (
	"encoding/binary"
	"slices"

	"github.com/tensorken/tensorken/internal/fuse"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An Arg says what a kernel's argument is.
type Arg struct {
	Kind ir.ArgKind
	// Node is a leaf or a stored node for In, the target of a store for Out,
	// the Scalar for Value.
	Node   *graph.Node
	Offset int // in elements, from which the kernel's views of it count
}

// An Index says which node an instruction that uses an index computes, a Gather
// or a Scatter, and which element of the tensor of indices it uses.
type Index struct {
	Instr int
	Node  *graph.Node
	// Element is its row-major number, over the kernel's axes, in the tensor of
	// indices before it was expanded; nil where no form gives it.
	Element *ir.AffineExpr
	Len     int // of that tensor
}

// Group returns the kernel of a group, what its arguments are, and its
// instructions that use an index.
func Group(x *fuse.Fusion, g *fuse.Group) (*ir.Kernel, []Arg, []Index) {
	e := &emitter{fusion: x, g: g, k: &ir.Kernel{Template: g.Template}, added: map[string]int{}, emitted: map[asked]emission{}, status: -1}
	e.axes()
	if g.Template == ir.Routine {
		e.scatter()
	} else {
		e.outputs()
		for _, s := range g.Stores {
			e.store(s)
		}
	}
	collapse(e.k, e.indices)
	offsets(e.k, e.args)
	return e.k, e.args, e.indices
}

type emitter struct {
	fusion   *fuse.Fusion
	g        *fuse.Group
	k        *ir.Kernel
	args     []Arg
	indices  []Index
	position []int          // of the group's axes among the kernel's
	added    map[string]int // instructions by their text
	emitted  map[asked]emission
	status   int // the status argument, -1 if there is none
}

// An asked is what emit was called with.
type asked struct {
	node  *graph.Node
	where string // coordinates and guards
	fill  ir.Number
}

// An emission is what emit gave.
type emission struct {
	id     int
	filled bool
}

// axes gives the kernel its axes: kept ones first, in a contraction batch, m
// and n, then those that are reduced.
func (e *emitter) axes() {
	g := e.g
	e.position = make([]int, len(g.Lens))
	role := func(a int) ir.Role { return ir.Parallel }
	order := []ir.Role{ir.Parallel, ir.Reduced}
	if g.Template == ir.Contraction {
		a, b := e.varies(g.Sides[0]), e.varies(g.Sides[1])
		role = func(x int) ir.Role {
			switch {
			case slices.Contains(a, x) == slices.Contains(b, x):
				return ir.Batch
			case slices.Contains(a, x):
				return ir.M
			}
			return ir.N
		}
		order = []ir.Role{ir.Batch, ir.M, ir.N, ir.K}
	}
	reduced := order[len(order)-1]
	for _, r := range order {
		axes := g.Axes
		if r == reduced {
			axes = g.Reduced
		}
		for _, a := range axes {
			if r == reduced || !slices.Contains(g.Reduced, a) && role(a) == r {
				e.position[a] = len(e.k.Axes)
				e.k.Axes = append(e.k.Axes, ir.Axis{Len: g.Lens[a], Role: r})
			}
		}
	}
}

// varies lists the group's axes that a contraction's factors vary over.
func (e *emitter) varies(side []fuse.Factor) []int {
	var axes []int
	for _, f := range side {
		axes = append(axes, e.fusion.Varies(e.g, f)...)
	}
	return axes
}

func (e *emitter) arg(kind ir.ArgKind, n *graph.Node, d ir.DType, length int) int {
	for i, a := range e.args {
		if a.Kind == kind && a.Node == n {
			return i
		}
	}
	e.args = append(e.args, Arg{Kind: kind, Node: n})
	align := kind == ir.Out || kind == ir.In && (n.Op != ir.Buffer || n.Ints[0]&1 == 1)
	e.k.Args = append(e.k.Args, ir.Arg{Kind: kind, DType: d, Len: length, Align: align})
	return len(e.args) - 1
}

// outputs makes the arguments that are written the first ones.
func (e *emitter) outputs() {
	for _, s := range e.g.Stores {
		e.arg(ir.Out, s.Target, s.Target.DType, s.Target.Len())
	}
}

func (e *emitter) store(s fuse.Store) {
	id, _ := e.emit(s.Node, e.g.Forms(e.g.Layouts[s.Node]), nil, 0)
	at := e.g.Forms(s.Layout) // of the target: a movement of the node in a Cat
	strides := shape.RowMajor(s.Target.Shape)
	if s.Offset > 0 {
		at[s.Axis] = shape.Affine(at[s.Axis], 1, s.Offset)
	}
	v := e.view(at, strides, s.Target.Shape, nil, 0)
	e.add(ir.Instr{
		Op: ir.Store, Type: e.k.Body[id].Type, Src: []int{id}, View: v,
		Arg: e.arg(ir.Out, s.Target, s.Target.DType, s.Target.Len()),
	})
}

// checked is add of an instruction of n, read at coordinates, that uses an index.
func (e *emitter) checked(n *graph.Node, at []ir.AffineExpr, i ir.Instr) int {
	if e.status < 0 {
		e.status = e.arg(ir.Status, nil, ir.Int32, 0)
	}
	before := len(e.k.Body)
	id := e.add(i)
	if id == before {
		e.indices = append(e.indices, e.index(id, n, at))
	}
	return id
}

// index describes instruction id of n, whose tensor of indices is read at
// coordinates.
func (e *emitter) index(id int, n *graph.Node, at []ir.AffineExpr) Index {
	idx := n.Src()[1]
	for idx.Op == ir.Expand {
		idx = idx.Src()[0]
	}
	dims := slices.Clone(idx.Shape)
	if idx.Op == ir.Buffer { // a leaf may be expanded itself
		for a, stride := range idx.Ints[1:] {
			if stride == 0 {
				dims[a] = 1
			}
		}
	}
	element := ir.AffineExpr{Coef: make([]int, len(e.k.Axes)), Div: 1}
	x := Index{Instr: id, Node: n, Element: &element, Len: graph.Len(dims)}
	for a, stride := range shape.RowMajor(dims) {
		if dims[a] == 1 {
			continue
		}
		if at[a].Div != 1 {
			x.Element = nil
			return x
		}
		element.Off += at[a].Off * stride
		for k, c := range e.coefs(at[a]) {
			element.Coef[k] += c * stride
		}
	}
	return x
}

// add appends an instruction, or finds the equal one that is there.
func (e *emitter) add(i ir.Instr) int {
	key := text(&i)
	if id, ok := e.added[key]; ok {
		return id
	}
	id := len(e.k.Body)
	e.k.Body = append(e.k.Body, i)
	e.k.Body[id].Domain = e.k.Varies(id)
	e.added[key] = id
	return id
}

// emit computes n at coordinates, under guards: it may give anything where
// one of them does not hold, but reads no memory there. Filled says that it
// gives fill there. A node that is asked for twice is walked once, or the time
// would double with every level of a graph that uses each node twice.
func (e *emitter) emit(n *graph.Node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	key := asked{n, where(at, guards), fill}
	if got, ok := e.emitted[key]; ok {
		return got.id, got.filled
	}
	id, filled = e.walk(n, at, guards, fill)
	e.emitted[key] = emission{id, filled}
	return id, filled
}

// walk is emit of what was not yet asked for.
func (e *emitter) walk(n *graph.Node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	if e.fusion.Readable(n, e.g) {
		return e.load(n, at, guards, fill), true
	}
	if _, member := e.g.Layouts[n]; !member && e.g.Over[n] != nil {
		return e.emit(n.Src()[0], e.g.Operand(n, at), guards, fill) // part of another reduction
	}
	switch n.Op.Class() {
	case ir.Source:
		return e.source(n, at), len(guards) == 0 || n.Op == ir.Const && n.Num == fill
	case ir.Movement:
		return e.movement(n, at, guards, fill)
	case ir.Reduction:
		return e.reduction(n, at), len(guards) == 0
	}
	if n.Op == ir.Gather {
		return e.gather(n, at, guards, fill)
	}
	src := make([]int, len(n.Src()))
	for i, s := range n.Src() {
		src[i], _ = e.emit(s, at, guards, 0)
	}
	d := n.DType.ComputeType()
	if n.Op == ir.Cast && e.k.Body[src[0]].Type == d {
		return src[0], len(guards) == 0
	}
	return e.add(ir.Instr{Op: n.Op, Type: d, Src: src}), len(guards) == 0
}

func (e *emitter) source(n *graph.Node, at []ir.AffineExpr) int {
	d := n.DType.ComputeType()
	switch n.Op {
	case ir.Const:
		return e.add(ir.Instr{Op: ir.Const, Type: d, Num: n.Num})
	case ir.Scalar:
		return e.add(ir.Instr{Op: ir.Scalar, Type: d, Arg: e.arg(ir.Value, n, n.DType, 0)})
	}
	return e.position32(at[n.Ints[0]]) // Iota
}

// position32 computes a form as an int32.
func (e *emitter) position32(f ir.AffineExpr) int {
	number := func(v int) int {
		return e.add(ir.Instr{Op: ir.Const, Type: ir.Int32, Num: ir.Int(ir.Int32, int64(v))})
	}
	binary := func(op ir.Op, a, b int) int {
		return e.add(ir.Instr{Op: op, Type: ir.Int32, Src: []int{a, b}})
	}
	sum := -1
	for a, c := range f.Coef {
		if c == 0 {
			continue
		}
		p := e.position[a]
		term := e.add(ir.Instr{Op: ir.Index, Type: ir.Int32, Axis: p})
		if c != 1 {
			term = binary(ir.Mul, term, number(c))
		}
		if sum >= 0 {
			term = binary(ir.Add, sum, term)
		}
		sum = term
	}
	switch {
	case sum < 0:
		sum = number(f.Off)
	case f.Off != 0:
		sum = binary(ir.Add, sum, number(f.Off))
	}
	if f.Div != 1 {
		sum = binary(ir.Div, sum, number(f.Div))
	}
	return sum
}

func (e *emitter) movement(n *graph.Node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	r, more, _, ok := fuse.Through(n, at, e.g.Lens)
	if !ok {
		panic("lower: " + n.Op.String() + " cannot be read through")
	}
	if len(more) == 0 {
		return e.emit(r.Node, r.At, guards, fill)
	}
	own := n.Num // 0 for Unwindow
	id, filled = e.emit(r.Node, r.At, slices.Concat(guards, more), own)
	if !filled {
		inside := e.add(e.inside(more))
		other := e.add(ir.Instr{Op: ir.Const, Type: n.DType.ComputeType(), Num: own})
		return e.add(ir.Instr{Op: ir.Where, Type: n.DType.ComputeType(), Src: []int{inside, id, other}}), len(guards) == 0
	}
	return id, own == fill || len(guards) == 0
}

func (e *emitter) inside(guards []ir.Guard) ir.Instr {
	v := &ir.View{}
	e.guards(v, guards)
	return ir.Instr{Op: ir.InBounds, Type: ir.Bool, View: v}
}

// reduction computes n, whose operand is read over the axes that n reduces.
func (e *emitter) reduction(n *graph.Node, at []ir.AffineExpr) int {
	var axes ir.AxisSet
	for _, a := range e.g.Reduced {
		axes |= 1 << e.position[a]
	}
	var src int
	if n == e.g.Sum {
		src = e.product()
	} else {
		src, _ = e.emit(n.Src()[0], e.g.Operand(n, at), nil, 0)
	}
	d := n.DType.ComputeType()
	if n.Op == ir.Sum && e.k.Body[src].Type != d {
		src = e.add(ir.Instr{Op: ir.Cast, Type: d, Src: []int{src}})
	}
	return e.add(ir.Instr{Op: n.Op, Type: d, Src: []int{src}, Axes: axes})
}

// product computes the product of a contraction's factors, side by side.
func (e *emitter) product() int {
	var sides [2]int
	for i, factors := range e.g.Sides {
		sides[i] = -1
		for _, f := range factors {
			d := f.Node.DType.ComputeType()
			id, filled := e.emit(f.Node, f.At, f.Guards, 0)
			if !filled {
				inside := e.add(e.inside(f.Guards))
				zero := e.add(ir.Instr{Op: ir.Const, Type: d})
				id = e.add(ir.Instr{Op: ir.Where, Type: d, Src: []int{inside, id, zero}})
			}
			if sides[i] >= 0 {
				id = e.add(ir.Instr{Op: ir.Mul, Type: d, Src: []int{sides[i], id}})
			}
			sides[i] = id
		}
	}
	return e.add(ir.Instr{Op: ir.Mul, Type: e.k.Body[sides[0]].Type, Src: sides[:]})
}

// where tells coordinates and guards apart.
func where(at []ir.AffineExpr, guards []ir.Guard) string {
	b := make([]byte, 0, 128)
	for _, f := range at {
		b = appendForm(b, f)
	}
	return string(appendGuards(b, guards))
}

// text tells instructions apart.
func text(i *ir.Instr) string {
	b := appendInts([]byte{byte(i.Op), byte(i.Type), byte(i.Kind)}, len(i.Src))
	b = appendInts(b, i.Src...)
	b = appendInts(b, i.Arg, i.Axis, int(i.Num), int(i.Axes))
	if v := i.View; v != nil {
		b = appendInts(b, v.Off, v.Stride, v.Len, int(v.Fill))
		b = appendForm(b, ir.AffineExpr{Coef: v.Coef})
		b = appendGuards(b, v.Guards)
	}
	return string(b)
}

func appendForm(b []byte, f ir.AffineExpr) []byte {
	return appendInts(appendInts(b, f.Off, f.Div, len(f.Coef)), f.Coef...)
}

func appendGuards(b []byte, guards []ir.Guard) []byte {
	for _, g := range guards {
		b = appendInts(appendForm(b, g.AffineExpr), g.Len, g.Stride)
	}
	return b
}

func appendInts(b []byte, numbers ...int) []byte {
	for _, x := range numbers {
		b = binary.AppendVarint(b, int64(x))
	}
	return b
}

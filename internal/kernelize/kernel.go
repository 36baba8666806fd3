package kernelize

import (
	"encoding/binary"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A writer makes the kernels of groups, one after the other.
type writer struct {
	g        *group
	k        Kernel
	position []int          // of the group's axes among the kernel's
	written  []int          // of the group's instructions, their numbers in the kernel; -1 at first
	added    map[string]int // the kernel's instructions, by their text
	reduced  ir.AxisSet

	text []byte     // backs the text of the instruction that is added
	body []ir.Instr // backs the kernel's until it is complete
}

// kernel returns the kernel of a group: the instructions that its stores need, each
// once, over the axes of the group.
func (w *writer) kernel(g *group) Kernel {
	if g.several {
		g.template = ir.Reduce
	}
	w.g, w.k, w.reduced = g, Kernel{Kernel: &ir.Kernel{Template: g.template, Body: w.body[:0]}}, 0
	if len(w.added) > maxSize {
		w.added = nil // a map that was large is slow to clear
	}
	if w.added == nil {
		w.added = map[string]int{}
	}
	clear(w.added)
	w.axes()
	w.written = w.written[:0]
	for range g.body {
		w.written = append(w.written, -1)
	}
	for _, n := range g.written() { // the written arguments come first
		w.arg(ir.Out, n.Node)
	}
	for i := range g.body {
		in := &g.body[i]
		if in.Op == ir.Scatter && in.reads != nil {
			w.arg(ir.In, in.reads.Node)
		}
		if in.Op.Writes() {
			w.instr(i)
		}
	}
	w.body, w.k.Body = w.k.Body, slices.Clone(w.k.Body)
	w.k.Node = g.main()
	return w.k
}

// axes gives the kernel its axes: parallel ones first, in a contraction batch, m
// and n, then those that are reduced.
func (w *writer) axes() {
	g := w.g
	role := func(int) ir.Role { return ir.Parallel }
	order := []ir.Role{ir.Parallel, ir.Reduced}
	if g.template == ir.Attention {
		w.attentionAxes()
		return
	}
	if g.template == ir.Contraction {
		a, b := g.LiveSet(g.sides[0]), g.LiveSet(g.sides[1])
		role = func(x int) ir.Role {
			switch {
			case a.Has(x) == b.Has(x):
				return ir.Batch
			case a.Has(x):
				return ir.M
			}
			return ir.N
		}
		order = []ir.Role{ir.Batch, ir.M, ir.N, ir.K}
	}
	w.position = make([]int, len(g.Lens))
	add := func(a int, r ir.Role) {
		w.position[a] = len(w.k.Axes)
		w.k.Axes = append(w.k.Axes, ir.Axis{Len: g.Lens[a], Role: r})
	}
	last := len(order) - 1
	for _, r := range order[:last] {
		for _, a := range g.Axes {
			if !slices.Contains(g.reduced, a) && role(a) == r {
				add(a, r)
			}
		}
	}
	for _, a := range g.reduced {
		w.reduced |= 1 << len(w.k.Axes)
		add(a, order[last])
	}
}

// coefs converts coefficients of the group's axes to coefficients of the kernel's.
func (w *writer) coefs(coef []int) []int {
	c := make([]int, len(w.k.Axes))
	for a, x := range coef {
		if x != 0 {
			c[w.position[a]] = x
		}
	}
	return c
}

func (w *writer) arg(kind ir.ArgKind, n *graph.Node) int {
	for i, a := range w.k.Args {
		if a.Kind == kind && a.Node == n {
			return i
		}
	}
	a := ir.Arg{Kind: kind, DType: ir.Int32}
	if n != nil {
		a.DType = graph.StoredType(n)
	}
	switch {
	case kind == ir.Out:
		a.Len, a.Align, a.Part = n.Len(), true, n.Op == ir.Cat
	case kind == ir.In && n != nil:
		a.Align = n.Op != ir.Buffer || n.Ints[0]&1 == 1
	}
	w.k.Args = append(w.k.Args, Arg{Kind: kind, Node: n})
	w.k.Kernel.Args = append(w.k.Kernel.Args, a)
	return len(w.k.Args) - 1
}

// instr writes instruction i of the group, after its operands, and returns its
// number in the kernel.
func (w *writer) instr(i int) int {
	if w.written[i] < 0 {
		in := w.g.body[i]
		src := make([]int, len(in.Src))
		for k, s := range in.Src {
			src[k] = w.instr(s)
		}
		w.written[i] = w.lower(&in, src)
	}
	return w.written[i]
}

// lower writes an instruction of the group with operands src.
func (w *writer) lower(from *instr, src []int) int {
	in := from.Instr
	in.Src = src
	if in.View != nil {
		in.View = in.View.Mapped(w.coefs)
		in.View.Coef = w.coefs(from.View.Coef) // of a view of one element it is nil
	}
	switch {
	case in.Op == ir.Iota:
		return w.position32(*from.position)
	case in.Op == ir.InBounds:
		in.View.Coef = nil
		inside := w.add(ir.Instr{Op: ir.InBounds, Type: ir.Bool, View: in.View})
		other := w.add(ir.Instr{Op: ir.Const, Type: in.Type, Num: in.Num})
		return w.add(ir.Instr{Op: ir.Where, Type: in.Type, Src: []int{inside, src[0], other}})
	case in.Op == ir.Load:
		in.Arg = w.arg(ir.In, from.reads.Node)
		w.k.Kernel.Args[in.Arg].Undefined = from.reads.cut
	case isFailed(from.node):
		report := w.add(ir.Instr{Op: ir.Load, Type: ir.Int32, Arg: w.arg(ir.In, nil), View: &ir.View{Coef: make([]int, len(w.k.Axes))}})
		return w.add(ir.Instr{Op: ir.Cast, Type: ir.Bool, Src: []int{report}})
	case in.Op == ir.Scalar:
		in.Arg = w.arg(ir.Value, from.node.Node)
	case in.Op.Writes():
		in.Arg = w.arg(ir.Out, from.node.Node)
	case in.Op.Class() == ir.Reduction && w.g.template == ir.Attention:
		in.Axes = w.axisSet(in.Axes)
	case in.Op.Class() == ir.Reduction:
		in.Axes = w.reduced
	}
	if !in.UsesIndex() {
		return w.add(in)
	}
	w.arg(ir.Status, nil)
	before := len(w.k.Body)
	id := w.add(in)
	if id == before {
		x := Index{Instr: id, Node: from.node.Node, Len: graph.Len(indexDims(from.node))}
		if e := from.position; e != nil {
			x.Element = &ir.AffineExpr{Off: e.Off, Coef: w.coefs(e.Coef), Div: 1}
		}
		w.k.Indices = append(w.k.Indices, x)
	}
	return id
}

// add appends an instruction, or finds the equal one that is there.
func (w *writer) add(in ir.Instr) int {
	w.text = appendText(w.text[:0], &in)
	if id, ok := w.added[string(w.text)]; ok {
		return id
	}
	id := len(w.k.Body)
	w.k.Body = append(w.k.Body, in)
	w.k.Body[id].Domain = w.k.Varies(id)
	w.added[string(w.text)] = id
	return id
}

// position32 computes an affine expression as an int32.
func (w *writer) position32(f ir.AffineExpr) int {
	number := func(v int) int {
		return w.add(ir.Instr{Op: ir.Const, Type: ir.Int32, Num: ir.Int(ir.Int32, int64(v))})
	}
	binary := func(op ir.Op, a, b int) int {
		return w.add(ir.Instr{Op: op, Type: ir.Int32, Src: []int{a, b}})
	}
	sum := -1
	for a, c := range f.Coef {
		if c == 0 {
			continue
		}
		term := w.add(ir.Instr{Op: ir.Index, Type: ir.Int32, Axis: w.position[a]})
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

// appendText appends a key of an instruction.
func appendText(b []byte, in *ir.Instr) []byte {
	b = appendInts(append(b, byte(in.Op), byte(in.Type), byte(in.Kind)), len(in.Src))
	b = appendInts(b, in.Src...)
	b = appendInts(b, in.Arg, in.Axis, int(in.Num), int(in.Axes))
	if v := in.View; v != nil {
		b = appendInts(b, v.Off, v.Stride, v.Len, int(v.Fill))
		b = appendExpr(b, ir.AffineExpr{Coef: v.Coef})
		b = appendGuards(b, v.Guards)
	}
	return b
}

func appendExpr(b []byte, f ir.AffineExpr) []byte {
	return appendInts(appendInts(b, f.Off, f.Div, len(f.Coef)), f.Coef...)
}

func appendGuards(b []byte, guards []ir.Guard) []byte {
	for _, g := range guards {
		b = appendInts(appendExpr(b, g.AffineExpr), g.Len, g.Stride)
	}
	return b
}

func appendInts(b []byte, numbers ...int) []byte {
	for _, x := range numbers {
		b = binary.AppendVarint(b, int64(x))
	}
	return b
}

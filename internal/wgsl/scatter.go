package wgsl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A scatter copies its base, then combines the updates with the copy.
//
// The axes whose positions lead to different elements, whatever the index,
// make columns; the others are the updates of each. A thread owns one column
// and some of the positions that the index may name, its rows. It goes
// through the updates in order and takes those whose index is one of its
// rows, so no two threads write an element and the order is that of the
// points. There are as many blocks of rows as it takes to keep the device
// busy; a thread with one row has it in a register. If there are few columns
// and rows the updates are also cut into segments, which a further pass
// combines, in order.
type scatter struct {
	*compiler
	at       *ir.Instr // the Scatter
	columns  []int
	updates  []int
	width    int // columns
	count    int // updates
	blocks   int
	rows     int // of a block
	segments int
	segment  int // updates in one
	parts    int // scratch
}

func (c *compiler) scatterKernel() {
	if c.k.Args[0].Len > 0 {
		c.copyBase()
	}
	if c.k.Points() > 0 {
		x := &scatter{compiler: c, at: &c.k.Body[len(c.k.Body)-1], segments: 1}
		x.choose()
		x.combine()
		if x.segments > 1 {
			x.addParts()
		}
	}
	c.settle()
}

// copyBase copies argument 1 to argument 0, or fills that.
func (c *compiler) copyBase() {
	d := c.k.Args[0].DType.ComputeType()
	along := &ir.View{Coef: []int{1}}
	over := ir.AxisSet(1)
	if c.k.Args[0].Len == 1 {
		along = &ir.View{Coef: []int{0}}
		over = 0
	}
	k := &ir.Kernel{
		Template: ir.Pointwise,
		Args:     c.k.Args,
		Axes:     []ir.Axis{{Len: c.k.Args[0].Len, Role: ir.Parallel}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: d, Arg: 1, View: along, Domain: over},
			{Op: ir.Store, Type: d, Src: []int{0}, Arg: 0, View: along, Domain: over},
		},
	}
	if x, constant := ir.ScatterStart(c.k.Body); constant {
		k.Body[0] = ir.Instr{Op: ir.Const, Type: d, Num: x}
	}
	sub := &compiler{k: k, t: c.t, program: c.program, status: -1}
	sub.points([]int{0}, []int{1}, nil)
	if c.err == nil {
		c.err = sub.err
	}
}

// choose parts the work.
func (x *scatter) choose() {
	v := x.at.View
	for _, a := range x.axes(ir.Parallel, ir.Reduced) {
		if n := x.k.Axes[a].Len; n != 1 {
			if v.Coef[a] != 0 {
				x.columns = append(x.columns, a)
			} else {
				x.updates = append(x.updates, a)
			}
		}
	}
	separate := x.separate()
	if !separate {
		x.columns, x.updates = nil, x.long(x.axes(ir.Parallel, ir.Reduced))
	}
	slices.SortStableFunc(x.columns, func(a, b int) int { return -cmp.Compare(abs(v.Coef[a]), abs(v.Coef[b])) })
	x.width, x.count = x.length(x.columns), x.length(x.updates)
	x.blocks, x.rows = 1, v.Len
	busy := x.t.busy()
	if separate && v.Len > 0 && x.count > 1 {
		x.rows = ceilDiv(v.Len, min(v.Len, max(1, busy/x.width)))
		x.blocks = ceilDiv(v.Len, x.rows)
	}
	x.segment = x.count
	if x.rows == 1 && x.at.Type != ir.Bool {
		parts := min(busy/(x.width*x.blocks), x.count/128)
		if parts > 1 {
			x.segment = ceilDiv(x.count, parts)
			x.segments = ceilDiv(x.count, x.segment)
			x.parts = x.scratch(x.segments*x.blocks*x.width, 4)
		}
	}
}

// separate reports whether different columns never lead to one element: each
// step goes further than all the finer ones together.
func (x *scatter) separate() bool {
	type loop struct{ n, stride int }
	steps := []loop{{x.at.View.Len, abs(x.at.View.Stride)}}
	for _, a := range x.columns {
		steps = append(steps, loop{x.k.Axes[a].Len, abs(x.at.View.Coef[a])})
	}
	slices.SortFunc(steps, func(a, b loop) int { return cmp.Compare(a.stride, b.stride) })
	reach := 0
	for _, l := range steps {
		if l.n > 1 && l.stride <= reach {
			return false
		}
		reach += l.stride * max(l.n-1, 0)
	}
	return true
}

// element binds the result and gives the place of the element of a row.
func (x *scatter) element(sc *scope, row string) (b *binding, place string) {
	pos := sc.linear(x.at.View.Off, x.at.View.Coef)
	b = sc.s.argument(0, false)
	b.Write = true
	b.atomic = storages[x.k.Args[0].DType].pack != nil
	return b, fmt.Sprintf("%s + %d * i32(%s)", pos.lane(0), x.at.View.Stride, row)
}

// together gives the combination of an element and an update, rounded as it
// would be in memory.
func (x *scatter) together(s *shader, old, update string) string {
	e := s.apply(x.at.Kind, x.at.Type, x.at.Type, old, update)
	d := x.k.Args[0].DType
	if st := &storages[d]; d.IsHalf() && x.segments == 1 {
		name := map[ir.DType]string{ir.Float16: "f16_bits", ir.BFloat16: "bf16_bits"}[d]
		return st.unpack(s.call(name, e), "0u")
	}
	return e
}

// aheadOf is how many indices a thread reads at once.
const aheadOf = 8

func (x *scatter) combine() {
	x.pass(x.t.threads(), func(s *shader) {
		st := &storages[x.k.Args[0].DType]
		index, update := x.at.Src[0], x.at.Src[1]
		count := x.width * x.blocks * x.segments
		s.groups = ceilDiv(count, s.size)
		s.root.line("let item = group * %du + thread;", s.size)
		sc := s.root.block()
		sc.line("let column = item %% %du;", x.width)
		sc.line("let row = item / %du %% %du * %du;", x.width, x.blocks, x.rows)
		sc.enter(walk{axes: x.columns, base: "column"})
		one := x.rows == 1
		switch {
		case one && x.segments == 1:
			b, place := x.element(sc, "row")
			sc.fetch(b, st, place, []string{"acc"}, false, "var ")
		case one:
			sc.line("let segment = item / %du;", x.width*x.blocks)
			sc.line("var acc = %s;", s.literal(x.at.Type, ir.Identity(x.at.Kind, x.at.Type)))
		}
		first, last := "0u", fmt.Sprintf("%du", x.count)
		if x.segments > 1 {
			first = fmt.Sprintf("segment * %du", x.segment)
			last = fmt.Sprintf("min(%s + %du, %du)", first, x.segment, x.count)
		}
		sc.line("let last = %s;", last)
		loop := sc.block()
		w := walk{axes: x.updates, base: "u"}
		ahead := 1 // indices that are read at once, not to wait for each
		if x.count >= aheadOf && !x.t.Software {
			ahead = aheadOf
			w.step, w.clamp = count4(ahead), "last"
			loop.valid = validity(w)
		}
		loop.enter(w)
		i := loop.value(index)
		greatest := fmt.Sprintf("u32(%s)", i[0])
		for _, e := range i[1:] {
			greatest = fmt.Sprintf("max(%s, u32(%s))", greatest, e)
		}
		bad := loop.block()
		for l := range i {
			in := bad.block()
			in.note(len(x.k.Body)-1, l)
			in.end(fmt.Sprintf("if (u32(%s) >= %du)", i[l], x.at.View.Len))
		}
		bad.end(fmt.Sprintf("if (%s >= %du)", greatest, x.at.View.Len))
		for l := range ahead {
			hit := loop.block()
			for a, c := range loop.axes { // so that the update is only computed here
				hit.axes[a] = coord{at: []string{value(c.at).lane(l)}}
			}
			at := i.lane(l)
			hit.values[index] = value{at}
			update := hit.value(update)[0]
			test := fmt.Sprintf("u32(%s) == row", at)
			if one {
				hit.line("acc = %s;", x.together(s, "acc", update))
			} else {
				b, place := x.element(hit, at)
				hit.fetch(b, st, place, []string{"old"}, false, "let ")
				hit.line("let sum = %s;", x.together(s, "old", update))
				hit.write(b, st, place, []string{"sum"})
				test = fmt.Sprintf("u32(%s) >= row && u32(%s) < min(row + %du, %du)", at, at, x.rows, x.at.View.Len)
			}
			if c := loop.condition(l); c != "" {
				test += " && " + c
			}
			hit.end("if (" + test + ")")
		}
		loop.end(fmt.Sprintf("for (var u = %s; u < last; u += %du)", first, ahead))
		switch {
		case one && x.segments == 1:
			b, place := x.element(sc, "row")
			sc.write(b, st, place, []string{"acc"})
		case one:
			sc.line("%s[item] = acc;", s.buffer(x.parts, st.register, true))
		}
		sc.end(fmt.Sprintf("if (item < %du)", count))
	})
}

// addParts combines the segments of each element with it.
func (x *scatter) addParts() {
	x.pass(x.t.threads(), func(s *shader) {
		st := &storages[x.k.Args[0].DType]
		count := x.width * x.blocks
		s.groups = ceilDiv(count, s.size)
		s.root.line("let item = group * %du + thread;", s.size)
		sc := s.root.block()
		sc.line("let column = item %% %du;", x.width)
		sc.line("let row = item / %du;", x.width)
		sc.enter(walk{axes: x.columns, base: "column"})
		b, place := x.element(sc, "row")
		sc.fetch(b, st, place, []string{"acc"}, false, "var ")
		loop := sc.block()
		loop.line("let part = %s[n * %du + item];", s.buffer(x.parts, st.register, false), count)
		loop.line("acc = %s;", s.apply(x.at.Kind, x.at.Type, x.at.Type, "acc", "part"))
		loop.end(fmt.Sprintf("for (var n = 0u; n < %du; n++)", x.segments))
		sc.write(b, st, place, []string{"acc"})
		sc.end(fmt.Sprintf("if (item < %du)", count))
	})
}

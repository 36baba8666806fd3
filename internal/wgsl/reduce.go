package wgsl

import (
	"fmt"

	"github.com/tensorken/tensorken/ir"
)

// A reducer says how a reduction goes on in registers of its own: ArgMax's
// hold a key and a position.
type reducer struct {
	instr    int
	register string
	bytes    int
	start    string
	of       func(x, rank string) string // what an element contributes
	combine  func(a, b string) string
	result   func(x string) string
}

func (s *shader) reducer(i int) reducer {
	in := &s.k.Body[i]
	from := s.k.Body[in.Src[0]].Type
	same := func(x string) string { return x }
	r := reducer{
		instr: i, register: storages[in.Type].register, bytes: 4, result: same,
		of: func(x, _ string) string { return x },
	}
	infix := func(op string) func(a, b string) string {
		return func(a, b string) string { return fmt.Sprintf("(%s %s %s)", a, op, b) }
	}
	call := func(name string) func(a, b string) string {
		if helpers[name] != "" {
			s.need(name)
		}
		return func(a, b string) string { return fmt.Sprintf("%s(%s, %s)", name, a, b) }
	}
	r.start = r.register + "(0)"
	switch in.Op {
	case ir.Sum:
		r.combine = infix("+")
		r.of = func(x, _ string) string { return s.apply(ir.Cast, in.Type, from, x) }
	case ir.Prod:
		r.start = r.register + "(1)"
		r.combine = infix("*")
		if in.Type == ir.Uint8 {
			r.result = func(x string) string { return x + " & 0xffu" }
		}
	case ir.ReduceMax:
		r.combine = call("max")
		switch in.Type {
		case ir.Bool:
			r.register, r.start = "u32", "0u"
			r.of = func(x, _ string) string { return fmt.Sprintf("select(0u, 1u, %s)", x) }
			r.result = func(x string) string { return x + " != 0u" }
		case ir.Int32:
			r.start = "i32(-2147483648)"
		case ir.Float32:
			r.combine = call("max_f32")
			r.start = "-" + s.call("inf")
		}
	case ir.ArgMax:
		r.register, r.bytes = "vec2<u32>", 8
		r.start = "vec2<u32>(0u, 0xffffffffu)"
		r.combine = call("first_max")
		r.of = func(x, rank string) string {
			switch storages[from].register {
			case "f32":
				x = s.call("key_f32", x)
			case "i32":
				x = fmt.Sprintf("bitcast<u32>(%s) ^ 0x80000000u", x)
			default:
				x = fmt.Sprintf("u32(%s)", x)
			}
			return fmt.Sprintf("vec2<u32>(%s, u32(%s))", x, rank)
		}
		r.result = func(x string) string { return fmt.Sprintf("i32(select(%s.y, 0u, %s.y == 0xffffffffu))", x, x) }
	}
	return r
}

// accumulate combines what the lanes of sc contribute with acc.
func (sc *scope) accumulate(r reducer, acc string, lanes int) {
	s := sc.s
	in := &s.k.Body[r.instr]
	x := sc.value(in.Src[0])
	var axes []int
	for a := range s.k.Axes {
		if in.Axes.Has(a) {
			axes = append(axes, a)
		}
	}
	var rank sum
	if in.Op == ir.ArgMax {
		rank = sc.rank(axes, in.Axes)
	}
	seal := in.Op == ir.Sum && s.bracketed(&s.k.Body[in.Src[0]], axes)
	list := make([]string, lanes)
	for l := range list {
		e := x.lane(l)
		if seal {
			e = s.call("sealed", e)
		}
		list[l] = r.of(e, at(&rank, l))
		if len(sc.valid) > 0 {
			if c := value(sc.valid).lane(l); c != "" {
				list[l] = fmt.Sprintf("select(%s, %s, %s)", r.start, list[l], c)
			}
		}
	}
	for len(list) > 1 { // neighbours first: a shallow tree
		half := list[:0]
		for l := 0; l < len(list); l += 2 {
			if l+1 < len(list) {
				half = append(half, r.combine(list[l], list[l+1]))
			} else {
				half = append(half, list[l])
			}
		}
		list = half
	}
	sc.line("%s = %s;", acc, r.combine(acc, list[0]))
}

// bracketed reports whether products share a factor along axes, which
// compilers would put outside brackets in their sum.
func (c *compiler) bracketed(in *ir.Instr, axes []int) bool {
	return in.Op == ir.Mul && in.Type.IsFloat() && (c.repeats(in.Src[0], axes) || c.repeats(in.Src[1], axes))
}

// repeats reports whether an instruction's value is the same at several points
// along axes.
func (c *compiler) repeats(i int, axes []int) bool {
	all := ir.Axes(c.long(axes)...)
	return c.k.Body[i].Domain&all != all
}

// home is the innermost of the scopes that know the positions along axes.
func (sc *scope) home(axes ir.AxisSet) *scope {
	home := sc.s.root
	for a := range sc.s.k.Axes {
		if axes.Has(a) {
			_, s := sc.coord(a)
			home = deeper(home, s)
		}
	}
	return home
}

// alone computes a reduction in one thread.
func alone(sc *scope, i int) {
	s := sc.s
	in := &s.k.Body[i]
	home := sc.home(in.Domain)
	r := s.reducer(i)
	acc := fmt.Sprintf("r%d%s", i, home.tag)
	home.line("var %s = %s;", acc, r.start)
	inner := home
	var blocks []*scope
	var heads []string
	for a := range s.k.Axes {
		if in.Axes.Has(a) {
			inner = inner.block()
			name := inner.axisName(a, 0, 1)
			inner.axes[a] = coord{at: []string{name}}
			blocks = append(blocks, inner)
			heads = append(heads, fmt.Sprintf("for (var %s = 0; %s < %d; %s++)", name, name, s.k.Axes[a].Len, name))
		}
	}
	inner.accumulate(r, acc, 1)
	for n := len(blocks) - 1; n >= 0; n-- {
		blocks[n].end(heads[n])
	}
	home.values[i] = home.let(i, []string{r.result(acc)})
}

// together combines the accumulators of along threads, whose distance is
// stride, so that all of them have the result: t is a thread's number among
// them.
func (sc *scope) together(rs []reducer, accs []string, along, stride int) {
	s := sc.s
	if along == 1 {
		return
	}
	if sub := s.t.subgroup(); stride == 1 && sub <= s.size && along <= sub*sub {
		sc.shuffle(rs, accs, along, sub)
		return
	}
	sc.rounds(rs, accs, s.size, func(rs []reducer, accs, names []string) {
		for n := range rs {
			sc.line("%s[thread] = %s;", names[n], accs[n])
		}
		sc.line("workgroupBarrier();")
		for d := along / 2; d > 0; d /= 2 {
			step := sc.block()
			for n, r := range rs {
				w := names[n]
				step.line("%s[thread] = %s;", w, r.combine(w+"[thread]", fmt.Sprintf("%s[thread + %du]", w, d*stride)))
			}
			step.end(fmt.Sprintf("if (t < %du)", d))
			sc.line("workgroupBarrier();")
		}
		for n := range rs {
			sc.line("%s = %s[thread - t * %du];", accs[n], names[n], stride)
		}
	})
}

// rounds calls do for reducers with shared memory for n registers of each:
// for all of them at once if there is room, otherwise for some and then, in
// the same memory, for others.
func (sc *scope) rounds(rs []reducer, accs []string, n int, do func(rs []reducer, accs, names []string)) {
	s := sc.s
	most := max(1, s.t.WorkgroupBytes/(n*s.registerBytes())) // of a type
	for len(rs) > 0 {
		var names []string
		for _, r := range rs {
			k := s.lent[r.register]
			if k == most && len(names) > 0 {
				break
			}
			if k == most { // what was read there has been read
				sc.line("workgroupBarrier();")
				clear(s.lent)
				k = 0
			}
			if k == len(s.rooms[r.register]) {
				s.rooms[r.register] = append(s.rooms[r.register], s.share(r.register, n))
			}
			names = append(names, s.rooms[r.register][k])
			s.lent[r.register]++
		}
		do(rs[:len(names)], accs[:len(names)], names)
		rs, accs = rs[len(names):], accs[len(names):]
	}
}

// registerBytes is the size of one register of each type that the kernel's
// reductions go on in.
func (c *compiler) registerBytes() int {
	s := &shader{compiler: c, helpers: map[string]bool{}}
	sizes := map[string]int{}
	for i := range c.k.Body {
		if c.k.Body[i].Op.Class() == ir.Reduction {
			r := s.reducer(i)
			sizes[r.register] = r.bytes
		}
	}
	n := 0
	for _, size := range sizes {
		n += size
	}
	return n
}

// shuffle is together through subgroups of a size: each combines what its
// threads have, and then all that the subgroups of the row have left. It takes
// a subgroup to be threads in a row, in order: WebGPU does not promise that, but
// no adapter is known to do otherwise with a workgroup of one dimension.
func (sc *scope) shuffle(rs []reducer, accs []string, along, sub int) {
	s := sc.s
	s.lanes = true
	exchange := func(rs []reducer, accs []string, n int) {
		for mask := 1; mask < n; mask *= 2 {
			for k, r := range rs {
				sc.line("%s = %s;", accs[k], r.combine(accs[k], fmt.Sprintf("subgroupShuffleXor(%s, %du)", accs[k], mask)))
			}
		}
	}
	exchange(rs, accs, min(along, sub))
	if along <= sub {
		return
	}
	parts := along / sub
	sc.rounds(rs, accs, s.size/sub, func(rs []reducer, accs, names []string) {
		first := sc.block()
		for k := range rs {
			first.line("%s[thread / %du] = %s;", names[k], sub, accs[k])
		}
		first.end(fmt.Sprintf("if (thread %% %du == 0u)", sub))
		sc.line("workgroupBarrier();")
		for k := range rs {
			sc.line("%s = %s[thread / %du * %du + thread %% %du];", accs[k], names[k], along, parts, parts)
		}
		exchange(rs, accs, parts)
	})
}

package wgsl

import "fmt"

// band is the number of rows of tiles that are computed column by column, so
// that what they load is still in the cache.
const band = 8

// tiled computes a tile in each workgroup. The tiles of the factors lie in
// shared memory with the side last, that is the left one transposed, in
// vectors of four. There are two of each: while one is multiplied the next is
// loaded, with one barrier a step.
func (x *contraction) tiled(t shape) {
	if x.splits > 1 {
		x.partScratch = x.scratch(x.splits*x.batches*x.rows.n*x.cols.n, 4)
	}
	x.pass(t.threads(), func(s *shader) {
		high, wide := ceilDiv(x.rows.n, t.m), ceilDiv(x.cols.n, t.n)
		per := high * wide
		s.groups = per * x.batches * x.splits
		root := s.root
		root.line("let job = min(group, %du);", s.groups-1)
		root.line("let batch = job / %du %% %du;", per, x.batches)
		root.line("let split = job / %du;", per*x.batches)
		root.line("let tile = job %% %du;", per)
		root.line("let first = tile / %du * %du;", band*wide, band)
		root.line("let height = min(%du - first, %du);", high, band)
		root.line("let m0 = (first + tile %% %du %% height) * %du;", band*wide, t.m)
		root.line("let n0 = tile %% %du / height * %du;", band*wide, t.n)
		across := t.n / (4 * t.wide)
		root.line("let tx = thread %% %du;", across)
		root.line("let ty = thread / %du;", across)
		root.enter(walk{axes: x.batch, base: "batch"})
		for g := range t.high {
			for r := range 4 {
				for h := range t.wide {
					root.line("var c%d%d%d = vec4<%s>();", g, r, h, x.resultType)
				}
			}
		}
		if x.depth > 0 {
			x.steps(s, t)
		}
		x.epilogue(s, t)
	})
	if x.splits > 1 {
		x.addParts()
	}
}

// steps multiplies tile by tile along the depth.
func (x *contraction) steps(s *shader, t shape) {
	root := s.root
	x.prepare(s, &x.rows, t, t.m)
	x.prepare(s, &x.cols, t, t.n)
	first, last := "0u", fmt.Sprintf("%du", ceilDiv(x.depth, t.k))
	if x.splits > 1 {
		root.line("let begin = split * %du;", x.perSplit)
		root.line("let end = min(begin + %du, %s);", x.perSplit, last)
		first, last = "begin", "end"
	}
	start := root.block()
	x.fetch(start, &x.rows, t, first)
	x.fetch(start, &x.cols, t, first)
	x.put(start, &x.rows, "0u")
	x.put(start, &x.cols, "0u")
	loop := root.block()
	loop.line("let odd = (step - %s) & 1u;", first)
	// The last step loads its own tiles again: a condition would cost more.
	loop.line("let next = min(step + 1u, %s - 1u);", last)
	x.fetch(loop, &x.rows, t, "next")
	x.fetch(loop, &x.cols, t, "next")
	sizes := [2]int{t.k * x.rows.stride, t.k * x.cols.stride}
	loop.line("let from_m = odd * %du + ty;", sizes[0])
	loop.line("let from_n = odd * %du + tx;", sizes[1])
	for k := range t.k {
		in := loop.block()
		for g := range t.high {
			in.line("let x%d = %s[from_m + %du];", g, x.rows.memory, k*x.rows.stride+g*t.m/t.high/4)
		}
		for h := range t.wide {
			in.line("let y%d = %s[from_n + %du];", h, x.cols.memory, k*x.cols.stride+h*t.n/t.wide/4)
		}
		for g := range t.high {
			for r, comp := range "xyzw" {
				for h := range t.wide {
					in.line("%s", x.multiply(fmt.Sprintf("c%d%d%d", g, r, h), fmt.Sprintf("x%d.%c", g, comp), fmt.Sprintf("y%d", h)))
				}
			}
		}
		in.end("")
	}
	x.put(loop, &x.rows, fmt.Sprintf("(odd ^ 1u) * %du", sizes[0]))
	x.put(loop, &x.cols, fmt.Sprintf("(odd ^ 1u) * %du", sizes[1]))
	loop.line("workgroupBarrier();")
	root.text.WriteString(start.text.String())
	root.line("workgroupBarrier();")
	loop.end(fmt.Sprintf("for (var step = %s; step < %s; step++)", first, last))
}

// prepare declares a side's shared memory and registers, and finds where a
// thread's part of each tile is.
func (x *contraction) prepare(s *shader, d *side, t shape, block int) {
	d.block, d.stride = block, block/4
	if d.alongK {
		d.stride++ // columns written by neighbours lie in other banks
	}
	d.memory = s.share(fmt.Sprintf("vec4<%s>", x.factorType), 2*t.k*d.stride)
	d.groups = block * t.k / 4
	d.guarded = d.n%block != 0
	d.loads = nil
	for n := range ceilDiv(d.groups, s.size) {
		tag := fmt.Sprintf("%s%d", d.name, n)
		l := part{q: "q" + tag, u: "u" + tag, register: "l" + tag}
		of := block / 4
		if d.alongK {
			of = t.k / 4
		}
		group := "thread"
		if n > 0 {
			group = fmt.Sprintf("(thread + %du)", n*s.size)
		}
		if (n+1)*s.size > d.groups {
			l.when = fmt.Sprintf("%s < %du", group, d.groups)
		}
		s.root.line("let %s = %s %% %du;", l.q, group, of)
		s.root.line("let %s = %s / %du;", l.u, group, of)
		s.root.line("var %s = vec4<%s>();", l.register, x.factorType)
		l.scope = s.root.beside("_" + tag)
		w := walk{axes: d.axes, base: fmt.Sprintf("%s0 + %s", d.name, l.u)}
		if l.when != "" { // u may be past the tile
			w.base = fmt.Sprintf("%s0 + min(%s, %du)", d.name, l.u, d.groups/of-1)
		}
		if !d.alongK {
			w.base = fmt.Sprintf("%s0 + %s * 4u", d.name, l.q)
			w.step, w.quads = []int{0, 1, 2, 3}, x.quads(d.axes)
		}
		if d.guarded {
			w.clamp = fmt.Sprintf("%du", d.n)
			l.valid = validity(w)
		}
		l.scope.enter(w)
		d.loads = append(d.loads, l)
	}
}

// fetch loads a side's next tile into registers.
func (x *contraction) fetch(sc *scope, d *side, t shape, step string) {
	for _, l := range d.loads {
		in := l.scope.block()
		w := walk{axes: x.deep, base: fmt.Sprintf("%s * %du + %s", step, t.k, l.u)}
		if d.alongK {
			w.base = fmt.Sprintf("%s * %du + %s * 4u", step, t.k, l.q)
			w.step, w.quads = []int{0, 1, 2, 3}, x.quads(x.deep)
		} else if l.when != "" {
			w.base = fmt.Sprintf("%s * %du + min(%s, %du)", step, t.k, l.u, t.k-1)
		}
		var valid [][]string
		if len(l.valid) > 0 {
			valid = append(valid, l.valid)
		}
		if x.depth%t.k != 0 {
			w.clamp = fmt.Sprintf("%du", x.depth)
			valid = append(valid, validity(w))
		}
		in.enter(w)
		v := in.value(d.factor)
		parts := ""
		for lane := range 4 {
			e := v.lane(lane)
			for _, c := range valid {
				e = fmt.Sprintf("select(%s(0), %s, %s)", x.factorType, e, value(c).lane(lane))
			}
			if lane > 0 {
				parts += ", "
			}
			parts += e
		}
		in.line("%s = vec4<%s>(%s);", l.register, x.factorType, parts)
		sc.line("%s {", condition("if (%s)", l.when))
		sc.text.WriteString(in.text.String())
		sc.line("}")
	}
}

// put moves a side's registers to shared memory, from a vector's number on.
func (x *contraction) put(sc *scope, d *side, to string) {
	for _, l := range d.loads {
		in := sc.block()
		if d.alongK {
			in.line("let at = %s + %s * %du + %s / 4u;", to, l.q, 4*d.stride, l.u)
			for n, comp := range "xyzw" {
				in.line("%s[at + %du][%s & 3u] = %s.%c;", d.memory, n*d.stride, l.u, l.register, comp)
			}
		} else {
			in.line("%s[%s + %s * %du + %s] = %s;", d.memory, to, l.u, d.stride, l.q, l.register)
		}
		in.end(condition("if (%s)", l.when))
	}
}

// epilogue stores a thread's results.
func (x *contraction) epilogue(s *shader, t shape) {
	for h := range t.wide {
		cols := s.root.block()
		cols.line("let col = n0 + tx * 4u + %du;", h*t.n/t.wide)
		w := walk{axes: x.cols.axes, base: "col", step: []int{0, 1, 2, 3}, quads: x.quads(x.cols.axes)}
		if x.cols.n%t.n != 0 {
			w.clamp = fmt.Sprintf("%du", x.cols.n)
			cols.valid = validity(w)
		}
		cols.enter(w)
		for g := range t.high {
			for r := range 4 {
				rows := cols.block()
				rows.line("let row = m0 + ty * 4u + %du;", g*t.m/t.high+r)
				w := walk{axes: x.rows.axes, base: "row"}
				if x.rows.n%t.m != 0 {
					w.clamp = fmt.Sprintf("%du", x.rows.n)
					rows.valid = validity(w)
				}
				rows.enter(w)
				x.finish(rows, fmt.Sprintf("c%d%d%d", g, r, h), "row", "split")
				rows.end("")
			}
		}
		cols.end("")
	}
}

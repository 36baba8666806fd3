package wgsl

import (
	"fmt"
	"math"
)

// fewRows is the most rows of a product that is done in strips.
const fewRows = 4

// A strip is what a workgroup does of a product of a few rows: each thread has
// four columns and a part of the depth. Of its threads, across lie along the
// columns and deep along the depth. All that is read of the right factor is
// read once.
type strip struct{ across, deep int }

func (t strip) threads() int { return t.across * t.deep }

// bytes is the memory that a workgroup shares, a vector for each thread.
func (t strip) bytes() int {
	if t.deep == 1 {
		return 0
	}
	return 16 * t.threads()
}

// strips are those that read whole lines of memory: where neighbours in
// memory lie along the columns, and where they lie along the depth.
var strips = struct{ cols, depth []strip }{
	cols:  []strip{{32, 8}, {32, 32}, {16, 16}, {16, 64}, {8, 32}, {8, 128}, {64, 4}, {256, 1}, {8, 4}},
	depth: []strip{{1, 256}, {2, 128}, {4, 64}, {8, 32}, {1, 1024}, {32, 8}, {64, 4}, {256, 1}, {1, 32}},
}

// What a strip costs, roughly in microseconds of a large GPU.
const (
	// stripStep is what a step of four columns by four places of the depth
	// takes if all threads that a device runs at once do one.
	stripStep = 2.0
	// stripPass is a further pass.
	stripPass = 5.0
	// stripPart is another part of the depth, for that pass to add.
	stripPart = 0.1
	// stripJoin is one halving of the threads along the depth.
	stripJoin = 0.1
)

// slim reports whether a product has only a few rows, and makes a side of few
// columns the rows.
func (x *contraction) slim() bool {
	if x.rows.n > fewRows && x.cols.n <= fewRows {
		x.rows, x.cols = x.cols, x.rows
		x.rows.name, x.cols.name = "m", "n"
	}
	return x.rows.n <= fewRows
}

// chooseStrip gives the strip that promises to be done first, and sets how the
// depth is split.
func (x *contraction) chooseStrip() strip {
	list := strips.cols
	if x.cols.alongK {
		list = strips.depth
	}
	var best strip
	bestCost := math.Inf(1)
	for _, t := range list {
		if t.threads() > x.t.MaxInvocations || t.bytes() > x.t.WorkgroupBytes {
			continue
		}
		groups := x.batches * ceilDiv(x.cols.n, 4*t.across)
		steps := max(1, ceilDiv(x.depth, 4*t.deep))
		for splits := 1; splits <= 256 && splits <= steps; splits *= 2 {
			each := ceilDiv(steps, splits)
			count := ceilDiv(steps, each)
			load := float64(groups*count*t.threads()) / float64(x.t.busy())
			cost := stripStep*float64(each)*max(1, load) + stripJoin*math.Log2(float64(t.deep))
			if count > 1 {
				cost += stripPass + stripPart*float64(count)
			}
			if cost < bestCost {
				best, bestCost = t, cost
				x.splits, x.perSplit = count, each
			}
		}
	}
	return best
}

// stripped computes the results of a strip in each workgroup. The threads that
// share columns add what each has of the depth in memory that they share.
func (x *contraction) stripped(t strip) {
	if x.splits > 1 {
		x.partScratch = x.scratch(x.splits*x.batches*x.rows.n*x.cols.n, 4)
	}
	cols := walk{axes: x.cols.axes, base: "col", step: count4(4), quads: x.quads(x.cols.axes)}
	spread := !cols.quads && !x.cols.alongK
	if spread { // neighbouring threads have neighbouring columns
		x.between = t.across
		for l := range cols.step {
			cols.step[l] *= t.across
		}
	}
	if x.cols.n%(4*t.across) != 0 {
		cols.clamp = fmt.Sprintf("%du", x.cols.n)
	}
	x.pass(t.threads(), func(s *shader) {
		wide := ceilDiv(x.cols.n, 4*t.across)
		s.groups = wide * x.batches * x.splits
		root := s.root
		root.line("let job = min(group, %du);", s.groups-1)
		root.line("let batch = job / %du %% %du;", wide, x.batches)
		root.line("let split = job / %du;", wide*x.batches)
		stride := t.across // from a thread to the next along the depth
		if x.cols.alongK {
			stride = 1
			root.line("let tk = thread %% %du;", t.deep)
			root.line("let tn = thread / %du;", t.deep)
		} else {
			root.line("let tk = thread / %du;", t.across)
			root.line("let tn = thread %% %du;", t.across)
		}
		if spread {
			root.line("let col = job %% %du * %du + tn;", wide, 4*t.across)
		} else {
			root.line("let col = (job %% %du * %du + tn) * 4u;", wide, t.across)
		}
		root.enter(walk{axes: x.batch, base: "batch"})
		for r := range x.rows.n {
			root.line("var c%d = vec4<%s>();", r, x.resultType)
		}
		if x.depth > 0 {
			x.along(s, t, cols)
		}
		if t.deep > 1 {
			x.joinStrip(s, t, stride)
		}
		done := root.block()
		in := done.block()
		if cols.clamp != "" {
			in.valid = validity(cols)
		}
		in.enter(cols)
		for r := range x.rows.n {
			row := in.block()
			row.enter(walk{axes: x.rows.axes, base: fmt.Sprintf("%du", r)})
			x.finish(row, fmt.Sprintf("c%d", r), fmt.Sprintf("%du", r), "split")
			row.end("")
		}
		in.end("")
		done.end("if (tk == 0u)")
	})
	if x.splits > 1 {
		x.addParts()
	}
}

// along multiplies a thread's columns along its part of the depth.
func (x *contraction) along(s *shader, t strip, cols walk) {
	root := s.root
	var rows, columns []*scope
	for r := range x.rows.n {
		sc := root.beside(fmt.Sprintf("_m%d", r))
		sc.enter(walk{axes: x.rows.axes, base: fmt.Sprintf("%du", r)})
		rows = append(rows, sc)
	}
	if x.cols.alongK {
		for j := range min(4, x.cols.n) {
			w := cols
			w.base, w.step, w.quads = fmt.Sprintf("col + %du", j), nil, false
			sc := root.beside(fmt.Sprintf("_n%d", j))
			sc.enter(w)
			columns = append(columns, sc)
			for r := range x.rows.n {
				root.line("var d%d%d = vec4<%s>();", r, j, x.resultType)
			}
		}
	} else {
		sc := root.beside("_n")
		sc.enter(cols)
		columns = append(columns, sc)
	}
	step := 4 * t.deep
	first, last := "0u", fmt.Sprintf("%du", x.depth)
	if x.splits > 1 {
		root.line("let begin = split * %du;", x.perSplit*step)
		root.line("let end = min(begin + %du, %s);", x.perSplit*step, last)
		first, last = "begin", "end"
	}
	outer := root.block()
	outer.line("var k0 = %s;", first)
	loop := outer.block()
	x.stepOfStrip(loop, t, rows, columns, "")
	loop.end(fmt.Sprintf("for (; k0 + %du <= %s; k0 += %du)", step, last, step))
	if x.depth%step != 0 {
		rest := outer.block()
		x.stepOfStrip(rest, t, rows, columns, fmt.Sprintf("%du", x.depth))
		rest.end(fmt.Sprintf("if (k0 < %s)", last))
	}
	outer.end("")
	for r := range x.rows.n {
		for j := range columns {
			if x.cols.alongK {
				d := fmt.Sprintf("d%d%d", r, j)
				root.line("c%d.%c = (%s.x + %s.y) + (%s.z + %s.w);", r, "xyzw"[j], d, d, d, d)
			}
		}
	}
}

// stepOfStrip multiplies four places of the depth, none of which is past
// clamp.
func (x *contraction) stepOfStrip(sc *scope, t strip, rows, columns []*scope, clamp string) {
	w := walk{axes: x.deep, base: "k0 + tk", step: count4(4), quads: x.quads(x.deep), clamp: clamp}
	if w.quads {
		w.base += " * 4u"
	} else {
		for l := range w.step {
			w.step[l] *= t.deep
		}
	}
	var valid value
	if clamp != "" {
		valid = validity(w)
	}
	sc.enter(w)
	places := sc.axes
	// part is a factor at those places, or at one of them and four columns.
	part := func(d *side, along *scope, place int) string {
		in := along.block()
		in.axes = places
		if place >= 0 {
			in.axes = lane(places, place)
			in.tag += fmt.Sprintf("_k%d", place)
		}
		v := in.value(d.factor)
		name := fmt.Sprintf("%s%s", d.name, in.tag)
		list := ""
		for l := range 4 {
			at := l
			if place >= 0 {
				at = place
			}
			e := x.apart(sc.s, d, v.lane(l), at)
			if valid != nil {
				e = fmt.Sprintf("select(%s(0), %s, %s)", x.factorType, e, valid.lane(at))
			}
			if l > 0 {
				list += ", "
			}
			list += e
		}
		in.line("let %s = vec4<%s>(%s);", name, x.factorType, list)
		sc.text.WriteString(in.text.String())
		return name
	}
	left := make([]string, len(rows))
	for r, at := range rows {
		left[r] = part(&x.rows, at, -1)
	}
	if x.cols.alongK {
		for j, at := range columns {
			right := part(&x.cols, at, -1)
			for r := range rows {
				sc.line("%s", x.multiply(fmt.Sprintf("d%d%d", r, j), left[r], right))
			}
		}
		return
	}
	for place, comp := range "xyzw" {
		right := part(&x.cols, columns[0], place)
		for r := range rows {
			sc.line("%s", x.multiply(fmt.Sprintf("c%d", r), fmt.Sprintf("%s.%c", left[r], comp), right))
		}
	}
}

// apart is a side's factor at a place of a step. One that is the same at
// several is told apart there: compilers put what products share outside
// brackets.
func (x *contraction) apart(s *shader, d *side, factor string, place int) string {
	if x.factorType != "f32" || !x.repeats(d.factor, x.deep) {
		return factor
	}
	s.need("zero")
	return fmt.Sprintf("bitcast<f32>(bitcast<u32>(%s) | (zero & (k0 + %du)))", factor, place)
}

// lane gives positions in one lane.
func lane(axes map[int]coord, l int) map[int]coord {
	one := map[int]coord{}
	for a, c := range axes {
		one[a] = coord{at: []string{value(c.at).lane(l)}}
	}
	return one
}

// joinStrip adds what the threads of each column have, whose distance is
// stride: the first of them has the sum.
func (x *contraction) joinStrip(s *shader, t strip, stride int) {
	w := s.share(fmt.Sprintf("vec4<%s>", x.resultType), t.threads())
	for r := range x.rows.n {
		if r > 0 {
			s.root.line("workgroupBarrier();")
		}
		s.root.line("%s[thread] = c%d;", w, r)
		s.root.line("workgroupBarrier();")
		for d := t.deep / 2; d > 0; d /= 2 {
			s.root.line("if (tk < %du) {", d)
			s.root.line("%s[thread] += %s[thread + %du];", w, w, d*stride)
			s.root.line("}")
			s.root.line("workgroupBarrier();")
		}
		s.root.line("c%d = %s[thread];", r, w)
	}
}

package wgsl

import "fmt"

// The block of results that a thread computes alone.
const (
	directRows = 4
	directCols = 8
)

// direct computes a block of the result in each thread, without shared memory
// or barriers.
func (x *contraction) direct() {
	x.pass(x.t.threads(), func(s *shader) {
		high, wide := ceilDiv(x.rows.n, directRows), ceilDiv(x.cols.n, directCols)
		count := high * wide * x.batches
		s.groups = ceilDiv(count, s.size)
		s.root.line("let item = min(group * %du + thread, %du);", s.size, count-1)
		s.root.line("let batch = item / %du;", high*wide)
		s.root.line("let m0 = item / %du %% %du * %du;", wide, high, directRows)
		s.root.line("let n0 = item %% %du * %du;", wide, directCols)
		s.root.enter(walk{axes: x.batch, base: "batch"})
		rows, cols := s.root.beside("_m"), s.root.beside("_n")
		wm := walk{axes: x.rows.axes, base: "m0", step: count4(directRows), quads: x.quads(x.rows.axes)}
		if x.rows.n%directRows != 0 {
			wm.clamp = fmt.Sprintf("%du", x.rows.n)
		}
		wn := walk{axes: x.cols.axes, base: "n0", step: count4(directCols), quads: x.quads(x.cols.axes)}
		if x.cols.n%directCols != 0 {
			wn.clamp = fmt.Sprintf("%du", x.cols.n)
		}
		rows.enter(wm)
		cols.enter(wn)
		for r := range directRows {
			for h := range directCols / 4 {
				s.root.line("var c%d%d = vec4<%s>();", r, h, x.resultType)
			}
		}
		if x.depth > 0 {
			x.alone(s, rows, cols)
		}
		for h := range directCols / 4 {
			sc := s.root.block()
			sc.line("let col = n0 + %du;", 4*h)
			w := walk{axes: x.cols.axes, base: "col", step: count4(4), quads: wn.quads, clamp: wn.clamp}
			if w.clamp != "" {
				sc.valid = validity(w)
			}
			sc.enter(w)
			for r := range directRows {
				row := sc.block()
				row.line("let row = m0 + %du;", r)
				w := walk{axes: x.rows.axes, base: "row", clamp: wm.clamp}
				if w.clamp != "" {
					row.valid = validity(w)
				}
				row.enter(w)
				x.finish(row, fmt.Sprintf("c%d%d", r, h), "row", "0u")
				row.end("")
			}
			sc.end("")
		}
	})
}

// chunk is how many products are added to one another. So that sums of many
// keep their last bits, those of chunks are then added.
const chunk = 1024

// alone multiplies along the depth.
func (x *contraction) alone(s *shader, rows, cols *scope) {
	a, b := rows.block(), cols.block()
	a.enter(walk{axes: x.deep, base: "k"})
	b.axes = a.axes
	left := a.value(x.rows.factor)
	right := b.value(x.cols.factor)
	acc, first, last := "c", "0u", fmt.Sprintf("%du", x.depth)
	chunks := s.root
	if x.depth > chunk && x.resultType == "f32" {
		acc, first, last = "d", "first", fmt.Sprintf("min(first + %du, %du)", chunk, x.depth)
		chunks = s.root.block()
		for r := range directRows {
			for h := range directCols / 4 {
				chunks.line("var d%d%d = vec4<f32>();", r, h)
			}
		}
	}
	loop := chunks.block()
	loop.text.WriteString(a.text.String())
	loop.text.WriteString(b.text.String())
	for h := range directCols / 4 {
		loop.line("let b%d = vec4<%s>(%s, %s, %s, %s);", h, x.factorType, right.lane(4*h), right.lane(4*h+1), right.lane(4*h+2), right.lane(4*h+3))
		for r := range directRows {
			loop.line("%s", x.multiply(fmt.Sprintf("%s%d%d", acc, r, h), left.lane(r), fmt.Sprintf("b%d", h)))
		}
	}
	// A compiler that knows how often this is done does it all at once, and
	// puts what products share outside brackets.
	s.need("zero")
	loop.end(fmt.Sprintf("for (var k = %s; k < %s + zero; k++)", first, last))
	if chunks == s.root {
		return
	}
	for r := range directRows {
		for h := range directCols / 4 {
			chunks.line("c%d%d += d%d%d;", r, h, r, h)
		}
	}
	chunks.end(fmt.Sprintf("for (var first = 0u; first < %du; first += %du)", x.depth, chunk))
}

// count4 is 0, 1, 2 … of n lanes.
func count4(n int) []int {
	list := make([]int, n)
	for l := range list {
		list[l] = l
	}
	return list
}

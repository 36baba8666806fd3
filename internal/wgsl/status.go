package wgsl

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/ir"
)

// A bad index is noted in two steps, so that of many the same one is told each
// time: that at the first point in row-major order. While a program runs the
// first word of its status holds the least rank of a point that met one, less
// 2^31; the last pass, of one thread, looks at that point again and puts the
// instruction and the index in place. A word above 0 is an earlier note.

func (c *compiler) findStatus() {
	c.status = -1
	for i, a := range c.k.Args {
		if a.Kind == ir.Status {
			c.status = i
		}
	}
}

// statusWords binds the status and gives the position of its first word.
func (s *shader) statusWords() (name, word string) {
	b := s.bind(s.status, 0, "i32")
	b.Write, b.atomic = true, true
	return b.name, s.offset(s.status)
}

// note notes that instruction i has a bad index in a lane.
func (sc *scope) note(i, lane int) {
	s := sc.s
	if n := s.k.Points(); n > math.MaxInt32 {
		s.fail("a kernel of %d points, more than 2^31-1, that checks indices", n)
	}
	name, word := s.statusWords()
	every := make([]int, len(s.k.Axes))
	for a := range every {
		every[a] = a
	}
	rank := sc.rank(every, s.k.Body[i].Over)
	sc.line("if (atomicLoad(&%s[%s]) <= 0) {", name, word)
	sc.line("atomicMin(&%s[%s], (%s) + i32(-2147483648));", name, word, at(&rank, lane))
	sc.line("}")
}

// settle is the last pass of a kernel that notes bad indices.
func (c *compiler) settle() {
	if c.status < 0 {
		return
	}
	var indexed []int
	for i := range c.k.Body {
		in := &c.k.Body[i]
		if in.Op == ir.Scatter || in.Op == ir.Load && len(in.Src) > 0 {
			indexed = append(indexed, i)
		}
	}
	if len(indexed) == 0 {
		return
	}
	c.pass(1, func(s *shader) {
		s.groups = 1
		s.reduced = alone
		name, word := s.statusWords()
		s.root.line("let mark = atomicLoad(&%s[%s]);", name, word)
		sc := s.root.block()
		every := make([]int, len(c.k.Axes))
		for a := range every {
			every[a] = a
		}
		sc.line("let point = bitcast<u32>(mark) & 0x7fffffffu;")
		sc.enter(walk{axes: every, base: "point"})
		sc.line("var found = false;")
		for _, i := range indexed {
			in := &c.k.Body[i]
			conditions, _, ok := sc.guards(in.View)
			if !ok {
				continue
			}
			index := sc.value(in.Src[0]).lane(0)
			test := fmt.Sprintf("!found && u32(%s) >= %du", index, in.View.Len)
			if len(conditions) > 0 {
				test += " && " + all(conditions, 0)
			}
			hit := sc.block()
			hit.line("found = true;")
			hit.line("atomicStore(&%s[%s], %d);", name, word, i+1)
			shown := index
			if c.k.Body[in.Src[0]].Type == ir.Uint32 {
				shown = fmt.Sprintf("i32(min(%s, 0x7fffffffu))", index)
			}
			hit.line("atomicStore(&%s[%s + 1], %s);", name, word, shown)
			hit.end("if (" + test + ")")
		}
		sc.end("if (mark < 0)")
	})
}

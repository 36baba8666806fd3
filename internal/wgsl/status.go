package wgsl

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/ir"
)

// A bad index is reported in two steps, so that every run reports the same one:
// the first by position (see ir.Kernel.CheckStrides). While a program runs, the
// first word of its status holds the least position of a bad index, less 2^31.
// The last pass, of one thread, computes the index at that position again and
// writes the report. A first word above 0 is an earlier report.

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
	name, word := s.statusWords()
	rank := sc.rank(s.checked(), ir.IndexDomain(s.k.Body, i))
	sc.line("if (atomicLoad(&%s[%s]) <= 0) {", name, word)
	sc.line("atomicMin(&%s[%s], (%s) + i32(-2147483648));", name, word, at(&rank, lane))
	sc.line("}")
}

// checked lists the axes of the kernel's CheckDomain.
func (c *compiler) checked() []int {
	var axes []int
	n := 1
	for a, domain := 0, c.k.CheckDomain(); a < len(c.k.Axes); a++ {
		if domain.Has(a) {
			axes = append(axes, a)
			n *= c.k.Axes[a].Len
		}
	}
	if n > math.MaxInt32 {
		c.fail("a step checks %d indices, %s", n, limit)
	}
	return axes
}

// settle is the last pass of a kernel that notes bad indices.
func (c *compiler) settle() {
	if c.status < 0 {
		return
	}
	var indexed []int
	for i := range c.k.Body {
		in := &c.k.Body[i]
		if in.UsesIndex() {
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
		sc.line("let point = bitcast<u32>(mark) & 0x7fffffffu;")
		sc.enter(walk{axes: c.checked(), base: "point"})
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
			high := fmt.Sprintf("(%s) >> 31u", index)
			if c.k.Body[in.Src[0]].Type == ir.Uint32 {
				index, high = fmt.Sprintf("bitcast<i32>(%s)", index), "0"
			}
			hit.line("atomicStore(&%s[%s], %d);", name, word, i+1)
			for n, x := range []string{index, high, "i32(point)"} { // the other high words are 0
				hit.line("atomicStore(&%s[%s + %d], %s);", name, word, 2+n, x)
			}
			hit.end("if (" + test + ")")
		}
		sc.end("if (mark < 0)")
	})
}

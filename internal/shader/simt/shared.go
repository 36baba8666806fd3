package simt

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/shader"
)

// A shared is an array that a workgroup shares, word by word.
type shared struct {
	*shader.Shared
	words []uint32
	cells []cell
}

// wordsOfElement is the number of words of an element.
func (s *shared) wordsOfElement() int { return s.Type.Bytes() / 4 }

// A cell notes the last accesses of a word, with their threads: an epoch is the time from one
// barrier to the next, or from one PassTurn to the next. The reader is -1 for several.
type cell struct {
	written, read  uint32 // epochs
	writer, reader int32
	writes, reads  int32  // their statements
	fences         uint32 // of the writer, before
}

// word returns the first word of the element that thread t accesses.
func (g *group) word(stmt int, t int32, s *shared, index uint32) int {
	if index >= uint32(s.Len) {
		g.fail(stmt, int(t), "accesses %s[%d] of %d", s.Name, index, s.Len)
	}
	return int(index) * s.wordsOfElement()
}

// conflict fails for two threads that touch a word between the same barriers.
func (g *group) conflict(stmt int, t int32, s *shared, word int, does string, other int32, did string, at int32) {
	who := "other threads"
	if other >= 0 {
		who = fmt.Sprintf("thread %d", other)
	}
	index := word / s.wordsOfElement()
	g.fail(stmt, int(t), "%s %s[%d], which %s %s in %q with no barrier between", does, s.Name, index, who, did, Describe(g.stmts[at]))
}

func (g *group) readsWord(stmt int, t int32, s *shared, word int) uint32 {
	c := &s.cells[word]
	switch {
	case c.written < g.first:
		g.fail(stmt, int(t), "reads %s[%d], which no thread has written", s.Name, word/s.wordsOfElement())
	case c.written >= g.ordered && c.writer != t:
		g.conflict(stmt, t, s, word, "reads", c.writer, "wrote", c.writes)
	case c.read < g.ordered:
		c.reader, c.reads = t, int32(stmt)
	case c.reader != t:
		c.reader = -1
	}
	c.read = g.epoch
	return s.words[word]
}

func (g *group) writesWord(stmt int, t int32, s *shared, word int, x uint32) {
	c := &s.cells[word]
	switch {
	case c.written >= g.ordered && c.writer != t:
		g.conflict(stmt, t, s, word, "writes", c.writer, "wrote", c.writes)
	case c.read >= g.ordered && c.reader != t:
		g.conflict(stmt, t, s, word, "writes", c.reader, "read", c.reads)
	}
	c.written, c.writer, c.writes, c.fences = g.epoch, t, int32(stmt), g.fences[t]
	s.words[word] = x
}

// writesRegister writes a thread's words of a register from a word on.
func (g *group) writesRegister(stmt int, t int32, s *shared, word int, r register, memory []uint32) {
	for i, x := range memory[int(t)*r.words:][:r.words] {
		g.writesWord(stmt, t, s, word+i, x)
	}
}

// array is the number of a shared array in its pass.
func (c *compiler) array(s *shader.Shared) int {
	for n, p := range c.Shared {
		if p == s {
			return n
		}
	}
	panic("simt: a shared array of another pass")
}

func (c *compiler) loadShared(s *shader.Shared, index, dst value) {
	n, stmt := c.array(s), c.stmt
	c.emit(func(g *group, on []int32) {
		m, at, z := &g.shared[n], g.value(index[0]), g.targets(on, dst)
		for _, t := range on {
			first := g.word(stmt, t, m, at[t])
			for k, r := range dst {
				for i := range r.words {
					z[k][int(t)*r.words+i] = g.readsWord(stmt, t, m, first+k*r.words+i)
				}
			}
		}
	})
}

func (c *compiler) storeShared(s *shader.Shared, index, from value) {
	n, stmt := c.array(s), c.stmt
	c.emit(func(g *group, on []int32) {
		m, at, x := &g.shared[n], g.value(index[0]), g.values(from)
		for _, t := range on {
			first := g.word(stmt, t, m, at[t])
			for k, r := range from {
				g.writesRegister(stmt, t, m, first+k*r.words, r, x[k])
			}
		}
	})
}

func (c *compiler) storeComponent(s *shader.Shared, index, component, from value) {
	n, stmt, width := c.array(s), c.stmt, uint32(s.Type.Width)
	c.emit(func(g *group, on []int32) {
		m, at, k, x := &g.shared[n], g.value(index[0]), g.value(component[0]), g.value(from[0])
		for _, t := range on {
			first := g.word(stmt, t, m, at[t])
			if k[t] >= width {
				g.fail(stmt, int(t), "writes component %d of %s[%d]", k[t], m.Name, at[t])
			}
			g.writesRegister(stmt, t, m, first+int(k[t])*from[0].words, from[0], x)
		}
	})
}

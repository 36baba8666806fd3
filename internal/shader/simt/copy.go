package simt

import "github.com/tensorken/tensorken/internal/shader"

// A copied is a vector on its way to shared memory. Until it arrives, poison is there.
type copied struct {
	stmt   int
	thread int32
	array  *shared
	word   int
	bits   [4]uint32
}

// copyAsync translates a CopyAsync.
func (c *compiler) copyAsync(s *shader.CopyAsync) {
	array, buffer, size, stmt := c.array(s.Shared), c.buffer(s.Buffer), s.Buffer.Type.Size(), c.stmt
	to, index := c.expr(s.To, nil), c.index(s.Index)
	valid := value(nil)
	if s.Valid != nil {
		valid = c.expr(s.Valid, nil)
	}
	c.emit(func(g *group, on []int32) {
		m, a, at, from := &g.buffers[buffer], &g.shared[array], g.value(to[0]), g.value(index.register)
		for _, t := range on {
			x := copied{stmt: stmt, thread: t, array: a, word: g.word(stmt, t, a, at[t])}
			if valid == nil || g.value(valid[0])[t] != 0 {
				first := g.element(stmt, t, m, index.of(from, t), 16/size)
				for i := range x.bits {
					x.bits[i] = le.Uint32(m.data[first*size+4*i:])
				}
				if m.access != nil {
					for i := range 16 / size {
						g.reads(stmt, t, m, first+i)
					}
				}
			}
			for i := range x.bits {
				g.writesWord(stmt, t, a, x.word+i, poison)
			}
			last := len(g.copies) - 1
			g.copies[last] = append(g.copies[last], x)
		}
	})
}

func (c *compiler) copyCommit() {
	stmt := c.stmt
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		g.copies = append(g.copies, nil)
	})
}

func (c *compiler) copyWait(s *shader.CopyWait) {
	stmt := c.stmt
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		for len(g.copies)-1 > s.Pending {
			for _, x := range g.copies[0] {
				for i, bits := range x.bits {
					g.writesWord(x.stmt, x.thread, x.array, x.word+i, bits)
				}
			}
			g.copies = g.copies[1:]
		}
	})
}

package simt

import (
	"math"

	"github.com/tensorken/tensorken/internal/shader"
)

// products is a group of products that are under way. They are computed when it ends, and read
// their tiles both when it starts and then: tiles that change in between are a fault.
type products []product

type product struct {
	*shader.MultiplyShared
	stmt, thread int // the first of the group's
	acc          []value
	tiles        [2]tile
	before       [2][]float64
}

// A tile is a SharedMatrix from its first vector on.
type tile struct {
	shader.SharedMatrix
	array *shared
	first uint32
	sides int
}

// multiplyGroup translates a MultiplyGroup.
func (c *compiler) multiplyGroup(s *shader.MultiplyGroup) {
	stmt := c.stmt
	type operands struct {
		arrays [2]int
		first  [2]value
		acc    []value
		left   []value
	}
	list := make([]operands, len(s.Products))
	for i := range s.Products {
		m, o := &s.Products[i], &list[i]
		for k, x := range []shader.SharedMatrix{m.A, m.B} {
			if x.Shared != nil {
				o.arrays[k], o.first[k] = c.array(x.Shared), c.expr(x.First, nil)
			}
		}
		for _, x := range m.Left {
			o.left = append(o.left, c.expr(x, nil))
		}
		for _, v := range m.Acc {
			o.acc = append(o.acc, c.vars[v])
		}
	}
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		var started products
		for i := range s.Products {
			m, o := &s.Products[i], &list[i]
			for thread := 0; thread < g.Threads; thread += shader.Warpgroup {
				p := product{MultiplyShared: m, stmt: stmt, thread: thread, acc: o.acc}
				for k, x := range []shader.SharedMatrix{m.A, m.B} {
					if x.Shared == nil {
						p.before[k] = g.held(&p, o.left)
						continue
					}
					p.tiles[k] = tile{x, &g.shared[o.arrays[k]], g.value(o.first[k][0])[thread], []int{64, 8 * len(m.Acc)}[k]}
					p.before[k] = g.elements(&p, &p.tiles[k], true)
				}
				started = append(started, p)
			}
		}
		g.pending = append(g.pending, started)
		for len(g.pending) > s.Pending {
			for i := range g.pending[0] {
				g.finish(&g.pending[0][i], on)
			}
			g.pending = g.pending[1:]
		}
	})
}

// elements reads the places of the depth of each side of a tile. When a product starts, a Fence
// must have followed the writes that it reads.
func (g *group) elements(p *product, t *tile, starts bool) (list []float64) {
	if t.first%64 != 0 {
		g.fail(p.stmt, p.thread, "multiplies a tile from vector %d on", t.first)
	}
	in := p.Elem.PerWord()
	list = make([]float64, 0, t.sides*p.Elem.Depth())
	for side := range t.sides {
		for k := t.Depth; k < t.Depth+p.Elem.Depth(); k++ {
			line, at := side, k
			if t.AlongSide {
				line, at = side&^63+k, side%64
			}
			vector := int(t.first) + 8*line + (at/in/4 ^ line%8)
			first := g.word(p.stmt, int32(p.thread), t.array, uint32(vector))
			word := g.readsWord(p.stmt, int32(p.thread), t.array, first+at/in%4)
			if c := &t.array.cells[first+at/in%4]; starts && g.fences[c.writer] <= c.fences {
				g.fail(p.stmt, p.thread, "multiplies %s[%d], which thread %d has written without a Fence behind", t.array.Name, vector, c.writer)
			}
			list = append(list, elements(p.Elem, word)[at%in])
		}
	}
	return list
}

// held reads the rows of a left factor in registers.
func (g *group) held(p *product, left []value) (list []float64) {
	in := p.Elem.PerWord()
	list = make([]float64, 0, 64*p.Elem.Depth())
	for row := range 64 {
		for k := range p.Elem.Depth() {
			word, lane := row/8%2+k/in/4*2, row/16*32+row%8*4+k/in%4
			list = append(list, elements(p.Elem, g.value(left[word][0])[p.thread+lane])[k%in])
		}
	}
	return list
}

// finish computes a product.
func (g *group) finish(p *product, on []int32) {
	var tiles [2][]float64
	depth := p.Elem.Depth()
	for k := range tiles {
		if p.tiles[k].array == nil {
			tiles[k] = p.before[k]
			continue
		}
		tiles[k] = g.elements(p, &p.tiles[k], false)
		for i, x := range tiles[k] {
			if y := p.before[k][i]; x != y && (x == x || y == y) {
				g.fail(p.stmt, p.thread, "multiplies a tile that changes meanwhile")
			}
		}
	}
	for j, acc := range p.acc {
		g.values(acc) // which targets leaves compact
		z := g.targets(on, acc)
		for lane := range shader.Warpgroup {
			for i := range 4 {
				row, col := lane/32*16+lane%32/4+8*(i>>1), 8*j+2*(lane%4)+i&1
				sum := 0.0
				if !p.Init {
					sum = float64(math.Float32frombits(z[i][p.thread+lane]))
				}
				for k := range depth {
					sum += tiles[0][depth*row+k] * tiles[1][depth*col+k]
				}
				z[i][p.thread+lane] = math.Float32bits(float32(sum))
			}
		}
	}
}

package simt

import (
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// elements are the numbers in a word of a matrix.
func elements(m shader.Matrix, word uint32) (list [4]float64) {
	if m == shader.TF32 {
		word &^= 1<<13 - 1
	}
	for i := range m.PerWord() {
		list[i] = ir.FromBits(m.Type, uint64(word)>>(8*i*m.Type.Size())).Float64(m.Type)
	}
	return list
}

// multiply translates a Multiply. Sums are rounded once, more than a GPU promises.
func (c *compiler) multiply(s *shader.Multiply) {
	acc, stmt, in := c.vars[s.Acc], c.stmt, s.Elem.PerWord()
	var from [6]register
	for i, x := range append(s.A[:], s.B[:]...) {
		from[i] = c.expr(x, nil)[0]
	}
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		var words [6][]uint32
		for i, r := range from {
			words[i] = g.value(r)
		}
		g.values(acc) // which targets leaves compact
		z := g.targets(on, acc)
		for first := 0; first < g.Threads; first += shader.Warp {
			var a [16][32]float64 // by row and depth
			var b [8][32]float64  // by column and depth
			for t := range shader.Warp {
				row, word := t/4, t%4
				for i := range words {
					x := elements(s.Elem, words[i][first+t])
					if i < 4 {
						copy(a[row+8*(i&1)][(word+4*(i>>1))*in:], x[:in])
					} else {
						copy(b[row][(word+4*(i&1))*in:], x[:in])
					}
				}
			}
			for t := range shader.Warp {
				for i := range 4 {
					row, col := t/4+8*(i>>1), 2*(t%4)+i&1
					sum := 0.0
					for k, x := range a[row][:s.Elem.Depth()] {
						sum += x * b[col][k]
					}
					if to := &z[i][first+t]; s.Elem.Type.IsInt() {
						*to += uint32(int32(sum))
					} else {
						*to = math.Float32bits(float32(float64(math.Float32frombits(*to)) + sum))
					}
				}
			}
		}
	})
}

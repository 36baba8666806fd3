package simt

import "github.com/tensorken/tensorken/internal/shader"

// loadMatrices translates a LoadMatrices.
func (c *compiler) loadMatrices(s *shader.LoadMatrices) {
	array, stmt, from, to := c.array(s.Shared), c.stmt, c.expr(s.From, nil), c.vars[s.To]
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		m, at, z := &g.shared[array], g.value(from[0]), g.targets(on, to)
		for first := 0; first < g.Threads; first += shader.Warp {
			var halves [4][8][8]uint16 // of each matrix, by row and column
			for lane := range shader.Warp {
				t := int32(first + lane)
				word := g.word(stmt, t, m, at[t])
				for i := range 4 {
					x := g.readsWord(stmt, t, m, word+i)
					halves[lane/8][lane%8][2*i], halves[lane/8][lane%8][2*i+1] = uint16(x), uint16(x>>16)
				}
			}
			for lane := range shader.Warp {
				row, col := lane/4, 2*(lane%4)
				for i := range halves {
					low, high := halves[i][row][col], halves[i][row][col+1]
					if s.Transposed {
						low, high = halves[i][col][row], halves[i][col+1][row]
					}
					z[i][first+lane] = uint32(low) | uint32(high)<<16
				}
			}
		}
	})
}

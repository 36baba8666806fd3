package attention

import (
	le "encoding/binary"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Workgroups of attention have all blocks of rows of all batches, each once, and those that a grid has too
// many repeat one. Of the batches that run at once the blocks with the most columns come first.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		high, batches, units, maxGroups int
		last                            bool
	}{
		{1, 1, 1, 0, true},
		{1, 300, 3, 0, false},
		{4, 128, 132, 0, true},
		{4, 37, 2, 0, true}, // four batches at once, and one at the end
		{7, 60, 5, 0, false},
		{100, 3, 1, 0, true},
		{5, 11, 2, 10, true}, // a grid of 10×6
	} {
		comp := build.New(&ir.Kernel{}, build.Target{Units: c.units, MaxGroups: c.maxGroups}.WithDefaults(), &shader.Program{})
		a := &attention{Builder: comp, size: size{height: 1, threads: 128}}
		comp.AddPass(1, func(p *build.Pass) {
			a.p, p.Workgroups = p, c.high*c.batches
			out := &shader.Buffer{Name: "out", Type: ir.Uint32, Write: true}
			p.Buffers = append(p.Buffers, out)
			at := a.locate([]build.Bound{{Last: c.last}}, c.high, c.batches)
			for i, x := range []*shader.Expr{at.Batch, at.Row} {
				p.Root.Do(&shader.Store{Buffer: out, Index: shader.GroupID.Mul(2).Plus(i), Values: []*shader.Expr{x}})
			}
		})
		grid := comp.Program.Passes[0].Grid
		data := make([]byte, 8*grid[0]*grid[1])
		if err := simt.Compile(comp.Program).Run([]simt.Arg{{Data: data}}); err != nil {
			t.Fatal(err)
		}
		seen := map[[2]uint32]bool{}
		var before [2]uint32
		sorted := 0
		for n := range len(data) / 8 {
			at := [2]uint32{le.LittleEndian.Uint32(data[8*n:]), le.LittleEndian.Uint32(data[8*n+4:])}
			if at[0] >= uint32(c.batches) || at[1] >= uint32(c.high) || seen[at] != (n >= c.high*c.batches) {
				t.Fatalf("%+v: workgroup %d has batch %d, block %d", c, n, at[0], at[1])
			}
			seen[at] = true
			if n > 0 && (at[1] == before[1] || at[1] < before[1] == c.last) {
				sorted++
			}
			before = at
		}
		if chunks := ir.CeilDiv(c.batches, ir.CeilDiv(4*c.units, c.high)); sorted < len(data)/8-chunks {
			t.Errorf("%+v: %d workgroups have at most the columns of the one before", c, sorted)
		}
	}
}

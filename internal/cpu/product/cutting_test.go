package product

import (
	"testing"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// TestRows: the rows of a convolution of 1 × 1 are the outputs, along which weights lie apart, unless the weights lie
// in tiles and positions fill registers badly; if there are many positions, a transposed result takes longer.
func TestRows(t *testing.T) {
	width := simd.Products[ir.Float32].Cols
	for _, c := range []struct {
		name                      string
		positions, outputs, depth int
		tiled                     bool
		rows                      int
	}{
		{"few positions by tiles", 49, 2048, 512, true, 49},
		{"few positions", 49, 2048, 512, false, 2048},
		{"many positions by tiles", 4096, 512, 2, true, 512},
	} {
		view := func(coef ...int) *ir.View { return &ir.View{Coef: coef} }
		weight := view(0, c.depth*width, c.depth, 1)
		if c.tiled {
			weight = view(0, c.depth*width, 1, width)
		}
		k := &ir.Kernel{Template: ir.Contraction,
			Axes: []ir.Axis{{Len: c.positions, Role: ir.M}, {Len: c.outputs / width, Role: ir.N}, {Len: width, Role: ir.N}, {Len: c.depth, Role: ir.K}},
			Args: []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: c.positions * c.outputs}},
			Body: []ir.Instr{
				{Op: ir.Load, Type: ir.Float32, Arg: 0, View: view(1, 0, 0, c.positions)},
				{Op: ir.Load, Type: ir.Float32, Arg: 1, View: weight},
				{Op: ir.Mul, Type: ir.Float32, Src: []int{0, 1}},
				{Op: ir.Sum, Type: ir.Float32, Src: []int{2}, Axes: 8},
				{Op: ir.Store, Type: ir.Float32, Src: []int{3}, Arg: 2, View: view(1, c.positions*width, c.positions, 0)},
			}}
		for i := range k.Body {
			k.Body[i].Domain = k.Varies(i)
		}
		if err := ir.Verify(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		s := &vector.Space{Nest: loopnest.Canonical(k), Tune: &vector.DefaultTuning}
		if r, _ := NewContract(s); s.Size(r.rows.Axes) != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, s.Size(r.rows.Axes), c.rows)
		}
	}
}

package cases

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// TestSpecial fails for an operation that Special lacks, and for one that cannot be made
// on the inputs.
func TestSpecial(t *testing.T) {
	for _, d := range ir.DTypes {
		list := Special(d, ir.DTypes)
		for op := ir.Op(1); int(op) < ir.Ops; op++ {
			row := &ir.Table[op]
			want := row.Types.Has(d) && (row.Class == ir.Elementwise || row.Class == ir.Reduction) && op != ir.Bitcast && op != ir.Threefry
			if got := slices.ContainsFunc(list, func(c Case) bool { return c.Op == op }); got != want {
				t.Errorf("Special(%v) has %v: %v, want %v", d, op, got, want)
			}
		}
		for _, c := range list {
			var x []*graph.Node
			for i, in := range c.Inputs {
				if len(in.Elems) != len(c.Inputs[0].Elems) {
					t.Errorf("Special(%v): input %d of %s has %d elements, the first %d", d, i, c.Name, len(in.Elems), len(c.Inputs[0].Elems))
				}
				x = append(x, graph.Fill(in.DType, 0, []int{len(in.Elems)}))
			}
			if n := c.Make(x); n.Op != c.Op {
				t.Errorf("Special(%v): %s makes %v, want %v", d, c.Name, n.Op, c.Op)
			}
		}
	}
}

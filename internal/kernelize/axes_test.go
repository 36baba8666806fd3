package kernelize

import (
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A vector of 2^40 elements, added to itself in another order, splits its axis 39 times: more numbers
// than a set of axes holds. The rest is read from memory.
func TestManyAxes(t *testing.T) {
	for _, c := range []struct{ bits, kernels int }{{20, 1}, {31, 1}, {40, 2}} {
		twos, reversed := make([]int, c.bits), make([]int, c.bits)
		for i := range twos {
			twos[i], reversed[i] = 2, c.bits-1-i
		}
		x := graph.Unary(ir.Not, leaf(ir.Bool, 0, 1<<c.bits))
		y := graph.Reshape(graph.Permute(graph.Reshape(x, twos), reversed), []int{1 << c.bits})
		kernels, _ := Graph(list(graph.Binary(ir.And, leaf(ir.Bool, 1, 1<<c.bits), y)), Options{})
		if len(kernels) != c.kernels {
			t.Errorf("%d bits: %d kernels, want %d", c.bits, len(kernels), c.kernels)
		}
		for _, k := range kernels {
			if err := ir.Verify(k.Kernel); err != nil {
				t.Errorf("%d bits: %v", c.bits, err)
			}
		}
	}
}

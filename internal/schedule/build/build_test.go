package build

import (
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

func TestEveryKernelOpHasAnEmitter(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		want := op.Class() == ir.Elementwise || op == ir.Const || op == ir.Scalar || op == ir.Index || op == ir.InBounds || op == ir.Load
		if got := emitterOf(op) != nil; got != want {
			t.Errorf("%v has an emitter: %v, want %v", op, got, want)
		}
	}
}

// TestEveryElementwiseOpHasARule fails for an op that a GPU cannot compute.
func TestEveryElementwiseOpHasARule(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		for _, d := range (Target{Wide: true}).Types() {
			if op.Class() == ir.Elementwise && ir.Table[op].Types.Has(d) && lacksRule(op, d) {
				t.Errorf("%v of %v: internal/shader/functions_*.go have no function %s, internal/schedule/build/ops.go has no rule", op, d, functionName(op, shader.Register(d)))
			}
		}
	}
}

// lacksRule reports whether an elementwise op of operands of a type has no rule.
func lacksRule(op ir.Op, d ir.DType) bool {
	return op != ir.Cast && op != ir.Bitcast && ruleOf(op, shader.Register(d)) == nil
}

// An op without a rule is a panic that names it.
func TestOpWithoutARule(t *testing.T) {
	defer func() {
		if r, want := recover(), "schedule: no rule for Sum of float32"; r != want {
			t.Errorf("panic %v, want %v", r, want)
		}
	}()
	Apply(ir.Sum, ir.Float32, ir.Float32, Number(shader.F32, 1))
}

func TestEveryReductionHasAReducer(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		if got, want := reducers[op] != nil, op.Class() == ir.Reduction; got != want {
			t.Errorf("%v has a row in internal/schedule/build/reducer.go: %v, want %v", op, got, want)
		}
	}
}

// Grids stay within the limits.
func TestFold(t *testing.T) {
	for _, n := range []int{1, 65535, 65536, 1 << 20, 1<<23 + 7} {
		c := &Builder{Target: Target{}.WithDefaults()}
		grid := c.Fold(n)
		if c.Err != nil || grid[0] > 65535 || grid[1] > 65535 || grid[0]*grid[1] < n || grid[0]*grid[1] > n+grid[1] {
			t.Errorf("fold(%d) = %v, %v", n, grid, c.Err)
		}
	}
}

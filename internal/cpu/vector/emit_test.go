package vector

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// Runners emit a Scan and a Sort themselves.
func TestEveryKernelOpHasAnEmitter(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		class := op.Class()
		want := class == ir.Elementwise || class == ir.Reduction || class == ir.KernelOnly ||
			op == ir.Const || op == ir.Scalar || op == ir.Scatter
		if got := emitterOf(op) != nil; got != want {
			t.Errorf("%v has an emitter: %v, want %v", op, got, want)
		}
	}
}

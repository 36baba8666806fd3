package graph

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

type device string

func (d device) String() string { return string(d) }

// TestAliases makes an alias of every op of that class.
func TestAliases(t *testing.T) {
	x := ToDevice(Fill(ir.Float16, 1, []int{2, 3}), device("one"))
	scope, co := new(Scope), new(CoOutputs)
	call := &CustomCall{Args: []*Node{Argument(x, scope)}}
	aliases := map[ir.Op]*Node{
		ir.Argument:     Argument(x, scope),
		ir.StopGradient: StopGradient(x),
		ir.ToDevice:     ToDevice(x, device("two")),
		ir.CallResult:   call.Results([]*Node{x})[0],
		ir.CoOutput:     CoOutput(x, co),
	}
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		n := aliases[op]
		if (n != nil) != (op.Class() == ir.Alias) {
			t.Errorf("%v of class %d: a function makes it: %v", op, op.Class(), n != nil)
			continue
		}
		if n == nil {
			continue
		}
		if n.Op != op || n.DType != x.DType || !slices.Equal(n.Shape, x.Shape) || n.Operand(0) != x {
			t.Errorf("%v: got %v %v %v", op, n.Op, n.DType, n.Shape)
		}
		if want := op == ir.Argument || op == ir.CallResult; n.In(scope) != want {
			t.Errorf("%v is in the scope: %v, want %v", op, !want, want)
		}
		want := Device(device("one"))
		if op == ir.ToDevice {
			want = device("two")
		}
		if again := WithOperands(n, Fill(ir.Float16, 2, x.Shape)); op == ir.ToDevice && again.Device != want || n.Device != want {
			t.Errorf("%v is committed to %v, made again to %v, want %v", op, n.Device, again.Device, want)
		}
	}
	if r := CustomResultOf(aliases[ir.CallResult]); r == nil || r.CustomCall != call || call.Outs[0] != aliases[ir.CallResult] || aliases[ir.CoOutput].CoOutputs() != co {
		t.Error("a CallResult has not its call, or a CoOutput no CoOutputs")
	}
}

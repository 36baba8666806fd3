package grad_test

import (
	"os"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// TestPointsOnDevice checks derivatives of every op, in float32, on the
// device that TENSORKEN_DEVICE names, the CPU if none.
func TestPointsOnDevice(t *testing.T) {
	d := tensor.CPU()
	if name := os.Getenv("TENSORKEN_DEVICE"); name != "" && name != "cpu" {
		var err error
		if d, _, err = device.Open(name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		if op == ir.Cast {
			continue // its point is of float64
		}
		for _, p := range points[op] {
			t.Run(op.String()+" "+p.name, func(t *testing.T) {
				at := p.at(op, tensor.Float32)
				if err := tensor.Eval(at); err != nil { // on the CPU, which has float64
					t.Fatal(err)
				}
				gradtest.Check(t, p.function(), tree.To(at, d), 2)
			})
		}
	}
}

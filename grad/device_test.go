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

// TestPointsOnDevice checks derivatives of every op, in float32 and Cast's also
// in float16, on the device that TENSORKEN_DEVICE names, the CPU if none, to order 3. On a
// GPU that is to order 1 with -short, and else to order 3 if TENSORKEN_REQUIRE_GPU=1 and to
// order 2 if not: a software one takes a minute for order 3.
func TestPointsOnDevice(t *testing.T) {
	d, order := tensor.CPU(), 3
	if name := os.Getenv("TENSORKEN_DEVICE"); name != "" && name != "cpu" {
		var err error
		if d, _, err = device.Open(name); err != nil {
			t.Fatal(err)
		}
		if os.Getenv("TENSORKEN_REQUIRE_GPU") != "1" {
			order = 2
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if testing.Short() {
		order = 1
	}
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		dtype := tensor.Float32
		if op == ir.Cast {
			dtype = tensor.Float16 // its point also has a wider type
		}
		for _, p := range points[op] {
			if op == ir.ToDevice { // its point is on the CPU
				continue
			}
			t.Run(op.String()+" "+p.name, func(t *testing.T) {
				at := p.at(op, dtype)
				if err := tensor.Eval(at); err != nil { // on the CPU, which has float64
					t.Fatal(err)
				}
				gradtest.Check(t, p.function(), tree.To(at, d), order)
			})
		}
	}
}

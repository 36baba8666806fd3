package schedule

import (
	"testing"

	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Threads with several vectors read the elements that they replace.
func TestInPlaceAhead(t *testing.T) {
	notShort(t)
	target := big
	target.ManyPoints = 1
	drivertest.Test(t, open(target), "InPlace")
}

// Workgroups that only fill up a grid replace nothing again.
func TestInPlaceOnce(t *testing.T) {
	notShort(t)
	target := big
	target.MaxGroups = 50
	drivertest.Test(t, open(target), "InPlace")
}

// Threads with several vectors store nothing outside of a result, where the grid has more
// workgroups than it needs.
func TestPointsAhead(t *testing.T) {
	target := big
	target.MaxGroups, target.ManyPoints = 5, 1
	passes := 0
	d := tensor.NewDevice(attender(t, target, func(k *ir.Kernel) {
		p, err := Compile(k, target)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range p.Passes {
			if q.Grid == [3]int{5, 2, 1} || q.Grid == [3]int{4, 2, 1} {
				passes++
			}
		}
	}))
	x := make([]float32, 7*2*4*256)
	for i := range x {
		x[i] = float32(i % 256)
	}
	for _, c := range []struct {
		dtype tensor.DType
		ahead bool
	}{{tensor.Float32, false}, {tensor.BFloat16, true}} {
		passes = 0
		in := tensor.New(x).Cast(c.dtype)
		if err := tensor.Eval(in); err != nil {
			t.Fatal(err)
		}
		out := in.To(d).Neg()
		if err := tensor.Eval(out); err != nil {
			t.Fatal(err)
		}
		y, err := tensor.Data[float32](out.To(tensor.CPU()).Cast(tensor.Float32))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range y {
			if v != -x[i] {
				t.Fatalf("%v: element %d is %v", c.dtype, i, v)
			}
		}
		if (passes > 0) != c.ahead {
			t.Errorf("%v: %d passes have two vectors a thread in a grid with a workgroup too many", c.dtype, passes)
		}
	}
}

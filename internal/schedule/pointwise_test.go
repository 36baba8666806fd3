package schedule

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Threads with several vectors store nothing outside of a result, where the grid has more
// workgroups than it needs.
func TestPointsAhead(t *testing.T) {
	before := manyPoints
	defer func() { manyPoints = before }()
	manyPoints = 1
	target := big
	target.MaxGroups = 5
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
		x[i] = float32(i)
	}
	y, err := tensor.Data[float32](tensor.New(x).To(d).Neg())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range y {
		if v != -x[i] {
			t.Fatalf("element %d is %v", i, v)
		}
	}
	if passes == 0 {
		t.Error("no grid has a workgroup too many")
	}
}

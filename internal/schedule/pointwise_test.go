package schedule

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

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

// A kernel of merged steps of an optimizer may have as many buffers, with offsets, as a launch of CUDA, and the most numbers of
// a group.
func TestManyParameters(t *testing.T) {
	const buffers, numbers = 64, 48
	var args []ir.Arg
	var body []ir.Instr
	for i := range buffers - 1 + numbers {
		if i < buffers-1 {
			args, body = append(args, in(f32)), append(body, load(f32, i, by(1)))
		} else {
			args, body = append(args, scalar(f32)), append(body, ir.Instr{Op: ir.Scalar, Type: f32, Arg: i})
		}
		if n := len(body); i > 0 {
			body = append(body, alu(ir.Add, f32, n-2, n-1)) // to the sum so far
		}
	}
	args = append(args, out(f32, 16))
	body = append(body, store(f32, len(body)-1, len(args)-1, by(1)))
	if p := compile(t, kernel(ir.Pointwise, []ir.Axis{kept(16)}, args, body...), hopper); len(p.Passes[0].Params) < 100 {
		t.Errorf("%d parameters, want about %d", len(p.Passes[0].Params), buffers+numbers)
	}
}

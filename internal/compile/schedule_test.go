package compile_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/ir"
)

// Steps that free more than they take come as early as they can.
func TestSchedule(t *testing.T) {
	const n = 1000
	big, small := compile.Buffer{DType: ir.Float32, Len: n}, compile.Buffer{DType: ir.Float32, Len: 1}
	in := func(i int) compile.Arg { return compile.Arg{Kind: ir.In, Index: i} }
	out := func(i int) compile.Arg { return compile.Arg{Kind: ir.Out, Index: i} }
	step := func(args ...compile.Arg) compile.Step { return compile.Step{Args: args} }
	// Each of three large buffers is made of the one before, and summed up.
	p := &compile.Plan{
		Buffers: []compile.Buffer{big, big, big, small, small, small},
		Steps: []compile.Step{
			step(out(0), compile.Arg{Kind: ir.In, Leaf: true}),
			step(out(1), in(0)),
			step(out(2), in(1), in(1)),
			step(out(3), in(0)),
			step(out(4), in(1)),
			step(out(5), in(2)),
		},
		Outputs: []compile.Output{{Index: 3}, {Index: 4}, {Index: 5}},
	}
	compile.Schedule(p)
	var order []int
	for _, s := range p.Steps {
		order = append(order, s.Args[0].Index)
	}
	if want := []int{0, 1, 3, 2, 4, 5}; !slices.Equal(order, want) {
		t.Errorf("buffers are written in the order %v, want %v", order, want)
	}
}

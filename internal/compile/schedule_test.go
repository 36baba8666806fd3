package compile_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/ir"
)

// Steps that free more than they take, or take little, come as early as they can, and collectives run beside others.
func TestSchedule(t *testing.T) {
	const n = 1000
	floats := func(n int) compile.Buffer { return compile.Buffer{DType: ir.Float32, Len: n} }
	big, small := floats(n), floats(1)
	in := func(i int) compile.Arg { return compile.Arg{Kind: ir.In, Index: i} }
	out := func(i int) compile.Arg { return compile.Arg{Kind: ir.Out, Index: i} }
	part := func(i, offset int) compile.Arg { return compile.Arg{Kind: ir.Out, Index: i, Offset: offset} }
	leaf := compile.Arg{Kind: ir.In, Leaf: true}
	step := func(args ...compile.Arg) compile.Step { return compile.Step{Args: args} }
	collective := func(args ...compile.Arg) compile.Step {
		return compile.Step{Args: args, Kernel: &ir.Kernel{Template: ir.Routine, Body: []ir.Instr{{Op: ir.HostCall}}}}
	}
	for _, c := range []struct {
		name    string
		buffers []compile.Buffer
		steps   []compile.Step
		outputs []compile.Output
		want    []int // the steps, in the order to run
		late    []int // if it differs from want
	}{
		{
			"each of three large buffers is made of the one before, and summed up",
			[]compile.Buffer{big, big, big, small, small, small},
			[]compile.Step{
				step(out(0), leaf),
				step(out(1), in(0)),
				step(out(2), in(1), in(1)),
				step(out(3), in(0)),
				step(out(4), in(1)),
				step(out(5), in(2)),
			},
			[]compile.Output{{Index: 3}, {Index: 4}, {Index: 5}},
			[]int{0, 3, 1, 4, 2, 5},
			nil,
		},
		{
			"the second part of a buffer takes nothing, and frees what it reads",
			[]compile.Buffer{big, floats(2 * n), floats(n)},
			[]compile.Step{
				step(out(0), leaf),
				step(part(1, 0), leaf),
				step(out(2), leaf),
				step(part(1, n), in(0)),
			},
			[]compile.Output{{Index: 1}, {Index: 2}},
			[]int{0, 1, 3, 2},
			nil,
		},
		{
			"one step stores both parts of a buffer, which is smaller than what it frees",
			[]compile.Buffer{floats(3 * n), floats(2 * n), big},
			[]compile.Step{
				step(out(0), leaf),
				step(out(2), leaf),
				step(part(1, 0), part(1, n), in(0)),
			},
			[]compile.Output{{Index: 1}, {Index: 2}},
			[]int{0, 2, 1},
			nil,
		},
		{
			"a small step reads the result of a collective, which runs beside the next gradient",
			[]compile.Buffer{big, floats(n / 2), small, big, floats(n / 2), small},
			[]compile.Step{
				step(out(0), leaf),
				collective(out(1), in(0)),
				step(out(2), in(1)),
				step(out(3), leaf),
				collective(out(4), in(3)),
				step(out(5), in(4)),
			},
			[]compile.Output{{Index: 2}, {Index: 5}},
			[]int{0, 1, 3, 4, 2, 5},
			nil,
		},
		{
			"the parameters of a layer are gathered while the layer before is computed",
			[]compile.Buffer{big, big, big, big, big, big},
			[]compile.Step{
				collective(out(0), leaf),
				step(out(1), in(0)),
				collective(out(2), leaf),
				step(out(3), in(1), in(2)),
				collective(out(4), leaf),
				step(out(5), in(3), in(4)),
			},
			[]compile.Output{{Index: 5}},
			[]int{0, 2, 1, 4, 3, 5},
			nil,
		},
		{
			"the last operand of a small collective is computed first, and earlier updates run beside the last collective",
			[]compile.Buffer{big, big, small, big, big, big, big, small, small, small},
			[]compile.Step{
				step(out(0), leaf),         // a gradient
				collective(out(1), in(0)),  // which is averaged
				step(out(3), leaf),         // another one, computed in two steps
				step(out(4), in(3), in(3)), //
				collective(out(5), in(4)),  //
				step(out(7), in(5)),        // its update
				step(out(8), in(1)),        // the update of the first
				step(out(6), leaf),         // the last gradient
				collective(out(2), in(6)),  //
				step(out(9), in(2)),        // and its update
			},
			[]compile.Output{{Index: 7}, {Index: 8}, {Index: 9}},
			[]int{0, 1, 7, 8, 6, 2, 3, 4, 9, 5},
			[]int{0, 1, 7, 8, 2, 3, 4, 6, 9, 5},
		},
	} {
		for _, late := range []bool{false, true} {
			p := &compile.Plan{Buffers: c.buffers, Steps: slices.Clone(c.steps), Outputs: c.outputs}
			compile.Schedule(p, late)
			compile.Prefetch(p)
			var order []int
			for _, s := range p.Steps {
				order = append(order, slices.IndexFunc(c.steps, func(x compile.Step) bool { return &x.Args[0] == &s.Args[0] }))
			}
			want := c.want
			if late && c.late != nil {
				want = c.late
			}
			if !slices.Equal(order, want) {
				t.Errorf("%s: steps run in the order %v, want %v (late: %v)", c.name, order, want, late)
			}
		}
	}
}

// TestUpdateLate: a late order is taken only if collectives have the same order, which each rank would choose.
func TestUpdateLate(t *testing.T) {
	buffer := compile.Buffer{DType: ir.Float32, Len: 1000}
	in := func(i int) compile.Arg { return compile.Arg{Kind: ir.In, Index: i} }
	out := func(i int) compile.Arg { return compile.Arg{Kind: ir.Out, Index: i} }
	leaf := compile.Arg{Kind: ir.In, Leaf: true}
	step := func(args ...compile.Arg) compile.Step { return compile.Step{Args: args} }
	collective := func(number int, args ...compile.Arg) compile.Step {
		return compile.Step{Args: args, Kernel: &ir.Kernel{Template: ir.Routine, Body: []ir.Instr{{Op: ir.HostCall, Num: ir.Int(ir.Int32, int64(number))}}}}
	}
	averaged := []compile.Step{
		step(out(0), leaf), collective(1, out(1), in(0)), step(out(2), in(1)), // a gradient and its update
		step(out(3), leaf), collective(2, out(4), in(3)), step(out(5), in(4)),
	}
	gathered := append(slices.Clone(averaged[:3]), collective(3, out(6), in(2)), averaged[3], averaged[4], averaged[5], step(out(7), leaf), step(out(8), in(7), in(7)), collective(4, out(9), in(8)))
	for _, c := range []struct {
		name  string
		steps []compile.Step
		want  bool
	}{{"gradients are averaged", averaged, true}, {"updated parameters are gathered", gathered, false}, {"no collectives", []compile.Step{averaged[0]}, false}} {
		p := &compile.Plan{Buffers: slices.Repeat([]compile.Buffer{buffer}, 10), Steps: slices.Clone(c.steps)}
		compile.Schedule(p, false)
		if got := compile.UpdateLate(p) != nil; got != c.want {
			t.Errorf("%s: late order %v, want %v", c.name, got, c.want)
		}
	}
}

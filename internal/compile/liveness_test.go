package compile

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// inPlaceSteps lists the steps that run in place.
func inPlaceSteps(p *Plan) (list []int) {
	for i, s := range p.Steps {
		if s.Loop == nil && slices.ContainsFunc(s.Kernel.Body, func(in ir.Instr) bool {
			return in.Op == ir.Load && s.Kernel.Args[in.Arg].Kind == ir.Out
		}) {
			list = append(list, i)
		}
	}
	return list
}

// varied fills in the axes over which instructions vary.
func varied(k *ir.Kernel) *ir.Kernel {
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	return k
}

// move stores the product of all that it reads, n elements.
func move(n int, to Arg, from ...Arg) Step {
	one := &ir.View{Coef: []int{1}}
	k := &ir.Kernel{
		Template: ir.Pointwise, Axes: []ir.Axis{{Len: n, Role: ir.Parallel}},
		Args: []ir.Arg{{Kind: ir.Out, DType: f32, Len: n, Part: to.Offset > 0}},
		Body: []ir.Instr{{Op: ir.Const, Type: f32}},
	}
	for i := range from {
		k.Args = append(k.Args, ir.Arg{Kind: ir.In, DType: f32})
		x := len(k.Body)
		k.Body = append(k.Body, ir.Instr{Op: ir.Load, Type: f32, Arg: 1 + i, View: one}, ir.Instr{Op: ir.Mul, Type: f32, Src: []int{x - 1, x}})
	}
	k.Body = append(k.Body, ir.Instr{Op: ir.Store, Type: f32, Src: []int{len(k.Body) - 1}, View: one})
	return Step{Kernel: varied(k), Args: append([]Arg{to}, from...)}
}

// Buffers share slots in time, and results take the memory of operands that die.
func TestAssignMemory(t *testing.T) {
	in := func(i int) Arg { return Arg{Kind: ir.In, Index: i} }
	out := func(i int) Arg { return Arg{Kind: ir.Out, Index: i} }
	part := func(i, offset int) Arg { return Arg{Kind: ir.Out, Index: i, Offset: offset} }
	leaf := func(i int) Arg { return Arg{Kind: ir.In, Leaf: true, Index: i} }
	loop := func(args ...Arg) Step { return Step{Loop: &ir.Loop{}, Args: args} }
	const n = 8
	for _, c := range []struct {
		name    string
		lengths []int // of the buffers
		steps   []Step
		outputs []int
		first   int   // so many outputs stay; 0 for all
		taken   []int // leaves
		slot    []int // by buffer
		slots   []Slot
		inPlace []int // steps
	}{
		{"a chain", []int{n, n}, []Step{move(n, out(0), leaf(0)), move(n, out(1), in(0))}, []int{1}, 0, nil,
			[]int{0, 0}, []Slot{{32, -1}}, []int{1}},
		{"a donated leaf", []int{n}, []Step{move(n, out(0), leaf(0))}, []int{0}, 0, []int{0},
			[]int{0}, []Slot{{32, 0}}, []int{0}},
		{"a leaf that is read twice", []int{n, n}, []Step{move(n, out(0), leaf(0)), move(n, out(1), leaf(0))}, []int{0, 1}, 0, []int{0},
			[]int{0, 1}, []Slot{{32, -1}, {32, 0}}, []int{1}},
		{"a leaf that a later step reads", []int{n, n / 2, n / 2}, []Step{move(n, out(0), leaf(0)), move(n/2, out(1), leaf(0)), move(n/2, out(2), in(1), leaf(1))}, []int{0, 2}, 0, []int{0},
			[]int{0, 1, 1}, []Slot{{32, 0}, {16, -1}}, []int{1, 2}},
		{"a leaf whose replacement a step reads too", []int{n, n / 2}, []Step{move(n, out(0), leaf(0)), move(n/2, out(1), in(0), leaf(0))}, []int{0, 1}, 0, []int{0},
			[]int{0, 1}, []Slot{{32, -1}, {16, -1}}, nil},
		{"a leaf beside an operand", []int{n, n, n}, []Step{move(n, out(0), leaf(1)), move(n, out(1), in(0), leaf(0)), loop(out(2), leaf(1))}, []int{1}, 0, []int{0},
			[]int{0, 1, 0}, []Slot{{32, -1}, {32, 0}}, []int{1}},
		{"a leaf and what took its memory", []int{n, n}, []Step{move(n, out(0), leaf(0)), move(n, out(1), in(0))}, []int{1}, 0, []int{0},
			[]int{0, 0}, []Slot{{32, 0}}, []int{0, 1}},
		{"an operand that is returned", []int{n, n}, []Step{move(n, out(0), leaf(0)), move(n, out(1), in(0))}, []int{0, 1}, 0, nil,
			[]int{0, 1}, []Slot{{32, -1}, {32, -1}}, nil},
		{"an output that need not stay", []int{n, n}, []Step{move(n, out(0), leaf(0)), move(n, out(1), in(0))}, []int{1, 0}, 1, nil,
			[]int{0, 0}, []Slot{{32, -1}}, []int{1}},
		{"an operand that is read again", []int{n, n, n}, []Step{move(n, out(0), leaf(0)), move(n, out(1), in(0)), move(n, out(2), in(1), in(0))}, []int{2}, 0, nil,
			[]int{0, 1, 1}, []Slot{{32, -1}, {32, -1}}, []int{2}},
		{"an operand that is read in two ways", []int{n, n}, []Step{move(n, out(0), leaf(0)), move(n, out(1), in(0), in(0))}, []int{1}, 0, nil,
			[]int{0, 1}, []Slot{{32, -1}, {32, -1}}, nil},
		{"a part of an operand", []int{n, n / 2}, []Step{move(n, out(0), leaf(0)), move(n/2, out(1), Arg{Kind: ir.In, Offset: n / 2})}, []int{1}, 0, nil,
			[]int{0, 1}, []Slot{{32, -1}, {16, -1}}, nil},
		{"a leaf and an operand that are longer", []int{n, n / 2, n / 2}, []Step{move(n, out(0), leaf(1)), move(n/2, out(1), in(0)), move(n/2, out(2), leaf(0))}, []int{1, 2}, 0, []int{0},
			[]int{0, 1, 2}, []Slot{{32, -1}, {16, -1}, {16, -1}}, nil},
		{"a result of two parts", []int{n / 2, n}, []Step{move(n/2, out(0), leaf(0)), move(n/2, out(1), in(0)), move(n/2, part(1, n/2), leaf(1))}, []int{1}, 0, []int{1},
			[]int{1, 0}, []Slot{{32, -1}, {16, -1}}, nil},
		{"one after the other", []int{n, n / 2, n / 4}, []Step{move(n, out(0), leaf(0)), loop(out(1), in(0)), loop(out(2), in(1))}, []int{2}, 0, nil,
			[]int{0, 1, 2}, []Slot{{32, -1}, {16, -1}, {8, -1}}, nil},
		{"a slot that is free again", []int{n, n / 2, n / 4, n / 4}, []Step{move(n, out(0), leaf(0)), loop(out(1), in(0)), loop(out(2), in(1)), loop(out(3), in(2))}, []int{3}, 0, nil,
			[]int{0, 1, 0, 2}, []Slot{{32, -1}, {16, -1}, {8, -1}}, nil},
		{"a loop and its temporary", []int{n, n, n}, []Step{move(n, out(0), leaf(0)), loop(out(2), in(0))}, []int{2}, 0, nil,
			[]int{0, -1, 1}, []Slot{{32, -1}, {32, -1}}, nil},
	} {
		p := &Plan{Steps: slices.Clone(c.steps)}
		for _, n := range c.lengths {
			p.Buffers = append(p.Buffers, Buffer{DType: f32, Len: n})
		}
		for _, b := range c.outputs {
			p.Outputs = append(p.Outputs, Output{Index: b})
		}
		first := c.first
		if first == 0 {
			first = len(c.outputs)
		}
		m := p.AssignMemory(first, func(leaf, bytes int) bool { return slices.Contains(c.taken, leaf) && bytes == 32 }, func(bytes int) int { return bytes }, ir.Machine{})
		if !slices.Equal(m.Slot, c.slot) || !slices.Equal(m.Slots, c.slots) {
			t.Errorf("%s: buffers are in %v of %v, want %v of %v", c.name, m.Slot, m.Slots, c.slot, c.slots)
		}
		if got := inPlaceSteps(p); !slices.Equal(got, c.inPlace) {
			t.Errorf("%s: steps %v run in place, want %v", c.name, got, c.inPlace)
		}
	}
}

// logGradient is rows of exponentials of a2, over their sums, minus its element that a1 names for the row.
// That load keeps the gradient of a cross-entropy from running in place.
func logGradient(d ir.DType, rows, cols int) *ir.Kernel {
	c, all := d.ComputeType(), &ir.View{Coef: []int{cols, 1}}
	return varied(&ir.Kernel{
		Template: ir.Reduce,
		Axes:     []ir.Axis{{Len: rows, Role: ir.Parallel}, {Len: cols, Role: ir.Reduced}},
		Args: []ir.Arg{
			{Kind: ir.Out, DType: d, Len: rows * cols}, {Kind: ir.In, DType: ir.Int32}, {Kind: ir.In, DType: d}, {Kind: ir.Status, DType: ir.Int32},
		},
		Body: []ir.Instr{
			{Op: ir.Load, Type: c, Arg: 2, View: all},
			{Op: ir.Exp, Type: c, Src: []int{0}},
			{Op: ir.Sum, Type: c, Src: []int{1}, Axes: 2},
			{Op: ir.Div, Type: c, Src: []int{1, 2}},
			{Op: ir.Load, Type: ir.Int32, Arg: 1, View: &ir.View{Coef: []int{1, 0}}},
			{Op: ir.Load, Type: c, Src: []int{4}, Arg: 2, View: &ir.View{Coef: []int{cols, 0}, Stride: 1, Len: cols}},
			{Op: ir.Sub, Type: c, Src: []int{3, 5}},
			{Op: ir.Store, Type: c, Src: []int{6}, Arg: 0, View: all},
		},
	})
}

// Steps are cut in two where that saves enough memory.
func TestReadAhead(t *testing.T) {
	const rows, cols = 1000, 5000
	for _, c := range []struct {
		name   string
		cols   int
		change func(k *ir.Kernel)
		more   int  // elements that stay in use
		kept   bool // the operand is returned
		want   bool
	}{
		{"labels", cols, nil, 0, false, true},
		{"a bit of the memory", cols, nil, 7 * rows * cols, false, true},
		{"less than a tenth of the memory", cols, nil, 9 * rows * cols, false, false},
		{"few elements", cols / 10, nil, 0, false, false},
		{"an operand that is returned", cols, nil, 0, true, false},
		{"the first element of a row", cols, func(k *ir.Kernel) {
			k.Body[5].Src, k.Body[5].View = nil, &ir.View{Coef: []int{cols, 0}}
		}, 0, false, true},
		{"another element for each", cols, func(k *ir.Kernel) { k.Body[4].View = &ir.View{Coef: []int{0, 1}} }, 0, false, false},
		{"the greatest element", cols, func(k *ir.Kernel) {
			k.Body[4] = ir.Instr{Op: ir.ArgMax, Type: ir.Int32, Src: []int{0}, Axes: 2}
		}, 0, false, false},
		{"another index", cols, func(k *ir.Kernel) {
			store := k.Body[7]
			store.Src = []int{9}
			k.Body = append(k.Body[:7],
				ir.Instr{Op: ir.Load, Type: ir.Int32, Src: []int{4}, Arg: 1, View: &ir.View{Coef: []int{0, 0}, Stride: 1, Len: 9}},
				ir.Instr{Op: ir.Cast, Type: f32, Src: []int{7}}, ir.Instr{Op: ir.Sub, Type: f32, Src: []int{6, 8}}, store)
		}, 0, false, false},
	} {
		k := logGradient(f32, rows, c.cols)
		if c.change != nil {
			c.change(k)
			varied(k)
		}
		n := rows * c.cols
		s := Step{Kernel: k, Node: 3, Args: []Arg{
			{Kind: ir.Out, Index: 1}, {Kind: ir.In, Leaf: true, Index: 1}, {Kind: ir.In, Index: 0}, {Kind: ir.Status, Index: 2},
		}}
		for i := range k.Body {
			if k.Body[i].UsesIndex() {
				s.Indices = append(s.Indices, Index{Instr: i, Node: 4, Element: &ir.AffineExpr{Coef: []int{1, 0}, Div: 1}, Len: rows})
			}
		}
		p := &Plan{
			Steps:   []Step{move(n, Arg{Kind: ir.Out}, Arg{Kind: ir.In, Leaf: true}), s},
			Buffers: []Buffer{{DType: f32, Len: n}, {DType: f32, Len: n}, {DType: f32, Len: c.more}},
			Outputs: []Output{{Index: 1}, {Index: 2}, {Index: 0}},
			Checks:  3,
		}
		outputs := 2
		if c.kept {
			outputs = 3
		}
		before := len(p.Steps)
		p.AssignMemory(outputs, func(int, int) bool { return false }, func(bytes int) int { return bytes }, ir.Machine{Bandwidth: 4e12, Launch: 4e-6})
		if got := len(p.Steps) > before; got != c.want {
			t.Errorf("%s: a step is cut in two: %v, want %v", c.name, got, c.want)
			continue
		}
		if got := inPlaceSteps(p); c.want != slices.Equal(got, []int{2}) {
			t.Errorf("%s: steps %v run in place", c.name, got)
		}
		for _, s := range p.Steps {
			if err := ir.Verify(s.Kernel); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if !c.want {
			continue
		}
		for i, want := range []int{-1, 2, -1} { // the check is of the step that reads ahead
			if k.Body[5].Src == nil {
				want = -1
			}
			if got := p.Steps[i].Check(); got != want || (want >= 0) != (len(p.Steps[i].Indices) == 1) {
				t.Errorf("%s: step %d is of check %d with %v, want %d", c.name, i, got, p.Steps[i].Indices, want)
			}
		}
	}
}

// A kernel that is cut in two has the same results, and reports the same index.
func TestCutLoads(t *testing.T) {
	const rows, cols = 5, 7
	for _, d := range []ir.DType{f32, ir.BFloat16} {
		for _, bad := range []bool{false, true} {
			k := logGradient(d, rows, cols)
			s := Step{Kernel: k, Node: 3, Indices: []Index{{Instr: 5, Node: 4, Element: &ir.AffineExpr{Off: 2, Coef: []int{3, 0}, Div: 1}, Len: rows}}, Args: []Arg{
				{Kind: ir.Out, Index: 1}, {Kind: ir.In, Leaf: true, Index: 1}, {Kind: ir.In, Index: 0}, {Kind: ir.Status, Index: 6},
			}}
			steps, buffers := s.cutLoads(0, 2, 2)
			if want := []Buffer{{DType: d, Len: rows}}; len(steps) != 2 || !slices.Equal(buffers, want) {
				t.Fatalf("%d steps with buffers %v, want 2 with %v", len(steps), buffers, want)
			}
			want := []Index{{Instr: 1, Node: 4, Element: &ir.AffineExpr{Off: 2, Coef: []int{3}, Div: 1}, Len: rows}}
			if !reflect.DeepEqual(steps[0].Indices, want) || steps[1].Indices != nil || steps[0].Node != 3 || steps[1].Node != 3 {
				t.Errorf("indices %v and %v, want %v", steps[0].Indices, steps[1].Indices, want)
			}
			run := func(steps ...Step) string {
				memory := map[string][]ir.Number{}
				for b := range 3 {
					memory[fmt.Sprint(false, b)] = make([]ir.Number, rows*cols)
				}
				for i := range rows * cols {
					memory[fmt.Sprint(false, 0)][i] = ir.Float(d, float64(i)/8)
				}
				labels, status := make([]ir.Number, rows), make([]ir.Number, ir.StatusLen)
				for i := range labels {
					labels[i] = ir.Int(ir.Int32, int64(i))
				}
				if bad {
					labels[3] = ir.Int(ir.Int32, -1)
				}
				memory[fmt.Sprint(true, 1)] = labels
				for _, s := range steps {
					if err := ir.Verify(s.Kernel); err != nil {
						t.Fatal(err)
					}
					args := make([]interp.Arg, len(s.Args))
					for i, a := range s.Args {
						if args[i].Data = memory[fmt.Sprint(a.Leaf, a.Index)]; a.Kind == ir.Status {
							args[i].Data = status
						}
					}
					if err := interp.Run(s.Kernel, args); err != nil {
						t.Fatal(err)
					}
				}
				return fmt.Sprint(memory[fmt.Sprint(false, 1)], status[2:], status[0] > 0)
			}
			if got, want := run(steps...), run(s); got != want {
				t.Errorf("%v, a bad index: %v: steps compute %v, want %v", d, bad, got, want)
			}
		}
	}
}

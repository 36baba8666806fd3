package shape

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestReaches(t *testing.T) {
	load := func(arg int, v ir.View, src ...int) ir.Instr {
		return ir.Instr{Op: ir.Load, Arg: arg, View: &v, Src: src, Domain: ir.Axes(0, 1)}
	}
	axes := []ir.Axis{{Len: 3}, {Len: 4}}
	args := []ir.Arg{{Kind: ir.Out, Len: 12}, {Kind: ir.In}, {Kind: ir.Status}}
	for _, c := range []struct {
		name   string
		kernel ir.Kernel
		want   []Reach
	}{
		{"nothing is loaded", ir.Kernel{}, []Reach{{0, 12}, {}, {0, ir.StatusLen}}},
		{"rows", ir.Kernel{Body: []ir.Instr{load(1, ir.View{Off: 5, Coef: []int{4, 1}})}}, []Reach{{0, 12}, {5, 17}, {0, ir.StatusLen}}},
		{"backwards", ir.Kernel{Body: []ir.Instr{load(1, ir.View{Coef: []int{-4, 1}})}}, []Reach{{0, 12}, {-8, 4}, {0, ir.StatusLen}}},
		{"two views", ir.Kernel{Body: []ir.Instr{
			load(1, ir.View{Off: 2, Coef: []int{0, 1}}), load(1, ir.View{Off: 9, Coef: []int{-1, 0}}),
		}}, []Reach{{0, 12}, {2, 10}, {0, ir.StatusLen}}},
		{"a guard", ir.Kernel{Body: []ir.Instr{load(1, ir.View{Coef: []int{4, 1}, Guards: make([]ir.Guard, 1)})}}, []Reach{{0, 12}, {}, {0, ir.StatusLen}}},
		{"an index", ir.Kernel{Body: []ir.Instr{load(1, ir.View{Coef: []int{4, 1}}, 0)}}, []Reach{{0, 12}, {}, {0, ir.StatusLen}}},
		{"a scatter's base", ir.Kernel{Template: ir.Routine, Body: []ir.Instr{{Op: ir.Scatter}}}, []Reach{{0, 12}, {0, 12}, {0, ir.StatusLen}}},
	} {
		c.kernel.Axes, c.kernel.Args = axes, args
		if got := Reaches(&c.kernel); !slices.Equal(got, c.want) {
			t.Errorf("Reaches of a kernel with %s = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		r         Reach
		offset, n int
		want      bool
	}{
		{Reach{0, 4}, 0, 4, true}, {Reach{0, 4}, 1, 4, false}, {Reach{-2, 2}, 2, 4, true}, {Reach{-2, 2}, 1, 4, false},
		{Reach{}, 4, 4, true}, {Reach{}, 5, 4, false}, {Reach{}, -1, 4, false},
	} {
		if got := c.r.Within(c.offset, c.n); got != c.want {
			t.Errorf("%v.Within(%d, %d) = %v, want %v", c.r, c.offset, c.n, got, c.want)
		}
	}
}

package loopnest

import (
	"reflect"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestCanonical(t *testing.T) {
	const parallel, reduced = ir.Parallel, ir.Reduced
	load := func(coef ...int) ir.Instr { return ir.Instr{Op: ir.Load, View: &ir.View{Coef: coef}} }
	store := func(coef ...int) ir.Instr { return ir.Instr{Op: ir.Store, Src: []int{0}, View: &ir.View{Coef: coef}} }
	guarded := load(20, 4, 1)
	guarded.View.Guards = []ir.Guard{{AffineExpr: ir.AffineExpr{Coef: []int{0, 1, 0}, Div: 1}, Len: 3}}
	gather := load(0, 0, 7)
	gather.Src = []int{0}
	for _, c := range []struct {
		name string
		role [3]ir.Role // of axes of lengths 3, 5 and 4
		lens [3]int
		body []ir.Instr
		axes []ir.Axis
		coef [][]int // of the views
		rank []int
	}{
		{
			"neighbours merge", [3]ir.Role{parallel, parallel, parallel}, [3]int{3, 5, 4},
			[]ir.Instr{load(40, 8, 2), store(20, 4, 1)},
			[]ir.Axis{{Len: 60, Role: parallel}}, [][]int{{2}, {1}}, []int{0},
		}, {
			"some of them", [3]ir.Role{parallel, parallel, parallel}, [3]int{3, 5, 4},
			[]ir.Instr{load(1, 12, 3), store(20, 4, 1)},
			[]ir.Axis{{Len: 3, Role: parallel}, {Len: 20, Role: parallel}}, [][]int{{1, 3}, {20, 1}}, []int{0, 0},
		}, {
			"axes of length 1 are gone", [3]ir.Role{parallel, parallel, parallel}, [3]int{3, 1, 4},
			[]ir.Instr{load(4, 9, 1), store(4, 9, 1)},
			[]ir.Axis{{Len: 12, Role: parallel}}, [][]int{{1}, {1}}, []int{0},
		}, {
			"sorted by the store's strides", [3]ir.Role{parallel, parallel, parallel}, [3]int{3, 5, 4},
			[]ir.Instr{load(20, 4, 2), store(1, 3, 15)},
			[]ir.Axis{{Len: 4, Role: parallel}, {Len: 5, Role: parallel}, {Len: 3, Role: parallel}}, [][]int{{2, 4, 20}, {15, 3, 1}}, []int{0, 0, 0},
		}, {
			"by roles first", [3]ir.Role{reduced, parallel, reduced}, [3]int{3, 5, 4},
			[]ir.Instr{load(20, 4, 1), {Op: ir.Sum, Src: []int{0}, Axes: 5}, {Op: ir.Store, Src: []int{1}, View: &ir.View{Coef: []int{0, 1, 0}}}},
			[]ir.Axis{{Len: 5, Role: parallel}, {Len: 3, Role: reduced}, {Len: 4, Role: reduced}}, [][]int{{4, 20, 1}, {1, 0, 0}}, []int{0, 0, 0},
		}, {
			"ArgMax counts in the kernel's order", [3]ir.Role{reduced, parallel, reduced}, [3]int{3, 5, 4},
			[]ir.Instr{load(1, 12, 3), {Op: ir.ArgMax, Src: []int{0}, Axes: 5}, {Op: ir.Store, Src: []int{1}, View: &ir.View{Coef: []int{0, 1, 0}}}},
			[]ir.Axis{{Len: 5, Role: parallel}, {Len: 3, Role: reduced}, {Len: 4, Role: reduced}}, [][]int{{12, 1, 3}, {1, 0, 0}}, []int{0, 0, 0},
		}, {
			"a position keeps its axis", [3]ir.Role{parallel, parallel, parallel}, [3]int{3, 5, 4},
			[]ir.Instr{{Op: ir.Index, Axis: 2}, store(20, 4, 1)},
			[]ir.Axis{{Len: 15, Role: parallel}, {Len: 4, Role: parallel}}, [][]int{{4, 1}}, []int{0, 0},
		}, {
			"and so does a guard", [3]ir.Role{parallel, parallel, parallel}, [3]int{3, 5, 4},
			[]ir.Instr{guarded, store(20, 4, 1)},
			[]ir.Axis{{Len: 3, Role: parallel}, {Len: 5, Role: parallel}, {Len: 4, Role: parallel}}, [][]int{{20, 4, 1}, {20, 4, 1}}, []int{0, 0, 0},
		}, {
			"indices are reported by the kernel's order", [3]ir.Role{parallel, parallel, parallel}, [3]int{3, 5, 4},
			[]ir.Instr{load(1, 3, 0), gather, {Op: ir.Store, Src: []int{1}, View: &ir.View{Coef: []int{1, 3, 15}}}},
			[]ir.Axis{{Len: 4, Role: parallel}, {Len: 5, Role: parallel}, {Len: 3, Role: parallel}}, [][]int{{0, 3, 1}, {7, 0, 0}, {15, 3, 1}}, []int{0, 1, 5},
		},
	} {
		k := &ir.Kernel{Template: ir.Reduce, Args: []ir.Arg{{Kind: ir.Status}}, Body: c.body}
		for a := range c.role {
			k.Axes = append(k.Axes, ir.Axis{Len: c.lens[a], Role: c.role[a]})
		}
		for i := range k.Body {
			k.Body[i].Domain = k.Varies(i)
		}
		got := Canonical(k)
		var coef [][]int
		for _, in := range got.Body {
			if in.View != nil {
				coef = append(coef, in.View.Coef)
			}
		}
		if !reflect.DeepEqual(got.Axes, c.axes) || !reflect.DeepEqual(coef, c.coef) || !reflect.DeepEqual(got.Rank, c.rank) {
			t.Errorf("%s: Canonical gives axes %v, strides %v, rank %v, want %v, %v, %v", c.name, got.Axes, coef, got.Rank, c.axes, c.coef, c.rank)
		}
	}
}

package cpu

import (
	"cmp"
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/internal/cpu/sliding"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A slidCase is a convolution by groups, or a sum or maximum of windows like one. Axes are groups, positions y and x, taps ky
// and kx, channels of a group, and results of a group.
type slidCase struct {
	name                string
	lens                [7]int
	h, w                int // of the input
	step, dilation, off int // of both coordinates
	op                  ir.Op
	kind                string // "" by weights, "none" without, "zeros" of products that are 0 outside, "positions" summed over these
	typ                 ir.DType
	runner              string // that computes it: "across", "filter", "correlation" or ""
	stepX               int    // of x, if it is another than step
	beside              bool   // channels and groups lie innermost, in the input and the result
}

var slidCases = []slidCase{
	{"depthwise", [7]int{5, 7, 9, 3, 3, 1, 1}, 7, 9, 1, 1, -1, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"of float64", [7]int{5, 7, 9, 3, 3, 1, 1}, 7, 9, 1, 1, -1, ir.Sum, "", ir.Float64, "filter", 0, false},
	{"strided", [7]int{5, 7, 9, 3, 5, 1, 1}, 14, 18, 2, 1, -1, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"dilated", [7]int{3, 9, 12, 3, 3, 1, 1}, 9, 12, 1, 2, -2, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"strided and dilated", [7]int{3, 9, 12, 3, 3, 1, 1}, 17, 23, 2, 3, -3, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"backwards", [7]int{5, 7, 9, 3, 3, 1, 1}, 7, 9, 1, -1, 1, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"not padded", [7]int{5, 7, 9, 3, 3, 1, 1}, 9, 11, 1, 1, 0, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"not padded, strided", [7]int{5, 7, 9, 3, 3, 1, 1}, 15, 19, 2, 1, 0, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"of one axis", [7]int{5, 1, 70, 1, 4, 1, 1}, 1, 70, 1, 1, -3, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"of groups", [7]int{3, 7, 9, 3, 3, 2, 3}, 7, 9, 1, 1, -1, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"of one result", [7]int{1, 20, 21, 3, 3, 6, 1}, 20, 21, 1, 1, -1, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"its derivative by the input", [7]int{5, 7, 9, 3, 3, 1, 1}, 7, 9, 1, -1, 1, ir.Sum, "zeros", ir.Float32, "filter", 0, false},
	{"means", [7]int{5, 7, 9, 3, 3, 1, 1}, 7, 9, 1, 1, -1, ir.Sum, "none", ir.Float32, "filter", 0, false},
	{"maxima", [7]int{5, 7, 9, 3, 3, 1, 1}, 14, 18, 2, 1, -1, ir.ReduceMax, "none", ir.Float32, "filter", 0, false},
	{"maxima of planes beside each other", [7]int{37, 7, 9, 3, 3, 1, 1}, 14, 18, 2, 1, -1, ir.ReduceMax, "none", ir.Float32, "filter", 0, true},
	{"maxima of large planes beside each other", [7]int{64, 30, 41, 3, 3, 1, 1}, 30, 41, 1, 1, -1, ir.ReduceMax, "none", ir.Float32, "filter", 0, true},
	{"maxima of integers", [7]int{5, 7, 9, 3, 3, 1, 1}, 7, 9, 1, 1, -1, ir.ReduceMax, "none", ir.Int8, "filter", 0, false},
	{"its derivative by weights", [7]int{5, 7, 9, 3, 3, 1, 1}, 7, 9, 1, 1, -1, ir.Sum, "positions", ir.Float32, "correlation", 0, false},
	{"by weights of float64, strided", [7]int{5, 7, 9, 3, 5, 1, 1}, 14, 18, 2, 1, -1, ir.Sum, "positions", ir.Float64, "correlation", 0, false},
	{"by weights of groups", [7]int{3, 7, 9, 3, 3, 2, 3}, 7, 9, 1, 1, -1, ir.Sum, "positions", ir.Float32, "correlation", 0, false},
	{"by weights, not padded", [7]int{5, 30, 9, 3, 3, 1, 1}, 32, 11, 1, 1, 0, ir.Sum, "positions", ir.Float32, "correlation", 0, false},
	{"of many planes", [7]int{37, 7, 9, 3, 3, 1, 1}, 7, 9, 1, 1, -1, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes, strided", [7]int{37, 7, 9, 3, 5, 1, 1}, 14, 18, 2, 1, -1, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes, strided and dilated", [7]int{32, 9, 12, 3, 3, 1, 1}, 17, 23, 2, 3, -3, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes, backwards", [7]int{16, 7, 9, 3, 3, 1, 1}, 7, 9, 1, -1, 1, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes, not padded", [7]int{24, 7, 9, 3, 3, 1, 1}, 9, 11, 1, 1, 0, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes, not padded, strided", [7]int{24, 7, 9, 3, 3, 1, 1}, 15, 19, 2, 1, 0, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes, of one axis", [7]int{37, 1, 70, 1, 4, 1, 1}, 1, 70, 1, 1, -3, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes of one row, padded", [7]int{16, 1, 150, 3, 3, 1, 1}, 3, 150, 1, 1, -1, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"of many large planes", [7]int{19, 24, 40, 3, 3, 1, 1}, 24, 40, 1, 1, -1, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes, its derivative by the input", [7]int{37, 7, 9, 3, 3, 1, 1}, 7, 9, 1, -1, 1, ir.Sum, "zeros", ir.Float32, "across", 0, false},
	{"of many planes of two results", [7]int{37, 7, 9, 3, 3, 1, 2}, 7, 9, 1, 1, -1, ir.Sum, "", ir.Float32, "across", 0, false},
	{"of many planes, with steps beyond a row", [7]int{20, 12, 2, 3, 3, 1, 1}, 12, 4, 1, 1, -1, ir.Sum, "", ir.Float32, "across", 5, false},
	{"of many groups", [7]int{37, 7, 9, 3, 3, 2, 1}, 7, 9, 1, 1, -1, ir.Sum, "", ir.Float32, "filter", 0, false},
	{"of planes beside each other", [7]int{37, 7, 9, 3, 3, 1, 1}, 7, 9, 1, 1, -1, ir.Sum, "", ir.Float32, "across", 0, true},
	{"of planes beside each other, strided and dilated", [7]int{32, 9, 12, 3, 3, 1, 1}, 17, 23, 2, 3, -3, ir.Sum, "", ir.Float32, "across", 0, true},
	{"of planes beside each other, not padded", [7]int{24, 7, 9, 3, 3, 1, 1}, 9, 11, 1, 1, 0, ir.Sum, "", ir.Float32, "across", 0, true},
	{"of planes beside each other, of one axis", [7]int{37, 1, 70, 1, 4, 1, 1}, 1, 70, 1, 1, -3, ir.Sum, "", ir.Float32, "across", 0, true},
	{"of large planes beside each other", [7]int{17, 50, 60, 3, 3, 1, 1}, 50, 60, 1, 1, -1, ir.Sum, "", ir.Float32, "across", 0, true},
	{"of large planes beside each other, strided", [7]int{16, 50, 60, 5, 3, 1, 1}, 102, 119, 2, 1, -1, ir.Sum, "", ir.Float32, "across", 0, true},
	{"of large planes beside each other, padded much", [7]int{16, 58, 60, 3, 3, 1, 1}, 4, 60, 1, 1, -27, ir.Sum, "", ir.Float32, "across", 0, true},
	{"of many planes beside each other", [7]int{133, 9, 11, 3, 3, 1, 1}, 9, 11, 1, 1, -1, ir.Sum, "", ir.Float32, "across", 0, true},
	{"of many large planes beside each other", [7]int{72, 30, 41, 3, 5, 1, 1}, 60, 82, 2, 1, -1, ir.Sum, "", ir.Float32, "across", 0, true},
	{"without overlap", [7]int{5, 7, 9, 2, 2, 1, 1}, 14, 18, 2, 1, 0, ir.Sum, "", ir.Float32, "", 0, false},
	{"of many results", [7]int{1, 7, 9, 3, 3, 2, 40}, 7, 9, 1, 1, -1, ir.Sum, "", ir.Float32, "", 0, false},
}

func (c slidCase) kernel() *ir.Kernel {
	role := map[bool]ir.Role{false: ir.Parallel, true: ir.Reduced}
	l, byTaps := c.lens, c.kind == "positions"
	reduced := ir.Axes(3, 4, 5)
	if byTaps {
		reduced = ir.Axes(1, 2)
	}
	k := &ir.Kernel{Template: ir.Reduce}
	for a, n := range l {
		k.Axes = append(k.Axes, ir.Axis{Len: n, Role: role[reduced.Has(a)]})
	}
	if c.kind == "" && l[6] > 1 {
		k.Template = ir.Contraction
		for a, r := range []ir.Role{ir.Batch, ir.M, ir.M, ir.K, ir.K, ir.K, ir.N} {
			k.Axes[a].Role = r
		}
	}
	fill := ir.Float(c.typ, 0)
	if c.op == ir.ReduceMax {
		fill = ir.Identity(ir.ReduceMax, c.typ)
	}
	plane, stepX := c.h*c.w, cmp.Or(c.stepX, c.step)
	x := &ir.View{Off: c.off * (c.w + 1), Coef: []int{l[5] * plane, c.step * c.w, stepX, c.dilation * c.w, c.dilation, plane, 0}, Fill: fill}
	if l[1] == 1 {
		x.Off = c.off
	}
	results := []int{l[6] * l[1] * l[2], l[2], 1, 0, 0, 0, l[1] * l[2]}
	if c.beside {
		for a, by := range []int{plane, 1, 1, 1, 1, plane, 1} {
			if x.Coef[a] /= by; by == 1 {
				x.Coef[a] *= l[0] * l[5]
			}
		}
		x.Off *= l[0] * l[5]
		results = []int{l[6], l[2] * l[0] * l[6], l[0] * l[6], 0, 0, 0, 1}
	}
	var guards []ir.Guard
	for i, n := range []int{c.h, c.w} {
		g := ir.Guard{AffineExpr: ir.AffineExpr{Off: c.off, Coef: make([]int, 7), Div: 1}, Len: n}
		g.Coef[1+i], g.Coef[3+i] = []int{c.step, stepX}[i], c.dilation
		if c.off != 0 && l[1+i] > 1 {
			guards = append(guards, g)
		}
	}
	x.Guards = guards
	add := func(in ir.Instr) int {
		k.Body = append(k.Body, in)
		k.Body[len(k.Body)-1].Domain = k.Varies(len(k.Body) - 1)
		return len(k.Body) - 1
	}
	k.Args = []ir.Arg{in(c.typ), in(c.typ), out(c.typ, 0)}
	v := add(ir.Instr{Op: ir.Load, Type: c.typ, Arg: 0, View: x})
	if byTaps {
		results = []int{l[6] * l[5] * l[3] * l[4], 0, 0, l[4], 1, l[3] * l[4], l[5] * l[3] * l[4]}
		v = add(apply(ir.Mul, c.typ, add(read(c.typ, 1, l[6]*l[1]*l[2], l[2], 1, 0, 0, 0, l[1]*l[2])), v))
	} else if c.kind != "none" {
		y := read(c.typ, 1, l[6]*l[5]*l[3]*l[4], 0, 0, l[4], 1, l[3]*l[4], l[5]*l[3]*l[4])
		if c.kind == "zeros" {
			y.View.Guards = guards
		}
		v = add(apply(ir.Mul, c.typ, v, add(y)))
	}
	if c.kind == "zeros" {
		inside := add(ir.Instr{Op: ir.InBounds, Type: ir.Bool, View: &ir.View{Guards: guards}})
		v = add(apply(ir.Where, c.typ, inside, v, add(ir.Instr{Op: ir.Const, Type: c.typ, Num: ir.Float(c.typ, 0)})))
	}
	v = add(sumOver(c.op, c.typ, v, reduced))
	v = add(apply(ir.Add, c.typ, v, v))
	add(write(c.typ, v, 2, results...))
	k.Args[2].Len = 1
	for a, n := range l {
		k.Args[2].Len += results[a] * (n - 1)
	}
	return k
}

// TestSliding compares sums and maxima of windows with the interpreter's, at several tunings, and says
// which runner computes them.
func TestSliding(t *testing.T) {
	for _, c := range slidCases {
		k := c.kernel()
		if err := ir.Verify(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for name, tune := range tunings {
			s := &vector.Space{Nest: loopnest.Canonical(k), Tune: &tune}
			got, want := "", c.runner
			if want == "across" && (simd.Filters[c.typ].Across == nil || tune.MaxWholeReduction < vector.DefaultTuning.MaxWholeReduction) {
				if want = "filter"; c.stepX > 0 || c.beside {
					want = "" // rows of the result lie in another order
				}
			}
			if sliding.NewAcross(s) != nil {
				got = "across"
			} else if sliding.NewFilter(s) != nil {
				got = "filter"
			} else if sliding.NewCorrelation(s) != nil {
				got = "correlation"
			}
			if got != want {
				t.Errorf("%s, %s: the runner is %q, want %q", c.name, name, got, want)
			}
			d := New(Options{Threads: 3}).(*device)
			d.Tune = tune
			m := &maker{Rand: rand.New(rand.NewPCG(1, 2)), k: k, exact: make([]bool, len(k.Body))}
			l := c.lens
			for i, n := range []int{l[0] * l[5] * c.h * c.w, l[0] * l[6] * max(l[5]*l[3]*l[4], l[1]*l[2]), k.Args[2].Len} {
				data := make([]ir.Number, n)
				for j := range data {
					data[j] = ir.Int(c.typ, int64((j*7+i)%13-6))
				}
				m.args = append(m.args, interp.Arg{Data: data})
			}
			check(t, d, m, 0)
		}
	}
}

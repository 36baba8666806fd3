package loopnest

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestLevels(t *testing.T) {
	body := []ir.Instr{
		{Op: ir.Load},
		{Op: ir.ReduceMax, Src: []int{0}},
		{Op: ir.Sub, Src: []int{0, 1}},
		{Op: ir.Sum, Src: []int{2}},
		{Op: ir.Sum, Src: []int{0}},
		{Op: ir.Div, Src: []int{4, 3}},
	}
	if got, want := Levels(body), []int{0, 1, 1, 2, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("Levels: %v, want %v", got, want)
	}
}

func TestFactors(t *testing.T) {
	const m, n, k = 1, 2, 4
	for _, c := range []struct {
		first, second ir.AxisSet // domains of the product's operands
		left          int
	}{
		{m | k, n | k, 0},
		{n | k, m | k, 1},
		{k, m | k, 1},
		{n | k, k, 1},
		{k, k, 0},
	} {
		body := []ir.Instr{{Domain: c.first}, {Domain: c.second}, {Op: ir.Mul, Src: []int{0, 1}}, {Op: ir.Sum, Src: []int{2}}}
		if sum, left, right := Factors(body, m, n); sum != 3 || left != c.left || right != 1-c.left {
			t.Errorf("Factors of operands over %b and %b: %d, %d, %d, want 3, %d, %d", c.first, c.second, sum, left, right, c.left, 1-c.left)
		}
	}
}

func TestSeparates(t *testing.T) {
	for _, c := range []struct {
		index, stride int
		axes, coef    []int
		want          bool
	}{
		{10, 64, []int{5, 64}, []int{0, 1}, true},  // rows of 64
		{10, 1, []int{5, 64}, []int{0, 10}, true},  // columns of 10
		{10, 1, []int{5, 64}, []int{0, 9}, false},  // that overlap
		{10, 64, []int{5, 64}, []int{1, 1}, false}, // two axes of equal stride
		{10, 64, []int{1, 64}, []int{1, -1}, true}, // of which one has a single position
		{1, 0, []int{4}, []int{1}, true},           // an index that names one place
		{2, 0, []int{4}, []int{1}, false},          // or leads nowhere
		{3, 8, []int{2, 4}, []int{4, 1}, true},     // tiles
		{3, 7, []int{2, 4}, []int{4, 1}, false},
	} {
		var axes []ir.Axis
		for _, n := range c.axes {
			axes = append(axes, ir.Axis{Len: n})
		}
		v := &ir.View{Coef: c.coef, Stride: c.stride, Len: c.index}
		if got := Separates(v, axes); got != c.want {
			t.Errorf("Separates of %d·index<%d over %v with %v: %v, want %v", c.stride, c.index, c.axes, c.coef, got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	type result struct {
		steps, most int
		perPart     float64
		parts, each int
	}
	for _, c := range []struct {
		name  string
		split func(steps, most int, cost func(parts, each int) float64) (parts, each int, least float64)
		want  []result
	}{
		{"Split", Split, []result{
			{100, 1, 0, 1, 100},
			{100, 0, 0, 1, 100},
			{100, 64, 0, 50, 2},
			{100, 128, 0, 100, 1},
			{100, 64, 10, 4, 25},
			{7, 4, 0, 4, 2},
			{1, 8, 0, 1, 1},
		}},
		{"SplitAny", SplitAny, []result{
			{100, 1, 0, 1, 100},
			{100, 0, 0, 1, 100},
			{100, 64, 0, 50, 2},
			{100, 7, 0, 7, 16},
			{1024, 7, 0, 7, 148},
			{100, 64, 10, 3, 34},
			{99, 64, 0, 50, 2},
			{99, 7, 0, 7, 15},
			{1, 8, 0, 1, 1},
		}},
	} {
		for _, r := range c.want {
			parts, each, _ := c.split(r.steps, r.most, func(parts, each int) float64 { return float64(each) + r.perPart*float64(parts) })
			if parts != r.parts || each != r.each {
				t.Errorf("%s(%d, %d), parts that cost %v: %d of %d, want %d of %d", c.name, r.steps, r.most, r.perPart, parts, each, r.parts, r.each)
			}
		}
	}
}

func TestColumnMajor(t *testing.T) {
	for _, c := range []struct {
		coef []int // of the result, along M and N
		want bool
	}{{[]int{4, 1}, false}, {[]int{1, 4}, true}, {[]int{2, 6}, true}, {[]int{-1, 4}, true}, {[]int{0, 1}, false}, {[]int{1, 0}, true}} {
		n := Nest{Kernel: &ir.Kernel{Axes: []ir.Axis{{Len: 4, Role: ir.M}, {Len: 4, Role: ir.N}}, Body: []ir.Instr{{Op: ir.Store, View: &ir.View{Coef: c.coef}}}}}
		if got := n.ColumnMajor(); got != c.want {
			t.Errorf("ColumnMajor of a result with strides %v: %v, want %v", c.coef, got, c.want)
		}
	}
}

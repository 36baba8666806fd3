package images

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// TestSplit: a view of an image with channels innermost leads to the element at the same batch, channel and position, at
// each point where its guards hold.
func TestSplit(t *testing.T) {
	const batch, channels, height, width = 2, 3, 4, 5
	m := &image{channels: channels, positions: height * width}
	guard := func(off, n int, coef ...int) ir.Guard {
		return ir.Guard{AffineExpr: ir.AffineExpr{Off: off, Coef: coef, Div: 1}, Len: n}
	}
	padded := []ir.Guard{guard(-1, height, 0, 0, 1, 0, 1, 0), guard(-1, width, 0, 0, 0, 1, 0, 1)}
	for _, c := range []struct {
		name string
		lens []int
		view ir.View
		ok   bool
	}{
		{"all", []int{2, 3, 4, 5}, ir.View{Coef: []int{60, 20, 5, 1}}, true},
		{"joined positions", []int{2, 3, 20}, ir.View{Coef: []int{60, 20, 1}}, true},
		{"a part", []int{2, 2, 2}, ir.View{Off: 60 + 20 + 7, Coef: []int{20, 5, 2}}, true},
		{"padded windows", []int{2, 3, 4, 5, 3, 3}, ir.View{Off: -6, Coef: []int{60, 20, 5, 1, 5, 1}, Guards: padded}, true},
		{"windows of the second image", []int{1, 3, 4, 5, 3, 3}, ir.View{Off: 54, Coef: []int{0, 20, 5, 1, 5, 1}, Guards: padded}, true},
		{"windows without padding", []int{3, 2, 3, 3, 3}, ir.View{Coef: []int{20, 5, 1, 5, 1}}, true},
		{"positions beyond a plane", []int{2, 4, 5}, ir.View{Off: 5, Coef: []int{20, 5, 1}}, false},
		{"joined channels and positions", []int{2, 60}, ir.View{Coef: []int{60, 1}}, false},
		{"backwards", []int{3, 20}, ir.View{Off: 19, Coef: []int{20, -1}}, false},
		{"channels and positions of one axis", []int{3}, ir.View{Coef: []int{25}}, false},
		{"a guard of another sum", []int{2, 3, 4, 5, 3, 3}, ir.View{Off: -6, Coef: []int{60, 20, 5, 1, 5, 1}, Guards: padded[:1]}, false},
	} {
		var axes []ir.Axis
		for _, n := range c.lens {
			axes = append(axes, ir.Axis{Len: n})
		}
		u := imageUse{view: &c.view}
		if _, ok := m.split(&u, axes); ok != c.ok {
			t.Errorf("%s: split: %v, want %v", c.name, ok, c.ok)
		}
		if !c.ok {
			continue
		}
		eachPoint(c.lens, func(at []int) {
			from, to := c.view.Off, u.off
			for a, i := range at {
				from, to = from+i*c.view.Coef[a], to+i*u.coef[a]
			}
			for _, g := range c.view.Guards {
				x := g.Off
				for a, i := range at {
					x += i * g.Coef[a]
				}
				if x < 0 || x >= g.Len {
					return
				}
			}
			n, p := from/(height*width*channels), from%(height*width)
			if want := (n*height*width+p)*channels + from/(height*width)%channels; to != want {
				t.Fatalf("%s: at %v element %d is at %d, want %d", c.name, at, from, to, want)
			}
		})
	}
}

// eachPoint calls f for each point of a space.
func eachPoint(lens []int, f func(at []int)) {
	all := 1
	for _, n := range lens {
		all *= n
	}
	at := make([]int, len(lens))
	for i := range all {
		for a := len(lens) - 1; a >= 0; a-- {
			at[a] = i % lens[a]
			i /= lens[a]
		}
		f(at)
	}
}

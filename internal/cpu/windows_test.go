package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/internal/cpu/product"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A windowed is a product of windows of x, [c, h], with a matrix that varies over the columns
// and the depth. Axes 0 and 1 are rows, 2 the columns, 3 and 4 the depth.
type windowed struct {
	name string
	lens [5]int // of the axes
	c, h int
	at   [2][5]int // coefficients of the coordinates in x
	off  int       // of the second
	relu bool      // of x
	find bool      // the factor is windows
}

var windowedCases = []windowed{
	{"padded", [5]int{3, 9, 5, 4, 3}, 4, 9, [2][5]int{{0, 0, 0, 1}, {0, 1, 0, 0, 1}}, -1, false, true},
	{"with elementwise work", [5]int{3, 9, 5, 4, 3}, 4, 9, [2][5]int{{0, 0, 0, 1}, {0, 1, 0, 0, 1}}, -1, true, true},
	{"not padded", [5]int{1, 30, 5, 4, 3}, 4, 32, [2][5]int{{0, 0, 0, 1}, {0, 1, 0, 0, 1}}, 0, false, true},
	{"backwards", [5]int{1, 9, 5, 4, 3}, 4, 9, [2][5]int{{0, 0, 0, 1}, {0, 1, 0, 0, -1}}, 1, false, true},
	{"strided and dilated", [5]int{1, 20, 5, 4, 5}, 4, 43, [2][5]int{{0, 0, 0, 1}, {0, 2, 0, 0, 2}}, -2, false, true},
	{"of a channel each", [5]int{6, 3, 5, 2, 20}, 12, 20, [2][5]int{{1, 0, 0, 6}, {0, 1, 0, 0, 1}}, -1, false, true},
	{"of two coordinates", [5]int{7, 9, 5, 3, 3}, 8, 10, [2][5]int{{1, 0, 0, 1}, {0, 1, 0, 0, 1}}, -1, false, true},
	{"of the longer axis of rows", [5]int{30, 3, 5, 2, 9}, 60, 9, [2][5]int{{2, 0, 0, 1}, {0, 1, 0, 0, 1}}, -1, false, true},
	{"far apart", [5]int{1, 3, 5, 1, 3}, 1, 3000, [2][5]int{{0, 0, 0, 1}, {0, 1, 0, 0, 1400}}, -1, false, false},
	{"that do not overlap", [5]int{1, 9, 5, 4, 3}, 4, 27, [2][5]int{{0, 0, 0, 1}, {0, 3, 0, 0, 1}}, -1, false, false},
	{"a matrix", [5]int{1, 9, 5, 1, 8}, 9, 8, [2][5]int{{0, 1, 0, 0, 0}, {0, 0, 0, 0, 1}}, 0, false, false},
}

// kernel is the kernel with the windows as the left or the right factor of its product.
func (c windowed) kernel(left bool) *ir.Kernel {
	roles := []ir.Role{ir.M, ir.M, ir.N, ir.K, ir.K}
	if !left {
		roles = []ir.Role{ir.N, ir.N, ir.M, ir.K, ir.K}
	}
	var axes []ir.Axis
	for i, n := range c.lens {
		axes = append(axes, ir.Axis{Len: n, Role: roles[i]})
	}
	v := &ir.View{Off: c.off, Coef: make([]int, len(axes)), Fill: ir.Float(f32, 0)}
	for i, n := range []int{c.c, c.h} {
		coef, least, most := c.at[i][:], []int{0, c.off}[i], []int{0, c.off}[i]
		for a, x := range coef {
			v.Coef[a] += x * []int{c.h, 1}[i]
			least += min(0, x*(c.lens[a]-1))
			most += max(0, x*(c.lens[a]-1))
		}
		if least < 0 || most >= n {
			v.Guards = append(v.Guards, ir.Guard{AffineExpr: ir.AffineExpr{Off: []int{0, c.off}[i], Coef: coef, Div: 1}, Len: n})
		}
	}
	l := c.lens
	body := []ir.Instr{{Op: ir.Load, Type: f32, Arg: 0, View: v}}
	if c.relu {
		body = append(body, ir.Instr{Op: ir.Const, Type: f32, Num: ir.Float(f32, 0.5)}, apply(ir.Max, f32, 0, 1))
	}
	x := len(body) - 1
	body = append(body, read(f32, 1, 0, 0, 1, l[2]*l[4], l[2]))
	factors := []int{x, x + 1}
	if !left {
		factors = []int{x + 1, x}
	}
	body = append(body, apply(ir.Mul, f32, factors...), sumOver(ir.Sum, f32, x+2, 0x18), write(f32, x+3, 2, l[1]*l[2], l[2], 1, 0, 0))
	return kernel(ir.Contraction, axes, []ir.Arg{in(f32), in(f32), out(f32, l[0]*l[1]*l[2])}, body...)
}

// TestWindows compares products of windows with the interpreter's, at several tunings, and says
// which factors are windows.
func TestWindows(t *testing.T) {
	for _, c := range windowedCases {
		for _, left := range []bool{true, false} {
			k := c.kernel(left)
			if err := ir.Verify(k); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for name, tune := range tunings {
				if r, _ := product.NewContract(&vector.Space{Nest: loopnest.Canonical(k), Tune: &tune}); name == "default" && r.ReadsWindows() != c.find {
					t.Errorf("windows %s are found: %v, want %v", c.name, r.ReadsWindows(), c.find)
				}
				d := New(Options{Threads: 3}).(*device)
				d.Tune = tune
				m := &maker{Rand: rand.New(rand.NewPCG(1, 2)), k: k, exact: make([]bool, len(k.Body))}
				for i, n := range []int{c.c * c.h, c.lens[2] * c.lens[3] * c.lens[4], k.Args[2].Len} {
					data := make([]ir.Number, n)
					for j := range data {
						data[j] = ir.Float(f32, float64((j*7+i)%13-6))
					}
					m.args = append(m.args, interp.Arg{Data: data})
				}
				check(t, d, m, 0)
			}
		}
	}
}

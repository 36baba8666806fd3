package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/cpu/product"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// convolution is a kernel of windows of 3 by 3 of images [n height width c], or [n c height width], with weights
// [c 3 3 outputs], and Max(sum, 0.5) of the sums. A step of -1 slides backwards along the rows.
type convolution struct {
	name                        string
	n, height, width, c, output int
	pad, stride, step           int
	planes                      bool // channels are outermost
	alike                       bool // all channels are one in memory
	right                       bool // windows are the right factor
	pays                        bool
}

func (c convolution) kernel() *ir.Kernel {
	h, w := (c.height+2*c.pad-3)/c.stride+1, (c.width+2*c.pad-3)/c.stride+1
	row, col := ir.M, ir.N
	if c.right {
		row, col = ir.N, ir.M
	}
	axes := []ir.Axis{{Len: c.n, Role: row}, {Len: h, Role: row}, {Len: w, Role: row}, {Len: c.output, Role: col}, {Len: c.c, Role: ir.K}, {Len: 3, Role: ir.K}, {Len: 3, Role: ir.K}}
	image, down, along, channel := c.height*c.width*c.c, c.width*c.c, c.c, 1
	if c.planes {
		down, along, channel = c.width, 1, c.height*c.width
	}
	if c.alike {
		image, down, along, channel = c.height*c.width, c.width, 1, 0
	}
	off := -c.pad
	if c.step < 0 {
		off = 2 - c.pad
	}
	v := &ir.View{Off: off*down - c.pad*along, Fill: ir.Float(f32, 0)}
	v.Coef = []int{image, c.stride * down, c.stride * along, 0, channel, c.step * down, along}
	v.Guards = []ir.Guard{
		{AffineExpr: ir.AffineExpr{Off: off, Coef: []int{0, c.stride, 0, 0, 0, c.step, 0}, Div: 1}, Len: c.height},
		{AffineExpr: ir.AffineExpr{Off: -c.pad, Coef: []int{0, 0, c.stride, 0, 0, 0, 1}, Div: 1}, Len: c.width},
	}
	body := []ir.Instr{{Op: ir.Load, Type: f32, Arg: 0, View: v}, read(f32, 1, 0, 0, 0, 1, 9*c.output, 3*c.output, c.output)}
	factors := []int{0, 1}
	if c.right {
		factors = []int{1, 0}
	}
	body = append(body, apply(ir.Mul, f32, factors...), sumOver(ir.Sum, f32, 2, 0x70), ir.Instr{Op: ir.Const, Type: f32, Num: ir.Float(f32, 0.5)}, apply(ir.Max, f32, 3, 4), write(f32, 5, 2, h*w*c.output, w*c.output, c.output, 1, 0, 0, 0))
	return kernel(ir.Contraction, axes, []ir.Arg{in(f32), in(f32), out(f32, c.n*h*w*c.output)}, body...)
}

// TestWinograd compares convolutions with the interpreter's, at several tunings, and says which are computed by
// Winograd's algorithm. Infinities and greatest numbers reach the results that read them, as they are.
func TestWinograd(t *testing.T) {
	for _, c := range []convolution{
		{"even", 5, 4, 6, 17, 40, 1, 1, 1, false, false, false, true},
		{"odd", 7, 5, 5, 16, 17, 1, 1, 1, false, false, false, true},
		{"backwards", 4, 6, 5, 16, 17, 1, 1, -1, false, false, false, true},
		{"in planes", 4, 5, 6, 16, 17, 1, 1, 1, true, false, false, true},
		{"the right factor", 4, 5, 6, 16, 17, 1, 1, 1, false, false, true, true},
		{"wide padding", 4, 5, 4, 16, 17, 2, 1, 1, false, false, false, true},
		{"long rows", 1, 2, 257, 16, 17, 1, 1, 1, false, false, false, true},
		{"channels alike", 4, 5, 6, 16, 17, 1, 1, 1, false, true, false, false},
		{"two apart", 1, 9, 9, 16, 17, 1, 2, 1, false, false, false, false},
		{"few channels", 1, 9, 9, 3, 5, 1, 1, 1, false, false, false, false},
	} {
		k := c.kernel()
		if err := ir.Verify(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for name, tune := range tunings {
			if r := product.NewWinograd(&vector.Space{Nest: loopnest.Canonical(k), Tune: &tune}); name == "default" && simd.Products[f32].Cols == 32 && (r != nil) != c.pays {
				t.Errorf("%s: by Winograd's algorithm: %v, want %v", c.name, r != nil, c.pays)
			}
			for _, special := range []float64{1, math.Inf(1), math.MaxFloat32} {
				if special != 1 && name != "default" || name != "default" && c.name != "odd" {
					continue
				}
				d := New(Options{Threads: 3}).(*device)
				d.Tune = tune
				m := &maker{Rand: rand.New(rand.NewPCG(1, 2)), k: k, exact: slices.Repeat([]bool{true}, len(k.Body))}
				for i, n := range []int{c.n * c.height * c.width * c.c, 9 * c.c * c.output, k.Args[2].Len} {
					data := make([]ir.Number, n)
					for j := range data {
						data[j] = ir.Float(f32, float64((j*7+i)%13-6)*[]float64{1, 4, 1}[i])
					}
					m.args = append(m.args, interp.Arg{Data: data})
				}
				m.args[0].Data[len(m.args[0].Data)/3] = ir.Float(f32, special)
				check(t, d, m, 0)
			}
		}
	}
}

// TestWinogradError: sums in order have no smaller errors, in the mean of squares.
func TestWinogradError(t *testing.T) {
	c := convolution{"", 1, 14, 14, 64, 64, 1, 1, 1, false, false, false, true}
	random := rand.New(rand.NewPCG(1, 2))
	x := newCall(t, New(Options{}), c.kernel(), 14*14*64, 9*64*64, 14*14*64)
	for i := range 2 {
		for j := range x.floats(i) {
			x.floats(i)[j] = float32(random.NormFloat64())
		}
	}
	x.run(t)
	image, weights, result := x.floats(0), x.floats(1), x.floats(2)
	var errors, direct float64
	for i := range result {
		sum, float := 0.0, float32(0)
		for k := range 9 * 64 {
			y, x := i/64/14+k/3%3-1, i/64%14+k%3-1
			if y >= 0 && y < 14 && x >= 0 && x < 14 {
				a, b := image[(y*14+x)*64+k/9], weights[k*64+i%64]
				sum += float64(a) * float64(b)
				float += a * b
			}
		}
		if sum > 0.5 { // the results are at least that
			errors += (float64(result[i]) - sum) * (float64(result[i]) - sum)
			direct += (float64(float) - sum) * (float64(float) - sum)
		}
	}
	if errors > direct {
		t.Errorf("errors are %.2f times as great as if sums were in order", math.Sqrt(errors/direct))
	}
}

// TestWinogradThreads: any number of threads computes the same bits, also beside infinities.
func TestWinogradThreads(t *testing.T) {
	c := convolution{"", 1, 28, 28, 64, 96, 1, 1, 1, false, false, false, true}
	var first []float32
	for _, threads := range []int{1, 2, 7} {
		random := rand.New(rand.NewPCG(1, 2))
		x := newCall(t, New(Options{Threads: threads}), c.kernel(), 28*28*64, 9*64*96, 28*28*96)
		for i := range 2 {
			for j := range x.floats(i) {
				x.floats(i)[j] = float32(random.NormFloat64())
			}
		}
		x.floats(0)[20000] = float32(math.Inf(1))
		x.run(t)
		if first == nil {
			first = slices.Clone(x.floats(2))
		}
		for i, y := range x.floats(2) {
			if math.Float32bits(y) != math.Float32bits(first[i]) {
				t.Fatalf("%d threads: result %d is %v, want %v", threads, i, y, first[i])
			}
		}
	}
}

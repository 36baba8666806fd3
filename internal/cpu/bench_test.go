package cpu

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/ir"
)

// kernel fills in the axes over which instructions vary.
func kernel(s ir.Template, axes []ir.Axis, args []ir.Arg, body ...ir.Instr) *ir.Kernel {
	k := &ir.Kernel{Template: s, Axes: axes, Args: args, Body: body}
	for i := range body {
		body[i].Domain = k.Varies(i)
	}
	return k
}

func by(coef ...int) *ir.View { return &ir.View{Coef: coef} }

func in(d ir.DType) ir.Arg { return ir.Arg{Kind: ir.In, DType: d} }

func out(d ir.DType, n int) ir.Arg { return ir.Arg{Kind: ir.Out, DType: d, Len: n} }

func read(d ir.DType, arg int, coef ...int) ir.Instr {
	return ir.Instr{Op: ir.Load, Type: d, Arg: arg, View: by(coef...)}
}

func write(d ir.DType, src, arg int, coef ...int) ir.Instr {
	return ir.Instr{Op: ir.Store, Type: d, Src: []int{src}, Arg: arg, View: by(coef...)}
}

func apply(o ir.Op, d ir.DType, src ...int) ir.Instr { return ir.Instr{Op: o, Type: d, Src: src} }

func sumOver(o ir.Op, d ir.DType, src int, axes ir.AxisSet) ir.Instr {
	return ir.Instr{Op: o, Type: d, Src: []int{src}, Axes: axes}
}

// A call is a program with its buffers, ready to run again and again.
type call struct {
	driver.Device
	calls []driver.Call
}

// newCall compiles a kernel and gives each argument so many elements, of
// small numbers; a Value is 0.5.
func newCall(tb testing.TB, d driver.Device, k *ir.Kernel, lens ...int) *call {
	tb.Helper()
	if err := ir.Verify(k); err != nil {
		tb.Fatal(err)
	}
	p, err := d.Compile(k)
	if err != nil {
		tb.Fatal(err)
	}
	c := driver.Call{Program: p}
	for i, a := range k.Args {
		arg := driver.Arg{Num: ir.Float(a.DType, 0.5)}
		if a.Kind != ir.Value {
			if arg.Buffer, err = d.Alloc(lens[i] * a.DType.Size()); err != nil {
				tb.Fatal(err)
			}
			data := arg.Buffer.(*buffer).data
			for j := range lens[i] {
				vector.Put(unsafe.Pointer(&data[j*a.DType.Size()]), a.DType, ir.Float(a.DType, float64((j*7919+i)%97)/32))
			}
		}
		c.Args = append(c.Args, arg)
	}
	return &call{d, []driver.Call{c}}
}

func (c *call) run(tb testing.TB) {
	if err := c.Run(c.calls); err != nil {
		tb.Fatal(err)
	}
}

// floats is the float32 elements of argument i.
func (c *call) floats(i int) []float32 {
	data := c.calls[0].Args[i].Buffer.(*buffer).data
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/4)
}

// bench runs a kernel again and again, and reports its speed from the bytes
// it has to move and the operations it has to do.
func bench(b *testing.B, k *ir.Kernel, bytes, flops int, lens ...int) {
	c := newCall(b, New(Options{}), k, lens...)
	c.run(b)
	b.ReportAllocs()
	for b.Loop() {
		c.run(b)
	}
	s := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(bytes)/s/1e9, "GB/s")
	if flops > 0 {
		b.ReportMetric(float64(flops)/s/1e9, "GFLOP/s")
	}
}

const f32 = ir.Float32

// chain is relu((a+b)·c − d)·0.5 + 0.25 over n elements: six operations.
func chain(n int) *ir.Kernel {
	return kernel(ir.Pointwise, []ir.Axis{{Len: n, Role: ir.Parallel}}, []ir.Arg{in(f32), in(f32), in(f32), in(f32), out(f32, n)},
		read(f32, 0, 1), read(f32, 1, 1), apply(ir.Add, f32, 0, 1),
		read(f32, 2, 1), apply(ir.Mul, f32, 2, 3),
		read(f32, 3, 1), apply(ir.Sub, f32, 4, 5),
		ir.Instr{Op: ir.Const, Type: f32, Num: ir.Float(f32, 0.5)}, apply(ir.Mul, f32, 6, 7),
		ir.Instr{Op: ir.Const, Type: f32, Num: ir.Float(f32, 0.25)}, apply(ir.Add, f32, 8, 9),
		ir.Instr{Op: ir.Const, Type: f32}, apply(ir.Max, f32, 10, 11),
		write(f32, 12, 4, 1))
}

func BenchmarkChain(b *testing.B) {
	const n = 16 << 20
	c := newCall(b, New(Options{}), chain(n), n, n, n, n, n)
	c.run(b)
	perByte := func(b *testing.B) { b.ReportMetric(float64(5*4*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s") }
	b.Run("kernel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.run(b)
		}
		perByte(b)
	})
	b.Run("loop on one core", func(b *testing.B) {
		x, y, z, w, v := c.floats(0), c.floats(1), c.floats(2), c.floats(3), c.floats(4)
		for b.Loop() {
			for i := range v {
				r := ((x[i]+y[i])*z[i]-w[i])*0.5 + 0.25
				if r < 0 {
					r = 0
				}
				v[i] = r
			}
		}
		perByte(b)
	})
}

// matmul is relu(x·w + b) of m×k and k×n.
func matmul(m, n, k int) *ir.Kernel {
	return kernel(ir.Contraction, []ir.Axis{{Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: k, Role: ir.K}},
		[]ir.Arg{in(f32), in(f32), in(f32), out(f32, m*n)},
		read(f32, 0, k, 0, 1), read(f32, 1, 0, 1, n), apply(ir.Mul, f32, 0, 1), sumOver(ir.Sum, f32, 2, 4),
		read(f32, 2, 0, 1, 0), apply(ir.Add, f32, 3, 4), ir.Instr{Op: ir.Const, Type: f32}, apply(ir.Max, f32, 5, 6),
		write(f32, 7, 3, n, 1, 0))
}

// matmulT is x·wᵀ of m×k and n×k.
func matmulT(m, n, k int) *ir.Kernel {
	return kernel(ir.Contraction, []ir.Axis{{Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: k, Role: ir.K}},
		[]ir.Arg{in(f32), in(f32), out(f32, m*n)},
		read(f32, 0, k, 0, 1), read(f32, 1, 0, k, 1), apply(ir.Mul, f32, 0, 1), sumOver(ir.Sum, f32, 2, 4),
		write(f32, 3, 2, n, 1, 0))
}

func BenchmarkMatMul(b *testing.B) {
	for _, s := range [][3]int{{64, 64, 128}, {64, 10, 128}, {64, 128, 64}, {512, 512, 512}, {1024, 1024, 1024}, {300, 300, 3000}, {64, 64, 1 << 16}} {
		m, n, k := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
			bench(b, matmul(m, n, k), 4*(m*k+k*n+m*n), 2*m*n*k, m*k, k*n, n, m*n)
		})
	}
}

// BenchmarkLinear multiplies m×k by the transpose of n×k, as a linear layer does.
func BenchmarkLinear(b *testing.B) {
	for _, s := range [][3]int{{512, 512, 512}, {64, 512, 784}, {32, 3072, 768}, {128, 2304, 768}, {512, 128, 512}, {2, 1024, 1024}, {4, 4096, 4096}, {4096, 4, 4096}} {
		m, n, k := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
			bench(b, matmulT(m, n, k), 4*(m*k+k*n+m*n), 2*m*n*k, m*k, k*n, m*n)
		})
	}
}

// BenchmarkInt8MatMul multiplies matrices of int8; the right one may be transposed.
func BenchmarkInt8MatMul(b *testing.B) {
	const i8, i32 = ir.Int8, ir.Int32
	for _, n := range []int{256, 1024} {
		for name, right := range map[string]ir.Instr{"": read(i8, 1, 0, 1, n), " transposed": read(i8, 1, 0, n, 1)} {
			b.Run(fmt.Sprint(n, name), func(b *testing.B) {
				bench(b, kernel(ir.Contraction, []ir.Axis{{Len: n, Role: ir.M}, {Len: n, Role: ir.N}, {Len: n, Role: ir.K}},
					[]ir.Arg{in(i8), in(i8), out(i32, n*n)},
					read(i8, 0, n, 0, 1), apply(ir.Cast, i32, 0), right, apply(ir.Cast, i32, 2), apply(ir.Mul, i32, 1, 3), sumOver(ir.Sum, i32, 4, 4),
					write(i32, 5, 2, n, 1, 0)), 6*n*n, 2*n*n*n, n*n, n*n, n*n)
			})
		}
	}
}

// conv3x3 is a convolution of [batch c h w] with [o c 3 3], padded by 1.
func conv3x3(batch, c, o, h int) *ir.Kernel {
	axes := []ir.Axis{{Len: batch, Role: ir.N}, {Len: o, Role: ir.M}, {Len: h, Role: ir.N}, {Len: h, Role: ir.N},
		{Len: c, Role: ir.K}, {Len: 3, Role: ir.K}, {Len: 3, Role: ir.K}}
	x := &ir.View{Off: -h - 1, Coef: []int{c * h * h, 0, h, 1, h * h, h, 1}, Guards: []ir.Guard{
		{AffineExpr: ir.AffineExpr{Off: -1, Coef: []int{0, 0, 1, 0, 0, 1, 0}, Div: 1}, Len: h},
		{AffineExpr: ir.AffineExpr{Off: -1, Coef: []int{0, 0, 0, 1, 0, 0, 1}, Div: 1}, Len: h},
	}}
	return kernel(ir.Contraction, axes, []ir.Arg{in(f32), in(f32), out(f32, batch*o*h*h)},
		ir.Instr{Op: ir.Load, Type: f32, Arg: 0, View: x},
		read(f32, 1, 0, c*9, 0, 0, 9, 3, 1), apply(ir.Mul, f32, 0, 1), sumOver(ir.Sum, f32, 2, 0x70),
		write(f32, 3, 2, o*h*h, h*h, h, 1, 0, 0, 0))
}

func BenchmarkConv3x3(b *testing.B) {
	for _, s := range [][4]int{{8, 64, 64, 28}, {64, 16, 32, 8}, {64, 1, 16, 8}} {
		batch, c, o, h := s[0], s[1], s[2], s[3]
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			bench(b, conv3x3(batch, c, o, h), 4*(batch*h*h*(c+o)+9*c*o), 2*batch*h*h*c*o*9, batch*c*h*h, 9*c*o, batch*o*h*h)
		})
	}
}

// softmax is over rows.
func softmax(rows, cols int) *ir.Kernel {
	return kernel(ir.Reduce, []ir.Axis{{Len: rows, Role: ir.Parallel}, {Len: cols, Role: ir.Reduced}}, []ir.Arg{in(f32), out(f32, rows*cols)},
		read(f32, 0, cols, 1), sumOver(ir.ReduceMax, f32, 0, 2), apply(ir.Sub, f32, 0, 1), apply(ir.Exp, f32, 2),
		sumOver(ir.Sum, f32, 3, 2), apply(ir.Div, f32, 3, 4), write(f32, 5, 1, cols, 1))
}

func BenchmarkSoftmax(b *testing.B) {
	for _, s := range [][2]int{{1024, 1024}, {64, 10}, {100000, 10}, {4, 1 << 18}} {
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			n := s[0] * s[1]
			bench(b, softmax(s[0], s[1]), 8*n, 0, n, n)
		})
	}
}

func BenchmarkSum(b *testing.B) {
	const n = 16 << 20
	b.Run("all", func(b *testing.B) {
		bench(b, kernel(ir.Reduce, []ir.Axis{{Len: n, Role: ir.Reduced}}, []ir.Arg{in(f32), out(f32, 1)},
			read(f32, 0, 1), sumOver(ir.Sum, f32, 0, 1), write(f32, 1, 1, 0)), 4*n, 0, n, 1)
	})
	for _, cols := range []int{16, 1024, 1 << 18} {
		b.Run(fmt.Sprint("columns ", cols), func(b *testing.B) {
			rows := n / cols
			bench(b, kernel(ir.Reduce, []ir.Axis{{Len: rows, Role: ir.Reduced}, {Len: cols, Role: ir.Parallel}}, []ir.Arg{in(f32), out(f32, cols)},
				read(f32, 0, cols, 1), sumOver(ir.Sum, f32, 0, 1), write(f32, 1, 1, 0, 1)), 4*n, 0, n, cols)
		})
	}
}

func BenchmarkTranspose(b *testing.B) {
	for _, n := range []int{1000, 4096} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bench(b, kernel(ir.Pointwise, []ir.Axis{{Len: n, Role: ir.Parallel}, {Len: n, Role: ir.Parallel}}, []ir.Arg{in(f32), out(f32, n*n)},
				read(f32, 0, 1, n), write(f32, 0, 1, n, 1)), 8*n*n, 0, n*n, n*n)
		})
	}
}

// BenchmarkMaxPool takes the greatest of windows of 2×2, and of 3×3 with
// padding, two apart.
func BenchmarkMaxPool(b *testing.B) {
	const n, h = 32 * 16, 28
	for size := 2; size <= 3; size++ {
		pad, o := size-2, 14
		x := &ir.View{Off: -pad * (h + 1), Coef: []int{h * h, 2 * h, 2, h, 1}, Fill: ir.Lowest(f32)}
		if pad > 0 {
			x.Guards = []ir.Guard{
				{AffineExpr: ir.AffineExpr{Off: -pad, Coef: []int{0, 2, 0, 1, 0}, Div: 1}, Len: h},
				{AffineExpr: ir.AffineExpr{Off: -pad, Coef: []int{0, 0, 2, 0, 1}, Div: 1}, Len: h},
			}
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			bench(b, kernel(ir.Reduce, []ir.Axis{{Len: n, Role: ir.Parallel}, {Len: o, Role: ir.Parallel}, {Len: o, Role: ir.Parallel}, {Len: size, Role: ir.Reduced}, {Len: size, Role: ir.Reduced}},
				[]ir.Arg{in(f32), out(f32, n*o*o)},
				ir.Instr{Op: ir.Load, Type: f32, Arg: 0, View: x},
				sumOver(ir.ReduceMax, f32, 0, 0x18), write(f32, 1, 1, o*o, o, 1, 0, 0)), 4*n*(h*h+o*o), n*o*o*size*size, n*h*h, n*o*o)
		})
	}
}

// BenchmarkLayerNorm is over rows, with weight and bias.
func BenchmarkLayerNorm(b *testing.B) {
	for _, s := range [][2]int{{1024, 768}, {512, 64}} {
		rows, cols := s[0], s[1]
		scale := ir.Instr{Op: ir.Const, Type: f32, Num: ir.Float(f32, 1/float64(cols))}
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			n := rows * cols
			bench(b, kernel(ir.Reduce, []ir.Axis{{Len: rows, Role: ir.Parallel}, {Len: cols, Role: ir.Reduced}}, []ir.Arg{in(f32), in(f32), in(f32), out(f32, n)},
				read(f32, 0, cols, 1), sumOver(ir.Sum, f32, 0, 2), scale, apply(ir.Mul, f32, 1, 2), apply(ir.Sub, f32, 0, 3),
				apply(ir.Mul, f32, 4, 4), sumOver(ir.Sum, f32, 5, 2), apply(ir.Mul, f32, 6, 2), apply(ir.Add, f32, 7, 2), apply(ir.Sqrt, f32, 8),
				apply(ir.Div, f32, 4, 9), read(f32, 1, 0, 1), apply(ir.Mul, f32, 10, 11), read(f32, 2, 0, 1), apply(ir.Add, f32, 12, 13),
				write(f32, 14, 3, cols, 1)), 8*n, 0, n, cols, cols, n)
		})
	}
}

// BenchmarkGather takes rows of a table, and BenchmarkScatter adds to them.
func BenchmarkGather(b *testing.B) {
	const n, rows, width = 4096, 1000, 64
	bench(b, kernel(ir.Pointwise, []ir.Axis{{Len: n, Role: ir.Parallel}, {Len: width, Role: ir.Parallel}},
		[]ir.Arg{{Kind: ir.Status, DType: ir.Int32}, in(ir.Int32), in(f32), out(f32, n*width)},
		read(ir.Int32, 1, 1, 0),
		ir.Instr{Op: ir.Load, Type: f32, Src: []int{0}, Arg: 2, View: &ir.View{Coef: []int{0, 1}, Stride: width, Len: rows}},
		write(f32, 1, 3, width, 1)), 8*n*width, 0, ir.StatusLen, n, rows*width, n*width)
}

func BenchmarkScatter(b *testing.B) {
	const n, rows, width = 4096, 1000, 64
	k := kernel(ir.Routine, []ir.Axis{{Len: n, Role: ir.Parallel}, {Len: width, Role: ir.Parallel}},
		[]ir.Arg{out(f32, rows*width), in(f32), {Kind: ir.Status, DType: ir.Int32}, in(ir.Int32), in(f32)},
		read(ir.Int32, 3, 1, 0), read(f32, 4, width, 1),
		ir.Instr{Op: ir.Scatter, Type: f32, Kind: ir.Add, Src: []int{0, 1}, Arg: 0, View: &ir.View{Coef: []int{0, 1}, Stride: width, Len: rows}})
	bench(b, k, 8*n*width, 0, rows*width, rows*width, ir.StatusLen, n, n*width)
}

func BenchmarkTiny(b *testing.B) {
	bench(b, chain(10), 200, 60, 10, 10, 10, 10, 10)
}

func BenchmarkCompile(b *testing.B) {
	d := New(Options{})
	for name, k := range map[string]*ir.Kernel{"chain": chain(1 << 20), "matmul": matmul(512, 512, 512), "softmax": softmax(64, 10)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Compile(k); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

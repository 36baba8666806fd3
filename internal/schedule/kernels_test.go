package schedule

import (
	"slices"

	_ "github.com/tensorken/tensorken/internal/blocks" // formats
	_ "github.com/tensorken/tensorken/internal/schedule/packed"
	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/ir"
)

// kernel fills in the axes over which the instructions of a kernel vary.
func kernel(s ir.Template, axes []ir.Axis, args []ir.Arg, body ...ir.Instr) *ir.Kernel {
	k := &ir.Kernel{Template: s, Axes: axes, Args: args, Body: body}
	for i := range body {
		body[i].Domain = k.Varies(i)
	}
	return k
}

func kept(n int) ir.Axis { return ir.Axis{Len: n, Role: ir.Parallel} }

func reduced(n int) ir.Axis { return ir.Axis{Len: n, Role: ir.Reduced} }

func in(d ir.DType) ir.Arg { return ir.Arg{Kind: ir.In, DType: d, Align: true} }

func out(d ir.DType, n int) ir.Arg { return ir.Arg{Kind: ir.Out, DType: d, Len: n, Align: true} }

func scalar(d ir.DType) ir.Arg { return ir.Arg{Kind: ir.Value, DType: d} }

var status = ir.Arg{Kind: ir.Status, DType: ir.Int32}

func by(coef ...int) *ir.View { return &ir.View{Coef: coef} }

func load(d ir.DType, arg int, v *ir.View) ir.Instr {
	return ir.Instr{Op: ir.Load, Type: d, Arg: arg, View: v}
}

func store(d ir.DType, src, arg int, v *ir.View) ir.Instr {
	return ir.Instr{Op: ir.Store, Type: d, Src: []int{src}, Arg: arg, View: v}
}

func alu(op ir.Op, d ir.DType, src ...int) ir.Instr {
	return ir.Instr{Op: op, Type: d, Src: src}
}

func reduction(op ir.Op, d ir.DType, src int, axes ir.AxisSet) ir.Instr {
	return ir.Instr{Op: op, Type: d, Src: []int{src}, Axes: axes}
}

func literal(d ir.DType, x float64) ir.Instr {
	return ir.Instr{Op: ir.Const, Type: d, Num: ir.Float(d, x)}
}

const (
	f32 = ir.Float32
	i32 = ir.Int32
)

// chain is relu(2·x + c) of n numbers and whether it is above 1, in bool.
func chain(n int, d ir.DType) *ir.Kernel {
	return kernel(ir.Pointwise, []ir.Axis{kept(n)},
		[]ir.Arg{in(d), scalar(f32), out(d, n), out(ir.Bool, n)},
		load(f32, 0, by(1)),
		literal(f32, 2),
		alu(ir.Mul, f32, 0, 1),
		ir.Instr{Op: ir.Scalar, Type: f32, Arg: 1},
		alu(ir.Add, f32, 2, 3),
		literal(f32, 0),
		alu(ir.Lt, ir.Bool, 5, 4),
		alu(ir.Where, f32, 6, 4, 5),
		store(f32, 7, 2, by(1)),
		literal(f32, 1),
		alu(ir.Lt, ir.Bool, 9, 7),
		store(ir.Bool, 10, 3, by(1)))
}

// transposed is the sum of a matrix's transpose and a row.
func transposed(m, n int) *ir.Kernel {
	return kernel(ir.Pointwise, []ir.Axis{kept(m), kept(n)}, []ir.Arg{in(f32), in(f32), out(f32, m*n)},
		load(f32, 0, by(1, m)), load(f32, 1, by(0, 1)), alu(ir.Add, f32, 0, 1), store(f32, 2, 2, by(n, 1)))
}

// padded is a vector of 3 reversed, with zeros between, and -1 elsewhere.
func padded() *ir.Kernel {
	guards := []ir.Guard{{AffineExpr: ir.AffineExpr{Off: 5, Coef: []int{-1}, Div: 2}, Len: 3, Stride: 1}}
	return kernel(ir.Pointwise, []ir.Axis{kept(9)}, []ir.Arg{in(i32), out(i32, 9)},
		load(i32, 0, &ir.View{Coef: []int{0}, Guards: guards}),
		ir.Instr{Op: ir.InBounds, Type: ir.Bool, View: &ir.View{Guards: guards}},
		ir.Instr{Op: ir.Const, Type: i32, Num: ir.Int(i32, -1)},
		alu(ir.Where, i32, 1, 0, 2),
		store(i32, 3, 1, by(1)))
}

// take is a row of n, of rows there are, for each of count indices.
func take(rows, count, n int) *ir.Kernel {
	return kernel(ir.Pointwise, []ir.Axis{kept(count), kept(n)},
		[]ir.Arg{status, in(f32), in(i32), out(f32, count*n)},
		load(i32, 2, by(1, 0)),
		ir.Instr{Op: ir.Load, Type: f32, Src: []int{0}, Arg: 1, View: &ir.View{Coef: []int{0, 1}, Stride: n, Len: rows}},
		store(f32, 1, 3, by(n, 1)))
}

// softmax is over the rows, or over the columns, of a matrix.
func softmax(m, n int, columns bool) *ir.Kernel {
	v := by(n, 1)
	if columns {
		v = by(1, m)
	}
	return kernel(ir.Reduce, []ir.Axis{kept(m), reduced(n)}, []ir.Arg{in(f32), out(f32, m*n)},
		load(f32, 0, v), reduction(ir.ReduceMax, f32, 0, 2), alu(ir.Sub, f32, 0, 1), alu(ir.Exp, f32, 2),
		reduction(ir.Sum, f32, 3, 2), alu(ir.Div, f32, 3, 4), store(f32, 5, 1, v))
}

// total is the sum of n numbers and the position of the greatest.
func total(n int) *ir.Kernel { return totalOf(n, f32) }

func totalOf(n int, d ir.DType) *ir.Kernel {
	return kernel(ir.Reduce, []ir.Axis{reduced(n)}, []ir.Arg{in(d), out(d, 1), out(i32, 1)},
		load(d, 0, by(1)), reduction(ir.Sum, d, 0, 1), store(d, 1, 1, by(0)),
		reduction(ir.ArgMax, i32, 0, 1), store(i32, 3, 2, by(0)))
}

// columnSums is the sums of the m columns of a matrix of n rows.
func columnSums(m, n int) *ir.Kernel {
	return kernel(ir.Reduce, []ir.Axis{kept(m), reduced(n)}, []ir.Arg{in(f32), out(f32, m)},
		load(f32, 0, by(1, m)), reduction(ir.Sum, f32, 0, 2), store(f32, 1, 1, by(1, 0)))
}

// greatest is over the rows of a matrix whose columns are all the same.
func greatest(m, n int) *ir.Kernel {
	return kernel(ir.Reduce, []ir.Axis{kept(m), reduced(n)}, []ir.Arg{in(f32), out(f32, m)},
		load(f32, 0, by(1, 0)), reduction(ir.ReduceMax, f32, 0, 2), store(f32, 1, 1, by(1, 0)))
}

// dilated reads n numbers with div-1 points between them, at every div-th.
func dilated(n, div int) *ir.Kernel {
	guards := []ir.Guard{{AffineExpr: ir.AffineExpr{Coef: []int{div}, Div: div}, Len: n, Stride: 1}}
	return kernel(ir.Pointwise, []ir.Axis{kept(n)}, []ir.Arg{in(i32), out(i32, n)},
		load(i32, 0, &ir.View{Coef: []int{0}, Guards: guards}), store(i32, 0, 1, by(1)))
}

// powers is the greatest of x minus the sum of the sums of x, x² … over the rows of a
// matrix; with positions, also the positions of the greatest of each.
func powers(m, n, reductions int, positions bool) *ir.Kernel {
	args := []ir.Arg{in(f32), out(f32, m)}
	body := []ir.Instr{load(f32, 0, by(n, 1))}
	add := func(i ir.Instr) int {
		body = append(body, i)
		return len(body) - 1
	}
	power := 0
	acc := add(reduction(ir.Sum, f32, power, 2))
	for range reductions - 2 {
		power = add(alu(ir.Mul, f32, power, 0))
		acc = add(alu(ir.Add, f32, acc, add(reduction(ir.Sum, f32, power, 2))))
		if positions {
			args = append(args, out(i32, m))
			add(store(i32, add(reduction(ir.ArgMax, i32, power, 2)), len(args)-1, by(1, 0)))
		}
	}
	greatest := add(reduction(ir.ReduceMax, f32, add(alu(ir.Sub, f32, 0, acc)), 2))
	add(store(f32, greatest, 1, by(1, 0)))
	return kernel(ir.Reduce, []ir.Axis{kept(m), reduced(n)}, args, body...)
}

// dense is relu(x·w + b) of batches; w is transposed if flipped.
func dense(batches, m, n, k int, d ir.DType, flipped bool) *ir.Kernel {
	w := by(0, 0, 1, n)
	if flipped {
		w = by(0, 0, k, 1)
	}
	c := d.ComputeType()
	return kernel(ir.Contraction, []ir.Axis{{Len: batches, Role: ir.Batch}, {Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: k, Role: ir.K}},
		[]ir.Arg{in(d), in(d), in(d), out(d, batches*m*n)},
		load(c, 0, by(m*k, k, 0, 1)), load(c, 1, w), alu(ir.Mul, c, 0, 1), reduction(ir.Sum, c, 2, 8),
		load(c, 2, by(0, 0, 1, 0)), alu(ir.Add, c, 3, 4), literal(c, 0), alu(ir.Max, c, 5, 6),
		store(c, 7, 3, by(m*n, n, 1, 0)))
}

// packedRows is a product of a row by a matrix in a format.
func packedRows(format string, n, k int) *ir.Kernel {
	formats := ir.Formats()
	i := slices.IndexFunc(formats, func(d ir.DType) bool { return d.String() == format })
	return kernel(ir.Reduce, []ir.Axis{kept(n), reduced(k)}, []ir.Arg{in(f32), in(formats[i]), out(f32, n)},
		load(f32, 0, by(0, 1)), load(f32, 1, by(k, 1)), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, 2), store(f32, 3, 2, by(1, 0)))
}

// convolve is a 3×3 convolution with padding 1 of b images of c channels of
// h×w, to o channels.
func convolve(b, c, h, w, o int) *ir.Kernel {
	x := &ir.View{Off: -w - 1, Coef: []int{c * h * w, w, 1, 0, h * w, w, 1}, Guards: []ir.Guard{
		{AffineExpr: ir.AffineExpr{Off: -1, Coef: []int{0, 1, 0, 0, 0, 1, 0}, Div: 1}, Len: h},
		{AffineExpr: ir.AffineExpr{Off: -1, Coef: []int{0, 0, 1, 0, 0, 0, 1}, Div: 1}, Len: w},
	}}
	return kernel(ir.Contraction,
		[]ir.Axis{{Len: b, Role: ir.M}, {Len: h, Role: ir.M}, {Len: w, Role: ir.M}, {Len: o, Role: ir.N}, {Len: c, Role: ir.K}, {Len: 3, Role: ir.K}, {Len: 3, Role: ir.K}},
		[]ir.Arg{in(f32), in(f32), out(f32, b*o*h*w)},
		load(f32, 0, x), load(f32, 1, by(0, 0, 0, c*9, 9, 3, 1)), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, 0b1110000),
		store(f32, 3, 2, by(o*h*w, w, 1, h*w, 0, 0, 0)))
}

// scatterAdd adds count rows of n to rows there are, at indices.
func scatterAdd(rows, count, n int, d ir.DType) *ir.Kernel {
	k := kernel(ir.Routine, []ir.Axis{kept(count), kept(n)},
		[]ir.Arg{out(d, rows*n), in(d), in(i32), in(d), status},
		load(i32, 2, by(1, 0)), load(d.ComputeType(), 3, by(n, 1)),
		ir.Instr{Op: ir.Scatter, Type: d.ComputeType(), Kind: ir.Add, Src: []int{0, 1}, Arg: 0, View: &ir.View{Coef: []int{0, 1}, Stride: n, Len: rows}})
	return k
}

var (
	plain    = Target{}
	tight    = Target{MaxThreads: 1024, SharedBytes: 4096}
	wide     = scheduletest.Wide
	big      = scheduletest.Big
	nvidia   = scheduletest.NVIDIA
	hopper   = scheduletest.Hopper
	software = scheduletest.Software
)

// typical are the kernels of the golden files.
var typical = []struct {
	name   string
	kernel *ir.Kernel
	target Target
}{
	{"chain", chain(1000, f32), plain},
	{"chain_odd", chain(1001, ir.Float16), plain},
	{"chain_bfloat16", chain(100_000_000, ir.BFloat16), big},
	{"transposed", transposed(64, 100), plain},
	{"padded", padded(), plain},
	{"take", take(50, 10, 64), plain},
	{"softmax_short", softmax(1000, 10, false), plain},
	{"softmax", softmax(1024, 1000, false), plain},
	{"softmax_subgroups", softmax(1024, 1000, false), big},
	{"softmax_long", softmax(100, 20000, false), big},
	{"softmax_columns", softmax(300, 1000, true), plain},
	{"sums_tall", columnSums(300, 4000), big},
	{"softmax_software", softmax(1024, 1000, false), software},
	{"softmax_tight", softmax(1024, 10000, false), tight},
	{"total", total(1 << 20), big},
	{"total_small", total(100), plain},
	{"total_float64", totalOf(3000, ir.Float64), wide},
	{"dense", dense(1, 4096, 4096, 4096, f32, true), big},
	{"dense_middle", dense(1, 512, 512, 512, f32, false), plain},
	{"dense_edges", dense(2, 50, 70, 33, ir.Float16, true), plain},
	{"dense_split", dense(1, 16, 100, 4096, f32, false), big},
	{"dense_warps", dense(1, 64, 64, 64, f32, false), nvidia},
	{"dense_halves", dense(1, 32, 48, 64, ir.BFloat16, true), nvidia},
	{"dense_bytes", bytesProduct(64, 48, 128, ir.Int8, i32, false, true), nvidia},
	{"dense_shared", dense(1, 2048, 2048, 2048, ir.BFloat16, true), hopper},
	{"dense_shared_floats", dense(1, 512, 512, 128, f32, false), hopper},
	{"dense_shared_edges", dense(2, 500, 260, 90, ir.Float16, false), hopper},
	{"dense_software", dense(2, 50, 72, 33, f32, false), software},
	{"dense_float64", dense(1, 2048, 2048, 2048, ir.Float64, true), wide},
	{"vector_float64", dense(1, 1, 1001, 333, ir.Float64, true), wide},
	{"vector", dense(1, 1, 4096, 4096, f32, false), big},
	{"vector_transposed", dense(1, 1, 4096, 4096, f32, true), big},
	{"vector_edges", dense(2, 1, 1001, 333, ir.Float16, false), plain},
	{"vector_few", dense(1, 3, 70, 10001, f32, true), plain},
	{"vector_columns", dense(1, 4096, 1, 4096, f32, true), big},
	{"packed", packedRows("Q4_K", 1, 256), big},
	{"packed_bytes", packedRows("Q5_0", 1, 1024), hopper},
	{"convolve", convolve(8, 16, 28, 28, 32), big},
	{"scatter", scatterAdd(1000, 400, 64, f32), plain},
	{"scatter_narrow", scatterAdd(10, 5000, 1, ir.Uint8), plain},
	{"scatter_votes", scatterAdd(300, 500, 200, f32), big},
}

package interp

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestEveryKernelOpHasAStep(t *testing.T) {
	only := []ir.Op{ir.Const, ir.Scalar, ir.Scatter, ir.Scan, ir.Sort}
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		class := op.Class()
		want := class == ir.KernelOnly || class == ir.Elementwise || class == ir.Reduction || slices.Contains(only, op)
		if got := evalFuncOf(op) != nil; got != want {
			t.Errorf("%v has a step: %v, want %v", op, got, want)
		}
	}
}

const (
	in, out, value, status = ir.In, ir.Out, ir.Value, ir.Status
	f16, f32               = ir.Float16, ir.Float32
	i32, i64               = ir.Int32, ir.Int64
)

// src and by are short for the operands and the view of an instruction.
func src(i ...int) []int { return i }

func by(coef ...int) *ir.View { return &ir.View{Coef: coef} }

func kernel(s ir.Template, axes []ir.Axis, args []ir.Arg, body ...ir.Instr) *ir.Kernel {
	k := &ir.Kernel{Template: s, Axes: axes, Args: args, Body: body}
	for i := range body {
		body[i].Domain = k.Varies(i)
	}
	return k
}

// softmax is a softmax over the rows of a float16 matrix with negative strides.
func softmax(rows, cols int) *ir.Kernel {
	return kernel(ir.Reduce, []ir.Axis{{Len: rows, Role: ir.Parallel}, {Len: cols, Role: ir.Reduced}},
		[]ir.Arg{{Kind: in, DType: f16}, {Kind: out, DType: f32, Len: rows * cols}},
		ir.Instr{Op: ir.Load, Type: f32, Arg: 0, View: by(-cols, -1)},
		ir.Instr{Op: ir.ReduceMax, Type: f32, Src: src(0), Axes: 2},
		ir.Instr{Op: ir.Sub, Type: f32, Src: src(0, 1)},
		ir.Instr{Op: ir.Exp, Type: f32, Src: src(2)},
		ir.Instr{Op: ir.Sum, Type: f32, Src: src(3), Axes: 2},
		ir.Instr{Op: ir.Div, Type: f32, Src: src(3, 4)},
		ir.Instr{Op: ir.Store, Type: f32, Src: src(5), Arg: 1, View: by(cols, 1)})
}

// sum computes the sums of rows, into float16, and their ArgMax.
func sum(rows, cols int) *ir.Kernel {
	return kernel(ir.Reduce, []ir.Axis{{Len: rows, Role: ir.Parallel}, {Len: cols, Role: ir.Reduced}, {Len: 2, Role: ir.Reduced}},
		[]ir.Arg{{Kind: in, DType: f32}, {Kind: out, DType: f16, Len: rows}, {Kind: out, DType: i32, Len: rows}},
		ir.Instr{Op: ir.Load, Type: f32, Arg: 0, View: by(2*cols, 2, 1)},
		ir.Instr{Op: ir.Sum, Type: f32, Src: src(0), Axes: 6},
		ir.Instr{Op: ir.Store, Type: f32, Src: src(1), Arg: 1, View: by(1, 0, 0)},
		ir.Instr{Op: ir.ArgMax, Type: i32, Src: src(0), Axes: 6},
		ir.Instr{Op: ir.Store, Type: i32, Src: src(3), Arg: 2, View: by(1, 0, 0)})
}

// matmul computes relu(x·wᵀ + b) for x [m k], w [n k], b [n].
func matmul(m, n, k int) *ir.Kernel {
	return kernel(ir.Contraction, []ir.Axis{{Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: k, Role: ir.K}},
		[]ir.Arg{{Kind: in, DType: f32}, {Kind: in, DType: f32}, {Kind: in, DType: f32}, {Kind: out, DType: f32, Len: m * n}},
		ir.Instr{Op: ir.Load, Type: f32, Arg: 0, View: by(k, 0, 1)},
		ir.Instr{Op: ir.Load, Type: f32, Arg: 1, View: by(0, k, 1)},
		ir.Instr{Op: ir.Mul, Type: f32, Src: src(0, 1)},
		ir.Instr{Op: ir.Sum, Type: f32, Src: src(2), Axes: 4},
		ir.Instr{Op: ir.Load, Type: f32, Arg: 2, View: by(0, 1, 0)},
		ir.Instr{Op: ir.Add, Type: f32, Src: src(3, 4)},
		ir.Instr{Op: ir.Const, Type: f32},
		ir.Instr{Op: ir.Max, Type: f32, Src: src(5, 6)},
		ir.Instr{Op: ir.Store, Type: f32, Src: src(7), Arg: 3, View: by(n, 1, 0)})
}

// padded multiplies a reversed, interior-padded vector of 3 by a number; the padding is
// -1.
func padded() *ir.Kernel {
	guards := []ir.Guard{{AffineExpr: ir.AffineExpr{Off: 5, Coef: []int{-1}, Div: 2}, Len: 3, Stride: 1}}
	return kernel(ir.Pointwise, []ir.Axis{{Len: 8, Role: ir.Parallel}},
		[]ir.Arg{{Kind: in, DType: i32}, {Kind: value, DType: i32}, {Kind: out, DType: i32, Len: 8}},
		ir.Instr{Op: ir.Load, Type: i32, Arg: 0, View: &ir.View{Coef: []int{0}, Guards: guards, Fill: 7}},
		ir.Instr{Op: ir.Scalar, Type: i32, Arg: 1},
		ir.Instr{Op: ir.Mul, Type: i32, Src: src(0, 1)},
		ir.Instr{Op: ir.InBounds, Type: ir.Bool, View: &ir.View{Guards: guards}},
		ir.Instr{Op: ir.Const, Type: i32, Num: ir.Int(i32, -1)},
		ir.Instr{Op: ir.Where, Type: i32, Src: src(3, 2, 4)},
		ir.Instr{Op: ir.Store, Type: i32, Src: src(5), Arg: 2, View: by(1)})
}

// corner reads the upper left of a 3×3 matrix with a border, by guards with divisor 1.
func corner() *ir.Kernel {
	v := &ir.View{Off: -4, Coef: []int{3, 1}, Guards: []ir.Guard{
		{AffineExpr: ir.AffineExpr{Off: -1, Coef: []int{1, 0}, Div: 1}, Len: 3},
		{AffineExpr: ir.AffineExpr{Off: -1, Coef: []int{0, 1}, Div: 1}, Len: 3},
	}, Fill: ir.Float(f32, 0.5)}
	return kernel(ir.Pointwise, []ir.Axis{{Len: 3, Role: ir.Parallel}, {Len: 3, Role: ir.Parallel}},
		[]ir.Arg{{Kind: in, DType: f32}, {Kind: out, DType: f32, Len: 9}},
		ir.Instr{Op: ir.Load, Type: f32, Arg: 0, View: v},
		ir.Instr{Op: ir.Store, Type: f32, Src: src(0), Arg: 1, View: by(3, 1)})
}

// upper stores the upper triangle of a 3×3 matrix: nothing needs the rest.
func upper() *ir.Kernel {
	return kernel(ir.Pointwise, []ir.Axis{{Len: 3, Role: ir.Parallel}, {Len: 3, Role: ir.Parallel}},
		[]ir.Arg{{Kind: in, DType: f32}, {Kind: out, DType: f32, Len: 9}},
		ir.Instr{Op: ir.Load, Type: f32, Arg: 0, View: by(3, 1)},
		ir.Instr{Op: ir.Index, Type: i32, Axis: 0},
		ir.Instr{Op: ir.Index, Type: i32, Axis: 1},
		ir.Instr{Op: ir.Lt, Type: ir.Bool, Src: src(1, 2)},
		ir.Instr{Op: ir.Store, Type: f32, Src: src(0, 3), Arg: 1, View: by(3, 1)})
}

// take selects rows of a 3×2 matrix by 4 indices.
func take() *ir.Kernel {
	return kernel(ir.Pointwise, []ir.Axis{{Len: 4, Role: ir.Parallel}, {Len: 2, Role: ir.Parallel}},
		[]ir.Arg{{Kind: status, DType: i32}, {Kind: in, DType: f32}, {Kind: in, DType: i64}, {Kind: out, DType: f32, Len: 8}},
		ir.Instr{Op: ir.Load, Type: i64, Arg: 2, View: by(1, 0)},
		ir.Instr{Op: ir.Load, Type: f32, Src: src(0), Arg: 1, View: &ir.View{Coef: []int{0, 1}, Stride: 2, Len: 3, Fill: ir.Float(f32, 9)}},
		ir.Instr{Op: ir.Store, Type: f32, Src: src(1), Arg: 3, View: by(2, 1)})
}

// scattered combines updates of 4 with a base of 3 at indices.
func scattered(kind ir.Op, d ir.DType) *ir.Kernel {
	r := d.ComputeType()
	k := kernel(ir.Routine, []ir.Axis{{Len: 4, Role: ir.Parallel}},
		[]ir.Arg{{Kind: out, DType: d, Len: 3}, {Kind: in, DType: d}, {Kind: in, DType: i32}, {Kind: in, DType: d}, {Kind: status, DType: i32}},
		ir.Instr{Op: ir.Load, Type: i32, Arg: 2, View: by(1)},
		ir.Instr{Op: ir.Load, Type: r, Arg: 3, View: by(1)},
		ir.Instr{Op: ir.Scatter, Type: r, Kind: kind, Src: src(0, 1), Arg: 0, View: &ir.View{Coef: []int{0}, Stride: 1, Len: 3}})
	return k
}

// fromNumber makes a scatter's result start as a number.
func fromNumber(k *ir.Kernel, x float64) *ir.Kernel {
	last := k.Body[len(k.Body)-1]
	last.Src = append(slices.Clone(last.Src), len(k.Body)-1)
	k.Body[len(k.Body)-1] = ir.Instr{Op: ir.Const, Type: last.Type, Num: ir.Float(last.Type, x)}
	k.Body = append(k.Body, last)
	return k
}

func data(d ir.DType, x ...float64) []ir.Number {
	n := make([]ir.Number, len(x))
	for i, v := range x {
		n[i] = ir.Float(d, v)
	}
	return n
}

func TestRun(t *testing.T) {
	type floats = []float64
	e, e2 := math.E, math.E*math.E
	nan := math.NaN()
	inputs := func(x ...[]float64) [][]float64 { return x }
	for _, c := range []struct {
		name   string
		kernel *ir.Kernel
		args   [][]float64 // numbers of an input, zeros of an output
		offset []int
		want   [][]float64 // of outputs and status, in order
	}{
		{"softmax", softmax(2, 3), inputs(floats{9, 2, 1, 0, 1, 1, 1}, make(floats, 7)), []int{6, 1},
			inputs(floats{0, 1. / 3, 1. / 3, 1. / 3, 1 / (1 + e + e2), e / (1 + e + e2), e2 / (1 + e + e2)})},
		{"sum", sum(2, 2), inputs(floats{1, 3, 3, 2, 4, nan, 5, nan}, floats{0, 0}, floats{0, 0}), nil,
			inputs(floats{9, nan}, floats{1, 1})},
		{"sum that float16 rounds", sum(1, 1), inputs(floats{2048, 1}, floats{0}, floats{0}), nil,
			inputs(floats{2048}, floats{0})},
		{"sum of nothing", sum(2, 0), inputs(nil, floats{8, 8}, floats{8, 8}), nil,
			inputs(floats{0, 0}, floats{0, 0})},
		{"sum of no rows", sum(0, 2), inputs(nil, nil, nil), nil, inputs(nil, nil)},
		{"matmul", matmul(2, 2, 3), inputs(floats{1, 2, 3, 4, 5, 6}, floats{1, 0, -1, 1, 1, 1}, floats{1, 0.5}, make(floats, 4)), nil,
			inputs(floats{0, 6.5, 0, 15.5})},
		{"padded", padded(), inputs(floats{5, 6, 7}, floats{10}, make(floats, 8)), nil,
			inputs(floats{-1, 70, -1, 60, -1, 50, -1, -1})},
		{"corner", corner(), inputs(floats{1, 2, 3, 4, 5, 6, 7, 8, 9}, make(floats, 9)), nil,
			inputs(floats{0.5, 0.5, 0.5, 0.5, 1, 2, 0.5, 4, 5})},
		{"upper", upper(), inputs(floats{1, 2, 3, 4, 5, 6, 7, 8, 9}, make(floats, 9)), nil,
			inputs(floats{math.NaN(), 2, 3, math.NaN(), math.NaN(), 6, math.NaN(), math.NaN(), math.NaN()})},
		{"take", take(), inputs(make(floats, ir.StatusLen), floats{1, 2, 3, 4, 5, 6}, floats{2, 0, 1, 1}, make(floats, 8)), nil,
			inputs(make(floats, ir.StatusLen), floats{5, 6, 1, 2, 3, 4, 3, 4})},
		{"take of a bad index", take(), inputs(make(floats, ir.StatusLen), floats{1, 2, 3, 4, 5, 6}, floats{2, -7, 3, 1}, make(floats, 8)), nil,
			inputs(floats{2, 0, -7, -1, 1, 0}, floats{5, 6, 9, 9, 9, 9, 3, 4})},
		{"take after another bad index", take(), inputs(floats{5, 0, 5, 0, 5, 0}, floats{1, 2, 3, 4, 5, 6}, floats{2, 3, 0, 1}, make(floats, 8)), nil,
			inputs(floats{5, 0, 5, 0, 5, 0}, floats{5, 6, 9, 9, 1, 2, 3, 4})},
		{"take of a great index", take(), inputs(make(floats, ir.StatusLen), floats{1, 2, 3, 4, 5, 6}, floats{1 << 40, 3, 0, 1}, make(floats, 8)), nil,
			inputs(floats{2, 0, 0, 256, 0, 0}, floats{9, 9, 9, 9, 1, 2, 3, 4})},
		{"scatter add", scattered(ir.Add, f32), inputs(make(floats, 3), floats{1, 2, 3}, floats{2, 0, 2, 2}, floats{1, 2, 3, 4}, make(floats, ir.StatusLen)), nil,
			inputs(floats{3, 2, 11}, make(floats, ir.StatusLen))},
		{"scatter add to a number", fromNumber(scattered(ir.Add, f32), 5), inputs(make(floats, 3), nil, floats{2, 0, 2, 2}, floats{1, 2, 3, 4}, make(floats, ir.StatusLen)), nil,
			inputs(floats{7, 5, 13}, make(floats, ir.StatusLen))},
		{"scatter max", scattered(ir.Max, i64), inputs(make(floats, 3), floats{1, 2, 3}, floats{2, 0, 3, 1}, floats{1, 2, 3, 4}, make(floats, ir.StatusLen)), nil,
			inputs(floats{2, 4, 3}, floats{3, 0, 3, 0, 2, 0})},
		{"scatter add of halves", scattered(ir.Add, f16), inputs(make(floats, 3), floats{2048, 0, 0}, floats{0, 0, 0, 1}, floats{1, 1, 1, 1}, make(floats, ir.StatusLen)), nil,
			inputs(floats{2048, 1, 0}, make(floats, ir.StatusLen))},
	} {
		if err := ir.Verify(c.kernel); err != nil {
			t.Errorf("Verify(%s) = %v", c.name, err)
			continue
		}
		args := make([]Arg, len(c.args))
		for i, a := range c.kernel.Args {
			args[i] = Arg{Data: data(a.DType, c.args[i]...)}
			if c.offset != nil {
				args[i].Offset = c.offset[i]
			}
			if a.Kind == value {
				args[i] = Arg{Num: args[i].Data[0]}
			}
		}
		if err := Run(c.kernel, args); err != nil {
			t.Errorf("Run(%s): %v", c.name, err)
			continue
		}
		n := 0
		for i, a := range c.kernel.Args {
			if a.Kind != out && a.Kind != status {
				continue
			}
			got, want := values(&Array{DType: a.DType, Elems: args[i].Data}), c.want[n]
			if !slices.EqualFunc(got, want, near) {
				t.Errorf("Run(%s): argument %d is %v, want %v", c.name, i, got, want)
			}
			n++
		}
	}
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-6*math.Abs(b) || math.IsNaN(a) && math.IsNaN(b)
}

func TestRunErrors(t *testing.T) {
	nine, shared := make([]ir.Number, 9), make([]ir.Number, 12)
	twice := corner()
	twice.Body[1].View = by(1, 1)
	for _, c := range []struct {
		name   string
		kernel *ir.Kernel
		args   []Arg
		want   string
	}{
		{"too few arguments", corner(), nil, "0 arguments for 2"},
		{"short input", corner(), []Arg{{Data: nine[:4]}, {Data: shared}}, "element 0+4 of argument 0, which has 4"},
		{"input before its buffer", corner(), []Arg{{Data: nine, Offset: -1}, {Data: shared}}, "element -1+0 of argument 0"},
		{"short output", corner(), []Arg{{Data: nine}, {Data: shared, Offset: 5}}, "element 5+7 of argument 1"},
		{"element written twice", twice, []Arg{{Data: nine}, {Data: shared}}, "written twice"},
		{"output over input", corner(), []Arg{{Data: shared[:9]}, {Data: shared, Offset: 3}}, "both read and written"},
		{"no status", take(), []Arg{{}, {Data: nine}, {Data: data(i64, 0, 0, 0, 9)}, {Data: shared}}, "a status of 0"},
	} {
		err := Run(c.kernel, c.args)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Run(%s): error %v, want %q", c.name, err, c.want)
		}
	}
}

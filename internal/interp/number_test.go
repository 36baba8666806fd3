package interp

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestEveryGraphOpHasAnEvaluator(t *testing.T) {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		got := evaluatorOf(op) != nil
		if want := op.Class() != ir.KernelOnly && op.Class() != ir.Repeated; got != want {
			t.Errorf("internal/interp/number.go, or ops.go, has %v: %v, want %v", op, got, want)
		}
	}
}

// The known answers of Random123 (kat_vectors, threefry2x32, 20 rounds).
func TestThreefry(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct{ k0, k1, c0, c1, want0, want1 uint32 }{
		{0, 0, 0, 0, 0x6b200159, 0x99ba4efe},
		{ones, ones, ones, ones, 0x1cb996fc, 0xbb002be7},
		{0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3, 0xc4923a9c, 0x483df7a0},
	} {
		x := []ir.Number{ir.Number(c.k0), ir.Number(c.k1), ir.Number(c.c0), ir.Number(c.c1)}
		if got, want := Apply(ir.Threefry, ir.Uint32, ir.Uint32, x...), ir.Number(c.want0^c.want1); got != want {
			t.Errorf("Apply(Threefry, %#x) = %#x, want %#x", x, got, want)
		}
	}
}

func TestApply(t *testing.T) {
	var (
		nan, inf = math.NaN(), math.Inf(1)
		floats   = func(x ...float64) []float64 { return x }
	)
	for _, c := range []struct {
		op       ir.Op
		to, from ir.DType
		x        []float64
		want     float64
	}{
		{ir.Neg, ir.Float32, ir.Float32, floats(1.5), -1.5},
		{ir.Neg, ir.Int32, ir.Int32, floats(math.MinInt32), math.MinInt32},
		{ir.Neg, ir.Uint8, ir.Uint8, floats(1), 255},
		{ir.Exp, ir.Float32, ir.Float32, floats(1), float64(float32(math.E))},
		{ir.Exp, ir.Float16, ir.Float16, floats(1), 2.71875},
		{ir.Exp, ir.Float64, ir.Float64, floats(709.75), 1.7398368732641605e308},
		{ir.Exp, ir.Float64, ir.Float64, floats(709.79), inf},
		{ir.Expm1, ir.Float64, ir.Float64, floats(1e-20), 1e-20},
		{ir.Log, ir.Float32, ir.Float32, floats(0), -inf},
		{ir.Log, ir.Float32, ir.Float32, floats(-1), nan},
		{ir.Log1p, ir.Float64, ir.Float64, floats(1e-20), 1e-20},
		{ir.Log2, ir.Float64, ir.Float64, floats(0x1p-1074), -1074},
		{ir.Log2, ir.Float32, ir.Float32, floats(-1), nan},
		{ir.Log1p, ir.Float32, ir.Float32, floats(1 << 53), float64(float32(53 * math.Ln2))},
		{ir.Sin, ir.Float64, ir.Float64, floats(math.Pi / 2), 1},
		{ir.Cos, ir.Float64, ir.Float64, floats(0), 1},
		{ir.Atan, ir.Float64, ir.Float64, floats(inf), math.Pi / 2},
		{ir.Sqrt, ir.Float64, ir.Float64, floats(9), 3},
		{ir.Tanh, ir.Float64, ir.Float64, floats(-inf), -1},
		{ir.Erf, ir.Float64, ir.Float64, floats(inf), 1},
		{ir.Erfc, ir.Float32, ir.Float32, floats(-inf), 2},
		{ir.Floor, ir.Float64, ir.Float64, floats(-1.5), -2},
		{ir.Not, ir.Bool, ir.Bool, floats(1), 0},
		{ir.Not, ir.Bool, ir.Bool, floats(0), 1},
		{ir.Not, ir.Uint8, ir.Uint8, floats(1), 254},
		{ir.Not, ir.Int32, ir.Int32, floats(0), -1},

		{ir.Cast, ir.Int32, ir.Float32, floats(-1.9), -1},
		{ir.Cast, ir.Int32, ir.Float32, floats(nan), 0},
		{ir.Cast, ir.Int32, ir.Float32, floats(1e20), math.MaxInt32},
		{ir.Cast, ir.Uint8, ir.Float32, floats(-inf), 0},
		{ir.Cast, ir.Uint8, ir.Int32, floats(257), 1},
		{ir.Cast, ir.Bool, ir.Float32, floats(nan), 1},
		{ir.Cast, ir.Float32, ir.Bool, floats(1), 1},
		{ir.Cast, ir.BFloat16, ir.Float32, floats(1.001), 1},
		{ir.Bitcast, ir.Uint32, ir.Float32, floats(1), 0x3f800000},
		{ir.Bitcast, ir.Float32, ir.Uint32, floats(0x40000000), 2},
		{ir.Bitcast, ir.Int32, ir.Uint32, floats(math.MaxUint32), -1},
		{ir.Bitcast, ir.Uint32, ir.Int32, floats(-1), math.MaxUint32},
		{ir.Bitcast, ir.Int64, ir.Float64, floats(0), 0},
		{ir.Bitcast, ir.BFloat16, ir.Float16, floats(1), float64(ir.BF16(0x3c00).Float32())},

		{ir.Add, ir.Float32, ir.Float32, floats(1<<24, 1), 1 << 24},
		{ir.Add, ir.Int32, ir.Int32, floats(math.MaxInt32, 1), math.MinInt32},
		{ir.Sub, ir.Uint32, ir.Uint32, floats(0, 1), math.MaxUint32},
		{ir.Mul, ir.Uint8, ir.Uint8, floats(16, 17), 16},
		{ir.Div, ir.Int32, ir.Int32, floats(-7, 2), -3},
		{ir.Div, ir.Int32, ir.Int32, floats(7, 0), 0},
		{ir.Div, ir.Int32, ir.Int32, floats(math.MinInt32, -1), math.MinInt32},
		{ir.Div, ir.Int64, ir.Int64, floats(math.MinInt64, -1), math.MinInt64},
		{ir.Div, ir.Float32, ir.Float32, floats(1, 0), inf},
		{ir.Div, ir.Uint64, ir.Uint64, floats(1<<63, 3), 1 << 63 / 3},
		{ir.Rem, ir.Int32, ir.Int32, floats(-7, 2), -1},
		{ir.Rem, ir.Int32, ir.Int32, floats(7, -2), 1},
		{ir.Rem, ir.Int32, ir.Int32, floats(7, 0), 0},
		{ir.Rem, ir.Int64, ir.Int64, floats(math.MinInt64, -1), 0},
		{ir.Rem, ir.Float32, ir.Float32, floats(-7.5, 2), -1.5},
		{ir.Rem, ir.Float32, ir.Float32, floats(1, 0), nan},
		{ir.Pow, ir.Float32, ir.Float32, floats(0, 0), 1},
		{ir.Pow, ir.Float32, ir.Float32, floats(-8, 1.0/3), nan},
		{ir.Pow, ir.Int32, ir.Int32, floats(3, 4), 81},
		{ir.Pow, ir.Int32, ir.Int32, floats(2, 31), math.MinInt32},
		{ir.Pow, ir.Int32, ir.Int32, floats(2, -1), 0},
		{ir.Pow, ir.Int32, ir.Int32, floats(0, -1), 0},
		{ir.Pow, ir.Int32, ir.Int32, floats(0, 0), 1},
		{ir.Pow, ir.Int32, ir.Int32, floats(1, -9), 1},
		{ir.Pow, ir.Int32, ir.Int32, floats(-1, -9), -1},
		{ir.Pow, ir.Int32, ir.Int32, floats(-1, -8), 1},
		{ir.Pow, ir.Uint8, ir.Uint8, floats(3, 6), 729 - 512},
		{ir.Pow, ir.Uint64, ir.Uint64, floats(2, 1<<63), 0},
		{ir.Pow, ir.Uint64, ir.Uint64, floats(1, 1<<63), 1},
		{ir.Atan2, ir.Float64, ir.Float64, floats(1, -1), math.Pi * 3 / 4},
		{ir.Atan2, ir.Float64, ir.Float64, floats(math.Copysign(0, -1), -1), -math.Pi},
		{ir.Atan2, ir.Float64, ir.Float64, floats(0, math.Copysign(0, -1)), math.Pi},
		{ir.Atan2, ir.Float64, ir.Float64, floats(-inf, inf), -math.Pi / 4},
		{ir.Atan2, ir.Float64, ir.Float64, floats(inf, nan), nan},
		{ir.Max, ir.Float32, ir.Float32, floats(inf, nan), nan},
		{ir.Min, ir.Float32, ir.Float32, floats(nan, -inf), nan},
		{ir.Max, ir.Int32, ir.Int32, floats(-1, 1), 1},
		{ir.Max, ir.Uint64, ir.Uint64, floats(1<<63, 1), 1 << 63},
		{ir.Min, ir.Uint64, ir.Uint64, floats(1<<63, 1), 1},
		{ir.Min, ir.Bool, ir.Bool, floats(0, 1), 0},

		{ir.Eq, ir.Bool, ir.Float32, floats(nan, nan), 0},
		{ir.Eq, ir.Bool, ir.Float32, floats(0, math.Copysign(0, -1)), 1},
		{ir.Lt, ir.Bool, ir.Float32, floats(nan, 1), 0},
		{ir.Lt, ir.Bool, ir.Float32, floats(1, 2), 1},
		{ir.Lt, ir.Bool, ir.Uint32, floats(1, math.MaxUint32), 1},
		{ir.Lt, ir.Bool, ir.Uint64, floats(1, 1<<63), 1},
		{ir.Lt, ir.Bool, ir.Bool, floats(0, 1), 1},
		{ir.And, ir.Int32, ir.Int32, floats(-2, 7), 6},
		{ir.Or, ir.Int32, ir.Int32, floats(-8, 7), -1},
		{ir.Xor, ir.Int32, ir.Int32, floats(-1, 7), -8},
		{ir.Xor, ir.Bool, ir.Bool, floats(1, 1), 0},
		{ir.Shl, ir.Int32, ir.Int32, floats(1, 31), math.MinInt32},
		{ir.Shl, ir.Int32, ir.Int32, floats(1, 32), 0},
		{ir.Shl, ir.Uint8, ir.Uint8, floats(255, 4), 240},
		{ir.Shl, ir.Int64, ir.Int64, floats(1, 64), 0},
		{ir.Shl, ir.Int32, ir.Int32, floats(1, -1), 0},
		{ir.Shr, ir.Int32, ir.Int32, floats(-8, 1), -4},
		{ir.Shr, ir.Int32, ir.Int32, floats(-8, 32), -1},
		{ir.Shr, ir.Int32, ir.Int32, floats(8, 99), 0},
		{ir.Shr, ir.Int32, ir.Int32, floats(-8, -1), -1},
		{ir.Shr, ir.Uint32, ir.Uint32, floats(math.MaxUint32, 31), 1},
		{ir.Shr, ir.Uint32, ir.Uint32, floats(math.MaxUint32, 32), 0},
		{ir.Shr, ir.Uint64, ir.Uint64, floats(1<<63, 63), 1},

		{ir.Sum, ir.Int32, ir.Bool, floats(1, 0, 1), 2},
		{ir.Sum, ir.Int32, ir.Uint8, floats(255, 255), 510},
		{ir.Sum, ir.Int32, ir.Int32, floats(math.MaxInt32, 1), math.MinInt32},
		{ir.Sum, ir.Float32, ir.Float32, floats(1<<24, 1, 1), 1<<24 + 2},
		{ir.Sum, ir.Float16, ir.Float16, floats(65504, 65504), inf},
		{ir.Sum, ir.Float32, ir.Float32, nil, 0},
		{ir.Prod, ir.Float32, ir.Float32, floats(2, 3, 4), 24},
		{ir.Prod, ir.Uint8, ir.Uint8, floats(16, 17), 16},
		{ir.Prod, ir.Int32, ir.Int32, nil, 1},
		{ir.ReduceMax, ir.Float32, ir.Float32, floats(1, 3, 2), 3},
		{ir.ReduceMax, ir.Float32, ir.Float32, floats(1, nan, 2), nan},
		{ir.ReduceMax, ir.Float32, ir.Float32, nil, -inf},
		{ir.ReduceMax, ir.Int32, ir.Int32, nil, math.MinInt32},
		{ir.ReduceMax, ir.Bool, ir.Bool, floats(0, 1), 1},
		{ir.ArgMax, ir.Int32, ir.Float32, floats(1, 3, 3), 1},
		{ir.ArgMax, ir.Int32, ir.Float32, floats(inf, 3, nan, nan), 2},
		{ir.ArgMax, ir.Int32, ir.Float32, floats(-inf, -inf), 0},
		{ir.ArgMax, ir.Int32, ir.Int32, floats(-3, -2), 1},
		{ir.ArgMax, ir.Int32, ir.Int32, nil, 0},
	} {
		x := make([]ir.Number, len(c.x))
		for i, v := range c.x {
			x[i] = ir.Float(c.from, v)
		}
		got := Apply(c.op, c.to, c.from, x...).Float64(c.to)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v of %v %v = %v, want %v %v", c.op, c.from, c.x, got, c.to, c.want)
		}
	}
	if got := Apply(ir.Where, ir.Int32, ir.Int32, 1, 5, 6); got != 5 {
		t.Errorf("Where(true, 5, 6) = %d, want 5", got)
	}
	if got := Apply(ir.Where, ir.Int32, ir.Int32, 0, 5, 6); got != 6 {
		t.Errorf("Where(false, 5, 6) = %d, want 6", got)
	}
}

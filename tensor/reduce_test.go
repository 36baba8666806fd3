package tensor_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestReductions(t *testing.T) {
	a := iota(2, 3).Add(1)
	i := ints(3, -1, 2, math.MinInt32).Reshape(2, 2)
	b := bools(true, false, true, true).Reshape(2, 2)
	bad := floats(1, nan, 3, 2, inf, -inf).Reshape(2, 3)
	scalar := []int{}
	lse := math.Log(math.Exp(1) + math.Exp(2) + math.Exp(3))
	run(t, []check{
		of("Sum", a.Sum(), scalar, 21),
		of("Sum(0)", a.Sum(0), []int{1, 3}, 5, 7, 9),
		of("Sum(-1)", a.Sum(-1), []int{2, 1}, 6, 15),
		of("Sum(1, 0)", a.Sum(1, 0), []int{1, 1}, 21),
		of("Sum of a scalar", tensor.Scalar(3).Sum(), scalar, 3),
		of("Sum of nothing", tensor.Zeros(0, 2).Sum(0), []int{1, 2}, 0, 0),
		{"Sum of bools", b.Sum(1), tensor.Int64, []int{2, 1}, []float64{1, 2}},
		{"Sum of a bool", b.At(0, 0).Sum(), tensor.Int64, scalar, []float64{1}},
		{"Sum of int8", tensor.New([]int8{-128, -100}).Sum(), tensor.Int64, scalar, []float64{-228}},
		{"Prod of int8", tensor.New([]int8{-128, 3}).Prod(), tensor.Int64, scalar, []float64{-384}},
		{"Max of int8", tensor.New([]int8{-128, -7}).Max(), tensor.Int8, scalar, []float64{-7}},
		{"Sum of uint8", tensor.New([]uint8{200, 100}).Sum(), tensor.Int64, scalar, []float64{300}},
		{"Sum of int32", ints(math.MaxInt32, 1).Sum(), tensor.Int64, scalar, []float64{1 << 31}},
		{"Sum of int64 wraps", tensor.New([]int64{math.MaxInt64, 1}).Sum(), tensor.Int64, scalar, []float64{math.MinInt64}},
		of("Mean", a.Mean(), scalar, 3.5),
		of("Mean(1)", a.Mean(1), []int{2, 1}, 2, 5),
		of("Mean of nothing", tensor.Zeros(0).Mean(), scalar, nan),
		of("Var(1)", a.Var(1), []int{2, 1}, 2.0/3, 2.0/3),
		of("Var", a.Var(), scalar, 35.0/12),
		of("Std(0)", a.Std(0), []int{1, 3}, 1.5, 1.5, 1.5),
		of("Norm", floats(3, 4).Norm(), scalar, 5),
		of("Norm(0)", a.Norm(0), []int{1, 3}, math.Sqrt(17), math.Sqrt(29), math.Sqrt(45)),
		of("Max(0)", a.Max(0), []int{1, 3}, 4, 5, 6),
		of("Max of NaN", bad.Max(1), []int{2, 1}, nan, inf),
		of("Max of nothing", tensor.Zeros(0).Max(), scalar, -inf),
		of("Max of -Inf", floats(-inf, -inf).Max(), scalar, -inf),
		{"Max of int32", i.Max(1), tensor.Int32, []int{2, 1}, []float64{3, 2}},
		{"Max of bools", b.Max(1), tensor.Bool, []int{2, 1}, []float64{1, 1}},
		of("Min(1)", a.Min(1), []int{2, 1}, 1, 4),
		of("Min of NaN", bad.Min(1), []int{2, 1}, nan, -inf),
		of("Min of nothing", tensor.Zeros(0).Min(), scalar, inf),
		{"Min of int32", i.Min(0), tensor.Int32, []int{1, 2}, []float64{2, math.MinInt32}},
		{"Min of uint8", tensor.New([]uint8{7, 200}).Min(), tensor.Uint8, scalar, []float64{7}},
		{"Min of bools", b.Min(1), tensor.Bool, []int{2, 1}, []float64{0, 1}},
		of("Prod(1)", a.Prod(1), []int{2, 1}, 6, 120),
		of("Prod of nothing", tensor.Zeros(0).Prod(), scalar, 1),
		{"Any", b.Any(1), tensor.Bool, []int{2, 1}, []float64{1, 1}},
		{"All", b.All(1), tensor.Bool, []int{2, 1}, []float64{0, 1}},
		{"Any of numbers", floats(0, nan).Any(), tensor.Bool, scalar, []float64{1}},
		{"All of numbers", ints(1, 0).All(), tensor.Bool, scalar, []float64{0}},
		{"Any of nothing", tensor.Zeros(0).Any(), tensor.Bool, scalar, []float64{0}},
		{"All of nothing", tensor.Zeros(0).All(), tensor.Bool, scalar, []float64{1}},
		typed("ArgMax(1)", a.ArgMax(1), tensor.Int32, 2, 2),
		typed("ArgMax(0)", a.Flip(0).ArgMax(0), tensor.Int32, 0, 0, 0),
		typed("ArgMax of equals", floats(1, 3, 3).Reshape(1, 3).ArgMax(1), tensor.Int32, 1),
		typed("ArgMax of NaN", bad.ArgMax(1), tensor.Int32, 1, 1),
		typed("ArgMin of NaN", bad.ArgMin(1), tensor.Int32, 1, 2),
		typed("ArgMin of int32", i.ArgMin(-1), tensor.Int32, 1, 1),
		typed("ArgMin of bools", b.ArgMin(1), tensor.Int32, 1, 0),
		{"ArgMax of a vector", floats(1, 5, 2).ArgMax(0), tensor.Int32, scalar, []float64{1}},
		of("LogSumExp(1)", a.LogSumExp(1), []int{2, 1}, lse, lse+3),
		of("LogSumExp", floats(1000, 1000).LogSumExp(), scalar, 1000+math.Ln2),
		of("LogSumExp of -Inf", floats(-inf, -inf).LogSumExp(), scalar, -inf),
		of("LogSumExp of Inf", floats(inf, 1).LogSumExp(), scalar, inf),
		of("LogSumExp of NaN", floats(nan, 1).LogSumExp(), scalar, nan),
		of("LogSumExp of nothing", tensor.Zeros(0).LogSumExp(), scalar, -inf),
	})
}

func TestSoftmax(t *testing.T) {
	e := []float64{math.Exp(-2), math.Exp(-1), 1}
	sum := e[0] + e[1] + e[2]
	x := floats(1, 2, 3, 1001, 1002, 1003).Reshape(2, 3)
	p := []float64{e[0] / sum, e[1] / sum, e[2] / sum, e[0] / sum, e[1] / sum, e[2] / sum}
	logs := []float64{-2 - math.Log(sum), -1 - math.Log(sum), -math.Log(sum)}
	run(t, []check{
		of("Softmax(1)", x.Softmax(1), []int{2, 3}, p...),
		of("Softmax(-1)", x.Softmax(-1), []int{2, 3}, p...),
		of("Softmax(0)", floats(0, 0).Reshape(2, 1).Softmax(0), []int{2, 1}, 0.5, 0.5),
		same("Softmax with -Inf", floats(0, -inf, 0).Softmax(0), 0.5, 0, 0.5),
		of("Softmax of nothing", tensor.Zeros(2, 0).Softmax(1), []int{2, 0}),
		of("LogSoftmax(1)", x.LogSoftmax(1), []int{2, 3}, append(logs, logs...)...),
		same("LogSoftmax far apart", floats(0, 200).LogSoftmax(0), -200, 0),
	})
}

package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestSearchSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 7, 8, 100} {
		edges, x := make([]float32, n), make([]float32, 60)
		for i := range edges {
			edges[i] = float32(rng.IntN(20))
		}
		for i := range x {
			x[i] = float32(rng.IntN(24)) - 2
		}
		slices.Sort(edges)
		left, _ := tensor.Data[int32](tensor.New(x, 6, 10).SearchSorted(tensor.New(edges)))
		right, err := tensor.Data[int32](tensor.New(x, 6, 10).SearchSortedRight(tensor.New(edges)))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			l := sort.Search(n, func(k int) bool { return edges[k] >= v })
			r := sort.Search(n, func(k int) bool { return edges[k] > v })
			if int(left[i]) != l || int(right[i]) != r {
				t.Fatalf("%v in %v: %d and %d, want %d and %d", v, edges, left[i], right[i], l, r)
			}
		}
	}
}

func TestOrderedResults(t *testing.T) {
	x := tensor.New([]float32{3, 1, 2, 1, float32(nan), 3}, 2, 3)
	y := tensor.New([]float32{4, 1, 3, 2})
	mask := tensor.New([]bool{true, false, true, true}, 2, 2)
	values, at := y.TopK(0, 2)
	least, leastAt := x.BottomK(1, 2)
	all, indices, inverse, counts := x.UniqueAll()
	none, noIndices, noInverse, noCounts := tensor.Zeros(0, 3).UniqueAll()
	data := tensor.New([]float32{-1, 0, 0.5, 1, 2, 3, float32(nan)})
	bins, edges := data.HistogramBins(2, 0, 2)
	wholeBins, wholeEdges := data.HistogramBins(4)
	oneBin, oneEdges := tensor.New([]float64{3, 3}).HistogramBins(2)
	scalar, scalarEdges := tensor.Scalar(3).Cast(tensor.Float32).HistogramBins(2)
	noBins, _ := tensor.New([]float32{}).HistogramBins(2)
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want string
	}{
		{"Sort", x.Sort(1), "float32 [2 3] [[  1   2   3]\n [  1   3 NaN]]"},
		{"ArgSort", x.ArgSort(-1), "int32 [2 3] [[1 2 0]\n [0 2 1]]"},
		{"TopK", values, "float32 [2] [4 3]"},
		{"TopK's positions", at, "int32 [2] [0 2]"},
		{"BottomK", least, "float32 [2 2] [[1 2]\n [1 3]]"},
		{"BottomK's positions", leastAt, "int32 [2 2] [[1 2]\n [0 2]]"},
		{"UniqueAll", all, "float32 [4] [1 2 3 NaN]"},
		{"UniqueAll's indices", indices, "int32 [4] [1 2 0 4]"},
		{"UniqueAll's inverse", inverse, "int32 [2 3] [[2 0 1]\n [0 3 2]]"},
		{"UniqueAll's counts", counts, "int32 [4] [2 1 2 1]"},
		{"UniqueAll of nothing", none, "float32 [0] [] (shape [0])"},
		{"UniqueAll's indices of nothing", noIndices, "int32 [0] [] (shape [0])"},
		{"UniqueAll's inverse of nothing", noInverse, "int32 [0 3] [] (shape [0 3])"},
		{"UniqueAll's counts of nothing", noCounts, "int32 [0] [] (shape [0])"},
		{"HistogramBins", bins, "int32 [2] [2 2]"},
		{"HistogramBins's edges", edges, "float32 [3] [0 1 2]"},
		{"HistogramBins without limits", wholeBins, "int32 [4] [1 2 1 2]"},
		{"HistogramBins's edges without limits", wholeEdges, "float32 [5] [-1 0 1 2 3]"},
		{"HistogramBins of a scalar", scalar, "int32 [2] [0 1]"},
		{"HistogramBins's edges of a scalar", scalarEdges, "float32 [3] [2.5 3.0 3.5]"},
		{"HistogramBins of one number", oneBin, "int32 [2] [0 2]"},
		{"HistogramBins's edges of one number", oneEdges, "float64 [3] [2.5 3.0 3.5]"},
		{"HistogramBins of nothing", noBins, "int32 [2] [0 0]"},
		{"Quantiles", y.Quantile(0, 0, 0.5, 1), "float32 [3] [1.0 2.5 4.0]"},
		{"Quantiles along an axis", x.Quantile(1, 0.5, 1), "float32 [2 2] [[  2   3]\n [NaN NaN]]"},
		{"TopK of none", func() tensor.Tensor { v, _ := y.TopK(0, 0); return v }(), "float32 [0] [] (shape [0])"},
		{"Median", y.Median(0), "float32 [1] [2]"},
		{"Median of NaN", x.Median(1), "float32 [2 1] [[  2]\n [NaN]]"},
		{"Median of integers", tensor.New([]int32{5, 1, 9}).Median(0), "int32 [1] [5]"},
		{"Quantile", y.Quantile(0, 0.5), "float32 [1] [2.5]"},
		{"Quantile 1", y.Quantile(0, 1), "float32 [1] [4]"},
		{"Unique", x.Unique(), "float32 [4] [1 2 3 NaN]"},
		{"Unique of bools", mask.Unique(), "bool [2] [false true]"},
		{"Unique of nothing", tensor.Zeros(0, 3).Unique(), "float32 [0] [] (shape [0])"},
		{"NonZero", mask.NonZero(), "int32 [3 2] [[0 0]\n [1 0]\n [1 1]]"},
		{"NonZero of numbers", tensor.New([]int32{0, 5, 0}).NonZero(), "int32 [1 1] [[1]]"},
		{"NonZero of none", tensor.Zeros(2, 2).NonZero(), "int32 [0 2] [] (shape [0 2])"},
		{"NonZero of a scalar", tensor.Scalar(2).NonZero(), "int32 [1 0] [] (shape [1 0])"},
		{"Histogram", tensor.New([]float32{-1, 0, 0.5, 1, 2, 3, float32(nan)}).Histogram(tensor.New([]float32{0, 1, 2})), "int32 [2] [2 2]"},
		{"Bincount", tensor.New([]int32{0, 2, 2, 1, 2}).Bincount(4), "int32 [4] [1 1 3 0]"},
	} {
		if got := fmt.Sprint(c.got.DType(), " ", c.got.Shape(), " ", c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	if err := tensor.Eval(tensor.New([]int32{0, 4}).Bincount(4)); err == nil {
		t.Error("Bincount of 4 in 0 to 3: no error")
	}
	want := "Bincount: number -1 at [1] is out of range for 4 counts, of which the first is that of 0"
	if err := tensor.Eval(tensor.New([]int32{0, -1}).Bincount(4)); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("Bincount of -1: %v, want %s", err, want)
	}
}

// Positions of a long mask, of which few, many and all elements are true.
func TestNonZeroOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0, 0.001, 0.5, 1} {
		mask := make([]bool, 200_000)
		var want []int32
		for i := range mask {
			if mask[i] = rng.Float64() < share; mask[i] {
				want = append(want, int32(i))
			}
		}
		got, err := tensor.Data[int32](tensor.New(mask).NonZero())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("of %v: %d positions, want %d (%v)", share, len(got), len(want), err)
		}
	}
}

func TestOrderedMisuse(t *testing.T) {
	x, ints := tensor.Zeros(2, 3), tensor.New([]int32{1, 2})
	for want, f := range map[string]func(){
		"axis 2":                       func() { x.CumSum(2) },
		"k is 4: want 0 to 3":          func() { x.TopK(1, 4) },
		"q is 1.5: want 0 to 1":        func() { x.Quantile(0, 1.5) },
		"the axis is empty":            func() { tensor.Zeros(0).Median(0) },
		"the types differ":             func() { x.SearchSorted(ints) },
		"the edges must have one axis": func() { x.Histogram(x) },
		"at least one edge":            func() { x.Histogram(tensor.Zeros(0)) },
		"Bincount of [2 3]: it counts integers from 0 on: Cast(tensor.Int32)": func() { x.Bincount(3) },
		"LogCumSumExp of int32": func() { ints.LogCumSumExp(0) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

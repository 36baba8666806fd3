package tensor_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// rowsAlong calls f for each row of a shape along an axis, with the numbers of its elements.
func rowsAlong(shape []int, axis int, f func(row []int)) {
	step := 1
	for _, d := range shape[axis+1:] {
		step *= d
	}
	outer := 1
	for _, d := range shape[:axis] {
		outer *= d
	}
	for i := range outer * step {
		row := make([]int, shape[axis])
		for k := range row {
			row[k] = (i/step*shape[axis]+k)*step + i%step
		}
		f(row)
	}
}

// orderedShapes are rows that are short, long enough for several blocks, and in columns.
var orderedShapes = [][]int{{7}, {3, 5, 4}, {2, 0, 3}, {5000}, {70000}, {3, 4100}, {4100, 3}, {600, 40}}

func TestCumulative(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		f func(t tensor.Tensor, axis int) tensor.Tensor
		g func(a, b float64) float64
	}{
		"CumSum":       {tensor.Tensor.CumSum, func(a, b float64) float64 { return a + b }},
		"CumProd":      {tensor.Tensor.CumProd, func(a, b float64) float64 { return a * b }},
		"CumMax":       {tensor.Tensor.CumMax, func(a, b float64) float64 { return max(a, b) }},
		"CumMin":       {tensor.Tensor.CumMin, func(a, b float64) float64 { return min(a, b) }},
		"LogCumSumExp": {tensor.Tensor.LogCumSumExp, func(a, b float64) float64 { m := max(a, b); return m + math.Log1p(math.Exp(min(a, b)-m)) }},
	} {
		for _, s := range orderedShapes {
			x := make([]float64, product(s))
			for i := range x {
				x[i] = 1 + 0.01*rng.NormFloat64()
			}
			for axis := range s {
				want := slices.Clone(x)
				rowsAlong(s, axis, func(row []int) {
					for k := 1; k < len(row); k++ {
						want[row[k]] = c.g(want[row[k-1]], want[row[k]])
					}
				})
				got, err := tensor.Data[float64](c.f(tensor.New(x, s...), axis))
				if err != nil {
					t.Fatal(err)
				}
				for i, w := range want {
					if math.Abs(got[i]-w) > 1e-9*(1+math.Abs(w)) {
						t.Fatalf("%s of %v along %d: element %d is %v, want %v", name, s, axis, i, got[i], w)
					}
				}
			}
		}
	}
}

func product(s []int) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// A sum of many float32 is near the exact one: it is not added one by one.
func TestCumSumIsAccurate(t *testing.T) {
	const n = 1 << 21
	x := make([]float32, n)
	for i := range x {
		x[i] = 0.1
	}
	y, err := tensor.Data[float32](tensor.New(x).CumSum(0))
	if err != nil {
		t.Fatal(err)
	}
	if want := float64(x[0]) * n; math.Abs(float64(y[n-1])-want) > 1e-5*want {
		t.Errorf("the sum of %d times 0.1 is %v, want %v", n, y[n-1], want)
	}
}

func TestCumulativeTypes(t *testing.T) {
	for _, c := range []struct {
		got  tensor.Tensor
		want string
	}{
		{tensor.New([]bool{true, false, true}).CumSum(0), "int64 [1 1 2]"},
		{tensor.New([]uint8{200, 100}).CumSum(0), "int64 [200 300]"},
		{tensor.New([]int64{1 << 40, 1}).CumSum(-1), "int64 [1099511627776 1099511627777]"},
		{tensor.New([]int8{100, 2}).CumProd(0), "int64 [100 200]"},
		{tensor.New([]float64{1, nan, 3}).CumMax(0), "float64 [1 NaN NaN]"},
		{tensor.New([]float64{1, nan, 3}).CumMin(0), "float64 [1 NaN NaN]"},
		{tensor.New([]float32{-float32(inf), 0, float32(inf), 1}).LogCumSumExp(0), "float32 [-inf 0 inf inf]"},
		{tensor.New([]float32{1000, 1000}).LogCumSumExp(0), "float32 [1000.0000 1000.6932]"},
		{tensor.New([]float32{1, 2, 3, 4}, 2, 2).Cast(tensor.BFloat16).CumSum(1), "bfloat16 [[1 3]\n [3 7]]"},
	} {
		if got := fmt.Sprint(c.got.DType(), " ", c.got); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, kinds := range []int{4, 1 << 30} { // values of which many are equal, or few
		for _, s := range orderedShapes {
			n := product(s)
			i32, i64, f32, f64, u8, flags := make([]int32, n), make([]int64, n), make([]float32, n), make([]float64, n), make([]uint8, n), make([]bool, n)
			for i := range n {
				v := rng.IntN(kinds) - kinds/2
				i32[i], i64[i], f32[i], f64[i] = int32(v), int64(v)*rng.Int64N(1<<33), float32(v)/3, float64(v)/3
				u8[i], flags[i] = uint8(v), v&1 == 1
				if v%100 == 7 {
					f32[i], f64[i] = float32(nan), nan
				}
			}
			for axis := range s {
				if testing.Short() && (axis != len(s)/2 || (i+axis)%2 == 1) {
					continue
				}
				checkSort(t, s, axis, i32)
				checkSort(t, s, axis, i64)
				checkSort(t, s, axis, f32)
				checkSort(t, s, axis, f64)
				checkSort(t, s, axis, u8)
				checkSort(t, s, axis, flags)
			}
		}
	}
}

// checkSort compares Sort, ArgSort and TopK with a sort of positions.
func checkSort[E tensor.Element](t *testing.T, s []int, axis int, x []E) {
	t.Helper()
	number := func(e E) float64 {
		switch v := any(e).(type) {
		case bool:
			if v {
				return 1
			}
			return 0
		case uint8:
			return float64(v)
		case int32:
			return float64(v)
		case int64:
			return float64(v)
		case float32:
			return float64(v)
		case float64:
			return v
		}
		panic("type")
	}
	compare := func(a, b E) int { // NaN last
		p, q := number(a), number(b)
		switch {
		case p < q || p == p && q != q:
			return -1
		case p > q || p != p && q == q:
			return 1
		}
		return 0
	}
	in := tensor.New(x, s...)
	k := min(5, s[axis])
	values, top := in.TopK(axis, k)
	if err := tensor.Eval(values, top); err != nil {
		t.Fatal(err)
	}
	order, _ := tensor.Data[int32](in.ArgSort(axis))
	sorted, _ := tensor.Data[E](in.Sort(axis))
	best, _ := tensor.Data[int32](top)
	var bestRows [][]int
	rowsAlong(top.Shape(), axis, func(row []int) { bestRows = append(bestRows, row) })
	n := 0
	rowsAlong(s, axis, func(row []int) {
		want := make([]int, len(row))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int { return compare(x[row[a]], x[row[b]]) })
		for i, w := range want {
			if int(order[row[i]]) != w || compare(sorted[row[i]], x[row[w]]) != 0 {
				t.Fatalf("%v of %v along %d: place %d has position %d and %v, want %d and %v", in.DType(), s, axis, i, order[row[i]], sorted[row[i]], w, x[row[w]])
			}
		}
		slices.Sort(want)
		slices.SortStableFunc(want, func(a, b int) int { return compare(x[row[b]], x[row[a]]) })
		for i, w := range want[:k] {
			if got := int(best[bestRows[n][i]]); got != w {
				t.Fatalf("TopK of %v %v along %d: place %d is %d, want %d", in.DType(), s, axis, i, got, w)
			}
		}
		n++
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Long rows are sorted by buckets, whatever the distribution: with keys beyond those that
// were sampled, with most keys in one bucket, and with the first places only.
func TestSortLongRows(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 70_000
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, at := range map[string]func(i int) float32{
		"normal":       func(int) float32 { return float32(rng.NormFloat64()) },
		"sorted":       func(i int) float32 { return float32(i / 3) },
		"reversed":     func(i int) float32 { return float32(-i / 3) },
		"equal":        func(int) float32 { return 1 },
		"one apart":    func(i int) float32 { return float32(btoi(i == n-1)) },
		"mostly zeros": func(i int) float32 { return max(float32(rng.NormFloat64()-1), 0) },
		"in one bucket": func(i int) float32 {
			return 1 + float32(rng.IntN(1000))/(1<<20) + 1e30*float32(btoi(i == 0)-btoi(i == 1))
		},
		"beyond a sample": func(i int) float32 { return float32(rng.NormFloat64()) * (1 + 1e20*float32(btoi(i%1000 == 999))) },
	} {
		x := make([]float32, n)
		for i := range x {
			x[i] = at(i)
		}
		want := make([]int32, n)
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(x[a], x[b]) })
		order := tensor.New(x).ArgSort(0)
		if got, err := tensor.Data[int32](order); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: not sorted (%v)", name, err)
		}
		_, top := tensor.New(x).Neg().TopK(0, n/3)
		if got, err := tensor.Data[int32](top); err != nil || !slices.Equal(got, want[:n/3]) {
			t.Errorf("%s: a third is not sorted (%v)", name, err)
		}
	}
	rows := make([]float32, 2<<18)
	for i := range rows {
		rows[i] = float32(rng.NormFloat64())
	}
	got, err := tensor.Data[float32](tensor.New(rows, 2, 1<<18).Sort(1))
	for r := range slices.Chunk(rows, 1<<18) {
		slices.Sort(r)
	}
	if err != nil || !slices.Equal(got, rows) {
		t.Errorf("2 rows are not sorted (%v)", err)
	}
}

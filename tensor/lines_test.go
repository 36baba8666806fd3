package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/tensor"
)

// A lineFunc is a function along an axis: of each line of elements by itself.
type lineFunc struct {
	of func(x tensor.Tensor, axis int) tensor.Tensor
	// line returns the result for a line, and for each of its elements how much of it
	// every element of the line has: derivatives by the other axis.
	line func(x []float64) (y []float64, partial [][]float64)
}

// row returns n zeros.
func row(n int) []float64 { return make([]float64, n) }

// picks is a line function whose results are elements of the line.
func picks(positions func(x []float64) []int) func(x []float64) ([]float64, [][]float64) {
	return func(x []float64) (y []float64, partial [][]float64) {
		for _, at := range positions(x) {
			p := row(len(x))
			p[at] = 1
			y, partial = append(y, x[at]), append(partial, p)
		}
		return y, partial
	}
}

// running returns the position of the last element up to each one that better prefers, or
// is NaN.
func running(better func(a, b float64) bool) func(x []float64) []int {
	return func(x []float64) []int {
		at, out := 0, []int{}
		for i, v := range x {
			if v != v || x[at] == x[at] && !better(x[at], v) {
				at = i
			}
			out = append(out, at)
		}
		return out
	}
}

// ascending returns the positions of a line in order: equal ones as they were, NaN last.
func ascending(x []float64) []int {
	return ordered(x, func(a, b float64) bool { return a < b || a == a && b != b })
}

// ordered returns the positions of a line sorted, equal ones as they were.
func ordered(x []float64, less func(a, b float64) bool) []int {
	at := make([]int, len(x))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		switch {
		case less(x[a], x[b]):
			return -1
		case less(x[b], x[a]):
			return 1
		}
		return 0
	})
	return at
}

var lineFuncs = map[string]lineFunc{
	"CumSum": {tensor.Tensor.CumSum, func(x []float64) (y []float64, partial [][]float64) {
		sum := 0.0
		for i, v := range x {
			sum += v
			p := row(len(x))
			for k := range i + 1 {
				p[k] = 1
			}
			y, partial = append(y, sum), append(partial, p)
		}
		return y, partial
	}},
	"CumProd": {tensor.Tensor.CumProd, func(x []float64) (y []float64, partial [][]float64) {
		product := 1.0
		for i, v := range x {
			product *= v
			p := row(len(x))
			for k := range i + 1 {
				p[k] = 1
				for l, w := range x[:i+1] {
					if l != k {
						p[k] *= w
					}
				}
			}
			y, partial = append(y, product), append(partial, p)
		}
		return y, partial
	}},
	"CumMax": {tensor.Tensor.CumMax, picks(running(func(a, b float64) bool { return a > b }))},
	"CumMin": {tensor.Tensor.CumMin, picks(running(func(a, b float64) bool { return a < b }))},
	"Sort":   {tensor.Tensor.Sort, picks(ascending)},
	"TopK": {func(x tensor.Tensor, axis int) tensor.Tensor {
		y, _ := x.TopK(axis, (x.Dim(axis)+1)/2)
		return y
	}, picks(func(x []float64) []int {
		return ordered(x, func(a, b float64) bool { return a > b || a != a && b == b })[:(len(x)+1)/2]
	})},
	"Median": {tensor.Tensor.Median, func(x []float64) ([]float64, [][]float64) {
		at := ascending(x)
		y, p := x[at[(len(x)-1)/2]], row(len(x))
		p[at[(len(x)-1)/2]] = 1
		if slices.ContainsFunc(x, math.IsNaN) {
			y, p = nan, row(len(x))
		}
		return []float64{y}, [][]float64{p}
	}},
}

// Functions along an axis, and their derivatives, equal plain loops over lines, with equal
// elements, with NaN, and on views.
func TestLinesByDefinition(t *testing.T) {
	names := []string{}
	for name := range lineFuncs {
		names = append(names, name)
	}
	slices.Sort(names)
	property.Check(t, func(r *property.T) {
		name := property.SampledFrom(names).Draw(r, "function")
		f := lineFuncs[name]
		s := property.SliceOfN(property.IntRange(1, 6), 1, 3).Draw(r, "shape")
		axis := property.IntRange(0, len(s)-1).Draw(r, "axis")
		elements := []float64{0, 1, -1, 2, -2, 3}
		if name[:2] != "Cu" || name[3] == 'M' {
			elements = append(elements, nan, inf, -inf)
		}
		xs := property.SliceOfN(property.SampledFrom(elements), product(s), product(s)).Draw(r, "elements")
		x := tensor.New(xs, s...)
		view := func(x tensor.Tensor) tensor.Tensor { return x }
		if property.Bool().Draw(r, "view") {
			view = func(x tensor.Tensor) tensor.Tensor { return x.Transpose(0, -1).Flip(0) }
			axis = len(s) - 1 - axis
		}
		in := view(x)
		vs := values(t, in)
		y, pull := grad.VJP(func(x tensor.Tensor) tensor.Tensor { return f.of(view(x), axis) }, x)
		got := values(t, y)
		ct := make([]float64, len(got))
		for i := range ct {
			ct[i] = float64(i%5 - 1)
		}
		d := values(t, view(pull(tensor.New(ct, y.Shape()...))))

		var results [][]int
		rowsAlong(y.Shape(), axis, func(at []int) { results = append(results, at) })
		n := 0
		rowsAlong(in.Shape(), axis, func(at []int) {
			line := make([]float64, len(at))
			for i, p := range at {
				line[i] = vs[p]
			}
			want, partial := f.line(line)
			dx := row(len(line))
			for i, p := range results[n] {
				if !near(got[p], want[i]) {
					r.Fatalf("%s of %v: place %d is %v, want %v", name, line, i, got[p], want[i])
				}
				for k := range dx {
					dx[k] += ct[p] * partial[i][k]
				}
			}
			for k, p := range at {
				if d[p] != dx[k] {
					r.Fatalf("%s of %v: derivative %d is %v, want %v", name, line, k, d[p], dx[k])
				}
			}
			n++
		})
	})
}

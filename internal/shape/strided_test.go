package shape

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/ir"
)

// points lists the positions of a shape in row-major order.
func points(dims []int) [][]int {
	out := [][]int{{}}
	for _, n := range dims {
		var next [][]int
		for _, p := range out {
			for i := range n {
				next = append(next, append(slices.Clone(p), i))
			}
		}
		out = next
	}
	return out
}

func dot(a, b []int) (sum int) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestRowMajor(t *testing.T) {
	for _, c := range []struct{ dims, want []int }{
		{nil, []int{}},
		{[]int{5}, []int{1}},
		{[]int{2, 3, 4}, []int{12, 4, 1}},
		{[]int{2, 1, 4}, []int{4, 4, 1}},
	} {
		if got := RowMajor(c.dims); !slices.Equal(got, c.want) {
			t.Errorf("RowMajor(%v) = %v, want %v", c.dims, got, c.want)
		}
		if !IsRowMajor(c.dims, c.want) {
			t.Errorf("IsRowMajor(%v, %v) = false", c.dims, c.want)
		}
	}
	for _, c := range []struct {
		dims, strides []int
		want          bool
	}{
		{[]int{1, 3}, []int{77, 1}, true},
		{[]int{2, 3}, []int{1, 2}, false},
		{[]int{2, 3}, []int{4, 1}, false},
		{[]int{2, 3}, []int{3, -1}, false},
		{[]int{2, 3}, []int{0, 1}, false},
		{[]int{1, 1}, []int{0, 0}, true},
	} {
		if got := IsRowMajor(c.dims, c.strides); got != c.want {
			t.Errorf("IsRowMajor(%v, %v) = %v, want %v", c.dims, c.strides, got, c.want)
		}
	}
}

// drawShape gives a shape of at most so many elements, none of its axes empty.
func drawShape(t *property.T, most int) []int {
	rank := property.SampledFrom([]int{0, 1, 2, 2, 3, 3, 4}).Draw(t, "rank")
	dims := property.SliceOfN(property.SampledFrom([]int{1, 2, 2, 3, 4, 5, 6, 8}), rank, rank).Draw(t, "shape")
	for product(dims) > most {
		dims = dims[1:]
	}
	return dims
}

// drawReshape gives another shape of as many elements.
func drawReshape(t *property.T, n int) []int {
	var to []int
	for d := 2; n > 1; {
		if n%d != 0 {
			d++
			continue
		}
		n /= d
		if len(to) > 0 && property.Bool().Draw(t, "join") {
			to[len(to)-1] *= d
		} else {
			to = append(to, d)
		}
	}
	to = property.Permutation(to).Draw(t, "to")
	if property.Bool().Draw(t, "one") {
		to = slices.Insert(to, property.IntRange(0, len(to)).Draw(t, "where"), 1)
	}
	return to
}

// A reshaped view has strides exactly if its elements lie at some.
func TestReshapeStrides(t *testing.T) {
	property.Check(t, func(t *property.T) {
		from := drawShape(t, 200)
		to := drawReshape(t, product(from))
		strides := RowMajor(from)
		if property.Bool().Draw(t, "strided") {
			strides = property.SliceOfN(property.SampledFrom([]int{0, 1, 2, 3, 4, 6, -1, -2, 12}), len(from), len(from)).Draw(t, "strides")
		}
		var place []int // of each element
		for _, p := range points(from) {
			place = append(place, dot(p, strides))
		}
		want, could := fit(to, place)
		m := Move{Op: ir.Reshape, From: from, To: to}
		v, ok := m.View(Strided{Strides: strides}, nil)
		got := v.Strides
		if ok != could {
			t.Fatalf("reshape of strides %v, %v to %v, = %v, %v, want %v, %v", strides, from, to, got, ok, want, could)
		}
		for i, p := range points(to) {
			if ok && dot(p, got) != place[i] {
				t.Fatalf("reshape of strides %v, %v to %v, = %v: %d at %v, want %d", strides, from, to, got, dot(p, got), p, place[i])
			}
		}
	})
}

// fit gives the strides at which elements of a shape lie, if there are any.
func fit(dims, place []int) ([]int, bool) {
	strides := make([]int, len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] > 1 {
			strides[i] = place[step]
		}
		step *= dims[i]
	}
	for i, p := range points(dims) {
		if dot(p, strides) != place[i] {
			return nil, false
		}
	}
	return strides, true
}

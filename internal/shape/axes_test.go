package shape

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/property"
)

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		axes []int
		rank int
		want []int
		err  string
	}{
		{nil, 2, []int{}, ""},
		{[]int{1, -2}, 2, []int{0, 1}, ""},
		{[]int{-1}, 3, []int{2}, ""},
		{[]int{2}, 2, nil, "axis 2 is out of range for rank 2"},
		{[]int{-3}, 2, nil, "axis -3 is out of range for rank 2"},
		{[]int{1, -1}, 2, nil, "axis 1 is named twice"},
		{[]int{0}, 0, nil, "axis 0 is out of range for rank 0"},
	} {
		got, err := Axes(c.axes, c.rank)
		if !slices.Equal(got, c.want) || message(err) != c.err {
			t.Errorf("Axes(%v, %d) = %v, %q, want %v, %q", c.axes, c.rank, got, message(err), c.want, c.err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		axes []int
		want []int
		err  string
	}{
		{[]int{2, 0, 1}, []int{2, 0, 1}, ""},
		{[]int{-1, 0, -2}, []int{2, 0, 1}, ""},
		{[]int{1, 1, 1}, nil, "axis 1 is named twice"},
		{[]int{0, 1}, nil, "2 axes for rank 3"},
		{[]int{0, 1, 3}, nil, "axis 3 is out of range for rank 3"},
	} {
		got, err := Order(c.axes, 3)
		if !slices.Equal(got, c.want) || message(err) != c.err {
			t.Errorf("Order(%v, 3) = %v, %q, want %v, %q", c.axes, got, message(err), c.want, c.err)
		}
	}
}

func TestInfer(t *testing.T) {
	for _, c := range []struct {
		shape []int
		n     int
		want  []int
		err   string
	}{
		{[]int{2, 3}, 6, []int{2, 3}, ""},
		{[]int{}, 1, []int{}, ""},
		{[]int{-1, 3}, 6, []int{2, 3}, ""},
		{[]int{-1}, 0, []int{0}, ""},
		{[]int{-1, 3}, 0, []int{0, 3}, ""},
		{[]int{0, 5}, 0, []int{0, 5}, ""},
		{[]int{-1, 4}, 6, nil, "6 elements cannot make a multiple of 4"},
		{[]int{4}, 6, nil, "6 elements cannot make 4"},
		{[]int{-1, 0}, 0, nil, "-1 beside a length of 0 could be anything"},
		{[]int{-1, -1}, 6, nil, "more than one length of -1"},
		{[]int{-2, -3}, 6, nil, "a length of -2"},
		{[]int{1 << 40, 1 << 40}, 6, nil, fmt.Sprintf("more than %d elements", MaxLen)},
	} {
		got, err := Infer(c.shape, c.n)
		if !slices.Equal(got, c.want) || message(err) != c.err {
			t.Errorf("Infer(%v, %d) = %v, %q, want %v, %q", c.shape, c.n, got, message(err), c.want, c.err)
		}
	}
}

func TestOnes(t *testing.T) {
	for _, c := range []struct{ shape, axes, with []int }{
		{[]int{2, 3}, []int{0}, []int{1, 2, 3}},
		{[]int{2, 3}, []int{1, 3}, []int{2, 1, 3, 1}},
		{[]int{}, []int{0, 1}, []int{1, 1}},
		{[]int{2}, nil, []int{2}},
	} {
		if got := WithOnes(c.shape, c.axes); !slices.Equal(got, c.with) {
			t.Errorf("WithOnes(%v, %v) = %v, want %v", c.shape, c.axes, got, c.with)
		}
		if got := Without(c.with, c.axes); !slices.Equal(got, c.shape) {
			t.Errorf("Without(%v, %v) = %v, want %v", c.with, c.axes, got, c.shape)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		start, stop, step, n int
		first, count         int
		err                  string
	}{
		{0, 5, 1, 5, 0, 5, ""},
		{1, -1, 1, 5, 1, 3, ""},
		{-2, End, 1, 5, 3, 2, ""},
		{5, 5, 1, 5, 5, 0, ""},
		{2, 2, 1, 5, 2, 0, ""},
		{End, End, 1, 5, 5, 0, ""},
		{0, End, 2, 5, 0, 3, ""},
		{0, 4, math.MaxInt, 5, 0, 1, ""},
		{-1, End, -1, 5, 4, 5, ""},
		{4, 0, -2, 5, 4, 2, ""},
		{3, 3, -1, 5, 3, 0, ""},
		{4, End, math.MinInt + 1, 5, 4, 1, ""},
		{-1, End, -1, 0, -1, 0, ""},
		{0, 0, 1, 0, 0, 0, ""},
		{0, 6, 1, 5, 0, 0, "stop 6 is out of range for length 5"},
		{6, 6, 1, 5, 0, 0, "start 6 is out of range for length 5"},
		{-6, 3, 1, 5, 0, 0, "start -6 is out of range for length 5"},
		{0, -6, 1, 5, 0, 0, "stop -6 is out of range for length 5"},
		{5, 0, -1, 5, 0, 0, "start 5 is out of range for length 5"},
		{-2, End, -1, 0, 0, 0, "start -2 is out of range for length 0"},
		{3, 2, 1, 5, 0, 0, "start 3 is after stop 2"},
		{2, 3, -1, 5, 0, 0, "start 2 is before stop 3, and the step is -1"},
		{0, 3, 0, 5, 0, 0, "a step of 0"},
	} {
		first, count, err := Steps(c.start, c.stop, c.step, c.n)
		if first != c.first || count != c.count || message(err) != c.err {
			t.Errorf("Steps(%d, %d, %d, %d) = %d, %d, %q, want %d, %d, %q",
				c.start, c.stop, c.step, c.n, first, count, message(err), c.first, c.count, c.err)
		}
	}
}

// Whatever Steps is given, it gives an error or positions within the axis.
func FuzzSteps(f *testing.F) {
	f.Add(0, 5, 1, 5)
	f.Add(-1, End, -1, 3)
	f.Add(math.MinInt, math.MaxInt, math.MinInt, 7)
	f.Fuzz(func(t *testing.T, start, stop, step, n int) {
		if n < 0 {
			return
		}
		first, count, err := Steps(start, stop, step, n)
		if err != nil || count == 0 {
			return
		}
		last := first + (count-1)*step
		if count < 0 || first < 0 || first >= n || last < 0 || last >= n {
			t.Errorf("Steps(%d, %d, %d, %d) = %d, %d: from %d to %d", start, stop, step, n, first, count, first, last)
		}
	})
}

func TestWindows(t *testing.T) {
	property.Check(t, func(r *property.T) {
		n := property.IntRange(0, 30).Draw(r, "n")
		size, stride, dilation := property.IntRange(1, 8).Draw(r, "size"), property.IntRange(1, 5).Draw(r, "stride"), property.IntRange(1, 5).Draw(r, "dilation")
		want := 0
		for start := 0; start+(size-1)*dilation < n; start += stride {
			want++
		}
		if got := Windows(n, size, stride, dilation); got != want {
			r.Fatalf("Windows(%d, %d, %d, %d) = %d, want %d", n, size, stride, dilation, got, want)
		}
	})
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n     int
		thing string
		want  string
	}{{0, "element", "0 elements"}, {1, "element", "1 element"}, {1, "axis", "1 axis"}, {2, "axis", "2 axes"}} {
		if got := Count(c.n, c.thing); got != c.want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.thing, got, c.want)
		}
	}
}

package shape

import (
	"math"
	"slices"
	"testing"
)

func TestBroadcast(t *testing.T) {
	for _, c := range []struct {
		a, b, want []int
		ok         bool
	}{
		{[]int{2, 3}, []int{2, 3}, []int{2, 3}, true},
		{[]int{2, 3}, []int{3}, []int{2, 3}, true},
		{[]int{2, 3}, []int{}, []int{2, 3}, true},
		{[]int{2, 1}, []int{1, 3}, []int{2, 3}, true},
		{[]int{4, 1, 3}, []int{2, 1}, []int{4, 2, 3}, true},
		{[]int{1}, []int{0}, []int{0}, true},
		{[]int{0, 3}, []int{1, 3}, []int{0, 3}, true},
		{[]int{}, []int{}, []int{}, true},
		{[]int{2, 3}, []int{2}, nil, false},
		{[]int{2}, []int{0}, nil, false},
	} {
		for range 2 {
			a, b := slices.Clone(c.a), slices.Clone(c.b)
			got, ok := Broadcast(a, b)
			if !slices.Equal(got, c.want) || ok != c.ok {
				t.Errorf("Broadcast(%v, %v) = %v, %v, want %v, %v", c.a, c.b, got, ok, c.want, c.ok)
			}
			if !slices.Equal(a, c.a) || !slices.Equal(b, c.b) {
				t.Errorf("Broadcast(%v, %v) changed its arguments to %v, %v", c.a, c.b, a, b)
			}
			if ok && (!BroadcastsTo(a, got) || !BroadcastsTo(b, got)) {
				t.Errorf("BroadcastsTo says that %v or %v does not broadcast to %v", a, b, got)
			}
			c.a, c.b = c.b, c.a
		}
	}
}

func TestBroadcastsTo(t *testing.T) {
	for _, c := range []struct {
		from, to []int
		want     bool
	}{
		{[]int{1, 3}, []int{2, 3}, true},
		{[]int{3}, []int{2, 3}, true},
		{[]int{1}, []int{0}, true},
		{[]int{2}, []int{1}, false},
		{[]int{1, 3}, []int{3}, false},
	} {
		if got := BroadcastsTo(c.from, c.to); got != c.want {
			t.Errorf("BroadcastsTo(%v, %v) = %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		shape []int
		ok    bool
	}{
		{[]int{}, true},
		{[]int{2, 0, 3}, true},
		{[]int{MaxLen}, true},
		{[]int{MaxLen, 0}, true},
		{[]int{1 << 40, 1 << 40, 0}, false},
		{[]int{MaxLen + 1}, false},
		{[]int{1 << 40, 1 << 40}, false},
		{[]int{1 << 32, 1 << 32}, false},
		{[]int{-1}, false},
		{[]int{0, -1}, false},
		{[]int{math.MinInt, 2}, false},
	} {
		if err := Check(c.shape); (err == nil) != c.ok {
			t.Errorf("Check(%v) = %v, want ok %v", c.shape, err, c.ok)
		}
	}
}

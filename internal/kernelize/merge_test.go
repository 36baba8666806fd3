package kernelize

import (
	"maps"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestPair(t *testing.T) {
	for _, c := range []struct {
		name string
		h, g []int // lengths of the axes
		a, b []int
		want map[int]int // nil: they do not match
	}{
		{"no axes", nil, nil, nil, nil, map[int]int{}},
		{"equal lengths", []int{2, 3}, []int{2, 3}, []int{0, 1}, []int{0, 1}, map[int]int{0: 0, 1: 1}},
		{"another order", []int{3, 2}, []int{2, 3}, []int{1, 0}, []int{0, 1}, map[int]int{1: 0, 0: 1}},
		{"an axis of h split", []int{6}, []int{2, 3}, []int{0}, []int{0, 1}, map[int]int{1: 0, 2: 1}},
		{"an axis of g split", []int{2, 3}, []int{6}, []int{0, 1}, []int{0}, map[int]int{0: 1, 1: 2}},
		{"axes of both split", []int{4, 6}, []int{8, 3}, []int{0, 1}, []int{0, 1}, map[int]int{0: 2, 2: 3, 3: 1}},
		{"lengths that do not divide", []int{4, 6}, []int{6, 4}, []int{0, 1}, []int{0, 1}, nil},
		{"an axis of h left over", []int{2, 3}, []int{2}, []int{0, 1}, []int{0}, nil},
		{"an axis of g left over", []int{2}, []int{2, 3}, []int{0}, []int{0, 1}, nil},
	} {
		h, g := groupOf(ir.Pointwise, c.h), groupOf(ir.Pointwise, c.g)
		to, ok := pair(h, g, c.a, c.b)
		if ok != (c.want != nil) || ok && !maps.Equal(to, c.want) {
			t.Errorf("%s: pair = %v, %v, want %v", c.name, to, ok, c.want)
		}
		for a, b := range to {
			if h.Lens[a] != g.Lens[b] {
				t.Errorf("%s: pair matches axis %d of length %d with axis %d of length %d", c.name, a, h.Lens[a], b, g.Lens[b])
			}
		}
	}
}

func TestPairReduced(t *testing.T) {
	pointwise := func(dims ...int) *group { return groupOf(ir.Pointwise, dims) }
	reduce := func(dims []int, reduced ...int) *group { return groupOf(ir.Reduce, dims, reduced...) }
	for _, c := range []struct {
		name    string
		h, g    *group
		to      map[int]int
		want    map[int]int // nil: they do not match
		reduced []int       // of g afterwards
	}{
		{"h reduces nothing", pointwise(4), reduce([]int{4, 5}, 1), map[int]int{0: 0}, map[int]int{0: 0}, []int{1}},
		{"g gets the reduced axis of h", reduce([]int{4, 5}, 1), pointwise(4), map[int]int{0: 0}, map[int]int{0: 0, 1: 1}, []int{1}},
		{"g reduces an axis that it has", reduce([]int{4, 5}, 1), pointwise(4, 5), map[int]int{0: 0, 1: 1}, map[int]int{0: 0, 1: 1}, []int{1}},
		{"both reduce the same", reduce([]int{4, 5}, 1), reduce([]int{4, 5}, 1), map[int]int{0: 0}, map[int]int{0: 0, 1: 1}, []int{1}},
		{"axes of one length", reduce([]int{5, 5}, 0, 1), reduce([]int{5, 5}, 0, 1), map[int]int{}, map[int]int{0: 0, 1: 1}, []int{0, 1}},
		{"another length", reduce([]int{4, 5}, 1), reduce([]int{4, 6}, 1), map[int]int{0: 0}, nil, []int{1}},
		{"another axis", reduce([]int{4, 5}, 1), reduce([]int{4, 5}, 0), map[int]int{0: 0, 1: 1}, nil, []int{0}},
		{"g reduces one more", reduce([]int{4, 5}, 1), reduce([]int{4, 5, 6}, 1, 2), map[int]int{0: 0}, nil, []int{1, 2}},
		{"h reduces one more", reduce([]int{4, 5, 5}, 1, 2), reduce([]int{4, 5}, 1), map[int]int{0: 0}, nil, []int{1}},
	} {
		ok := c.g.pairReduced(c.h, c.to)
		if ok != (c.want != nil) || ok && !maps.Equal(c.to, c.want) {
			t.Errorf("%s: pairReduced = %v with %v, want %v", c.name, ok, c.to, c.want)
		}
		if !slices.Equal(c.g.reduced, c.reduced) || c.g.template != ir.Reduce {
			t.Errorf("%s: afterwards g is %v and reduces %v, want reduce and %v", c.name, c.g.template, c.g.reduced, c.reduced)
		}
	}
}

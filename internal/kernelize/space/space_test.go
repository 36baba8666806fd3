package space

import (
	"reflect"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// TestReshape says what reshapes make of the layout of a matrix of 4 by 6.
func TestReshape(t *testing.T) {
	for _, c := range []struct {
		name string
		to   []int
		want Layout // nil: none
		lens []int  // of the axes afterwards
	}{
		{"the same", []int{4, 6}, Layout{{0}, {1}}, []int{4, 6}},
		{"flat", []int{24}, Layout{{0, 1}}, []int{4, 6}},
		{"with an axis of length 1", []int{4, 1, 6}, Layout{{0}, nil, {1}}, []int{4, 6}},
		{"rows in halves", []int{2, 2, 6}, Layout{{2}, {3}, {1}}, []int{2, 2, 6}},
		{"columns with halves of rows", []int{2, 12}, Layout{{2}, {3, 1}}, []int{2, 2, 6}},
		{"that splits no axis evenly", []int{3, 8}, nil, []int{4, 6}},
	} {
		s, l := New([]int{4, 6})
		got, ok := s.Reshape(l, []int{4, 6}, c.to, s.Split)
		if ok != (c.want != nil) || ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: the layout is %v, want %v", c.name, got, c.want)
		}
		lens := make([]int, len(s.Axes))
		for i, a := range s.Axes {
			lens[i] = s.Lens[a]
		}
		if !reflect.DeepEqual(lens, c.lens) {
			t.Errorf("%s: the axes have lengths %v, want %v", c.name, lens, c.lens)
		}
	}
}

// Coordinates, layouts and sets that name an axis mean the same after it is split, and split again.
func TestLive(t *testing.T) {
	s, l := New([]int{12, 5})
	before := s.Coordinates(l)
	s.Split(0, 6)
	s.Split(3, 2)
	if want := (Layout{{2, 4, 5}, {1}}); !reflect.DeepEqual(s.LiveLayout(l), want) {
		t.Errorf("the layout is %v, want %v", l, want)
	}
	if got, want := s.LiveSet(ir.Axes(0)), ir.Axes(2, 4, 5); got != want {
		t.Errorf("axis 0 is now %v, want %v", got, want)
	}
	if !s.IsAt(s.Live(before), l) {
		t.Errorf("coordinates %v are now %v, want %v", before, s.Live(before), s.Coordinates(l))
	}
	if n := s.Count(ir.Axes(0)); n != 12 {
		t.Errorf("axis 0 has %d positions, want 12", n)
	}
}

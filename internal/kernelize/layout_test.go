package kernelize

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/ir"
)

// groupOf is a group over axes of those lengths, of which some are reduced.
func groupOf(template ir.Template, dims []int, reduced ...int) *group {
	g, _ := newGroup(template, dims)
	g.reduced = reduced
	return g
}

// axisLens returns the lengths of the axes of g, outermost first.
func (g *group) axisLens() []int {
	lens := []int{}
	for _, a := range g.Axes {
		lens = append(lens, g.Lens[a])
	}
	return lens
}

func TestDeriveLayout(t *testing.T) {
	m := &maker{}
	x, row, column := m.leaf(4, 6), m.leaf(4, 1), m.leaf(4, 1, 1)
	reshape := graph.Reshape
	turned := graph.Permute(x, []int{1, 0})
	expand := func(dims ...int) *graph.Node { return graph.Expand(row, dims) }
	matrix := func() *group { return groupOf(ir.Pointwise, []int{4, 6}) }
	rows := func(reduced ...int) *group {
		g := groupOf(ir.Reduce, append([]int{4}, reduced...))
		g.reduced = slices.Clone(g.Axes[1:])
		return g
	}
	closed := matrix()
	closed.closed = true
	for _, c := range []struct {
		name   string
		g      *group
		member *graph.Node
		layout space.Layout
		node   *graph.Node
		want   space.Layout // nil: no layout
		lens   []int        // of the axes afterwards
	}{
		{"a member", matrix(), x, space.Layout{{0}, {1}}, x, space.Layout{{0}, {1}}, []int{4, 6}},
		{"another node", matrix(), x, space.Layout{{0}, {1}}, row, nil, []int{4, 6}},
		{"a closed group", closed, x, space.Layout{{0}, {1}}, x, nil, []int{4, 6}},
		{"a routine", groupOf(ir.Routine, []int{4, 6}), x, space.Layout{{0}, {1}}, x, nil, []int{4, 6}},
		{"permuted", matrix(), x, space.Layout{{0}, {1}}, turned, space.Layout{{1}, {0}}, []int{4, 6}},
		{"flipped", matrix(), x, space.Layout{{0}, {1}}, graph.Flip(x, []int{0}), nil, []int{4, 6}},
		{"axes joined", matrix(), x, space.Layout{{0}, {1}}, reshape(x, []int{24}), space.Layout{{0, 1}}, []int{4, 6}},
		{"an axis split", matrix(), x, space.Layout{{0}, {1}}, reshape(x, []int{4, 2, 3}), space.Layout{{0}, {2}, {3}}, []int{4, 2, 3}},
		{"axes joined and split", matrix(), x, space.Layout{{0}, {1}}, reshape(x, []int{8, 3}), space.Layout{{0, 2}, {3}}, []int{4, 2, 3}},
		{"axes of length 1", matrix(), x, space.Layout{{0}, {1}}, reshape(x, []int{1, 4, 1, 6}), space.Layout{nil, {0}, nil, {1}}, []int{4, 6}},
		{"a reshape that splits no axis evenly", matrix(), x, space.Layout{{0}, {1}}, reshape(turned, []int{8, 3}), nil, []int{4, 6}},
		{"repeated along the reduced axis", rows(5), row, space.Layout{{0}, nil}, expand(4, 5), space.Layout{{0}, {1}}, []int{4, 5}},
		{"repeated along two reduced axes", rows(2, 3), row, space.Layout{{0}, nil}, expand(4, 6), space.Layout{{0}, {1, 2}}, []int{4, 2, 3}},
		{"two axes of one length, repeated", rows(5, 5), column, space.Layout{{0}, nil, nil}, graph.Expand(column, []int{4, 5, 5}), space.Layout{{0}, {1}, {2}}, []int{4, 5, 5}},
		{"repeated to another length", rows(5), row, space.Layout{{0}, nil}, expand(4, 6), nil, []int{4, 5}},
		{"repeated along the sum of a contraction", groupOf(ir.Contraction, []int{4, 6}, 1), row, space.Layout{{0}, nil}, expand(4, 6), nil, []int{4, 6}},
		{"repeated where nothing is reduced", matrix(), row, space.Layout{{0}, nil}, expand(4, 6), nil, []int{4, 6}},
	} {
		p := new(placer)
		p.load([]*graph.Node{c.node, c.member})
		known := p.known
		p.add(c.g, known(c.member), 0, c.layout, 0)
		got, ok := c.g.deriveLayout(known(c.node))
		if ok != (c.want != nil) || ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: deriveLayout = %v, %v, want %v", c.name, got, ok, c.want)
		}
		if lens := c.g.axisLens(); !slices.Equal(lens, c.lens) {
			t.Errorf("%s: afterwards the axes have lengths %v, want %v", c.name, lens, c.lens)
		}
	}
}

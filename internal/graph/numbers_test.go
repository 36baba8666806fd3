package graph

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestNumbers(t *testing.T) {
	var m Numbers
	nodes := make([]*Node, 1000)
	for i := range nodes {
		nodes[i] = Scalar(ir.Float32, 1, nil)
	}
	for _, known := range []int{0, 1000, 3, 0, 100} {
		m.Clear()
		for i, n := range nodes[:known] {
			m.Set(n, -i)
		}
		if m.Len() != known {
			t.Errorf("%d nodes: Len = %d", known, m.Len())
		}
		for i, n := range nodes {
			want := -i
			if i >= known {
				want = 0
			}
			if got, ok := m.Get(n); got != want || ok != (i < known) {
				t.Fatalf("%d nodes: Get of node %d = %d, %v, want %d, %v", known, i, got, ok, want, i < known)
			}
		}
	}
	m.Clear()
	for _, e := range m.entries[:cap(m.entries)] {
		if e.n != nil {
			t.Fatal("an entry holds a node after Clear, which is kept from the garbage collector")
		}
	}
}

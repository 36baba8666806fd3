package graph

import (
	"sync"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// A node's widened form is an operand of later widened nodes, until the node is computed.
func TestConvertGrows(t *testing.T) {
	wide := func(n *Node) *Node { return Convert(n, ir.Float64) }
	c := Fill(ir.Float32, 0.1, []int{}).AsUntyped()
	a := Binary(ir.Add, c, c)
	b := Binary(ir.Add, a, c)
	if x := wide(a); wide(a) != x || wide(b).Operand(0) != x {
		t.Error("a constant is widened again when it has grown")
	}
	lost := Binary(ir.Mul, Bitcast(Bitcast(a, ir.Int32), ir.Float32), c)
	for range 2 {
		if y := wide(lost); y.Op != ir.Cast || y.Operand(0) != lost {
			t.Errorf("bits of float32 are widened to %v of another node, want a Cast", y.Op)
		}
	}
	grown := Binary(ir.Add, lost, c)
	if y := wide(grown); y.Op != ir.Cast || y.Operand(0) != grown {
		t.Errorf("what depends on bits of float32 is widened to %v, want a Cast", y.Op)
	}
	d := Binary(ir.Mul, a, c)
	a.SetValue(&Value{})
	if y := wide(d).Operand(0); y.Op != ir.Cast || y.Operand(0) != a {
		t.Errorf("a computed node is widened to %v, want a Cast of it", y.Op)
	}
}

// Goroutines that widen one node at a time give values of it, and one of them is kept with
// the node.
func TestConvertConcurrently(t *testing.T) {
	c := Fill(ir.Float32, 0.1, []int{}).AsUntyped()
	a := Binary(ir.Add, c, c)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if y := Convert(a, ir.Float64); y.Op != ir.Add || y.DType != ir.Float64 {
				t.Errorf("got %v of %v, want Add of float64", y.Op, y.DType)
			}
		})
	}
	wg.Wait()
	if x := Convert(a, ir.Float64); x != Convert(a, ir.Float64) {
		t.Error("a constant is widened twice")
	}
	a.SetValue(&Value{})
	if a.details.Load().wide.Load() != nil {
		t.Error("a computed node holds what it was widened to")
	}
}

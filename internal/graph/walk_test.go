package graph

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestSorted(t *testing.T) {
	a := Scalar(ir.Float32, 1, nil)
	b := Unary(ir.Neg, a)
	c := Binary(ir.Add, b, a)
	d := Binary(ir.Mul, b, c)
	if got, want := Sorted([]*Node{c, d, b}), []*Node{a, b, c, d}; !slices.Equal(got, want) {
		t.Errorf("Sorted gave %v, want %v", got, want)
	}
}

// TestWalk leaves a node out, and gives others operands of its own.
func TestWalk(t *testing.T) {
	a, b := Scalar(ir.Float32, 1, nil), Scalar(ir.Float32, 2, nil)
	out := Unary(ir.Neg, a)
	c := Binary(ir.Add, out, b)
	var entered, left []*Node
	Walk([]*Node{c}, func(n *Node) (Operands, bool) {
		entered = append(entered, n)
		if n == c {
			return OperandsOf([]*Node{b, out, a}), true
		}
		return n.Src(), n != out
	}, func(n *Node, src Operands) {
		left = append(left, n)
		if n == c && src.Len() != 3 {
			t.Errorf("leave got %d operands, want those that enter gave", src.Len())
		}
	})
	if want := []*Node{c, b, out, a}; !slices.Equal(entered, want) {
		t.Errorf("Walk entered %v, want %v", entered, want)
	}
	if want := []*Node{b, a, c}; !slices.Equal(left, want) {
		t.Errorf("Walk left %v, want %v", left, want)
	}
}

// TestWalkDeep walks a graph too deep for recursion.
func TestWalkDeep(t *testing.T) {
	n := Scalar(ir.Float32, 1, nil)
	for range 200_000 {
		n = Unary(ir.Neg, n)
	}
	if got := len(Sorted([]*Node{n})); got != 200_001 {
		t.Errorf("Sorted gave %d nodes", got)
	}
}

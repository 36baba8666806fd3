package graph

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

func TestScopes(t *testing.T) {
	outer, inner := new(Scope), new(Scope)
	x := Argument(Fill(ir.Float32, 1, nil), outer)
	y := Argument(x, inner)
	sum := Binary(ir.Add, x, y)
	if !sum.In(outer) || !sum.In(inner) || x.In(inner) {
		t.Errorf("In(outer), In(inner) of x + y, In(inner) of x = %v, %v, %v, want true, true, false", sum.In(outer), sum.In(inner), x.In(inner))
	}
	inner.Close()
	if z := Unary(ir.Neg, sum); z.In(inner) || !z.In(outer) || !z.Traced() {
		t.Error("a node made after the inner scope was closed is in it, or not in the outer one")
	}
	outer.Close()
	if z := Unary(ir.Neg, sum); z.Traced() || z.scopes != nil {
		t.Error("a node made after all scopes were closed has some")
	}
}

// TestPlaceholderScope uses a placeholder after its scope is closed.
func TestPlaceholderScope(t *testing.T) {
	s := &Scope{PlaceholdersOf: "grad.Vmap"}
	x := Argument(Fill(ir.Float32, 1, nil), s)
	s.Close()
	if y := Binary(ir.Add, Fill(ir.Float32, 1, nil), Unary(ir.Neg, x)); !y.IsLeftOver() || y.Traced() {
		t.Errorf("IsLeftOver, Traced of 1 - x, made after the scope was closed = %v, %v, want true, false", y.IsLeftOver(), y.Traced())
	}
}

// TestScopesInLoop updates a number by a transformation in each turn.
func TestScopesInLoop(t *testing.T) {
	x := Fill(ir.Float32, 1, nil)
	for range 100 {
		s := new(Scope)
		x = Unary(ir.Neg, Argument(x, s))
		s.Close()
	}
	n := 0
	for s := x.scopes; s != nil; s = s.next {
		n++
	}
	if n != 1 {
		t.Errorf("after 100 turns a node is in %d scopes, want the last one", n)
	}
}

package graph

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// Permute returns the operand of a Permute that it undoes, unless that one is to be
// stored, or is computed and has dropped its operand.
func TestPermuteUndone(t *testing.T) {
	x := Fill(ir.Float32, 1, []int{2, 3, 4})
	there, back := []int{1, 2, 0}, []int{2, 0, 1}
	y := Permute(x, there)
	kept := Permute(x, there)
	kept.Keep()
	computed := Permute(x, there)
	computed.SetValue(&Value{})
	for _, c := range []struct {
		name  string
		x     *Node
		order []int
		want  bool // x
	}{
		{"the order that it has", x, []int{0, 1, 2}, true},
		{"the inverse", y, back, true},
		{"another order", y, there, false},
		{"the inverse of one to be stored", kept, back, false},
		{"the inverse of a computed one", computed, back, false},
	} {
		if got := Permute(c.x, c.order); (got == x) != c.want {
			t.Errorf("%s: Permute gives its first operand: %v, want %v", c.name, got == x, c.want)
		} else if !c.want && got.Op != ir.Permute {
			t.Errorf("%s: got a %v", c.name, got.Op)
		}
	}
}

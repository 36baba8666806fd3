package graph

import (
	"slices"
	"testing"
	"unsafe"

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
	argument := Argument(x, new(Scope))
	traced := Permute(argument, there)
	traced.SetValue(&Value{})
	if Permute(traced, back) == argument {
		t.Error("a computed one that keeps its operand is passed by")
	}
}

// A node has the operands that it is made of, however many, until it is computed.
func TestOperands(t *testing.T) {
	x := Fill(ir.Float32, 1, []int{2})
	for n := range 5 {
		src := slices.Repeat([]*Node{x}, n)
		m := makeNode(ir.Cat, ir.Float32, []int{2 * n}, []int{0}, src...)
		if got := m.Src(); got.Len() != n || !slices.Equal(got.Append(nil), src) {
			t.Errorf("made of %d operands, a node has %d", n, got.Len())
		}
		m.SetValue(&Value{})
		if got := m.Src(); got.Len() != 0 {
			t.Errorf("made of %d operands and computed, a node has %d", n, got.Len())
		}
	}
}

// Making and dropping nodes is most of the memory that a small evaluation takes.
func TestNodeMemory(t *testing.T) {
	if n := unsafe.Sizeof(Node{}); n > 160 {
		t.Errorf("a node takes %d bytes, want at most 160", n)
	}
}

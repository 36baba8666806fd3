package graph

import (
	"strings"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// Stacks of all nodes, views too, end at the call of the program.
func TestStack(t *testing.T) {
	x := Iota([]int{2, 3}, 0)
	stop := RecordStacks()
	y := Reshape(x, []int{6})
	z := Unary(ir.Neg, y)
	stop()
	if x.Stack() != nil || Reshape(x, []int{6}).Stack() != nil {
		t.Error("a node has a stack that was made when none are recorded")
	}
	for n, want := range map[*Node]string{y: "graph.Reshape", z: "graph.Unary"} {
		stack := n.Stack()
		if len(stack) < 2 {
			t.Fatalf("%s has stack %v", want, stack)
		}
		last := len(stack) - 1
		if full := n.FullStack(); len(full) <= len(stack) || !strings.HasSuffix(FunctionAt(full[len(stack)]), "testing.tRunner") {
			t.Errorf("around the stack of %s are the calls %v", want, full[len(stack):])
		}
		if got := FunctionAt(stack[last-1]); !strings.HasSuffix(got, want) {
			t.Errorf("the program called %s, want %s", got, want)
		}
		if got := FunctionAt(stack[last]); !strings.HasSuffix(got, "graph.TestStack") {
			t.Errorf("the stack of %s ends at %s", want, got)
		}
	}
}

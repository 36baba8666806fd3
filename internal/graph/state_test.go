package graph

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A reader of a node that is being computed finds all operands, or the value.
func TestStateIsOfOneTime(t *testing.T) {
	x := Fill(ir.Float32, 1, []int{2})
	for operands := 1; operands <= 3; operands++ {
		for range 1000 {
			n := makeNode(ir.Cat, ir.Float32, []int{2 * operands}, []int{0}, []*Node{x, x, x}[:operands]...)
			var all sync.WaitGroup
			all.Go(func() { n.SetValue(&Value{}) })
			for range 3 {
				switch src, v := n.State(); {
				case src.Len() == operands:
					for i, s := range src.All() {
						if s != x {
							t.Fatalf("operand %d of %d is %v", i, operands, s)
						}
					}
				case src.Len() != 0 || v == nil:
					t.Fatalf("a node of %d operands has %d, and the value %v", operands, src.Len(), v)
				}
			}
			all.Wait()
		}
	}
}

// A node has the size of two cache lines: a program makes thousands of them a step.
func TestNodeSize(t *testing.T) {
	if size := unsafe.Sizeof(Node{}); size > 128 {
		t.Errorf("a node has %d bytes, want at most 128: what few nodes need belongs to details", size)
	}
}

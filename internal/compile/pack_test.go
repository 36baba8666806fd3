package compile

import (
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

// A plan is the same once it is packed, and so are the kernels of its loops.
func TestPack(t *testing.T) {
	const batch, rows, columns, width = 2, 48, 64, 8
	q, k, v := leaf(0, batch, rows, width), leaf(1, batch, columns, width), leaf(2, batch, columns, width)
	out := product(softmax(product(q, k)), turned(v))
	plan, err := Graph(simplify.Nodes([]*graph.Node{out, graph.Unary(ir.Tanh, q)}), kernelize.Options{}, nil)
	if err == nil {
		err = plan.FuseRows(ir.LoopLimits{Bytes: 1 << 12, Rows: 4, Columns: columns}, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := plan.String()
	plan.Pack()
	if got := plan.String(); got != text {
		t.Errorf("the packed plan is\n%s, want\n%s", got, text)
	}
	n := 0
	packed := func(k *ir.Kernel) {
		n++
		var last *ir.View
		for i := range k.Body {
			view := k.Body[i].View
			if view == nil {
				continue
			}
			if last != nil && uintptr(unsafe.Pointer(view)) != uintptr(unsafe.Pointer(last))+unsafe.Sizeof(*last) {
				t.Errorf("the view of instruction %d does not follow that of the one before:\n%v", i, k)
			}
			last = view
		}
	}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		for _, k := range s.Kernels() {
			packed(k)
		}
		for j := range s.Stages {
			packed(s.Stages[j].Kernel)
		}
	}
	if n < 5 {
		t.Errorf("the plan has %d kernels, want a loop and another:\n%s", n, text)
	}
}

package exec_test

import (
	"runtime/debug"
	"testing"

	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A recorded program frees the results of its steps after the last step that reads them, and the arguments that it
// replaces also after the last step that may fail, not when Go's collector finds them.
func TestRecordingFrees(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const n = 1 << 16
	d := newDevice()
	defer d.Close()
	var held []int64
	call := func(x *graph.Node, length int) *graph.Node {
		return graph.HostCall("held", length, length, func(out graph.HostArray, in []graph.HostArray) error {
			held = append(held, exec.Info().Held)
			copy(out.Data, in[0].Data)
			return nil
		}, x)
	}
	argument := func() *graph.Node {
		x := graph.Unary(ir.Neg, graph.ToDevice(floats(make([]float32, n)...), d))
		if err := exec.Eval(d, []*graph.Node{x}); err != nil {
			t.Fatal(err)
		}
		storage.Replace([]*graph.Node{x})
		return x
	}
	x := argument()
	p := capture.LayoutOf(x).Placeholder()
	gone := &storage.GoneError{Op: "a test", Replaced: true}
	storage.Donate([]*graph.Node{p}, gone)
	result := graph.Unary(ir.Neg, call(graph.Unary(ir.Neg, call(graph.Unary(ir.Exp, p), 2)), 2))
	r, err := exec.Record(d, []*graph.Node{p}, nil, []*graph.Node{result}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		held = held[:0]
		if _, err := r.Run(nil, []*graph.Node{x}, nil); err != nil {
			t.Fatal(err)
		}
		if len(held) != 2 || held[0] < 8*n || held[1] > 6*n {
			t.Errorf("%d bytes are held in the two calls, want those of the argument, which stays until they have not failed, and in the first those of Exp", held)
		}
		if !storage.Of(x.Value()).IsGone() {
			t.Error("the argument is not gone")
		}
		x = argument()
	}
}

package onnx

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// split reshapes between two stages, by a shape that is computed from an input.
func split() sketch {
	n := []proto.Dim{{Value: -1}, {Value: -1}}
	s := sketch{
		inputs: []*proto.ValueInfo{float("x", -1, 2), typed("n", op.Int64, 1)}, outputs: []*proto.ValueInfo{float("y"), float("z")},
		nodes: []*proto.Node{
			call("Exp", "a", "x"), call("Shape", "s", "a"),
			call("Add", "m", "n", "one"), call("Concat", "shape", "m", "minus"),
			call("Reshape", "b", "a", "shape"),
			call("Neg", "y", "b"), call("Abs", "z", "a"),
		},
		consts: []*proto.Tensor{constOf("one", tensor.New([]int64{1})), constOf("minus", tensor.New([]int64{-1}))},
	}
	s.nodes[3].Attrs = []*proto.Attr{{Name: "axis", Type: proto.AttrInt, I: 0}}
	s.outputs[0].Type.Dims, s.outputs[1].Type.Dims = n, n
	return s
}

// A model is interpreted as often as it takes to record it, and then its stages are replayed. A node
// that asks for elements ends a stage.
func TestStages(t *testing.T) {
	m := split().model(t)
	run := func(rows, n int) {
		t.Helper()
		x := tensor.New(make([]float32, 2*rows), rows, 2)
		out, err := m.Run(context.Background(), map[string]tensor.Tensor{"x": x, "n": tensor.New([]int64{int64(n - 1)})})
		if err != nil {
			t.Fatal(err)
		}
		if y, z := out["y"], out["z"]; fmt.Sprint(y.Shape(), z.Shape()) != fmt.Sprintf("[%d %d] [%d 2]", n, 2*rows/n, rows) || y.Sum().Item() != float64(-2*rows) {
			t.Errorf("%v %v", y, z)
		}
	}
	steps := &m.steps
	count := func(rows, n int) int64 {
		before := steps.Load()
		run(rows, n)
		return steps.Load() - before
	}
	for range 4 {
		run(24, 3)
		run(24, 6)
	}
	if a, b := count(24, 3), count(24, 6); a+b != 0 || len(m.stages) != 1 { // few values are known
		t.Fatalf("%d and %d nodes were interpreted, in %d stages, want one stage", a, b, len(m.stages))
	}
	for range 4 {
		for n := 1; n <= 48; n++ {
			if 48%n == 0 {
				run(24, n)
			}
		}
	}
	if len(m.stages) != 2 || !m.apart[4] {
		t.Fatalf("%d stages, nodes apart %v, want one before and one after node 4", len(m.stages), m.apart)
	}
	if n := count(24, 3); n != 1 {
		t.Errorf("%d nodes were interpreted, want the one between the stages", n)
	}
	for range 3 { // other shapes have recordings of their own
		run(4, 2)
		run(6, 4)
		run(6, 3)
	}
	before := steps.Load()
	run(4, 2)
	run(6, 4)
	if n := steps.Load() - before; n != 2 {
		t.Errorf("%d nodes were interpreted, want 2", n)
	}
}

// Goroutines share a model.
func TestConcurrent(t *testing.T) {
	m := split().model(t)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 50 {
				rows := 2 * (1 + (g+i)%5)
				v := float32(g*50 + i)
				data := make([]float32, 2*rows)
				data[0] = v / 400
				out, err := m.Run(context.Background(), map[string]tensor.Tensor{"x": tensor.New(data, rows, 2), "n": tensor.New([]int64{1})})
				if err != nil {
					t.Error(err)
					return
				}
				want := tensor.New(data, rows, 2).Exp()
				if ok, err := tensor.AllClose(out["z"], want, 1e-5, 0); !ok || err != nil {
					t.Errorf("%v, want %v: %v", out["z"], want, err)
				}
			}
		})
	}
	group.Wait()
}

// Values that depend on an input through a graph's captures, or that are in a list of large constants, are
// not taken for known while a model is recorded.
func TestUnknown(t *testing.T) {
	x := []*proto.ValueInfo{float("x", 2)}
	scalar := func(name string, v any) *proto.Tensor {
		if b, ok := v.(bool); ok {
			return constOf(name, tensor.New([]bool{b}).Reshape())
		}
		return constOf(name, tensor.New([]int64{int64(v.(int))}).Reshape())
	}
	body := &proto.Graph{Name: "body",
		Inputs:  []*proto.ValueInfo{typed("i", op.Int64), typed("going", op.Bool), float("v", 2), float("w", 2)},
		Outputs: []*proto.ValueInfo{typed("on", op.Bool), float("v2", 2), float("w2", 2)},
		Nodes:   []*proto.Node{call("Identity", "on", "going"), call("Add", "v2", "v", "x"), call("Add", "w2", "w", "x")}}
	loop := sketch{inputs: x, outputs: []*proto.ValueInfo{{Name: "y"}},
		consts: []*proto.Tensor{scalar("n", 2), scalar("go", true), constOf("v0", tensor.New([]float32{0, 0}))},
		nodes: []*proto.Node{
			{Op: "Loop", Inputs: []string{"n", "go", "v0", "v0"}, Outputs: []string{"p", "q"}, Attrs: []*proto.Attr{{Name: "body", Type: proto.AttrGraph, G: body}}},
			call("NonZero", "z", "p"), call("Add", "y", "p", "q")}}
	large := make([]float32, 2*maxFolded)
	large[1] = 3
	list := sketch{inputs: x, outputs: []*proto.ValueInfo{{Name: "y"}},
		consts: []*proto.Tensor{constOf("w", tensor.New(large)), scalar("first", 0), constOf("from", tensor.New([]int64{0})), constOf("to", tensor.New([]int64{2}))},
		nodes: []*proto.Node{
			call("SequenceConstruct", "s", "w", "w"), call("NonZero", "n", "x"), call("SequenceAt", "e", "s", "first"),
			call("Slice", "part", "e", "from", "to"), call("NonZero", "z", "part"), call("Add", "y", "part", "x")}}
	for i, s := range []sketch{loop, list} {
		m := s.model(t)
		for k := range 4 {
			out, err := m.Run(context.Background(), map[string]tensor.Tensor{"x": tensor.New([]float32{float32(k), 2})})
			want := []string{fmt.Sprintf("[%d 8]", 4*k), fmt.Sprintf("[%d 5]", k)}[i]
			if got := fmt.Sprint(out["y"]); err != nil || got != want {
				t.Errorf("model %d, run %d: %s, %v, want %s", i, k, got, err, want)
			}
		}
	}
}

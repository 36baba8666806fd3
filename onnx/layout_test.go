package onnx

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// waves returns numbers of both signs.
func waves(shape ...int) tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i) * 1.7))
	}
	return tensor.New(x, shape...)
}

// Weights of convolutions and of matrix products are laid out for the product, and have the elements, the results and the file that
// they had.
func TestLayout(t *testing.T) {
	for _, c := range []struct {
		weight []int
		image  []int
		group  int64
		laid   bool
	}{
		{[]int{64, 8, 3, 3}, []int{2, 8, 9, 9}, 1, true}, // in tiles
		{[]int{40, 8, 3, 3}, []int{1, 8, 9, 9}, 1, true}, // all outputs in a row
		{[]int{33, 5, 3}, []int{3, 5, 40}, 1, true},
		{[]int{512, 288, 1, 1}, []int{1, 288, 7, 7}, 1, true},   // rows are positions
		{[]int{512, 288, 1, 1}, []int{3, 288, 7, 7}, 1, true},   // in runs of an image
		{[]int{512, 288, 1, 1}, []int{1, 288, 40, 40}, 1, true}, // columns are positions
		{[]int{512, 288, 1, 1}, []int{1, 288, 1, 1}, 1, true},
		{[]int{64, 8, 1, 1}, []int{1, 8, 9, 9}, 1, true},
		{[]int{64, 4, 3, 3}, []int{1, 8, 9, 9}, 2, false},
		{[]int{50, 96}, []int{20, 50}, 1, true},
		{[]int{50, 96}, []int{2, 30, 50}, 1, true},
		{[]int{300, 640}, []int{1, 300}, 1, true},
		{[]int{50, 32}, []int{20, 50}, 1, false}, // they lie so
		{[]int{50, 100}, []int{20, 50}, 1, false},
	} {
		t.Run(fmt.Sprint(c.weight, c.image), func(t *testing.T) {
			dims := make([]int64, len(c.image))
			for i, d := range c.image {
				dims[i] = int64(d)
			}
			conv := call("Conv", "y", "x", "w")
			conv.Attrs = []*proto.Attr{{Name: "group", Type: proto.AttrInt, I: c.group}}
			if len(c.weight) == 2 {
				conv = call("MatMul", "y", "x", "w")
			}
			w := waves(c.weight...)
			m := sketch{
				inputs: []*proto.ValueInfo{float("x", dims...)}, outputs: []*proto.ValueInfo{float("y")},
				nodes: []*proto.Node{conv}, consts: []*proto.Tensor{constOf("w", w)},
			}.model(t)
			if laid := m.main.views["w"] != nil; laid != c.laid {
				t.Fatalf("laid out: %v, want %v", laid, c.laid)
			}
			plain, err := m.With(map[string]tensor.Tensor{"w": w})
			if err != nil {
				t.Fatal(err)
			}
			x := map[string]tensor.Tensor{"x": waves(c.image...)}
			var y []tensor.Tensor
			for _, m := range []*Model{m, m, plain} { // the second run is recorded
				out, err := m.Run(context.Background(), x)
				if err != nil {
					t.Fatal(err)
				}
				y = append(y, out["y"])
			}
			for _, got := range y[:2] {
				if ok, err := tensor.AllClose(got, y[2], 1e-5, 1e-4); err != nil || !ok {
					t.Errorf("other results than with the order of the file: %v", err)
				}
			}
			want, _ := w.Bytes()
			if got, err := m.Params()["w"].Bytes(); err != nil || !slices.Equal(got, want) {
				t.Errorf("Params has other elements: %v", err)
			}
			var files [2]bytes.Buffer
			for i, m := range []*Model{m, plain} {
				if err := m.Write(&files[i]); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
				t.Error("Write writes another file")
			}
		})
	}
}

// Weights that other nodes read, results, and weights of vectors keep the order of the file.
func TestLayoutKept(t *testing.T) {
	const n = 3
	w := func(name string) *proto.Tensor { return constOf(name, waves(n, n, 3, 3)) }
	m := sketch{
		inputs: []*proto.ValueInfo{float("x", 1, n, 5, 5)}, outputs: []*proto.ValueInfo{float("y"), float("s"), float("result")},
		nodes: []*proto.Node{
			call("Conv", "a", "x", "laid"), call("Conv", "b", "a", "twice"), call("Conv", "c", "x", "result"),
			call("GlobalAveragePool", "p", "a"), call("Relu", "r", "p"), call("Conv", "s", "r", "vector"),
			call("Abs", "d", "twice"), call("ReduceSum", "e", "d"), call("ReduceSum", "f", "c"), call("Add", "g", "b", "e"), call("Add", "y", "g", "f"),
		},
		consts: []*proto.Tensor{w("laid"), w("twice"), w("result"), constOf("vector", waves(n, n, 1, 1))},
	}.model(t)
	var laid []string
	for name := range m.main.views {
		laid = append(laid, name)
	}
	if !slices.Equal(laid, []string{"laid"}) {
		t.Errorf("laid out: %q", laid)
	}
	if weights := m.main.productWeights(); len(weights) != 1 || weights["laid"] != "Conv" {
		t.Errorf("weights: %v", weights)
	}
}

// A weight may be empty.
func TestEmptyWeight(t *testing.T) {
	s := sketch{inputs: []*proto.ValueInfo{float("x", 2, 4)}, outputs: []*proto.ValueInfo{float("y")}, nodes: []*proto.Node{call("MatMul", "y", "x", "w")},
		consts: []*proto.Tensor{constOf("w", tensor.Zeros(4, 0).Cast(tensor.Float32))}}
	out, err := s.model(t).Run(context.Background(), map[string]tensor.Tensor{"x": waves(2, 4)})
	if err != nil || !slices.Equal(out["y"].Shape(), []int{2, 0}) {
		t.Errorf("shape %v, error %v", out["y"].Shape(), err)
	}
}

// Weights that are laid out take the memory of those before: a model has its weights once.
func TestLayoutMemory(t *testing.T) {
	const size, n = 512, 64
	s := sketch{inputs: []*proto.ValueInfo{float("y0", 1, size)}, outputs: []*proto.ValueInfo{float(fmt.Sprint("y", n))}}
	for i := range n {
		w := fmt.Sprint("w", i)
		s.nodes = append(s.nodes, call("MatMul", fmt.Sprint("y", i+1), fmt.Sprint("y", i), w))
		s.consts = append(s.consts, constOf(w, waves(size, size)))
	}
	file := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(file, s.bytes(t), 0o600); err != nil {
		t.Fatal(err)
	}
	s = sketch{}
	var before, after runtime.MemStats
	debug.FreeOSMemory()
	runtime.ReadMemStats(&before)
	m, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	weights := float64(4 * size * size * n)
	if took := float64(after.HeapSys-after.HeapReleased) - float64(before.HeapSys-before.HeapReleased); took > 1.4*weights {
		t.Errorf("the model took %.2f times the memory of its weights", took/weights)
	}
	runtime.KeepAlive(m)
}

// Matrices are laid out that are only the right factors of products, as they are.
func TestMatrixLayout(t *testing.T) {
	turned := call("Gemm", "c", "b", "turned")
	turned.Attrs = []*proto.Attr{{Name: "transB", Type: proto.AttrInt, I: 1}}
	s := sketch{
		inputs: []*proto.ValueInfo{float("x", 96, 96)}, outputs: []*proto.ValueInfo{float("y"), float("result")},
		nodes: []*proto.Node{
			call("MatMul", "a", "x", "right"), call("Gemm", "b", "a", "gemm"), turned, call("MatMul", "d", "left", "c"), call("MatMul", "e", "d", "both"),
			call("MatMul", "f", "both", "e"), call("MatMul", "g", "f", "mixed"), call("Gemm", "h", "g", "mixed"), call("MatMul", "y", "h", "result"),
		},
	}
	for _, name := range []string{"right", "gemm", "turned", "left", "both", "mixed", "result"} {
		s.consts = append(s.consts, constOf(name, waves(96, 96)))
	}
	if laid := slices.Sorted(maps.Keys(s.model(t).main.views)); !slices.Equal(laid, []string{"gemm", "right"}) {
		t.Errorf("laid out: %q", laid)
	}
}

// Convolutions that pass images to each other, in the orders of the compiler, give the results of weights in the order of
// the file, whose images lie in planes.
func TestImages(t *testing.T) {
	attr := func(n *proto.Node, name string, list ...int64) *proto.Node {
		a := &proto.Attr{Name: name, Type: proto.AttrInts, Ints: list}
		if name == "group" {
			a = &proto.Attr{Name: name, Type: proto.AttrInt, I: list[0]}
		}
		n.Attrs = append(n.Attrs, a)
		return n
	}
	padded := func(n *proto.Node) *proto.Node { return attr(n, "pads", 1, 1, 1, 1) }
	conv := func(out, x, w string) *proto.Node { return call("Conv", out, x, w) }
	weights := map[string]tensor.Tensor{
		"first": waves(32, 8, 3, 3), "deep": waves(32, 1, 3, 3), "wide": waves(64, 32, 1, 1), "middle": waves(64, 64, 3, 3),
		"apart": waves(64, 1, 3, 3), "narrow": waves(24, 64, 1, 1), "last": waves(64, 24, 1, 1), "gate": waves(64, 64, 1, 1),
	}
	x := float("x", -1, 8, -1, -1)
	for i, name := range []string{0: "N", 2: "H", 3: "W"} {
		x.Type.Dims[i].Param = name
	}
	s := sketch{
		inputs: []*proto.ValueInfo{x}, outputs: []*proto.ValueInfo{float("y")},
		nodes: []*proto.Node{
			padded(conv("a", "x", "first")), call("Relu", "b", "a"), attr(padded(conv("c", "b", "deep")), "group", 32),
			conv("d", "c", "wide"), padded(conv("e", "d", "middle")), call("Add", "f", "e", "d"),
			attr(attr(padded(conv("g", "f", "apart")), "group", 64), "strides", 2, 2), call("GlobalAveragePool", "h", "g"), conv("i", "h", "gate"), call("Mul", "j", "g", "i"),
			conv("k", "j", "narrow"), call("HardSwish", "l", "k"), conv("m", "l", "last"), call("GlobalAveragePool", "y", "m"),
		},
	}
	for name, w := range weights {
		s.consts = append(s.consts, constOf(name, w.Div(4)))
	}
	m := s.model(t)
	plain, err := m.With(map[string]tensor.Tensor{"wide": weights["wide"].Div(4), "middle": weights["middle"].Div(4), "narrow": weights["narrow"].Div(4)})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][]int{{1, 8, 7, 7}, {3, 8, 9, 11}, {1, 8, 56, 56}} {
		x := map[string]tensor.Tensor{"x": waves(size...)}
		var y []tensor.Tensor
		for _, m := range []*Model{m, m, plain} { // the second run is recorded
			out, err := m.Run(context.Background(), x)
			if err != nil {
				t.Fatal(err)
			}
			y = append(y, out["y"])
		}
		for _, got := range y[:2] {
			if ok, err := tensor.AllClose(got, y[2], 1e-4, 1e-3); err != nil || !ok {
				t.Errorf("%v: other results than by weights in the order of the file: %v\n%v\n%v", size, err, got, y[2])
			}
		}
	}
}

// deepTiles is the CPU with the figures of a device whose tiles take neighbours along the depth.
type deepTiles struct{ driver.Device }

func (d deepTiles) Limits() driver.Limits {
	l := d.Device.Limits()
	l.Machine = ir.Machine{DeepTiles: true}
	return l
}

// Where tiles of products take neighbours along the depth, weights of convolutions have the inputs innermost, and the elements that
// they had.
func TestLayoutInnermost(t *testing.T) {
	old := tensor.Default()
	tensor.SetDefault(tensor.NewDevice(deepTiles{cpu.New(cpu.Options{})}))
	defer tensor.SetDefault(old)
	for _, c := range []struct {
		weight []int
		laid   bool
	}{{[]int{6, 8, 3, 5}, true}, {[]int{6, 4, 3}, true}, {[]int{6, 8, 1, 1}, false}, {[]int{6, 1, 3, 3}, false}} {
		w := waves(c.weight...)
		size := append([]int{2, c.weight[1]}, []int{9, 9}[:len(c.weight)-2]...)
		dims := make([]int64, len(size))
		for i, d := range size {
			dims[i] = int64(d)
		}
		m := sketch{
			inputs: []*proto.ValueInfo{float("x", dims...)}, outputs: []*proto.ValueInfo{float("y")},
			nodes: []*proto.Node{call("Conv", "y", "x", "w")}, consts: []*proto.Tensor{constOf("w", w)},
		}.model(t)
		if laid := m.main.views["w"] != nil; laid != c.laid {
			t.Errorf("%v: laid out: %v, want %v", c.weight, laid, c.laid)
		}
		x := waves(size...)
		out, err := m.Run(context.Background(), map[string]tensor.Tensor{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := tensor.AllClose(out["y"], x.Conv(w, nil), 1e-5, 1e-4); err != nil || !ok {
			t.Errorf("%v: other results than with the order of the file: %v", c.weight, err)
		}
		want, _ := w.Bytes()
		if got, err := m.Params()["w"].Bytes(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: Params has other elements: %v", c.weight, err)
		}
	}
}

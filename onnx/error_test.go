package onnx

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/hostmem/memtest"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Faults of a file are one error, which names the part.
func TestFileErrors(t *testing.T) {
	x, y := []*proto.ValueInfo{float("x", 2)}, []*proto.ValueInfo{float("y", 2)}
	for _, c := range []struct {
		name string
		s    sketch
		want string
	}{
		{"a cycle", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Add", "a", "x", "y"), call("Neg", "y", "a")}}, `node "y", Neg of opset 20: input "a" is computed from a result of the node: nodes are in a cycle`},
		{"no initializer", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Add", "y", "x", "w")}}, `node "y", Add of opset 20: nothing has the name of input "w"`},
		{"no output", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Neg", "z", "x")}}, `nothing has the name of output "y"`},
		{"a name twice", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Neg", "y", "x"), call("Abs", "y", "x")}}, `node "y", Abs of opset 20: the name of result "y" is in use`},
		{"two inputs", sketch{inputs: append(x, x...), outputs: y, nodes: []*proto.Node{call("Neg", "y", "x")}}, `the name of input "x" is in use`},
		{"two initializers", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Neg", "y", "x")}, consts: []*proto.Tensor{constOf("w", tensor.New([]float32{1})), constOf("w", tensor.New([]float32{1}))}}, `two initializers are named "w"`},
		{"a huge shape", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Neg", "y", "x")}, consts: []*proto.Tensor{{Name: "w", Type: 1, Dims: []int64{1 << 40, 1 << 40}}}}, `initializer "w": its shape is [1099511627776 1099511627776]`},
		{"too few bytes", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Neg", "y", "x")}, consts: []*proto.Tensor{{Name: "w", Type: 1, Dims: []int64{1 << 30}, Memory: []byte{1, 2, 3, 4}}}}, `initializer "w": it has 4 bytes, and 1073741824 elements of float need 4294967296`},
		{"a negative length", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Neg", "y", "x")}, consts: []*proto.Tensor{{Name: "w", Type: 1, Dims: []int64{-2}}}}, `initializer "w": its shape is [-2]`},
		{"no type", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Neg", "y", "x")}, consts: []*proto.Tensor{{Name: "w", Type: 99, Dims: []int64{2}}}}, `initializer "w": tensors of type 99 are not supported`},
		{"a new opset", sketch{inputs: x, outputs: y, nodes: []*proto.Node{call("Neg", "y", "x")}, opset: 99}, `it is of opset 99`},
		{"no version", sketch{inputs: x, outputs: y, nodes: []*proto.Node{{Op: "Binarizer", Domain: "ai.onnx.ml", Inputs: []string{"x"}, Outputs: []string{"y"}}}}, `does not say which version of the operators of "ai.onnx.ml"`},
		{"a function that calls itself", sketch{inputs: x, outputs: y, nodes: []*proto.Node{{Op: "f", Domain: "test", Inputs: []string{"x"}, Outputs: []string{"y"}}},
			functions: []*proto.Function{{Name: "f", Domain: "test", Inputs: []string{"a"}, Outputs: []string{"b"}, Opsets: []proto.Opset{{Domain: "test", Version: 1}},
				Nodes: []*proto.Node{{Op: "f", Domain: "test", Inputs: []string{"a"}, Outputs: []string{"b"}}}}}}, `node "b", test.f of opset 1: the function calls itself`},
	} {
		_, err := Read(bytes.NewReader(c.s.bytes(t)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "onnx: ") != 1 {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// A sparse initializer has indices, int64 in its shape.
func TestSparseErrors(t *testing.T) {
	values := constOf("w", tensor.New([]float32{5}))
	for _, c := range []struct {
		indices *proto.Tensor
		want    string
	}{
		{constOf("", tensor.New([]int64{0, 1}, 1, 2)), ""},
		{&proto.Tensor{}, "tensors of type 0"},
		{&proto.Tensor{Decoded: op.Texts([]string{"a"}, 1)}, "indices of type string"},
		{constOf("", tensor.New([]int32{1})), "indices of type int32"},
		{constOf("", tensor.New([]int64{1, -1}, 1, 2)), "index out of range"},
		{constOf("", tensor.New([]int64{1 << 62, 0}, 1, 2)), "index out of range"},
	} {
		s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}, nodes: []*proto.Node{call("Add", "y", "x", "w")},
			sparse: []*proto.Sparse{{Values: values, Indices: c.indices, Dims: []int64{2, 2}}}}
		_, err := Read(bytes.NewReader(s.bytes(t)))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.indices, err, c.want)
		}
	}
	s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}, nodes: []*proto.Node{call("Neg", "y", "x")}}
	b := s.bytes(t)
	m, err := proto.Parse(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	m.Graph.Sparse = []*proto.Sparse{{Values: values}}
	if _, err := (&builder{m: &Model{}}).graph(m.Graph, names{}); err == nil || !strings.Contains(err.Error(), "lacks values or indices") {
		t.Errorf("without indices: %v", err)
	}
}

// Faults of a run are one error, which names node, operator, opset and inputs.
func TestRunErrors(t *testing.T) {
	two := sketch{inputs: []*proto.ValueInfo{float("a", -1, 3), float("b", -1)}, outputs: []*proto.ValueInfo{float("y", -1)}, nodes: []*proto.Node{call("MatMul", "y", "a", "b")}}
	lacks := sketch{inputs: []*proto.ValueInfo{float("a", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}, nodes: []*proto.Node{call("Frobnicate", "y", "a")}}
	one := func(name string, attrs ...*proto.Attr) sketch {
		return sketch{inputs: []*proto.ValueInfo{{Name: "a"}}, outputs: []*proto.ValueInfo{{Name: "y"}},
			nodes: []*proto.Node{{Op: name, Inputs: []string{"a"}, Outputs: []string{"y"}, Attrs: attrs}}}
	}
	// The position [0 2] of a matrix [2 2] is not its [1 0].
	scatter := sketch{inputs: []*proto.ValueInfo{{Name: "a"}}, outputs: []*proto.ValueInfo{{Name: "y"}}, nodes: []*proto.Node{call("ScatterND", "y", "m", "at", "a")},
		consts: []*proto.Tensor{constOf("m", tensor.New(make([]float32, 4), 2, 2)), constOf("at", tensor.New([]int64{0, 2, 0, 0}, 2, 2))}}
	pair := map[string]tensor.Tensor{"a": tensor.New([]float32{1, 2})}
	type tensors = map[string]tensor.Tensor
	for _, c := range []struct {
		s    sketch
		in   tensors
		want string
	}{
		{two, tensors{"a": tensor.New(make([]float32, 6), 2, 3), "b": tensor.New([]float32{1, 2})}, `node "y", MatMul of opset 20, of float[2 3], float[2]: MatMul of`},
		{two, tensors{"a": tensor.New(make([]float32, 6), 2, 3), "b": tensor.New([]float32{1, 2, 3})}, `input "b" has shape [3], want [N], and other inputs have N 2`},
		{two, tensors{"a": tensor.New(make([]float32, 6), 3, 2), "b": tensor.New([]float32{1, 2})}, `input "a" has shape [3 2], want [N 3]`},
		{two, tensors{"a": tensor.New(make([]float64, 6), 2, 3), "b": tensor.New([]float32{1, 2})}, `input "a" is of type double, want float: Cast it`},
		{two, tensors{"a": tensor.New(make([]float32, 6), 2, 3)}, `input "b" is missing`},
		{two, tensors{"a": tensor.New(make([]float32, 6), 2, 3), "b": tensor.New([]float32{1, 2}), "c": tensor.New([]float32{1})}, `there is no input "c"`},
		{two, tensors{"a": tensor.New(make([]float32, 6), 2, 3), "b": {}}, `input "b" is absent`},
		{one("Gelu", &proto.Attr{Name: "approximate", Type: proto.AttrString, S: "tan"}), pair, `there is no approximate "tan"`},
		{one("HannWindow"), tensors{"a": tensor.New([]int64{1 << 50}).Reshape()}, "a window of 1125899906842624 elements"},
		{one("HannWindow"), tensors{"a": tensor.New([]int64{-1}).Reshape()}, "a window of -1 elements"},
		{one("Split", attrInt("num_outputs", 1<<50)), pair, "num_outputs is 1125899906842624"},
		{one("Upsample", &proto.Attr{Name: "scales", Type: proto.AttrFloats, Floats: []float32{1 << 40}}), pair, "an axis of 2199023255552 elements"},
		{scatter, pair, "index 4 at [0 0] is out of range"},
		{lacks, tensors{"a": tensor.New([]float32{1, 2})}, `the model needs Frobnicate of opset 20: there is no such operator`},
	} {
		_, err := c.s.model(t).Run(context.Background(), c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Inputs of zeros that no memory has are an error.
func TestZerosErrors(t *testing.T) {
	for _, e := range []op.Elem{op.Float, op.String} {
		for _, n := range []int64{1 << 40, 1 << 62} {
			s := sketch{inputs: []*proto.ValueInfo{typed("x", e, n)}, outputs: []*proto.ValueInfo{{Name: "y"}}, nodes: []*proto.Node{call("Identity", "y", "x")}}
			if _, err := s.model(t).Zeros(nil); (err == nil) != (e == op.Float && n == 1<<40) {
				t.Errorf("%v of %d: %v", e, n, err)
			}
		}
	}
}

// Each run draws other numbers, the same ones in each process.
func TestRandom(t *testing.T) {
	s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}, nodes: []*proto.Node{call("RandomNormalLike", "y", "x")}}
	var runs []string
	for range 2 {
		m := s.model(t)
		for range 3 {
			out, err := m.Run(context.Background(), map[string]tensor.Tensor{"x": tensor.New([]float32{0, 0})})
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, fmt.Sprint(out["y"]))
		}
	}
	if !slices.Equal(runs[:3], runs[3:]) || runs[0] == runs[1] || runs[1] == runs[2] {
		t.Errorf("%v", runs)
	}
}

// A canceled context ends a run.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := sketch{inputs: []*proto.ValueInfo{float("x", 1)}, outputs: []*proto.ValueInfo{float("y", 1)}, nodes: []*proto.Node{call("Neg", "y", "x")}}
	if _, err := s.model(t).Run(ctx, map[string]tensor.Tensor{"x": tensor.New([]float32{1})}); err != context.Canceled {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// Bytes of any kind are a model or an error: nothing else, and no memory beyond a multiple of theirs.
func FuzzRead(f *testing.F) {
	s := sketch{inputs: []*proto.ValueInfo{float("x", -1, 2)}, outputs: []*proto.ValueInfo{float("y", -1, 2)},
		nodes: []*proto.Node{call("MatMul", "a", "x", "w"), call("Relu", "y", "a")}, consts: []*proto.Tensor{constOf("w", tensor.New([]float32{1, 2, 3, 4}, 2, 2))}}
	b := s.bytes(f)
	f.Add(b)
	f.Add(b[:len(b)/2])
	for i := range b {
		changed := bytes.Clone(b)
		changed[i] ^= 0x85
		f.Add(changed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m *Model
		var err error
		memtest.Bound(t, len(b), func() { m, err = Read(bytes.NewReader(b)) })
		if err != nil {
			return
		}
		in := map[string]Value{}
		for _, info := range m.Inputs() {
			in[info.Name] = op.Of(tensor.New(make([]float32, 4), 2, 2))
		}
		_ = tensor.Try(func() { m.RunValues(context.Background(), in) })
	})
}

// Inputs and attributes that do not fit an operator are the model's fault, and take no time.
func TestMalformedCalls(t *testing.T) {
	f := func(s ...int) Value { return op.Of(tensor.Ones(s...).Cast(tensor.Float32)) }
	i := func(v ...int64) Value { return op.Of(tensor.New(v, len(v))) }
	for _, c := range []struct {
		op    string
		attrs []*proto.Attr
		in    []Value
		want  string
	}{
		{"Col2Im", nil, []Value{f(1, 4, 4), i(4, 4), i(2)}, "windows of [2] elements, for 2 spatial axes"},
		{"ConvTranspose", nil, []Value{f(1, 1, 3, 3), f(1, 1, 2, 3, 3)}, "windows of [2 3 3] elements, for 2 spatial axes"},
		{"DeformConv", nil, []Value{f(1, 1, 3, 3), f(), f(1, 8, 2, 2)}, "the kernel []"},
		{"Identity", nil, nil, "input 0 is missing"},
		{"Cast", []*proto.Attr{attrInt("to", int64(op.Int64))}, []Value{op.Texts([]string{"9223372036854775808"}, 1)}, `"9223372036854775808" is not in the range of int64`},
		{"Cast", []*proto.Attr{attrInt("to", int64(op.Int64))}, []Value{op.Texts([]string{"1", "1e30"}, 2)}, `"1e30" is not in the range of int64`},
		{"Cast", []*proto.Attr{attrInt("to", int64(op.Uint8))}, []Value{op.Texts([]string{"-1"}, 1)}, `"-1" is not in the range of uint8`},
		{"Cast", []*proto.Attr{attrInt("to", int64(op.Int4))}, []Value{op.Texts([]string{"7", "8"}, 2)}, `"8" is not in the range of int4`},
		{"Cast", []*proto.Attr{attrInt("to", int64(op.Uint4))}, []Value{op.Texts([]string{"NaN"}, 1)}, `"NaN" is not in the range of uint4`},
		{"Cast", []*proto.Attr{attrInt("to", int64(op.Int32))}, []Value{op.Texts([]string{"NaN"}, 1)}, `"NaN" is not in the range of int32`},
		{"Cast", []*proto.Attr{{Name: "to", Type: proto.AttrString, S: "INT23"}}, []Value{f(1)}, `to is "INT23", which is no type`},
		{"RegexFullMatch", []*proto.Attr{{Name: "pattern", Type: proto.AttrString, S: "a)|(b"}}, []Value{op.Texts([]string{"b"}, 1)}, "unexpected )"},
		{"Bernoulli", nil, nil, "input 0 is missing"},
		{"DepthToSpace", []*proto.Attr{attrInt("blocksize", 1<<40)}, []Value{f(1, 4, 2, 2)}, "a blocksize of 1099511627776"},
		{"Split", []*proto.Attr{attrInt("num_outputs", 1<<20)}, []Value{f(4)}, "num_outputs is 1048576"},
		{"ConvTranspose", []*proto.Attr{attrInts("output_shape", 10)}, []Value{f(1, 1, 3, 3), f(1, 1, 3, 3)}, "output_shape is [10], for 2"},
		{"TfIdfVectorizer", []*proto.Attr{attrInts("ngram_counts", math.MaxInt64, 0), attrInts("ngram_indexes", 0), attrInts("pool_int64s", 1)}, []Value{i(1, 2)}, "ngram_counts are"},
		{"TfIdfVectorizer", []*proto.Attr{attrInt("max_skip_count", math.MaxInt64), attrInt("max_gram_length", math.MaxInt64), attrInts("ngram_counts", 0), attrInts("ngram_indexes", 0), attrInts("pool_int64s", 1)},
			[]Value{i(1, 2)}, ""},
	} {
		n := &proto.Node{Op: c.op, Attrs: c.attrs, Outputs: []string{"y"}}
		m, in := sketch{outputs: []*proto.ValueInfo{{Name: "y"}}}, map[string]Value{}
		for k, v := range c.in {
			name := string(rune('a' + k))
			in[name] = v
			n.Inputs, m.inputs = append(n.Inputs, name), append(m.inputs, &proto.ValueInfo{Name: name, Type: &proto.Type{Kind: proto.KindTensor, Elem: int64(v.Elem)}})
		}
		m.nodes = []*proto.Node{n}
		got := ""
		if _, err := m.model(t).RunValues(t.Context(), in); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.op, got, c.want)
		}
	}
}

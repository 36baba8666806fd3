package onnx

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// runOne runs a model of one operator on one input and constants, followed by others.
func runOne(t *testing.T, n *proto.Node, rest []*proto.Node, x tensor.Tensor, consts ...tensor.Tensor) (tensor.Tensor, error) {
	t.Helper()
	s := sketch{opset: 18, inputs: []*proto.ValueInfo{{Name: "x"}}, outputs: []*proto.ValueInfo{{Name: "y"}}}
	n.Inputs, n.Outputs = []string{"x"}, []string{"y"}
	if rest != nil {
		n.Outputs[0] = "z"
	}
	for i, c := range consts {
		name := string(rune('a' + i))
		n.Inputs = append(n.Inputs, name)
		s.consts = append(s.consts, constOf(name, c))
	}
	s.nodes = append([]*proto.Node{n}, rest...)
	out, err := s.model(t).Run(context.Background(), map[string]tensor.Tensor{"x": x})
	if err == nil {
		err = tensor.Eval(out["y"])
	}
	return out["y"], err
}

// Draws from numbers that are no distribution are errors.
func TestDrawsOfNoDistribution(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		of     string
		x      []float32
		consts []tensor.Tensor
		want   string // a part of the error; empty for none
	}{
		{"Bernoulli", []float32{0, 0.5, 1}, nil, ""},
		{"Bernoulli", []float32{0, nan, 1}, nil, "is no probability"},
		{"Bernoulli", []float32{0, -0.1, 1}, nil, "is no probability"},
		{"Bernoulli", []float32{0, 1.5, 1}, nil, "is no probability"},
		{"Multinomial", []float32{0, -200, -inf}, nil, ""},
		{"Multinomial", []float32{0, nan, 1}, nil, "has no distribution"},
		{"Multinomial", []float32{-inf, -inf, -inf}, nil, "has no distribution"},
		{"Multinomial", []float32{0, inf, 1}, nil, "has no distribution"},
		{"Dropout", []float32{1, 2, 3}, []tensor.Tensor{tensor.Scalar(1).Cast(tensor.Float32), tensor.New([]bool{true}).Reshape()}, ""},
		{"Dropout", []float32{1, 2, 3}, []tensor.Tensor{tensor.Scalar(math.NaN()).Cast(tensor.Float32), tensor.New([]bool{true}).Reshape()}, "ratio is NaN"},
		{"Dropout", []float32{1, 2, 3}, []tensor.Tensor{tensor.Scalar(-1).Cast(tensor.Float32), tensor.New([]bool{true}).Reshape()}, "ratio is -1"},
	} {
		y, err := runOne(t, &proto.Node{Op: c.of}, nil, tensor.New(c.x, 1, 3), c.consts...)
		if err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %v: %v, %v, want error %q", c.of, c.x, y, err, c.want)
		}
	}
}

// Norms of 16-bit numbers are computed in float32: squares are in its range, and small numbers are not 0.
func TestNormsOfHalves(t *testing.T) {
	attr := func(name string, v float32) *proto.Attr { return &proto.Attr{Name: name, Type: proto.AttrFloat, F: v} }
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		one := func(v float64) tensor.Tensor { return tensor.FullOf(d, v, 2) }
		full := func(v float64, s ...int) tensor.Tensor { // not a constant of the plan
			return tensor.NewRNG(1).Uniform(s...).Mul(0).Add(v).Cast(d).Keep()
		}
		constant, great := full(3, 4, 2, 64, 64), full(400, 4, 2, 4000)
		if err := tensor.Eval(constant, great); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			node   *proto.Node
			x      tensor.Tensor
			consts []tensor.Tensor
			want   float64
		}{
			{&proto.Node{Op: "InstanceNormalization", Attrs: []*proto.Attr{attr("epsilon", 1e-12)}}, constant, []tensor.Tensor{one(1), one(5)}, 5},
			{&proto.Node{Op: "BatchNormalization", Attrs: []*proto.Attr{attr("epsilon", 1e-12)}}, constant, []tensor.Tensor{one(1), one(5), one(3), one(0)}, 5},
			{&proto.Node{Op: "MeanVarianceNormalization"}, constant, nil, 0},
			{&proto.Node{Op: "LRN", Attrs: []*proto.Attr{{Name: "size", Type: proto.AttrInt, I: 3}, attr("alpha", 1.5), attr("beta", 0.5)}}, great, nil, 1},
			{&proto.Node{Op: "LpNormalization"}, great, nil, 1 / math.Sqrt(4000)},
		} {
			// The mean makes a kernel of its own, so that numbers of channels are stored.
			mean := []*proto.Node{{Op: "Cast", Inputs: []string{"z"}, Outputs: []string{"w"}, Attrs: []*proto.Attr{{Name: "to", Type: proto.AttrInt, I: int64(op.Float)}}}, call("ReduceMean", "y", "w")}
			y, err := runOne(t, c.node, mean, c.x, c.consts...)
			if err != nil {
				t.Errorf("%s of %v: %v", c.node.Op, d, err)
				continue
			}
			if ok, err := tensor.AllClose(y, tensor.FullLike(y, c.want), 1e-2, 0); err != nil || !ok {
				t.Errorf("%s of %v is %v, want %v", c.node.Op, d, y, c.want)
			}
		}
	}
}

// A rate of training may be of another type than parameters.
func TestRateOfOtherType(t *testing.T) {
	const domain = "ai.onnx.preview.training"
	v := func(x float64) tensor.Tensor { return tensor.New([]float64{x}) }
	in := map[string]tensor.Tensor{"r": tensor.Scalar(0.5).Cast(tensor.Float32), "t": tensor.Scalar(1).Cast(tensor.Int64), "x": v(4), "g": v(2), "v": v(1)}
	for name, want := range map[string]float64{"Adagrad": 3.5527866, "Momentum": 3} {
		n := &proto.Node{Op: name, Domain: domain, Inputs: []string{"r", "t", "x", "g", "v"}, Outputs: []string{"y", "h"}, Attrs: []*proto.Attr{
			{Name: "beta", Type: proto.AttrFloat, F: 1}, {Name: "mode", Type: proto.AttrString, S: "standard"}}}
		m := sketch{domain: domain, nodes: []*proto.Node{n}, outputs: []*proto.ValueInfo{{Name: "y"}}}
		for _, name := range n.Inputs {
			m.inputs = append(m.inputs, &proto.ValueInfo{Name: name})
		}
		out, err := m.model(t).Run(t.Context(), in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if ok, err := tensor.AllClose(out["y"], v(want), 1e-6, 0); err != nil || !ok {
			t.Errorf("%s: %v, %v, want %g", name, out["y"], err, want)
		}
	}
}

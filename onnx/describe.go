package onnx

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// A NodeInfo describes a node of a model's graph, for inputs of some shape.
type NodeInfo struct {
	Name, Op string
	Opset    int
	Results  []string // types and shapes
	Params   int      // elements of initializers that it reads
	FLOPs    float64  // arithmetic operations: 2 for each product of a sum, otherwise 1 for each element
}

// Describe interprets the model on zeros and describes its nodes, up to one that fails. dims has the lengths of
// axes, by name or as "input[axis]"; others that are not known are 1.
func (m *Model) Describe(dims map[string]int) ([]NodeInfo, error) {
	inputs, err := m.Zeros(dims)
	if err != nil {
		return nil, err
	}
	if m.lacks != nil {
		return nil, m.lacks
	}
	var list []NodeInfo
	x := &execution{m: m, ctx: context.Background(), rng: tensor.NewRNG(0), observe: func(n *node, in, out []Value) {
		info := NodeInfo{Name: nodeName(n.Node), Op: qualified(n.domain, n.Op), Opset: n.opset, FLOPs: flops(n, in, out)}
		for _, v := range out {
			info.Results = append(info.Results, v.String())
		}
		for _, name := range n.Inputs {
			if v, ok := m.main.consts[name]; ok && v.Kind == op.TensorKind {
				info.Params += v.Tensor.Len()
			}
		}
		list = append(list, info)
	}}
	_, err = m.interpret(x, inputs)
	return list, err
}

// Zeros returns inputs of zeros; see [Model.Describe] for dims.
func (m *Model) Zeros(dims map[string]int) (map[string]Value, error) {
	inputs := map[string]Value{}
	unused := maps.Clone(dims)
	for _, in := range m.inputs {
		if in.Dims == nil {
			return nil, fmt.Errorf("onnx: the shape of input %v is not known: give the inputs", in)
		}
		var s []int
		for i, d := range in.Dims {
			n := 1
			for _, key := range []string{d.Name, in.Name + "[" + strconv.Itoa(i) + "]"} {
				given, ok := dims[key]
				if !ok {
					continue
				}
				if d.Len >= 0 && given != d.Len {
					return nil, fmt.Errorf("onnx: axis %q has length %d in the model, and not %d", key, d.Len, given)
				}
				n = given
				delete(unused, key)
			}
			if d.Len >= 0 {
				n = d.Len
			}
			s = append(s, n)
		}
		e := op.Elem(in.typ.Elem)
		if err := shape.Check(s); err != nil {
			return nil, fmt.Errorf("onnx: input %v: %w", in, err)
		}
		const maxStrings = 1 << 24
		switch n := graph.Len(s); {
		case e == op.String && n > maxStrings:
			return nil, fmt.Errorf("onnx: input %v has more than %d strings: give the inputs", in, maxStrings)
		case e == op.String:
			inputs[in.Name] = op.Texts(make([]string, n), s...)
		case e.DType() == 0:
			return nil, fmt.Errorf("onnx: input %v: tensors of %v are not supported", in, e)
		default:
			inputs[in.Name] = op.As(e, tensor.ZerosOf(e.DType(), s...))
		}
	}
	for name := range unused {
		return nil, fmt.Errorf("onnx: no input has an axis %q: the inputs are %v", name, m.inputs)
	}
	return inputs, nil
}

// flops estimates the operations of a node.
func flops(n *node, in, out []Value) float64 {
	results := 0.0
	for _, v := range out {
		if v.Kind == op.TensorKind {
			results += float64(v.Tensor.Len())
		}
	}
	dims := func(i int) []int {
		if i < len(in) && in[i].Kind == op.TensorKind {
			return in[i].Dims()
		}
		return nil
	}
	switch w := dims(1); n.Op {
	case "Conv", "ConvInteger": // a sum over the kernel of each result
		if len(w) > 1 {
			return 2 * results * elements(w[1:])
		}
	case "ConvTranspose": // a product by the kernel of each input
		if len(w) > 1 {
			return 2 * elements(dims(0)) * elements(w[1:])
		}
	case "MatMul", "MatMulInteger", "Gemm":
		if x := dims(0); len(x) > 0 {
			depth := x[len(x)-1]
			for _, a := range n.Attrs {
				if a.Name == "transA" && a.I != 0 {
					depth = x[0]
				}
			}
			return 2 * results * float64(depth)
		}
	case "LSTM", "GRU", "RNN": // products of each step by both matrices
		if x, r := dims(0), dims(2); len(x) == 3 && r != nil {
			return 2 * float64(x[0]*x[1]) * (elements(w) + elements(r))
		}
	case "Attention": // scores and values
		if q, k := dims(0), dims(1); len(q) == 4 && len(k) == 4 {
			return 4 * elements(q) * float64(k[2])
		}
	}
	return results
}

func elements(s []int) float64 {
	n := 1.0
	for _, d := range s {
		n *= float64(d)
	}
	return n
}

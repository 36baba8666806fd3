package main

import (
	"github.com/tensorken/tensorken/internal/cases"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// specialValues returns a check for each of some types, of all operations on special values of it;
// results have types of a device.
func specialValues(some, types []tensor.DType) (checks []check) {
	for _, d := range some {
		list := cases.Special(d, types)
		c := check{name: "special values of " + d.String()}
		for _, s := range list {
			for _, in := range s.Inputs {
				c.inputs = append(c.inputs, stored(in))
			}
		}
		c.compute = func(x []T) (out []T) {
			for _, s := range list {
				var operands []*graph.Node
				for _, t := range x[:len(s.Inputs)] {
					operands = append(operands, tensor.Internal.Node(graph.Token{}, t))
				}
				x = x[len(s.Inputs):]
				out = append(out, tensor.Internal.Tensor(graph.Token{}, s.Make(operands)))
			}
			return out
		}
		checks = append(checks, c)
	}
	return checks
}

func stored(in cases.Input) input {
	return func(*tensor.RNG) tensor.Tensor {
		var data []byte
		for _, x := range in.Elems {
			data = x.Append(data, in.DType)
		}
		return tensor.FromBytes(in.DType, []int{len(in.Elems)}, data)
	}
}

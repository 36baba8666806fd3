package onnx

import (
	"context"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/ops"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Operators on inputs of any type and of few or no elements are results or errors of the node, and no
// faults of the library.
func TestAnyType(t *testing.T) {
	shapes := [][]int{{}, {3}, {0}, {2, 3}, {1, 2, 4, 4}}
	for _, r := range ops.All() {
		for k, e := range []op.Elem{op.Float, op.Uint8, op.Int64, op.Uint64, op.Bool, op.BFloat16, op.Int4, op.Float8E4M3FN} {
			if testing.Short() && k%2 == 1 {
				continue
			}
			d := e.DType()
			for _, s := range shapes {
				x := tensor.OnesOf(d, s...)
				m := sketch{opset: 20, domain: r.Domain}
				n := &proto.Node{Op: r.Name, Domain: r.Domain, Outputs: []string{"y"}}
				in := map[string]Value{}
				for i := range 1 + (k+len(s))%4 {
					name := string(rune('a' + i))
					var dims []int64
					for _, v := range s {
						dims = append(dims, int64(v))
					}
					m.inputs = append(m.inputs, typed(name, e, dims...))
					n.Inputs = append(n.Inputs, name)
					in[name] = op.As(e, x)
				}
				m.nodes, m.outputs = []*proto.Node{n}, []*proto.ValueInfo{{Name: "y"}}
				model := m.model(t)
				if model.lacks != nil {
					continue
				}
				if _, err := model.RunValues(context.Background(), in); err != nil && strings.Contains(err.Error(), "internal error") {
					t.Errorf("%s of %d inputs %v%v: %v", r.Name, len(in), e, s, err)
				}
			}
		}
	}
}

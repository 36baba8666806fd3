package interp

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// hostCall runs the function of a HostCall on bytes.
func hostCall(n *graph.Node, src []*Array, out []ir.Number) error {
	in := make([]graph.HostArray, len(src))
	for i, s := range src {
		in[i] = graph.HostArray{DType: s.DType, Shape: s.Shape}
		for _, x := range s.Elems {
			in[i].Data = x.Append(in[i].Data, s.DType)
		}
	}
	size := n.DType.Size()
	result := graph.HostArray{DType: n.DType, Shape: n.Shape, Data: make([]byte, len(out)*size)}
	if err := n.Call().(*graph.HostFunc).Run(result, in); err != nil {
		return err
	}
	for i := range out {
		out[i] = ir.Decode(n.DType, result.Data[i*size:])
	}
	return nil
}

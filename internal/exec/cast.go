package exec

import (
	"encoding/binary"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A hostCast is a Cast of elements on the host from a type that the device lacks.
type hostCast struct {
	node, src *graph.Node
	value     *graph.Value // of node; its storage is empty until run
}

func newHostCast(n, src *graph.Node) hostCast {
	return hostCast{n, src, &graph.Value{Store: FromHost(nil), Strides: shape.RowMajor(n.Shape)}}
}

// castsOnHost reports whether a Cast of x is one of stored elements on the host, of 8
// bytes each and in row-major order, whose type the device lacks.
func (c *capture) castsOnHost(x *graph.Node) bool {
	if c.device == nil || x.DType.Size() != 8 || c.device.limits.Has(x.DType) {
		return false
	}
	v := x.Value()
	return v != nil && v.Err == nil && v.Store.(*storage).device == nil && shape.IsRowMajor(x.Shape, v.Strides)
}

// run computes the Cast and gives the node its value.
func (x *hostCast) run() error {
	n, v := x.node, x.src.Value()
	host := v.Store.(*storage).host[8*v.Offset:][:8*n.Len()]
	out, err := Allocate(n.Len(), n.DType.Size())
	if err != nil {
		return err
	}
	out = out[:0]
	for ; len(host) > 0; host = host[8:] {
		num := ir.Number(binary.LittleEndian.Uint64(host))
		out = num.Convert(x.src.DType, n.DType).Append(out, n.DType)
	}
	x.value.Store.(*storage).host = out
	n.SetValue(x.value)
	return nil
}

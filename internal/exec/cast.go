package exec

import (
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

// castOnHost returns the node that a Cast of x converts on the host: x or, if x is an
// alias such as a copy to the device, the node that it stands for. It returns nil unless
// the elements are on the host, in row-major order and of a type that the device lacks.
func (c *capture) castOnHost(x *graph.Node) *graph.Node {
	if c.device == nil || c.device.limits.Has(x.DType) {
		return nil
	}
	src, v := x.State()
	for v == nil && isAlias(x) {
		x = src.At(0)
		src, v = x.State()
	}
	if v == nil || v.Err != nil || v.Store.(*storage).device != nil || !shape.IsRowMajor(x.Shape, v.Strides) {
		return nil
	}
	return x
}

// run computes the Cast and gives the node its value.
func (x *hostCast) run() error {
	n, v, d := x.node, x.src.Value(), x.src.DType
	host := v.Store.(*storage).host[d.Size()*v.Offset:][:d.Size()*n.Len()]
	out, err := Allocate(n.Len(), n.DType.Size())
	if err != nil {
		return err
	}
	out = out[:0]
	for ; len(host) > 0; host = host[d.Size():] {
		out = ir.Decode(d, host).Convert(d, n.DType).Append(out, n.DType)
	}
	x.value.Store.(*storage).host = out
	n.SetValue(x.value)
	return nil
}

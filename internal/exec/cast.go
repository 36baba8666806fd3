package exec

import (
	"encoding/binary"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// castOnHost gives n its value if it is a Cast of elements on the host whose
// type, of 8 bytes, the device lacks: they need not be elsewhere.
func (d *Device) castOnHost(n *graph.Node, src *graph.Node) error {
	v := src.Value()
	if v == nil || v.Err != nil || src.DType.Size() != 8 || d.limits.Has(src.DType) {
		return nil
	}
	s := v.Store.(*store)
	if s.device != nil || !shape.IsRowMajor(src.Shape, v.Strides) {
		return nil
	}
	host := s.host[8*v.Offset:][:8*src.Len()]
	out, err := Allocate(n.Len(), n.DType.Size())
	if err != nil {
		return err
	}
	out = out[:0]
	for ; len(host) > 0; host = host[8:] {
		x := ir.Number(binary.LittleEndian.Uint64(host)) // as numbers are
		out = x.Convert(src.DType, n.DType).Append(out, n.DType)
	}
	n.SetValue(&graph.Value{Store: FromHost(out), Strides: shape.RowMajor(n.Shape)})
	return nil
}

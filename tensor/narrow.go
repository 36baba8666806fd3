package tensor

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// narrow returns indices into x as int32, if they have 8 or 16 bits, or are int64 and the device
// that computes x has no int64, as WebGPU has none. If the device lacks their type it casts them
// on the host, where they must be stored: views of stored indices are views of the cast ones.
// Others stay as they are. It panics if one is no int32.
func narrow(op string, x, i *graph.Node) *graph.Node {
	if i.DType.Size() == 4 {
		return i
	}
	d, ok := x.Device.(*exec.Device)
	if !ok {
		if d, ok = i.Device.(*exec.Device); !ok {
			d = Default().exec()
		}
	}
	if !d.Has(i.DType) {
		if n := narrowed(op, i); n != nil {
			return n
		}
	}
	if i.DType == ir.Int64 {
		return i
	}
	return graph.Cast(i, ir.Int32)
}

// narrowed returns i as int32, nil if it is not a view of elements on the host.
func narrowed(op string, i *graph.Node) *graph.Node {
	if data, ok := exec.HostInt64s(i); ok {
		if at, v := exec.BeyondInt32(data); at >= 0 {
			fail(op, fmt.Sprintf("index %d, element %d of the indices, is out of range", v, at), i)
		}
		return graph.Cast(i, ir.Int32)
	}
	src, v := i.State()
	if v != nil && i.DType != ir.Int64 {
		return graph.Cast(i, ir.Int32)
	}
	view := ir.Table[i.Op].Class == ir.Movement || i.Op == ir.ToDevice
	if v != nil || !view || src.Len() != 1 {
		return nil
	}
	n := narrowed(op, src.At(0))
	if n == nil {
		return nil
	}
	return graph.Retype(i, ir.Int32, n)
}

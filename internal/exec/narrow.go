package exec

import (
	"encoding/binary"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// Has reports whether d has an element type.
func (d *Device) Has(t ir.DType) bool { return d.limits.Has(t) }

// HostInt64s returns the elements of an int64 node that are stored on the host, in
// row-major order; ok is false if they are not.
func HostInt64s(n *graph.Node) (data []byte, ok bool) {
	v := n.Value()
	if n.DType != ir.Int64 || v == nil || v.Err != nil || !shape.IsRowMajor(n.Shape, v.Strides) {
		return nil, false
	}
	s := v.Store.(*storage)
	if s.device != nil {
		return nil, false
	}
	return s.host[8*v.Offset:][:8*n.Len()], true
}

// BeyondInt32 returns the first element of data, int64s, that is no int32, and its
// position, which is -1 if there is none.
func BeyondInt32(data []byte) (at int, v int64) {
	for i := 0; i < len(data); i += 8 {
		v = int64(binary.LittleEndian.Uint64(data[i:]))
		if v < math.MinInt32 || v > math.MaxInt32 {
			return i / 8, v
		}
	}
	return -1, 0
}

package storage

import (
	"encoding/binary"
	"math"

	"github.com/tensorken/tensorken/ir"
)

// Elements on the host may be in an ir.Format. Devices whose Limits.Blocks is set read them as they
// are, others get a copy that is decoded once, and readers on the host decode what they read.

// TypeOn returns the type in which a device, nil for one that reads formats, has the elements of nodes of a type.
func (s *Storage) TypeOn(d *Device, node ir.DType) ir.DType {
	if s == nil || s.format == 0 || d != nil && !d.Limits.Has(s.format) {
		return node
	}
	return s.format
}

// InBlocks reports whether the elements are in a format.
func (s *Storage) InBlocks() bool { return s != nil && s.format != 0 }

// hostFor returns the elements on the host as a device reads them.
func (s *Storage) hostFor(d *Device) []byte {
	f := s.format.Format()
	if f == nil || d.Limits.Has(s.format) {
		return s.host
	}
	data, _ := s.decoded(0, len(s.host)/f.Bytes*f.Len)
	return data
}

// decoded returns the elements of the blocks that have the range from first to end, and the position of
// the first of them.
func (s *Storage) decoded(first, end int) (data []byte, at int) {
	f := s.format.Format()
	from, to := first/f.Len, ir.CeilDiv(end, f.Len)
	block := make([]float32, f.Len)
	data = make([]byte, 0, (to-from)*f.Len*4)
	for i := from; i < to; i++ {
		f.Decode(block, s.host[i*f.Bytes:(i+1)*f.Bytes])
		for _, x := range block {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
	}
	return data, from * f.Len
}

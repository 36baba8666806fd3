package storage

import (
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// Elements on the host may be in an ir.Format. Devices whose Limits.Blocks is set read them as they
// are, others get a copy that is decoded once, and readers on the host decode each time.

// TypeOn returns the type in which a device, nil for one that reads formats, has the elements of nodes of a type.
func (s *Storage) TypeOn(d *Device, node ir.DType) ir.DType {
	if s == nil || s.format == 0 || d != nil && !d.Limits.Has(s.format) {
		return node
	}
	return s.format
}

// InBlocks reports whether the elements are in a format.
func (s *Storage) InBlocks() bool { return s != nil && s.format != 0 }

// hostFor returns the elements on the host as a device reads them, and the mapped file that they are in, or nil.
func (s *Storage) hostFor(d *Device) (data []byte, file *mapped.File, err error) {
	switch f := s.format.Format(); {
	case s.format == 0:
		return s.host, s.file, nil
	case d.Limits.Has(s.format) && d.Limits.Blocks == driver.GroupedBlocks && f.Group() > 1:
		if data, err = hostmem.Make(f.GroupedLen(len(s.host)), 1); err == nil {
			err = s.file.Guard(func() error {
				f.Grouped(data, s.host)
				return nil
			})
		}
		return data, nil, err
	case d.Limits.Has(s.format):
		return s.host, s.file, nil
	}
	err = s.file.Guard(func() (err error) {
		data, _, err = s.decoded(0, s.format.Elements(len(s.host)))
		return err
	})
	return data, nil, err
}

// Blocks returns the format and the blocks of a computed node in row-major order, nil if it has others.
func Blocks(n *graph.Node) (format ir.DType, file *mapped.File, data []byte) {
	v := n.Value()
	s := Of(v)
	if !s.InBlocks() || v.Offset != 0 || !shape.IsRowMajor(n.Shape, v.Strides) {
		return 0, nil, nil
	}
	return s.format, s.file, s.host[:s.format.Bytes(n.Len())]
}

// decoded returns the elements of the blocks that have the range from first to end, and the position of
// the first of them.
func (s *Storage) decoded(first, end int) (data []byte, at int, err error) {
	f := s.format.Format()
	from, to := first/f.Len, ir.CeilDiv(end, f.Len)
	if data, err = hostmem.Make((to-from)*f.Len, 4); len(data) > 0 {
		simd.BlocksOf(f).Decode(unsafe.Pointer(&data[0]), unsafe.Pointer(&s.host[from*f.Bytes]), to-from)
	}
	return data, from * f.Len, err
}

package storage

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
	"github.com/tensorken/tensorken/internal/shape"
)

// Ahead starts to read a computed node. Wait returns its elements as Read does, but waits for no work that is
// submitted after Ahead. It is nil if the read cannot start: Read then returns the elements or the error.
func Ahead(n *graph.Node) (wait func() ([]byte, error)) {
	v := n.Value()
	s, size := Of(v), n.DType.Size()
	if s == nil { // it is not computed, or has failed
		return nil
	}
	d := s.device
	if d == nil || !d.Limits.Async || s.format != 0 || n.Len() == 0 || !shape.IsRowMajor(n.Shape, v.Strides) {
		return nil
	}
	drv, ok := d.Driver.(driver.Snapshotter)
	if !ok {
		return nil
	}
	var copied func() ([]byte, error)
	var pending []*Execution
	elements, first := n.Len()*size, 0
	err := s.hold(func(d *Device, b *memory.Block) (err error) {
		r := &d.reports
		pieces := []driver.Piece{{Buffer: b.Buffer, Offset: v.Offset * size, Bytes: elements}}
		if pending = slices.Clone(r.pending); len(pending) > 0 {
			first = pending[0].FirstCheck
			pieces = append(pieces, driver.Piece{Buffer: r.buffer.Buffer, Offset: reportBytes * first, Bytes: reportBytes * (r.next - first)})
		}
		copied, err = drv.Snapshot(pieces...)
		return err
	})
	if copied == nil || err != nil {
		return nil
	}
	return func() ([]byte, error) {
		data, err := s.copied(copied, elements, pending, first)
		if data == nil && err == nil {
			data, err = Read(n)
		}
		return data, err
	}
}

// copied returns the elements of a snapshot, which have the reports of pending executions behind them, from the first
// on. It returns nil if another snapshot has replaced it, or an index was bad: then the executions stay pending.
func (s *Storage) copied(wait func() ([]byte, error), elements int, pending []*Execution, first int) (out []byte, err error) {
	err = s.hold(func(d *Device, _ *memory.Block) error {
		data, err := wait()
		if err != nil {
			return cmp.Or(d.sync(), err) // as download does
		}
		if data == nil || hasBad(data[elements:]) {
			return err
		}
		r := &d.reports
		for _, x := range pending {
			if x.done.Load() {
				continue
			}
			if x.attribute(data[elements:], first); x.transaction {
				r.transactions--
			}
		}
		r.pending = slices.DeleteFunc(r.pending, func(x *Execution) bool { return x.done.Load() })
		if len(r.pending) == 0 {
			r.next, r.snapshot = 0, snapshot{}
		}
		out = slices.Clone(data[:elements])
		return s.failed()
	})
	return out, err
}

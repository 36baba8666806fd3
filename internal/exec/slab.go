package exec

import (
	"runtime"

	"github.com/tensorken/tensorken/internal/graph"
)

// A slab has the storages of results that a Recording frees together, in one allocation and
// with one cleanup.
type slab struct {
	free    []slabEntry
	buffers *returned // of the storages
}

// A slabEntry is a storage of a slab and its node.
type slabEntry struct {
	storage
	node graph.Node
}

func newSlab(d *Device, n int) slab {
	s := slab{make([]slabEntry, n), &returned{pool: &d.pool, buffers: make([]pooled, 0, n)}}
	runtime.AddCleanup(&s.free[0], (*returned).push, s.buffers)
	return s
}

// next makes the next storage of the slab the elements of an acquired buffer.
func (s *slab) next(d *Device, b *pooled) *slabEntry {
	h := &s.free[0]
	s.free = s.free[1:]
	h.device, h.epoch, h.block = d, d.epoch, &h.own
	d.setOwned(&h.own, *b, s.buffers)
	return h
}

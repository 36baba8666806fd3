package exec

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
)

// A slab has the storages of results that a Recording frees together, in one allocation and
// with one cleanup.
type slab struct {
	free    []slabEntry
	buffers *memory.Owner // of the storages
}

// A slabEntry is a storage of a slab and its node.
type slabEntry struct {
	storage
	node graph.Node
}

func newSlab(d *Device, n int) slab {
	free := make([]slabEntry, n)
	return slab{free, memory.NewOwner(d.pool, &free[0], n)}
}

// next makes the next storage of the slab the elements of an acquired buffer.
func (s *slab) next(d *Device, b *memory.Pooled) *slabEntry {
	h := &s.free[0]
	s.free = s.free[1:]
	h.device, h.epoch, h.block = d, d.stream.epoch, &h.own
	s.buffers.SetBlock(&h.own, *b)
	return h
}

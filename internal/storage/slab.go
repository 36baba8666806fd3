package storage

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
)

// A Slab has the storages of results that a recording frees together, in one allocation and
// with one cleanup.
type Slab struct {
	free    []SlabEntry
	buffers *memory.Owner // of the storages
}

// A SlabEntry is a storage of a slab and its node.
type SlabEntry struct {
	Storage
	Node graph.Node
}

// NewSlab returns a slab of n storages on the device.
func (d *Device) NewSlab(n int) Slab {
	free := make([]SlabEntry, n)
	return Slab{free, memory.NewOwner(d.Pool, &free[0], n)}
}

// Next makes the next storage of the slab the elements of an acquired buffer of the device.
func (s *Slab) Next(d *Device, b memory.Pooled) *SlabEntry {
	e := &s.free[0]
	s.free = s.free[1:]
	e.device, e.epoch, e.block = d, d.epoch, &e.own
	s.buffers.SetBlock(&e.own, b)
	return e
}

package storage

import (
	"slices"
	"weak"

	"github.com/tensorken/tensorken/internal/graph"
)

// A region has the elements that were stored for the nodes of a graph.Region. Go's collector may
// free it before.
type region struct {
	stored []weak.Pointer[Storage]
	swept  int // the length after the last sweep
}

func regionOf(r *graph.Region) *region {
	x, ok := r.Stored.(*region)
	if !ok {
		x = &region{}
		r.Stored = x
	}
	return x
}

// reset forgets the storages.
func (r *region) reset() {
	clear(r.stored)
	r.stored, r.swept = r.stored[:0], 0
}

// add adds a storage. Once the list has doubled it drops those that are no more.
func (r *region) add(s *Storage) {
	if len(r.stored) >= max(64, 2*r.swept) {
		r.stored = slices.DeleteFunc(r.stored, func(p weak.Pointer[Storage]) bool { return p.Value() == nil })
		r.swept = len(r.stored)
	}
	r.stored = append(r.stored, weak.Make(s))
}

// NoteStored notes that a region, which may be nil, has the elements of a new value, once. Results of
// transactions outlive it.
func NoteStored(of *graph.Region, v *graph.Value) {
	if s := Of(v); of != nil && s != nil && s.device != nil && !s.OfStep && s.region.CompareAndSwap(0, of.Number()) {
		regionOf(of).add(s)
	}
}

// Outlive takes the values of nodes out of the regions that they were made in.
func Outlive(nodes ...*graph.Node) {
	for _, n := range nodes {
		n.Outlive()
		if s := Of(n.Value()); s != nil {
			s.Stay()
		}
	}
}

// Stay takes the elements out of regions: they stay.
func (s *Storage) Stay() { s.stays.Store(true) }

// EndRegion frees the elements of a region that has ended, except elements that results have or are
// computed from: these move to the region around. Later reads fail with e.
func EndRegion(r *graph.Region, results []*graph.Node, e *GoneError) {
	own, ok := r.Stored.(*region)
	if !ok || len(own.stored) == 0 {
		return
	}
	defer own.reset()
	var stays map[graph.Store]bool
	if len(results) > 0 {
		stays = map[graph.Store]bool{}
	}
	for _, n := range graph.Sorted(results) {
		v := n.Value()
		if v == nil {
			continue
		}
		stays[v.Store] = true
		if b, ok := v.Store.(*Bundle); ok {
			for _, v := range b.Values {
				stays[v.Store] = true
			}
		}
	}
	for _, p := range own.stored {
		s := p.Value()
		switch {
		case s == nil || s.OfStep || s.stays.Load():
		case stays[s]:
			if s.region.Store(r.Outer.Number()); r.Outer != nil {
				regionOf(r.Outer).add(s)
			}
		case s.device == nil:
			s.freeDevices()
		default:
			s.Free(e)
		}
	}
}

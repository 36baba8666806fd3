package exec

import (
	"slices"
	"weak"

	"github.com/tensorken/tensorken/internal/graph"
)

// A region has what was stored for the nodes of a graph.Region. Go's collector may free it before.
type region struct {
	stored []weak.Pointer[storage]
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
func (r *region) add(s *storage) {
	if len(r.stored) >= max(64, 2*r.swept) {
		r.stored = slices.DeleteFunc(r.stored, func(p weak.Pointer[storage]) bool { return p.Value() == nil })
		r.swept = len(r.stored)
	}
	r.stored = append(r.stored, weak.Make(s))
}

// noteRegions notes the slots of a plan all whose outputs are of nodes made in regions that the goroutine is
// in: the outermost of these has the memory.
func (c *capture) noteRegions(p *loadedPlan) {
	r := graph.CurrentRegion()
	if r == nil {
		return
	}
	var array [4]*graph.Region
	owners := append(array[:0], make([]*graph.Region, len(p.slots))...) // by slot; elsewhere for one that stays
	for _, n := range c.named {
		out := &p.compiled.Outputs[n.output]
		if out.Leaf {
			continue
		}
		of, owner := r.RegionOf(n.node), &owners[p.slot[out.Index]]
		switch {
		case of == nil:
			*owner = elsewhere
		case *owner == nil || *owner != elsewhere && of.Numbered((*owner).Number()) == nil: // of is around it
			*owner = of
		}
	}
	for i := range c.outputs {
		if out := &p.compiled.Outputs[i]; !out.Leaf {
			if of := owners[p.slot[out.Index]]; of != nil && of != elsewhere {
				noteStored(of, c.outputs[i].value)
			}
		}
	}
}

// elsewhere stands for no region.
var elsewhere = new(graph.Region)

// noteStored notes that a region has the elements of a new value, once. What transactions make outlives it.
func noteStored(of *graph.Region, v *graph.Value) {
	if s := storageOf(v); s != nil && s.device != nil && !s.ofStep && s.region.CompareAndSwap(0, of.Number()) {
		regionOf(of).add(s)
	}
}

// Outlive takes the values of nodes out of the regions that they were made in.
func Outlive(nodes ...*graph.Node) {
	for _, n := range nodes {
		n.Outlive()
		if s := storageOf(n.Value()); s != nil {
			s.stays.Store(true)
		}
	}
}

// EndRegion frees what was stored for nodes of a region that has ended, but what results have or are
// computed from, which moves to the region around. Later reads fail with e.
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
		if b, ok := v.Store.(*bundle); ok {
			for _, v := range b.values {
				stays[v.Store] = true
			}
		}
	}
	for _, p := range own.stored {
		s := p.Value()
		switch {
		case s == nil || s.ofStep || s.stays.Load():
		case stays[s]:
			if s.region.Store(r.Outer.Number()); r.Outer != nil {
				regionOf(r.Outer).add(s)
			}
		case s.device == nil:
			s.freeCopies()
		default:
			s.free(e)
		}
	}
}

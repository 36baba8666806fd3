package exec

import (
	"errors"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
)

// A GoneError says that a tensor has no memory any more.
type GoneError struct {
	Op   string         // that gave the memory to others: "tensor.Donate", "tensor.Scope"
	Pos  graph.CallSite // of its call
	Help string         // how to keep the tensor
	// Replaced says that the memory is given away only of what a transaction has made: see Step.
	Replaced bool
}

func (e *GoneError) Error() string {
	at := e.Op
	if pos := e.Pos.Pos(); pos != "" {
		at += " at " + pos
	}
	return "the tensor's memory was given away by " + at + ": " + e.Help
}

// failed returns why the elements are invalid, nil if nothing is known.
func (s *storage) failed() error {
	if e := s.gone.Load(); e != nil {
		return e
	}
	return s.origin.failed()
}

// free gives the memory of the elements back once nothing uses it. Later reads fail with e.
func (s *storage) free(e *GoneError) {
	if !s.gone.CompareAndSwap(nil, e) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.block != nil {
		s.host = nil
		s.block.Free()
	}
	s.freeLockedCopies()
}

// freeCopies frees the copies on devices of elements of the host, which stay.
func (s *storage) freeCopies() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freeLockedCopies()
}

// freeLockedCopies frees the copies. The caller holds s.mu.
func (s *storage) freeLockedCopies() {
	for i := range s.copies {
		if b := s.copies[i].block; b != nil {
			b.Free()
		}
	}
	s.copies = nil
}

// shared returns another storage of the same elements, which stay when s is freed.
func (s *storage) shared() *storage {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &storage{device: s.device, block: s.block, origin: s.origin, host: s.host}
	if s.block != nil {
		s.block.MarkShared()
	}
	return m
}

// donated returns the storages of leaves that are donated.
func (c *capture) donated() (list []*storage) {
	for i := range c.leaves {
		if s := c.leaves[i].stored; s != nil && s.donated.Load() != nil {
			list = append(list, s)
		}
	}
	return list
}

// freeDonated frees the leaves whose memory the plan may have had. What a transaction returns as it was
// is not replaced.
func (c *capture) freeDonated(p *loadedPlan) {
	for i := range c.leaves {
		if e := c.leaves[i].donation(); e != nil && !(e.Replaced && i < len(p.returns) && p.returns[i]) {
			c.leaves[i].stored.free(e)
		}
	}
}

// isGone reports whether a leaf is gone.
func (c *capture) isGone() bool {
	return slices.ContainsFunc(c.leaves, func(l leaf) bool { return l.stored != nil && l.stored.gone.Load() != nil })
}

// errFreed says that a copy of elements was freed, which happens to those of a tensor that is gone.
var errFreed = errors.New("exec: the memory of a tensor was freed")

// Donate notes that the plan that reads the elements of computed nodes next may have their memory.
// Later reads fail with e.
func Donate(nodes []*graph.Node, e *GoneError) {
	for _, n := range nodes {
		src, v := n.State()
		for v == nil && isAlias(n) {
			n = src.At(0)
			src, v = n.State()
		}
		if s := storageOf(v); s != nil {
			s.donated.Store(e)
		}
	}
}

// storageOf returns where the elements of a value are, nil if it has none.
func storageOf(v *graph.Value) *storage {
	if v == nil || v.Store == nil {
		return nil
	}
	s, _ := v.Store.(*storage)
	return s
}

// DonateReplaced donates the nodes that transactions have made, but what others have too, for the next
// transaction. End frees what is left of them after it, or keeps them if it failed.
func DonateReplaced(nodes, others []*graph.Node, e *GoneError) (end func(failed bool)) {
	stays := map[*storage]bool{}
	for _, n := range others {
		stays[storageOf(n.Value())] = true
	}
	var list []*storage
	for _, n := range nodes {
		if s := storageOf(n.Value()); s != nil && s.ofStep && !stays[s] && s.donated.CompareAndSwap(nil, e) {
			list = append(list, s)
		}
	}
	return func(failed bool) {
		for _, s := range list {
			if failed {
				s.donated.CompareAndSwap(e, nil)
			} else {
				s.free(e)
			}
		}
	}
}

// Replace lets transactions have the memory of computed nodes, as if one had made them.
func Replace(nodes []*graph.Node) {
	for _, n := range nodes {
		if s := storageOf(n.Value()); s != nil {
			s.ofStep = true
		}
	}
}

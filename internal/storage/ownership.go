package storage

import (
	"errors"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A GoneError says that a tensor has no memory any more.
type GoneError struct {
	Op   string         // that gave the memory to others: "tensor.Donate", "tensor.Scope"
	Pos  graph.CallSite // of its call
	Help string         // how to keep the tensor
	// Replaced says that only elements that a transaction has made are given away: see Step.
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
func (s *Storage) failed() error {
	if e := s.gone.Load(); e != nil {
		return e
	}
	return s.origin.failed()
}

// Free gives the memory of the elements back once nothing uses it. Later reads fail with e.
func (s *Storage) Free(e *GoneError) {
	if s.gone.CompareAndSwap(nil, e) {
		s.freeDevices()
	}
}

// freeDevices frees the memory of devices. Elements of the host stay.
func (s *Storage) freeDevices() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.block != nil {
		s.host = nil
		s.block.Free()
	}
	for i := range s.copies {
		if b := s.copies[i].block; b != nil {
			b.Free()
		}
	}
	s.copies = nil
}

// Shared returns another storage of the same elements, which stay when s is freed.
func (s *Storage) Shared() *Storage {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Storage{device: s.device, block: s.block, origin: s.origin, host: s.host, format: s.format, file: s.file}
	if s.block != nil {
		s.block.MarkShared()
	}
	return m
}

// errFreed says that a copy of elements was freed, because their tensor is gone.
var errFreed = errors.New("the memory of a tensor was freed")

// Donated returns the error of later reads of given away elements, nil if they stay.
func (s *Storage) Donated() *GoneError { return s.donated.Load() }

// IsGone reports whether the elements are no more.
func (s *Storage) IsGone() bool { return s.gone.Load() != nil }

// Donate notes that the plan that reads the elements of computed nodes next may have their memory.
// Later reads fail with e.
func Donate(nodes []*graph.Node, e *GoneError) {
	for _, n := range nodes {
		if s := source(n); s != nil {
			s.donated.Store(e)
		}
	}
}

// source returns where the elements are that a node has or will view, nil if that is not known.
func source(n *graph.Node) *Storage {
	src, v := n.State()
	for v == nil && n.Op.Class() == ir.Alias {
		n = src.At(0)
		src, v = n.State()
	}
	return Of(v)
}

// Gifts are donated nodes that are stored anew before the transaction that replaces them.
type Gifts map[*graph.Node]gift

type gift struct {
	from   *Storage // that was donated
	reason *GoneError
}

// TakeGifts takes back donated nodes, so that the plan that stores them anew frees nothing.
func TakeGifts(nodes []*graph.Node) Gifts {
	g := Gifts{}
	for _, n := range nodes {
		if s := source(n); s != nil && s.Donated() != nil {
			g[n] = gift{s, s.Donated()}
		}
	}
	for _, x := range g {
		x.from.donated.Store(nil)
	}
	return g
}

// Give donates the memory that the nodes have by now to the next transaction, except memory that others share.
func (g Gifts) Give(others []*graph.Node) {
	stays := storagesOf(others)
	for n, x := range g {
		reason := *x.reason
		reason.Replaced = true
		if s := Of(n.Value()); s != nil && !stays[s] {
			s.OfStep = true
			s.donated.Store(&reason)
		}
	}
}

// Free frees the nodes after the transaction, except memory that others share.
func (g Gifts) Free(others []*graph.Node) {
	stays := storagesOf(others)
	for n, x := range g {
		for _, s := range []*Storage{x.from, Of(n.Value())} {
			if s != nil && !stays[s] {
				s.Free(x.reason)
			}
		}
	}
	clear(g)
}

// Return donates the nodes as they were, unless Free has freed them: the transaction has failed.
func (g Gifts) Return() {
	for n, x := range g {
		if s := Of(n.Value()); s != nil {
			s.OfStep = false
			s.donated.Store(nil)
		}
		x.from.donated.Store(x.reason)
	}
}

func storagesOf(nodes []*graph.Node) map[*Storage]bool {
	set := map[*Storage]bool{}
	for _, n := range nodes {
		set[Of(n.Value())] = true
	}
	return set
}

// Of returns where the elements of a value are, nil if it has none.
func Of(v *graph.Value) *Storage {
	if v == nil || v.Store == nil {
		return nil
	}
	s, _ := v.Store.(*Storage)
	return s
}

// DonateReplaced donates the nodes that transactions have made to the next transaction, except memory
// that others share. After it, end frees the rest of them, or keeps them if it failed.
func DonateReplaced(nodes, others []*graph.Node, e *GoneError) (end func(failed bool)) {
	stays := storagesOf(others)
	var list []*Storage
	for _, n := range nodes {
		if s := Of(n.Value()); s != nil && s.OfStep && !stays[s] && s.donated.CompareAndSwap(nil, e) {
			list = append(list, s)
		}
	}
	return func(failed bool) {
		for _, s := range list {
			if failed {
				s.donated.CompareAndSwap(e, nil)
			} else {
				s.Free(e)
			}
		}
	}
}

// Replace lets transactions have the memory of computed nodes, as if one had made them.
func Replace(nodes []*graph.Node) {
	for _, n := range nodes {
		if s := Of(n.Value()); s != nil {
			s.OfStep = true
		}
	}
}

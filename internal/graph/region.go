package graph

import (
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/internal/goroutine"
)

// A Region is a call of tensor.Scope by a goroutine. At its end package storage frees the elements of the
// nodes that the goroutine has made in it.
type Region struct {
	Stored any     // package storage's list of elements to free; reused regions keep its memory
	Outer  *Region // the region around this one, or nil

	number uint32
	before *Region // the goroutine's when it entered
	few    []Node  // of Throwaway, which is no call of Scope and has no number: to be made next
}

// The upper 24 bits of a node's marks are its region's number; the lower regionShift bits are other
// marks. So numbers repeat after 2^24 regions.
const regionShift = 8

var (
	openRegions atomic.Int32  // the number of regions of all goroutines
	lastNumber  atomic.Uint32 // of a region
	regions     [64]struct {  // by a hash of the goroutine, so that few goroutines share a lock
		sync.Mutex
		innermost map[uintptr]*Region // by goroutine
	}
)

// EnterRegion begins a region of the calling goroutine, which ends it by Leave.
func EnterRegion() *Region {
	r := idleRegions.Get().(*Region)
	r.Outer, r.before, r.number = CurrentRegion(), current(), 0
	for r.number == 0 { // 0 stands for no region
		r.number = lastNumber.Add(1) << regionShift >> regionShift
	}
	openRegions.Add(1)
	setRegion(r)
	return r
}

// Leave ends the region, which must be the goroutine's innermost one.
func (r *Region) Leave() {
	setRegion(r.before)
	openRegions.Add(-1)
}

// Release makes a region that has ended available for others.
func (r *Region) Release() { idleRegions.Put(r) }

var idleRegions = sync.Pool{New: func() any { return new(Region) }}

// Throwaway calls f, which makes some nodes that are dropped together: they are in few objects.
func Throwaway(f func()) {
	r := idleRegions.Get().(*Region)
	r.Outer, r.before, r.number = CurrentRegion(), current(), 0
	openRegions.Add(1)
	setRegion(r)
	defer func() {
		r.Leave()
		r.few = nil // the rest would keep the nodes
		r.Release()
	}()
	f()
}

// newNode returns a node of the current region, to be filled in.
func newNode() *Node {
	r := current()
	if r == nil {
		return new(Node)
	}
	if r.number > 0 {
		n := new(Node)
		n.marks.Store(r.number << regionShift)
		return n
	}
	if len(r.few) == 0 {
		r.few = make([]Node, 24)
	}
	n := &r.few[0]
	r.few = r.few[1:]
	n.marks.Store(r.Outer.Number() << regionShift)
	return n
}

// setRegion makes r the innermost region of the calling goroutine, nil for none.
func setRegion(r *Region) {
	id := goroutine.ID()
	shard := &regions[hash(id)]
	shard.Lock()
	defer shard.Unlock()
	switch {
	case r == nil:
		delete(shard.innermost, id)
	case shard.innermost == nil:
		shard.innermost = map[uintptr]*Region{id: r}
	default:
		shard.innermost[id] = r
	}
}

// hash is the index in regions for a goroutine.
func hash(id uintptr) uint64 { return uint64(id) * 0x9e3779b97f4a7c15 >> 58 }

// CurrentRegion returns the innermost region of the calling goroutine, nil if it is in none.
func CurrentRegion() *Region {
	r := current()
	if r != nil && r.number == 0 {
		return r.Outer
	}
	return r
}

func current() *Region {
	if openRegions.Load() == 0 {
		return nil
	}
	id := goroutine.ID()
	shard := &regions[hash(id)]
	shard.Lock()
	defer shard.Unlock()
	return shard.innermost[id]
}

// markRegion notes the current region as the one that made the node.
func (n *Node) markRegion() {
	if r := CurrentRegion(); r != nil {
		n.marks.Store(r.number << regionShift)
	}
}

// Outlive takes n out of its region, whose end then does not free its elements.
func (n *Node) Outlive() { n.marks.And(1<<regionShift - 1) }

// Number identifies the region; it is 0 for nil.
func (r *Region) Number() uint32 {
	if r == nil {
		return 0
	}
	return r.number
}

// Enclosing returns the region with a number, if that is r or a region around r; else nil.
func (r *Region) Enclosing(number uint32) *Region {
	if number == 0 {
		return nil
	}
	for ; r != nil && r.number != number; r = r.Outer {
	}
	return r
}

// RegionOf returns the region that made n, if that is r or a region around r; else nil.
func (r *Region) RegionOf(n *Node) *Region { return r.Enclosing(n.marks.Load() >> regionShift) }

package graph

import (
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/internal/goroutine"
)

// A Region is a call in which a goroutine makes nodes: see tensor.Scope. At its end package storage frees
// the elements that were stored for them.
type Region struct {
	Stored any     // package storage's list of elements to free; reused regions keep its memory
	Outer  *Region // that the goroutine was in before; nil for none

	number uint32
}

// The number of a Region is in the marks of the nodes made in it, above the other marks. Numbers come
// again after 2^(32-regionShift) regions.
const regionShift = 8

var (
	openRegions atomic.Int32 // of all goroutines
	lastRegion  atomic.Uint32
	regions     [64]struct { // by a hash of the goroutine, so that few share a lock
		sync.Mutex
		of map[uintptr]*Region // by goroutine: the innermost
	}
)

// EnterRegion begins a region of the calling goroutine, which calls Leave.
func EnterRegion() *Region {
	r := idleRegions.Get().(*Region)
	r.Outer, r.number = CurrentRegion(), 0
	for r.number == 0 { // the number of no region
		r.number = lastRegion.Add(1) << regionShift >> regionShift
	}
	openRegions.Add(1)
	setRegion(r)
	return r
}

// Leave ends the region, which is the goroutine's innermost.
func (r *Region) Leave() {
	setRegion(r.Outer)
	openRegions.Add(-1)
}

// Release makes a region that has ended available for others.
func (r *Region) Release() { idleRegions.Put(r) }

var idleRegions = sync.Pool{New: func() any { return new(Region) }}

// setRegion makes r the innermost region of the calling goroutine, nil for none.
func setRegion(r *Region) {
	g := goroutine.ID()
	x := &regions[hash(g)]
	x.Lock()
	defer x.Unlock()
	switch {
	case r == nil:
		delete(x.of, g)
	case x.of == nil:
		x.of = map[uintptr]*Region{g: r}
	default:
		x.of[g] = r
	}
}

// hash is the index of a goroutine in regions.
func hash(g uintptr) uint64 { return uint64(g) * 0x9e3779b97f4a7c15 >> 58 }

// CurrentRegion returns the innermost region of the calling goroutine, nil if it is in none.
func CurrentRegion() *Region {
	if openRegions.Load() == 0 {
		return nil
	}
	g := goroutine.ID()
	x := &regions[hash(g)]
	x.Lock()
	defer x.Unlock()
	return x.of[g]
}

// markRegion notes the region that a node is made in.
func (n *Node) markRegion() {
	if r := CurrentRegion(); r != nil {
		n.marks.Store(r.number << regionShift)
	}
}

// Outlive takes n out of its region: its stored elements stay.
func (n *Node) Outlive() { n.marks.And(1<<regionShift - 1) }

// Number identifies the region; nil has 0.
func (r *Region) Number() uint32 {
	if r == nil {
		return 0
	}
	return r.number
}

// Numbered returns the region of a number, if it is r or one around r; else nil.
func (r *Region) Numbered(number uint32) *Region {
	if number == 0 {
		return nil
	}
	for ; r != nil && r.number != number; r = r.Outer {
	}
	return r
}

// RegionOf returns the region that n was made in, if it is r or one around r; else nil.
func (r *Region) RegionOf(n *Node) *Region { return r.Numbered(n.marks.Load() >> regionShift) }

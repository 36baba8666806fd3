package memory

import (
	"runtime"
	"slices"
	"sync/atomic"
)

// A Block is a buffer that stores elements. Its memory returns to the pool when the block is
// freed, once no plan and no read uses it, or when it is unreachable.
type Block struct {
	Pooled
	owned *Pooled      // the buffer of the block's Owner until the block is freed; nil if it is not of the pool
	pool  *Pool        // nil if the buffer belongs to no pool
	uses  atomic.Int32 // plans and reads that use the block, and marks
}

// Bits of Block.uses, which counts the plans and reads that use the block.
const (
	markFreed  = 1 << 30
	markViewed = 1 << 29 // a caller may have a view of the memory
	markShared = 1 << 28 // several storages have the block
	marks      = markFreed | markViewed | markShared
)

// An Owner has the buffers of blocks that live as long as an object: they return to their pool once it is
// unreachable. A block that was freed before is not among them, nor one that is left to Go's collector.
type Owner struct {
	pool *Pool
	free []Pooled // for the buffers of the next blocks
}

// A returned has the buffers of an object that is unreachable.
type returned struct {
	buffers []Pooled
	next    *returned // in Pool.returned
}

// NewOwner returns the owner of up to n buffers, until object is unreachable.
func NewOwner[T any](p *Pool, object *T, n int) Owner {
	o := Owner{p, make([]Pooled, n)}
	runtime.AddCleanup(object, Owner.push, o)
	return o
}

// push makes the buffers returned that blocks still have. It takes no lock, as it runs in cleanups.
func (o Owner) push() {
	if !slices.ContainsFunc(o.free, func(b Pooled) bool { return b.Buffer != nil }) {
		return
	}
	r := &returned{buffers: o.free}
	for {
		r.next = o.pool.returned.Load()
		if o.pool.returned.CompareAndSwap(r.next, r) {
			return
		}
	}
}

// IsZero reports whether o is no owner.
func (o *Owner) IsZero() bool { return o.pool == nil }

// SetBlock makes k the block of an acquired buffer, and returns k.
func (p *Pool) SetBlock(k *Block, b Pooled) *Block {
	if b.IsPooled() {
		o := NewOwner(p, k, 1)
		o.SetBlock(k, b)
	} else {
		k.Pooled, k.pool = b, p
	}
	return k
}

// SetBlock is Pool.SetBlock of a pooled buffer, which o has.
func (o *Owner) SetBlock(k *Block, b Pooled) {
	o.pool.keep(b)
	k.Pooled, k.pool, k.owned = b, o.pool, &o.free[0]
	*k.owned, o.free = b, o.free[1:]
}

// Use notes that a plan or a read uses the block. It reports false if the block was freed.
func (k *Block) Use() bool {
	for {
		n := k.uses.Load()
		if n&markFreed != 0 {
			return false
		}
		if k.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Done ends a use.
func (k *Block) Done() {
	if n := k.uses.Add(-1); n&markFreed != 0 && n&^marks == 0 {
		k.release()
	}
}

// Free returns the buffer to the pool, once nothing uses it. A shared block is left to Go's collector.
func (k *Block) Free() {
	if k.pool == nil || k.uses.Load()&markShared != 0 {
		return
	}
	if n := k.uses.Or(markFreed); n&markFreed == 0 && n&^marks == 0 {
		k.release()
	}
}

// release returns the buffer to the pool, unless a caller may have a view of it.
func (k *Block) release() {
	if b := k.take(); b.bucket != nil || k.uses.Load()&markViewed == 0 {
		k.pool.Release(b)
	}
}

// MarkShared notes that another storage has the block.
func (k *Block) MarkShared() { k.uses.Or(markShared) }

// MarkViewed notes that a caller gets a view of the memory.
func (k *Block) MarkViewed() {
	k.uses.Or(markViewed)
	if k.viewed != nil {
		k.viewed.Store(true)
	}
}

// take takes the buffer out of the block.
func (k *Block) take() Pooled {
	b := k.Pooled
	k.Pooled = Pooled{}
	if k.owned != nil {
		*k.owned = Pooled{}
	}
	return b
}

// TakeAlone takes the buffer out of the block, and ends the caller's uses, if there are no others. It
// reports false if others may read the memory.
func (k *Block) TakeAlone(uses int) (b Pooled, ok bool) {
	if k.pool == nil || !k.uses.CompareAndSwap(int32(uses), markFreed) {
		return b, false
	}
	return k.take(), true
}

// PutBack undoes TakeAlone.
func (k *Block) PutBack(b Pooled, uses int) {
	k.Pooled = b
	if k.owned != nil {
		*k.owned = b
	}
	k.uses.Store(int32(uses))
}

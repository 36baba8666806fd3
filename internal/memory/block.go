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
	owner *Owner       // has the buffer until the block is freed; nil if the buffer is not of the pool
	index int          // in the owner
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
// unreachable. A block that was freed before is not among them.
type Owner struct {
	pool    *Pool
	buffers []Pooled
	one     [1]Pooled // backs buffers of one
	next    *Owner    // in Pool.returned
}

// NewOwner returns the owner of up to n buffers, until object is unreachable.
func NewOwner[T any](p *Pool, object *T, n int) *Owner {
	o := &Owner{pool: p}
	if o.buffers = o.one[:0]; n > 1 {
		o.buffers = make([]Pooled, 0, n)
	}
	runtime.AddCleanup(object, (*Owner).push, o)
	return o
}

// push makes the buffers returned that blocks still have. It takes no lock, as it runs in cleanups.
func (o *Owner) push() {
	if !slices.ContainsFunc(o.buffers, func(b Pooled) bool { return b.Buffer != nil }) {
		return
	}
	for {
		o.next = o.pool.returned.Load()
		if o.pool.returned.CompareAndSwap(o.next, o) {
			return
		}
	}
}

// SetBlock makes k the block of an acquired buffer, and returns k.
func (p *Pool) SetBlock(k *Block, b Pooled) *Block {
	if b.bucket == nil {
		k.Pooled, k.pool = b, p
	} else {
		NewOwner(p, k, 1).SetBlock(k, b)
	}
	return k
}

// SetBlock is Pool.SetBlock where o has the buffer, unless that is left to Go's collector.
func (o *Owner) SetBlock(k *Block, b Pooled) {
	k.Pooled, k.pool = b, o.pool
	if b.bucket != nil {
		o.pool.keep(b)
		k.owner, k.index = o, len(o.buffers)
		o.buffers = append(o.buffers, b)
	}
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
	if k.owner != nil {
		k.owner.buffers[k.index] = Pooled{}
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
	if k.owner != nil {
		k.owner.buffers[k.index] = b
	}
	k.uses.Store(int32(uses))
}

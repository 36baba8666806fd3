package exec

import (
	"runtime"
	"sync/atomic"
)

// A block is a buffer that storages have. Its memory returns to the pool when the block is
// freed, once no plan and no read uses it, or when it is unreachable.
type block struct {
	pooled
	owner *returned    // has the buffer until the block is freed; nil if the buffer is not of the pool
	index int          // in the owner
	pool  *pool        // nil if the buffer belongs to no pool
	uses  atomic.Int32 // plans and reads that use the block, and marks
}

// Bits of block.uses, which counts the plans and reads that use the block.
const (
	markFreed  = 1 << 30
	markViewed = 1 << 29 // a caller may have a view of the memory
	markShared = 1 << 28 // several storages have the block
	marks      = markFreed | markViewed | markShared
)

// setBlock makes k the block of an acquired buffer.
func (d *Device) setBlock(k *block, b pooled) *block {
	if b.collected {
		d.setOwned(k, b, nil)
		return k
	}
	r := &returned{pool: &d.pool}
	r.buffers = r.one[:0]
	d.setOwned(k, b, r)
	runtime.AddCleanup(k, (*returned).push, r)
	return k
}

// setOwned is setBlock where r is the owner of the block's buffer, nil if that is left to Go's collector.
func (d *Device) setOwned(k *block, b pooled, r *returned) {
	k.pooled, k.pool = b, &d.pool
	if !b.collected {
		d.pool.keep(b)
		k.owner, k.index = r, len(r.buffers)
		r.buffers = append(r.buffers, b)
	}
}

// use notes that a plan or a read uses the block. It reports false if the block was freed.
func (k *block) use() bool {
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

// done ends a use.
func (k *block) done() {
	if n := k.uses.Add(-1); n&markFreed != 0 && n&^marks == 0 {
		k.release()
	}
}

// free returns the buffer to the pool, once nothing uses it. A shared block is left to Go's collector.
func (k *block) free() {
	if k.pool == nil || k.uses.Load()&markShared != 0 {
		return
	}
	if n := k.uses.Or(markFreed); n&markFreed == 0 && n&^marks == 0 {
		k.release()
	}
}

// release returns the buffer to the pool, unless a caller may have a view of it.
func (k *block) release() {
	if b := k.take(); !b.collected || k.uses.Load()&markViewed == 0 {
		k.pool.release(b)
	}
}

// share notes that another storage has the block.
func (k *block) share() { k.uses.Or(markShared) }

// view notes that a caller gets a view of the memory.
func (k *block) view() {
	k.uses.Or(markViewed)
	if k.viewed != nil {
		k.viewed.Store(true)
	}
}

// take takes the buffer out of the block.
func (k *block) take() pooled {
	b := k.pooled
	k.pooled = pooled{}
	if k.owner != nil {
		k.owner.buffers[k.index] = pooled{}
	}
	return b
}

// takeAlone takes the buffer out of the block, and ends the caller's use, if that is the only one. It
// reports false if others may read the memory.
func (k *block) takeAlone() (b pooled, ok bool) {
	if k.pool == nil || !k.uses.CompareAndSwap(1, markFreed) {
		return b, false
	}
	return k.take(), true
}

// putBack undoes takeAlone.
func (k *block) putBack(b pooled) {
	k.pooled = b
	if k.owner != nil {
		k.owner.buffers[k.index] = b
	}
	k.uses.Store(1)
}

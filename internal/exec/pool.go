package exec

import (
	"cmp"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// A pool counts a device's buffers and caches idle ones. Buffers come in size classes,
// so that one fits many tensors.
type pool struct {
	mu       sync.Mutex               // guards the fields that are not atomic
	buckets  map[int]*bucket          // by size class
	recent   [64]recentBucket         // of the buckets, by a hash of the size class
	idle     int64                    // bytes of the buckets
	returned atomic.Pointer[returned] // buffers of unreachable blocks
	bytes    gauge
	buffers  gauge
	acquired int64 // buffers acquired so far
	peak     int64 // of the bytes held

	collected [maxCollected/64 + 1]sync.Pool // idle buffers that are left to the collector, by size in 64 bytes
	views     bool                           // the device is a driver.Viewer

	allocated                int   // buffers so far
	highWater, prevHighWater int64 // of the bytes held, since the last collection and between the two before
}

// A bucket is the idle buffers of a size class. After a collection the first allocated are
// the first acquired, so that steps of training pair buffers as they did after the last one,
// for which devices keep descriptors.
type bucket struct {
	buffers  []pooled
	used     int64 // pool.acquired at the last use
	unsorted bool
}

// A pooled is a buffer of a pool, or one that is left to Go's collector.
type pooled struct {
	driver.Buffer     // nil for none
	number        int // pool.allocated before
	request
	viewed *atomic.Bool // its memory may be in use after its block is gone; nil if there are no views
}

// A returned is buffers that return to their pool when the blocks that have them are unreachable; zero
// where a block was freed before.
type returned struct {
	pool    *pool
	buffers []pooled
	one     [1]pooled // backs buffers of one
	next    *returned // in pool.returned
}

// large is the size from which on classes are fine: a program has few sizes of that order,
// and what they are rounded up by is memory that a GPU may lack.
const large = 8 << 20

// sizeClass rounds a size up to one of four steps between powers of two, large ones to one of
// 64, but not over a limit that the size is under; 0 is no limit. All are in bytes.
func sizeClass(size, limit int) int {
	if size <= 256 {
		return 256
	}
	step := 1 << (bits.Len(uint(size-1)) - 3)
	if size > large {
		step >>= 4
	}
	c := (size + step - 1) &^ (step - 1)
	if limit > 0 && c > limit {
		return max(size, limit)
	}
	return c
}

// A request is a buffer to acquire.
type request struct {
	class     int  // its size class
	collected bool // it is left to Go's collector
}

// maxCollected is the size of the largest buffer of a plan that is left to Go's collector,
// if the device allows: to collect it takes less time than to pool it, and no lock.
const maxCollected = 4 << 10

// request returns the request for a buffer of a plan.
func (d *Device) request(size int) request {
	if _, ok := d.drv.(driver.HostAllocator); ok && size <= maxCollected {
		return request{max(1, ir.CeilDiv(size, 64)) * 64, true} // Go's allocator aligns that to 64 bytes
	}
	return request{sizeClass(size, d.limits.Bytes), false}
}

// acquire appends the requested buffers to list, a zero one for size class 0; after an error the list has those
// acquired before. The caller holds d.queue.
func (d *Device) acquire(list []pooled, requests ...request) ([]pooled, error) {
	p := &d.pool
	if p.returned.Load() != nil {
		d.drain()
	}
	first := len(list)
	list = p.take(list, requests)
	for i, r := range requests {
		if list[first+i].Buffer != nil || r.class == 0 {
			continue
		}
		b, err := d.alloc(r)
		if err != nil {
			return list, err
		}
		list[first+i] = b
	}
	return list, nil
}

// alloc returns a new buffer. The caller holds d.queue.
func (d *Device) alloc(r request) (pooled, error) {
	if r.collected {
		b, err := d.drv.(driver.HostAllocator).AllocHost(r.class)
		return pooled{Buffer: b, request: r}, err
	}
	b, err := d.drv.Alloc(r.class)
	if errors.Is(err, driver.ErrMemory) {
		if err = d.makeRoom(); err == nil {
			b, err = d.drv.Alloc(r.class)
		}
	}
	if err != nil {
		return pooled{}, err
	}
	p := &d.pool
	x := pooled{Buffer: b, request: r}
	if p.views {
		x.viewed = new(atomic.Bool)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x.number = p.allocated
	p.allocated++
	p.note(r.class)
	return x, nil
}

// take appends an idle buffer for each request to list, a zero one if there is none.
func (p *pool) take(list []pooled, requests []request) []pooled {
	locked := false
	for _, r := range requests {
		if r.class == 0 {
			list = append(list, pooled{})
			continue
		}
		if r.collected {
			b, _ := p.collected[r.class/64].Get().(driver.Buffer)
			list = append(list, pooled{Buffer: b, request: r})
			continue
		}
		if !locked {
			p.mu.Lock()
			locked = true
		}
		class := r.class
		p.acquired++
		k := p.bucket(class)
		k.used = p.acquired
		var b pooled
		if len(k.buffers) > 0 {
			p.note(class)
			b = p.pop(k, class)
		}
		list = append(list, b)
	}
	if locked {
		p.mu.Unlock()
	}
	return list
}

// release returns buffers to the pool; some of the list may be zero. Who acquires as many next
// gets them in their order: a plan that runs again has its temporaries where they were.
func (p *pool) release(list ...pooled) {
	locked := false
	for _, b := range slices.Backward(list) {
		if b.Buffer == nil {
			continue
		}
		if b.collected {
			p.collected[b.class/64].Put(b.Buffer)
			continue
		}
		if !locked {
			p.mu.Lock()
			locked = true
		}
		p.put(b)
	}
	if locked {
		p.mu.Unlock()
	}
}

// due reports whether a share of the garbage for which a collection is due is held.
func (p *pool) due(share float64) bool { return p.bytes.due(share) || p.buffers.due(share) }

// put is release of one buffer, for a caller that holds p.mu. A viewed one is left to
// those who use its memory.
func (p *pool) put(b pooled) {
	p.bytes.held.Add(-int64(b.class))
	p.buffers.held.Add(-1)
	if b.viewed != nil && b.viewed.Load() {
		b.Free()
		return
	}
	k := p.bucket(b.class)
	k.buffers = append(k.buffers, b)
	p.idle += int64(b.class)
}

// makeRoom frees the idle buffers. A device may keep a buffer until the work that
// uses it is done, so makeRoom waits for that. The caller holds d.queue.
func (d *Device) makeRoom() error {
	d.drain()
	d.pool.mu.Lock()
	d.pool.trim(0)
	d.pool.mu.Unlock()
	return d.sync()
}

// drain moves the buffers of unreachable blocks to the pool, and returns the bytes
// that are held then. The caller holds d.queue.
func (d *Device) drain() int64 {
	p := &d.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := p.returned.Swap(nil); r != nil; r = r.next {
		for _, b := range r.buffers {
			if b.Buffer == nil {
				continue
			}
			p.put(b)
			p.bucket(b.class).unsorted = true
		}
	}
	p.bytes.lower()
	p.buffers.lower()
	return p.bytes.held.Load()
}

// endWindow frees idle buffers, so that the pool keeps what was in use at once in the time of the last two
// collections.
func (p *pool) endWindow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.bytes.held.Load()
	p.trim(max(p.highWater, p.prevHighWater) - held)
	p.highWater, p.prevHighWater = held, p.highWater
}

// keep notes that a storage takes over an acquired buffer.
func (p *pool) keep(b pooled) {
	p.bytes.kept.Add(int64(b.class))
	p.buffers.kept.Add(1)
}

// push is the cleanup of blocks: it makes the buffers that they still have returned. It takes no lock.
func (r *returned) push() {
	if !slices.ContainsFunc(r.buffers, func(b pooled) bool { return b.Buffer != nil }) {
		return
	}
	for {
		r.next = r.pool.returned.Load()
		if r.pool.returned.CompareAndSwap(r.next, r) {
			return
		}
	}
}

// A recentBucket is a bucket that was used not long ago.
type recentBucket struct {
	class int
	*bucket
}

// bucket returns the bucket of a size class.
func (p *pool) bucket(class int) *bucket {
	r := &p.recent[uint64(class)*0x9e3779b97f4a7c15>>58]
	if r.bucket == nil || r.class != class {
		if p.buckets[class] == nil {
			p.buckets[class] = &bucket{}
		}
		*r = recentBucket{class, p.buckets[class]}
	}
	return r.bucket
}

// sort puts the buffers back in order, if buffers came back in another.
func (k *bucket) sort() {
	if k.unsorted {
		slices.SortFunc(k.buffers, func(a, b pooled) int { return b.number - a.number })
		k.unsorted = false
	}
}

// pop removes a buffer from the bucket of a class, which has some.
func (p *pool) pop(k *bucket, class int) pooled {
	k.sort()
	last := len(k.buffers) - 1
	b := k.buffers[last]
	k.buffers[last] = pooled{}
	k.buffers = k.buffers[:last]
	p.idle -= int64(class)
	return b
}

// note counts a buffer as held, and records the peak and the high-water mark.
func (p *pool) note(class int) {
	p.buffers.held.Add(1)
	held := p.bytes.held.Add(int64(class))
	p.highWater, p.peak = max(p.highWater, held), max(p.peak, held)
}

// trim frees idle buffers until at most limit bytes are left, those of the least
// recently used class first, and of a class those that would be acquired last.
func (p *pool) trim(limit int64) {
	if p.idle <= limit {
		return
	}
	for _, class := range slices.SortedStableFunc(maps.Keys(p.buckets), func(a, b int) int { return cmp.Compare(p.buckets[a].used, p.buckets[b].used) }) {
		k := p.buckets[class]
		k.sort()
		n := 0
		for ; p.idle > limit && n < len(k.buffers); n++ {
			p.idle -= int64(class)
			k.buffers[n].Free()
		}
		k.buffers = slices.Delete(k.buffers, 0, n)
		if len(k.buffers) == 0 {
			delete(p.buckets, class)
			clear(p.recent[:])
		}
	}
}

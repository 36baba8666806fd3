package exec

import (
	"cmp"
	"errors"
	"maps"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/ir"
)

// A pool counts a device's buffers and caches idle ones. Buffers come in size classes,
// so that one fits many tensors.
type pool struct {
	mu        sync.Mutex               // guards the fields that are not atomic
	buckets   map[int]*bucket          // by size class
	recent    [64]recentBucket         // of the buckets, by a hash of the size class
	idle      int64                    // bytes of the buckets
	returned  atomic.Pointer[returned] // buffers of unreachable blocks
	held      atomic.Int64             // bytes of storages and of running plans
	count     atomic.Int64             // buffers of the same
	kept      atomic.Int64             // bytes that storages took over so far
	keptCount atomic.Int64             // buffers of the same
	acquired  int64                    // buffers acquired so far
	peak      int64                    // of held

	collected [maxCollected/64 + 1]sync.Pool // idle buffers that are left to the collector, by size in 64 bytes
	views     bool                           // the device is a driver.Viewer

	allocTime                atomic.Int64 // nanoseconds of the driver, for all buffers so far
	allocBytes               int64        // of them
	allocated                int          // buffers so far
	highWater, prevHighWater int64        // of held, in the last two windows
	windowStart              int64        // acquired when the last window began
	drained                  bool         // in the last window
}

// minWindow is the least number of buffers in a window of a high-water mark. A window has a
// collection in it too: between collections, held only grows.
const minWindow = 4096

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

// A returned is buffers on their way back to their pool.
type returned struct {
	pool    *pool
	buffers []pooled
	next    *returned // in pool.returned
}

// A block is a buffer that returns to the pool once it is unreachable.
type block struct {
	buffer driver.Buffer
	epoch  *syncEpoch   // that writes it; nil if that cannot fail
	viewed *atomic.Bool // of the pooled; nil if there are no views
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

// acquire appends the requested buffers to list; after an error the list has those
// acquired before. The caller holds d.queue.
func (d *Device) acquire(list []pooled, requests ...request) ([]pooled, error) {
	p := &d.pool
	if p.returned.Load() != nil {
		d.drain()
	}
	first, bytes := len(list), 0
	list = p.take(list, requests)
	for i, r := range requests {
		bytes += r.class
		if list[first+i].Buffer != nil {
			continue
		}
		b, err := d.alloc(r)
		if err != nil {
			return list, err
		}
		list[first+i] = b
	}
	d.pacer.acquires(int64(bytes))
	return list, nil
}

// alloc returns a new buffer. The caller holds d.queue.
func (d *Device) alloc(r request) (pooled, error) {
	if r.collected {
		b, err := d.drv.(driver.HostAllocator).AllocHost(r.class)
		return pooled{Buffer: b, request: r}, err
	}
	start := clock.Now()
	b, err := d.drv.Alloc(r.class)
	if errors.Is(err, driver.ErrMemory) {
		if err = d.makeRoom(); err == nil {
			start = clock.Now()
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
	p.allocTime.Add(int64(clock.Since(start)))
	p.allocBytes += int64(r.class)
	x.number = p.allocated
	p.allocated++
	p.note(r.class)
	return x, nil
}

// nanosPerByte is the mean time to allocate a byte; 0 if there is no buffer yet.
func (p *pool) nanosPerByte() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return float64(p.allocTime.Load()) / float64(max(p.allocBytes, 1))
}

// take appends an idle buffer for each request to list, a zero one if there is none.
func (p *pool) take(list []pooled, requests []request) []pooled {
	locked := false
	for _, r := range requests {
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
		if p.drained && p.acquired-p.windowStart >= minWindow {
			p.highWater, p.prevHighWater = 0, p.highWater
			p.windowStart, p.drained = p.acquired, false
		}
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

// put is release of one buffer, for a caller that holds p.mu. A viewed one is left to
// those who use its memory.
func (p *pool) put(b pooled) {
	p.held.Add(-int64(b.class))
	p.count.Add(-1)
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
		p.drained = true
		for _, b := range r.buffers {
			p.put(b)
			p.bucket(b.class).unsorted = true
		}
	}
	held := p.held.Load()
	d.pacer.live.Store(min(d.pacer.live.Load(), held))
	d.pacer.liveCount.Store(min(d.pacer.liveCount.Load(), p.count.Load()))
	most := max(p.highWater, p.prevHighWater, d.pacer.live.Load()+d.pacer.limit())
	p.trim(most + most/8 - held)
	return held
}

// setBlock makes k the block of an acquired buffer.
func (d *Device) setBlock(k *block, b pooled) *block {
	*k = block{b.Buffer, d.epoch, b.viewed}
	if !b.collected {
		d.pool.keep(b)
		runtime.AddCleanup(k, owned.push, owned{&d.pool, b})
	}
	return k
}

// keep notes that a storage takes over an acquired buffer.
func (p *pool) keep(b pooled) {
	p.kept.Add(int64(b.class))
	p.keptCount.Add(1)
}

// An owned is a buffer with its pool.
type owned struct {
	pool *pool
	pooled
}

// push is the cleanup of a block.
func (o owned) push() { (&returned{pool: o.pool, buffers: []pooled{o.pooled}}).push() }

// push makes the buffers returned. It takes no lock.
func (r *returned) push() {
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

// note counts a buffer as held and records the peak and the high-water marks; drain
// trims the pool to the higher mark, but not below what may be held before a plan waits for
// a collection.
func (p *pool) note(class int) {
	held := p.held.Add(int64(class))
	p.count.Add(1)
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

package memory

import (
	"cmp"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// A Pool counts a device's buffers and caches idle ones. Buffers come in size classes,
// so that one fits many tensors.
type Pool struct {
	drv   driver.Device
	host  driver.HostAllocator // drv; nil unless it is one
	views bool                 // drv is a driver.Viewer
	limit int                  // of the size of a buffer, in bytes; 0 for none
	queue *Queue
	wait  func() error // waits for the work of the device; the caller holds the queue

	collecting sync.Mutex // held during a collection

	mu       sync.Mutex // guards the fields below that are not atomic
	buckets  map[bucketKey]*bucket
	idle     int64                    // bytes of the buckets
	returned atomic.Pointer[returned] // has buffers of unreachable blocks
	bytes    gauge
	buffers  gauge
	acquired int64 // buffers acquired so far
	peak     int64 // of the bytes held

	collected [maxCollected/64 + 1]sync.Pool // idle buffers that are left to the collector, by size in 64 bytes

	allocated                int   // buffers so far
	highWater, prevHighWater int64 // of the bytes held, since the last collection and between the two before
}

// NewPool returns the pool of a queue's device, with the function that waits for the device's work.
func NewPool(q *Queue, wait func() error) *Pool {
	p := &Pool{drv: q.drv, queue: q, wait: wait, buckets: map[bucketKey]*bucket{}}
	p.host, _ = p.drv.(driver.HostAllocator)
	_, p.views = p.drv.(driver.Viewer)
	limits := p.drv.Limits()
	p.limit = limits.Bytes
	memory := limits.Memory
	if memory == 0 {
		memory = hostMemory()
	}
	p.bytes.least, p.buffers.least = int64(memory)/leastBytes, leastBuffers
	p.setBallast()
	return p
}

// A bucket is the idle buffers of a size class. After a collection the first allocated are
// the first acquired, so that steps of training pair buffers as they did after the last one,
// for which devices keep descriptors.
type bucket struct {
	buffers  []Pooled
	used     int64 // Pool.acquired at the last use
	unsorted bool
}

// A Pooled is a buffer of a pool, or one that is left to Go's collector.
type Pooled struct {
	driver.Buffer     // nil for none
	number        int // Pool.allocated before
	Request
	viewed *atomic.Bool // its memory may be in use after its block is gone; nil if there are no views
}

// IsPooled reports whether the buffer returns to a pool. Another is left to Go's collector.
func (b *Pooled) IsPooled() bool { return b.bucket != nil }

func (b *Pooled) isViewed() bool { return b.viewed != nil && b.viewed.Load() }

// large is the size from which on classes are fine: a program has few sizes of that order,
// and rounding them up wastes memory that a GPU may lack.
const large = 2 << 20

// largestStep is the greatest step between classes.
const largestStep = 4 << 20

// sizeClass rounds a size up to one of four steps between powers of two, large ones to one of
// 64 or more, but not over a limit that the size is under; 0 is no limit. All are in bytes.
func sizeClass(size, limit int) int {
	if size <= 256 {
		return 256
	}
	step := 1 << (bits.Len(uint(size-1)) - 3)
	if size > large {
		step = min(step>>4, largestStep)
	}
	c := (size + step - 1) &^ (step - 1)
	if limit > 0 && c > limit {
		return max(size, limit)
	}
	return c
}

// A Request is a buffer to acquire.
type Request struct {
	Class  int     // its size class; 0 for none
	bucket *bucket // of the class; nil if the buffer is left to Go's collector
}

// maxCollected is the size of the largest buffer of a plan that is left to Go's collector,
// if the device allows: to collect it takes less time than to pool it, and no lock.
const maxCollected = 4 << 10

// A bucketKey is a size class, and whether its buffers outlive plans. Small ones that do are never temporaries: each step
// of a program may hold new ones, as its arguments and results, and a plan that runs again would get other temporaries,
// of which a GPU's graph has the addresses.
type bucketKey struct {
	class int
	lasts bool
}

// Request returns the request for a buffer of a plan, which may outlive it.
func (p *Pool) Request(size int, lasts bool) Request {
	if p.host != nil && size <= maxCollected {
		return Request{Class: max(1, ir.CeilDiv(size, 64)) * 64} // Go's allocator aligns that to 64 bytes
	}
	return p.pooled(size, lasts)
}

// pooled returns the request for a buffer that is not left to Go's collector.
func (p *Pool) pooled(size int, lasts bool) Request {
	class := sizeClass(size, p.limit)
	key := bucketKey{class, lasts && class <= maxCollected}
	p.mu.Lock()
	k := p.buckets[key]
	if k == nil {
		k = &bucket{}
		p.buckets[key] = k
	}
	p.mu.Unlock()
	return Request{class, k}
}

// AcquireOne acquires a buffer that is not of a plan. The caller holds the queue.
func (p *Pool) AcquireOne(size int) (Pooled, error) {
	var one [1]Pooled
	_, err := p.Acquire(one[:0], p.pooled(size, true))
	return one[0], err
}

// Acquire appends the requested buffers to list, a zero one for size class 0; after an error the list has those
// acquired before. The caller holds the queue.
func (p *Pool) Acquire(list []Pooled, requests ...Request) ([]Pooled, error) {
	if p.returned.Load() != nil {
		p.drain()
	}
	first := len(list)
	list = p.take(list, requests)
	for i, r := range requests {
		if list[first+i].Buffer != nil || r.Class == 0 {
			continue
		}
		b, err := p.alloc(r)
		if err != nil {
			return list, err
		}
		list[first+i] = b
	}
	return list, nil
}

// alloc returns a new buffer. The caller holds the queue.
func (p *Pool) alloc(r Request) (Pooled, error) {
	if r.bucket == nil {
		b, err := p.host.AllocHost(r.Class)
		return Pooled{Buffer: b, Request: r}, err
	}
	b, err := p.drv.Alloc(r.Class)
	if errors.Is(err, driver.ErrMemory) {
		if err = p.MakeRoom(); err == nil {
			b, err = p.drv.Alloc(r.Class)
		}
	}
	if err != nil {
		return Pooled{}, err
	}
	x := Pooled{Buffer: b, Request: r}
	if p.views {
		x.viewed = new(atomic.Bool)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x.number = p.allocated
	p.allocated++
	p.note(r.Class)
	return x, nil
}

// take appends an idle buffer for each request to list, or a zero one.
func (p *Pool) take(list []Pooled, requests []Request) []Pooled {
	locked := false
	for _, r := range requests {
		if r.Class == 0 {
			list = append(list, Pooled{})
			continue
		}
		if r.bucket == nil {
			b, _ := p.collected[r.Class/64].Get().(driver.Buffer)
			list = append(list, Pooled{Buffer: b, Request: r})
			continue
		}
		if !locked {
			p.mu.Lock()
			locked = true
		}
		p.acquired++
		r.bucket.used = p.acquired
		var b Pooled
		if len(r.bucket.buffers) > 0 {
			p.note(r.Class)
			b = p.pop(r)
		}
		list = append(list, b)
	}
	if locked {
		p.mu.Unlock()
	}
	return list
}

// Release returns buffers to the pool; some of the list may be zero. The next to acquire as
// many gets them in their order: a plan that runs again has its temporaries at the same
// places.
func (p *Pool) Release(list ...Pooled) {
	locked := false
	for _, b := range slices.Backward(list) {
		if b.Buffer == nil {
			continue
		}
		if b.bucket == nil {
			p.collected[b.Class/64].Put(b.Buffer)
			continue
		}
		if b.isViewed() { // put frees it, which is a call of the driver
			Owner{p, []Pooled{b}}.push()
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
func (p *Pool) due(share float64) bool { return p.bytes.due(share) || p.buffers.due(share) }

// put is Release of one buffer, for a caller that holds p.mu, and the queue if the buffer is viewed: its
// memory is left to its users.
func (p *Pool) put(b Pooled) {
	p.bytes.held.Add(-int64(b.Class))
	p.buffers.held.Add(-1)
	if b.isViewed() {
		b.Free()
		return
	}
	b.bucket.buffers = append(b.bucket.buffers, b)
	p.idle += int64(b.Class)
}

// MakeRoom frees the idle buffers, and the scratch of the driver. A device may keep a buffer until the work that
// uses it is done, so MakeRoom waits for that. The caller holds the queue.
func (p *Pool) MakeRoom() error {
	p.drain()
	p.mu.Lock()
	p.trim(0)
	p.mu.Unlock()
	err := p.wait()
	if d, ok := p.drv.(interface{ Trim() }); ok {
		d.Trim()
	}
	return err
}

// Close closes the driver's device once a collection in the background has returned its buffers.
func (p *Pool) Close() error {
	p.collecting.Lock()
	defer p.collecting.Unlock()
	p.queue.Lock()
	defer p.queue.Unlock()
	return p.drv.Close()
}

// Stats counts the bytes of a pool.
type Stats struct {
	Held, Pooled int64 // by tensors and plans; by no one
	Peak         int64 // the most held so far
}

// Stats returns the pool's Stats, without unreachable buffers unless a call of the driver takes long: it may wait
// for the caller. The caller holds no lock.
func (p *Pool) Stats() Stats {
	if p.queue.tryBetween() {
		p.drain()
		p.queue.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{p.bytes.held.Load(), p.idle, p.peak}
}

// drain moves the buffers of unreachable blocks to the pool. The caller holds the queue.
func (p *Pool) drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := p.returned.Swap(nil); r != nil; r = r.next {
		for _, b := range r.buffers {
			if b.Buffer == nil {
				continue
			}
			p.put(b)
			b.bucket.unsorted = true
		}
	}
	p.bytes.lower()
	p.buffers.lower()
}

// endWindow frees idle buffers, so that the pool keeps the bytes that were in use at once in the time of
// the last two collections. The caller holds the queue.
func (p *Pool) endWindow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.bytes.held.Load()
	p.trim(max(p.highWater, p.prevHighWater) - held)
	p.highWater, p.prevHighWater = held, p.highWater
}

// keep notes that a storage takes over an acquired buffer.
func (p *Pool) keep(b Pooled) {
	p.bytes.kept.Add(int64(b.Class))
	p.buffers.kept.Add(1)
}

// sort puts the buffers back in order, if buffers came back in another.
func (k *bucket) sort() {
	if k.unsorted {
		sorts.Stable(k.buffers, func(a, b Pooled) int { return b.number - a.number })
		k.unsorted = false
	}
}

// pop removes a buffer from the bucket of a request, which has some.
func (p *Pool) pop(r Request) Pooled {
	k := r.bucket
	k.sort()
	last := len(k.buffers) - 1
	b := k.buffers[last]
	k.buffers[last] = Pooled{}
	k.buffers = k.buffers[:last]
	p.idle -= int64(r.Class)
	return b
}

// note counts a buffer as held, and records the peak and the high-water mark.
func (p *Pool) note(class int) {
	p.buffers.held.Add(1)
	held := p.bytes.held.Add(int64(class))
	p.highWater, p.peak = max(p.highWater, held), max(p.peak, held)
}

// trim frees idle buffers until at most limit bytes are left: the least recently used class
// first and, in a class, the buffers that would be acquired last. The caller holds the queue.
func (p *Pool) trim(limit int64) {
	if p.idle <= limit {
		return
	}
	for _, key := range slices.SortedStableFunc(maps.Keys(p.buckets), func(a, b bucketKey) int { return cmp.Compare(p.buckets[a].used, p.buckets[b].used) }) {
		k := p.buckets[key]
		k.sort()
		n := 0
		for ; p.idle > limit && n < len(k.buffers); n++ {
			p.idle -= int64(key.class)
			k.buffers[n].Free()
		}
		k.buffers = slices.Delete(k.buffers, 0, n)
	}
}

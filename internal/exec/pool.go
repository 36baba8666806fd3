package exec

import (
	"errors"
	"maps"
	"math/bits"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// memory is a device's buffers: those that stores hold, and those that wait
// for their next use. Buffers come in size classes, so that one fits many.
type memory struct {
	free   map[int]*shelf // by class; guarded by Device.mu
	pooled int64          // their bytes; guarded by Device.mu
	// returned is a list of the buffers whose stores are unreachable. A
	// cleanup pushes onto it without a lock.
	returned atomic.Pointer[returned]
	held     atomic.Int64 // bytes of stores and of work under way
	peak     atomic.Int64
	live     atomic.Int64 // the least that was held since the last collection
	pace     atomic.Int64 // how many more may be held before the next
	maxPace  int64
	last     time.Time // when the last ended; guarded by Device.mu
	// The number of takes, and the most that was held among the last of them
	// and among those before; guarded by Device.mu.
	takes            int
	most, mostBefore int64
}

// A shelf has the buffers of a class that wait for their next use.
type shelf struct {
	buffers []driver.Buffer
	used    int // the number of the last take
}

type returned struct {
	buffer driver.Buffer
	class  int
	next   *returned
}

// A device's pace doubles, up to a share of its memory, where collections take
// more than a share of the time.
const (
	leastPace   = 256 << 20
	memoryShare = 16
	timeShare   = 8
)

// class rounds a size up to one of four steps between powers of two, but not
// over a limit that it is under; 0 is none.
func class(bytes, limit int) int {
	if bytes <= 256 {
		return 256
	}
	step := 1 << (bits.Len(uint(bytes-1)) - 3)
	c := (bytes + step - 1) &^ (step - 1)
	if limit > 0 && c > limit {
		return max(bytes, limit)
	}
	return c
}

// take returns a buffer of a class. The caller holds Device.mu.
func (d *Device) take(class int) (driver.Buffer, error) {
	m := &d.memory
	if m.returned.Load() != nil {
		m.collect()
	}
	m.takes++
	b := m.pop(class)
	if b == nil {
		var err error
		b, err = d.drv.Alloc(class)
		if errors.Is(err, driver.ErrMemory) {
			if err = d.makeRoom(); err == nil {
				b, err = d.drv.Alloc(class)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	held := m.held.Add(int64(class))
	m.note(held)
	for {
		p := m.peak.Load()
		if held <= p || m.peak.CompareAndSwap(p, held) {
			return b, nil
		}
	}
}

// makeRoom frees what the pool has. A device may keep a buffer until the work
// that uses it is done, which is waited for. The caller holds Device.mu.
func (d *Device) makeRoom() error {
	d.memory.collect()
	d.memory.trim(0)
	return d.sync()
}

// shelf is that of a class.
func (m *memory) shelf(class int) *shelf {
	if m.free == nil {
		m.free = map[int]*shelf{}
	}
	s := m.free[class]
	if s == nil {
		s = &shelf{}
		m.free[class] = s
	}
	return s
}

// pop takes a buffer of a class out of the pool, nil if there is none.
func (m *memory) pop(class int) driver.Buffer {
	s := m.shelf(class)
	s.used = m.takes
	n := len(s.buffers)
	if n == 0 {
		return nil
	}
	b := s.buffers[n-1]
	s.buffers = s.buffers[:n-1]
	m.pooled -= int64(class)
	return b
}

// give returns a buffer to the pool. The caller holds Device.mu.
func (m *memory) give(b driver.Buffer, class int) {
	s := m.shelf(class)
	s.buffers = append(s.buffers, b)
	m.pooled += int64(class)
	m.held.Add(-int64(class))
}

// collect takes in what cleanups returned. The caller holds Device.mu.
func (m *memory) collect() {
	for r := m.returned.Swap(nil); r != nil; r = r.next {
		m.give(r.buffer, r.class)
	}
	held := m.held.Load()
	m.live.Store(min(m.live.Load(), held))
	m.trim(max(m.most, m.mostBefore) - held)
}

// manyTakes is how many buffers are taken before a need for memory is forgotten,
// once or twice as many.
const manyTakes = 4096

// note takes down what is held. The pool keeps as much as was held of late.
func (m *memory) note(held int64) {
	if m.takes%manyTakes == 0 {
		m.most, m.mostBefore = 0, m.most
	}
	m.most = max(m.most, held)
}

// trim frees pooled buffers, those of classes that were not used for long
// first, until at most so many bytes are left.
func (m *memory) trim(most int64) {
	if m.pooled <= most {
		return
	}
	classes := slices.SortedFunc(maps.Keys(m.free), func(a, b int) int { return m.free[a].used - m.free[b].used })
	for _, c := range classes {
		s := m.free[c]
		for m.pooled > most && len(s.buffers) > 0 {
			n := len(s.buffers)
			s.buffers[n-1].Free()
			s.buffers = s.buffers[:n-1]
			m.pooled -= int64(c)
		}
		if len(s.buffers) == 0 {
			delete(m.free, c)
		}
	}
}

// breathe collects garbage where much more is held than after the last time:
// Go's collector does not see what a small store holds on a device. No lock is
// held.
func (d *Device) breathe() {
	m := &d.memory
	if !m.grown() {
		return
	}
	d.collect()
	if !m.grown() {
		return
	}
	start := time.Now()
	reclaim()
	m.live.Store(d.collect())
	d.mu.Lock()
	defer d.mu.Unlock()
	if pace := m.pace.Load(); time.Since(start)*timeShare > start.Sub(m.last) {
		m.pace.Store(min(2*pace, m.maxPace))
	}
	m.last = time.Now()
}

// grown reports whether it is time to collect garbage.
func (m *memory) grown() bool {
	live := m.live.Load()
	return m.held.Load()-live > max(m.pace.Load(), live)
}

// collect takes in what cleanups returned, and gives what is held then.
func (d *Device) collect() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.collect()
	return d.memory.held.Load()
}

// Allocate returns count·size bytes of the host's memory, all 0. Before it fails it
// frees what dead tensors hold and what waits in pools. No lock of a device is held.
func Allocate(count, size int) ([]byte, error) {
	data, err := hostmem.Make(count, size)
	if err == nil {
		return data, nil
	}
	reclaim()
	devicesMu.Lock()
	all := slices.Clone(devices)
	devicesMu.Unlock()
	for _, d := range all {
		d.Trim() // what failed there is told to who reads it
	}
	return hostmem.Make(count, size)
}

// reclaim runs a collection and waits, for a bounded time, for the cleanups
// that it causes.
func reclaim() {
	runtime.GC()
	cleanups := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(cleanups)
	queued := cleanups[0].Value.Uint64()
	for start := time.Now(); cleanups[1].Value.Uint64() < queued && time.Since(start) < 100*time.Millisecond; metrics.Read(cleanups[1:]) {
		runtime.Gosched()
	}
}

// A block is a buffer that goes back to the pool once it is unreachable.
type block struct {
	buffer  driver.Buffer
	class   int
	stretch *stretch // that fills it; nil if it cannot fail
}

// own makes a block of a buffer that take gave.
func (d *Device) own(b driver.Buffer, class int) *block {
	k := &block{b, class, d.stretch}
	runtime.AddCleanup(k, d.memory.back, returned{buffer: b, class: class})
	return k
}

// back is the cleanup of a block.
func (m *memory) back(r returned) {
	for {
		old := m.returned.Load()
		r.next = old
		if m.returned.CompareAndSwap(old, &r) {
			return
		}
	}
}

func median(x []int64) int64 {
	slices.Sort(x)
	return x[len(x)/2]
}

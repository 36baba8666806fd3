package memory

import (
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/internal/hostmem"
)

// Go's garbage collector does not see the memory of a device, so devices run it. The rule has Go's form: a
// collection is due once half as much was taken since the last one as was live after it, but at least a
// share of the memory in bytes, or some thousand buffers, which cost the host more than the device.
const (
	leastBytes   = 64 // of the memory, as 1/leastBytes
	leastBuffers = 4096
	ballastSize  = 32 << 20 // see ballast
)

// A gauge counts the bytes that storages and running plans hold.
type gauge struct {
	held  atomic.Int64
	live  atomic.Int64 // the least held since the last collection
	kept  atomic.Int64 // bytes that storages took over so far
	least int64        // garbage for which to collect
}

// due reports whether a share of the garbage for which a collection is due is held.
func (g *gauge) due(share float64) bool {
	live := g.live.Load()
	return float64(g.held.Load()-live) > share*float64(max(live/2, g.least))
}

// setLive sets live after a collection at whose start kept was as given. Later storages may be dead
// already.
func (g *gauge) setLive(kept int64) { g.live.Store(max(0, g.held.Load()-(g.kept.Load()-kept))) }

// used returns live, or the held bytes if these are fewer by now.
func (g *gauge) used() int64 { return min(g.live.Load(), g.held.Load()) }

// lower lowers live to the held bytes.
func (g *gauge) lower() { g.live.Store(g.used()) }

// hostMemory is the memory that the process may have.
var hostMemory = sync.OnceValue(func() int {
	limit, err := hostmem.Limit()
	if err != nil { // it is unknown
		return leastBytes * ballastSize
	}
	return limit
})

// CollectIfDue collects garbage before a plan: in the background from half of the due bytes on, so
// that plans seldom wait. The caller holds no lock.
func (p *Pool) CollectIfDue() {
	switch {
	case p.due(1):
		p.queue.flush() // the device computes meanwhile
		p.collecting.Lock()
		defer p.collecting.Unlock()
		if p.lockedDrain(); p.due(1) { // or another goroutine has collected
			p.collect()
		}
	case p.due(0.5) && p.returned.Load() == nil && p.collecting.TryLock():
		go func() {
			defer p.collecting.Unlock()
			p.collect()
		}()
	}
}

// collect runs a collection. The caller holds p.collecting.
func (p *Pool) collect() {
	p.setBallast()
	bytes, buffers := p.bytes.kept.Load(), p.buffers.kept.Load()
	hostmem.Collect()
	p.queue.lockBetween()
	defer p.queue.Unlock()
	p.drain()
	p.bytes.setLive(bytes)
	p.buffers.setLive(buffers)
	p.endWindow()
}

func (p *Pool) lockedDrain() {
	p.queue.lockBetween()
	defer p.queue.Unlock()
	p.drain()
}

// Go's collector runs when the heap has doubled, at least 4 MiB. A program of small tensors
// holds less and drops some KiB a call, so it would collect hundreds of times a second.
// The ballast makes that tens. It is never touched, so the system gives it no pages.
var ballast struct {
	sync.Mutex
	bytes   []byte
	instead *Pool // whose buffers do its work
}

// setBallast takes the ballast, or drops it where live buffers in Go's heap have half its size: they do its work, and with
// both the heap would grow by both before a collection. It stays away until they have a quarter, as to take it costs a while.
// Garbage does not count: it comes and goes, and the ballast with it.
func (p *Pool) setBallast() {
	b := &ballast
	b.Lock()
	defer b.Unlock()
	switch {
	case p.host != nil && p.bytes.used() >= ballastSize/2:
		b.bytes, b.instead = nil, p
	case b.instead != nil && b.instead.bytes.used() >= ballastSize/4:
	case b.bytes == nil && hostMemory()/leastBytes >= 2*ballastSize: // less memory has no room for it
		b.bytes, b.instead = hostmem.Untouched(ballastSize), nil
	}
}

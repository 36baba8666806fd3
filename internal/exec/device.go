// Package exec computes nodes: it turns graphs into plans, keeps plans and
// programs for the next time, runs them on devices and looks after memory.
package exec

import (
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
)

// A Device runs graphs on a driver's device. It is for any number of
// goroutines.
type Device struct {
	name   string
	limits driver.Limits
	plans  cache[*plan]
	memory memory

	mu       sync.Mutex // for the driver and all below
	drv      driver.Device
	programs cache[driver.Program]
	calls    []driver.Call
	args     []driver.Arg
	slots    []driver.Buffer
	status   status
	stretch  *stretch
}

// The most plans and programs that a device keeps.
const (
	maxPlans    = 1 << 10
	maxPrograms = 1 << 11
)

var (
	devicesMu sync.Mutex
	devices   []*Device
)

// New returns a device that runs on d.
func New(d driver.Device) *Device {
	dev := &Device{name: d.Name(), limits: d.Limits(), drv: d, stretch: new(stretch)}
	dev.plans.limit, dev.programs.limit = maxPlans, maxPrograms
	dev.memory.pace.Store(leastPace)
	dev.memory.maxPace = max(leastPace, int64(dev.limits.Memory)/memoryShare)
	devicesMu.Lock()
	defer devicesMu.Unlock()
	devices = append(devices, dev)
	return dev
}

// String returns the device's name.
func (d *Device) String() string { return d.name }

// Sync waits for all that was run. It fails if something failed since the last
// Sync, or if a transaction did (see Step).
func (d *Device) Sync() error {
	d.mu.Lock()
	err := d.sync()
	if err == nil {
		err = d.resolve()
	}
	d.mu.Unlock()
	if err == nil {
		err = d.unreported()
	}
	return err
}

// Trim waits for all that was run and frees the buffers that wait for their
// next use.
func (d *Device) Trim() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.makeRoom()
}

// Close gives back what the device holds.
func (d *Device) Close() error {
	devicesMu.Lock()
	for i, x := range devices {
		if x == d {
			devices = append(devices[:i], devices[i+1:]...)
			break
		}
	}
	devicesMu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drv.Close()
}

// Stats says what all open devices hold.
type Stats struct {
	Plans, Programs    int
	Held, Pooled, Peak int64
}

// Info adds up what all open devices hold.
func Info() Stats {
	devicesMu.Lock()
	defer devicesMu.Unlock()
	var s Stats
	for _, d := range devices {
		s.Plans += d.plans.len()
		s.Programs += d.programs.len()
		d.mu.Lock()
		d.memory.collect()
		s.Pooled += d.memory.pooled
		d.mu.Unlock()
		s.Held += d.memory.held.Load()
		s.Peak += d.memory.peak.Load()
	}
	return s
}

// deviceOf is the device that computes n: its own, or def.
func deviceOf(n *graph.Node, def *Device) *Device {
	if d, ok := n.Device.(*Device); ok {
		return d
	}
	return def
}

// A cache keeps the values used last.
type cache[V any] struct {
	mu    sync.Mutex
	limit int
	clock int64
	of    map[string]*entry[V]
}

type entry[V any] struct {
	value V
	used  int64
}

func (c *cache[V]) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.of)
}

// get looks up a key, which may be a buffer that is used again.
func (c *cache[V]) get(key []byte) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.of[string(key)]
	if e == nil {
		return v, false
	}
	c.clock++
	e.used = c.clock
	return e.value, true
}

// put keeps a value; where there are too many it drops the half that was used
// least recently.
func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]*entry[V]{}
	}
	c.clock++
	c.of[key] = &entry[V]{v, c.clock}
	if len(c.of) <= c.limit {
		return
	}
	used := make([]int64, 0, len(c.of))
	for _, e := range c.of {
		used = append(used, e.used)
	}
	middle := median(used)
	for k, e := range c.of {
		if e.used < middle {
			delete(c.of, k)
		}
	}
}

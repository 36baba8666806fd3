// Package exec computes nodes. A builder (builder.go) makes the steps of a graph (program.go):
// plans and Go functions (steps.go), and recurrences (recur.go). An evaluation runs each step at
// once (eval.go), a Recording keeps them for other arguments (record.go). A plan is that of a
// captured graph (capture.go) with a choice of what to store (retain.go), looked up or compiled
// (plan.go), and run (launch.go) on pooled buffers (pool.go, slab.go, gc.go) and on copies of
// other devices' elements (storage.go, peer.go). Failures are attributed to the values that
// depend on them (faults.go, reports.go, journal.go).
package exec

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/lru"
)

// A Device runs graphs on a driver's device. Any number of goroutines may use it.
type Device struct {
	name       string
	number     int // of devices made before
	limits     driver.Limits
	pool       pool
	collecting sync.Mutex // held during a collection
	peak       peak

	plans    lru.Cache[string, *loadedPlan]   // by capture.key
	programs lru.Cache[string, loadedProgram] // by the kernel's text

	// queue is held around calls of the driver, and guards reports and epoch. A
	// concurrent driver uses neither, and its queue does not lock.
	queue   queue
	drv     driver.Device
	reports reports
	flusher flusher
	epoch   *syncEpoch // nil where the driver is concurrent
}

// The most plans and programs that a device keeps.
const (
	maxPlans    = 1 << 10
	maxPrograms = 1 << 11
)

var (
	devicesMu sync.Mutex
	devices   []*Device // that are open
	made      int       // devices so far
)

// New returns a device that runs on d.
func New(d driver.Device) *Device {
	_, views := d.(driver.Viewer)
	dev := &Device{name: d.Name(), limits: d.Limits(), pool: pool{buckets: map[int]*bucket{}, views: views}, drv: d, queue: noQueue{}}
	if _, ok := d.(driver.Concurrent); !ok {
		dev.queue, dev.epoch = new(sync.Mutex), new(syncEpoch)
	}
	dev.flusher = newFlusher(dev)
	ballast()
	memory := dev.limits.Memory
	if memory == 0 {
		memory = hostMemory()
	}
	dev.pool.bytes.least, dev.pool.buffers.least = int64(memory)/leastBytes, leastBuffers
	devicesMu.Lock()
	defer devicesMu.Unlock()
	dev.number = made
	made++
	devices = append(devices, dev)
	return dev
}

// String returns the device's name.
func (d *Device) String() string { return d.name }

// Sync waits for all submitted work. It fails if something failed since the last
// Sync, or if a transaction did (see Step).
func (d *Device) Sync() error {
	d.queue.Lock()
	defer d.queue.Unlock()
	if err := d.sync(); err != nil {
		return err
	}
	if err := d.readReports(); err != nil {
		return err
	}
	return d.reports.takeUnreported()
}

// Trim waits for all submitted work and frees the idle buffers.
func (d *Device) Trim() error {
	d.queue.Lock()
	defer d.queue.Unlock()
	return d.makeRoom()
}

// Close closes the driver's device.
func (d *Device) Close() error {
	devicesMu.Lock()
	devices = slices.DeleteFunc(devices, func(x *Device) bool { return x == d })
	devicesMu.Unlock()
	collect(d)
	d.collecting.Lock() // a collection in the background returns buffers
	defer d.collecting.Unlock()
	d.queue.Lock()
	defer d.queue.Unlock()
	return d.drv.Close()
}

// Stats counts the plans, programs and bytes that all open devices hold.
type Stats struct {
	Plans, Programs    int
	Held, Pooled, Peak int64
}

// Info returns the Stats.
func Info() Stats {
	devicesMu.Lock()
	defer devicesMu.Unlock()
	var s Stats
	for _, d := range devices {
		s.Plans += d.plans.Len()
		s.Programs += d.programs.Len()
		s.Held += d.lockedDrain()
		d.pool.mu.Lock()
		s.Pooled += d.pool.idle
		s.Peak += d.pool.peak
		d.pool.mu.Unlock()
	}
	return s
}

// deviceOf is the device that computes n: the one it is committed to, or def.
func deviceOf(n *graph.Node, def *Device) *Device {
	if d, ok := n.Device.(*Device); ok {
		return d
	}
	return def
}

// Package exec computes nodes. A builder (builder.go) makes the steps of a graph (program.go):
// plans and Go functions (steps.go), and recurrences (recur.go). An evaluation runs each step at
// once (eval.go), a Recording keeps them for other arguments (record.go). A plan is that of a
// captured graph (capture.go) with a choice of what to store (retain.go), looked up or compiled
// (plan.go), and run (launch.go) on buffers of internal/memory and on copies of other devices'
// elements (storage.go, peer.go). Failures are attributed to the values that depend on them
// (stream.go, faults.go, reports.go, journal.go).
package exec

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
)

// A Device runs graphs on a driver's device. Any number of goroutines may use it.
type Device struct {
	name   string
	number int // of devices made before
	drv    driver.Device
	limits driver.Limits
	queue  *memory.Queue
	pool   *memory.Pool
	stream *stream
	loader loader
	peak   peak
}

var (
	devicesMu sync.Mutex
	devices   []*Device // that are open
	made      int       // devices so far
)

// New returns a device that runs on d.
func New(d driver.Device) *Device {
	s, limits := newStream(d), d.Limits()
	dev := &Device{name: d.Name(), drv: d, limits: limits, queue: s.queue, pool: s.pool, stream: s}
	dev.loader = loader{drv: d, limits: limits, queue: s.queue, pool: s.pool}
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
	if err := d.stream.sync(); err != nil {
		return err
	}
	if err := d.stream.readReports(); err != nil {
		return err
	}
	return d.stream.reports.takeUnreported()
}

// Trim waits for all submitted work and frees the idle buffers.
func (d *Device) Trim() error {
	d.queue.Lock()
	defer d.queue.Unlock()
	return d.pool.MakeRoom()
}

// Close closes the driver's device.
func (d *Device) Close() error {
	devicesMu.Lock()
	devices = slices.DeleteFunc(devices, func(x *Device) bool { return x == d })
	devicesMu.Unlock()
	collect(d)
	return d.pool.Close()
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
		s.Plans += d.loader.plans.Len()
		s.Programs += d.loader.programs.Len()
		bytes := d.pool.Stats()
		s.Held += bytes.Held
		s.Pooled += bytes.Pooled
		s.Peak += bytes.Peak
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

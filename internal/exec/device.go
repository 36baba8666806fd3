// Package exec computes nodes. An evaluation captures the graph (capture.go),
// decides what to store (retain.go), looks up or compiles its plan (plan.go), runs
// it (eval.go) on pooled buffers (pool.go, gc.go), and attributes failures to the
// values that depend on them (attribute.go, reports.go, epoch.go, journal.go).
package exec

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/lru"
)

// A Device runs graphs on a driver's device. It is for any number of
// goroutines.
type Device struct {
	name   string
	limits driver.Limits
	pool   pool
	pacer  pacer

	plansMu sync.Mutex
	plans   lru.Cache[string, *plan] // by capture.key; guarded by plansMu

	mu       sync.Mutex // guards the driver and the fields below
	drv      driver.Device
	programs lru.Cache[string, driver.Program] // by the kernel's text
	calls    []driver.Call
	args     []driver.Arg
	slots    []driver.Buffer
	reports  reports
	epoch    *syncEpoch
}

// The most plans and programs that a device keeps.
const (
	maxPlans    = 1 << 10
	maxPrograms = 1 << 11
)

var (
	devicesMu sync.Mutex
	devices   []*Device // that are open
)

// New returns a device that runs on d.
func New(d driver.Device) *Device {
	dev := &Device{name: d.Name(), limits: d.Limits(), pool: pool{buckets: map[int]*bucket{}}, drv: d, epoch: new(syncEpoch)}
	dev.pacer.threshold.Store(minGCThreshold)
	dev.pacer.maxThreshold = max(minGCThreshold, int64(dev.limits.Memory)/maxGCMemory)
	devicesMu.Lock()
	defer devicesMu.Unlock()
	devices = append(devices, dev)
	return dev
}

// String returns the device's name.
func (d *Device) String() string { return d.name }

// Sync waits for all submitted work. It fails if something failed since the last
// Sync, or if a transaction did (see Step).
func (d *Device) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
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
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.makeRoom()
}

// Close gives back what the device holds.
func (d *Device) Close() error {
	devicesMu.Lock()
	devices = slices.DeleteFunc(devices, func(x *Device) bool { return x == d })
	devicesMu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drv.Close()
}

// Stats says what all open devices hold: numbers of plans and programs, and bytes.
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
		d.plansMu.Lock()
		s.Plans += d.plans.Len()
		d.plansMu.Unlock()
		d.mu.Lock()
		s.Programs += d.programs.Len()
		s.Held += d.drain()
		s.Pooled += d.pool.idle
		s.Peak += d.pool.peak
		d.mu.Unlock()
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

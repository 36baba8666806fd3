// Package exec computes nodes. A builder (builder.go) makes the steps of a graph (program.go): plans
// and Go functions (steps.go), and recurrences (recur.go). An evaluation runs each step at once
// (eval.go), a Recording keeps them for other arguments. The plan of a capture is looked up or
// compiled (plan.go), and run on stored elements (launch.go).
package exec

import (
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/profile"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A Device runs graphs on a driver's device. Any number of goroutines may use it.
type Device struct {
	name   string
	memory *storage.Device
	loader loader
	peak   peak
}

// New returns a device that runs on d.
func New(d driver.Device) *Device {
	dev := &Device{name: d.Name()}
	dev.memory = storage.New(d, dev)
	dev.loader.memory = dev.memory
	return dev
}

// String returns the device's name.
func (d *Device) String() string { return d.name }

// Machine returns the device's figures.
func (d *Device) Machine() ir.Machine { return d.memory.Limits.Machine }

// Sync waits for all submitted work. It fails if something failed since the last
// Sync, or if a transaction did (see Step).
func (d *Device) Sync() error { return d.memory.Sync() }

// Trim waits for all submitted work and frees the idle buffers.
func (d *Device) Trim() error { return d.memory.Trim() }

// Close closes the driver's device.
func (d *Device) Close() error {
	profile.Collect(d.memory)
	return d.memory.Close()
}

// Stats counts the plans, programs and bytes that all open devices hold.
type Stats struct {
	Plans, Programs    int
	Held, Pooled, Peak int64
}

// Info returns the Stats.
func Info() Stats {
	var s Stats
	for _, m := range storage.Devices() {
		d, bytes := m.Handle.(*Device), m.Pool.Stats()
		s.Plans += d.loader.plans.Len()
		s.Programs += d.loader.programs.Len()
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

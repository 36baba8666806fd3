// Package storage holds the elements of computed nodes: in a device's memory or on the host
// (storage.go), with copies for other devices (copies.go). Their owners give them away
// (ownership.go, region.go). A failure is attributed to the elements that depend on it (stream.go,
// reports.go, faults.go).
package storage

import (
	"errors"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// A Device has the memory of a driver's device, and the work submitted to it.
type Device struct {
	Handle graph.Device // the identity in nodes
	number int          // of devices made before
	stream
}

var (
	devicesMu sync.Mutex
	devices   []*Device // that are open
	made      int       // devices so far
)

// New returns the Device of a driver's device, to which nodes are committed as handle.
func New(drv driver.Device, handle graph.Device) *Device {
	d := &Device{Handle: handle}
	d.init(drv)
	devicesMu.Lock()
	defer devicesMu.Unlock()
	d.number = made
	made++
	devices = append(devices, d)
	return d
}

// Devices returns the devices that are open.
func Devices() []*Device {
	devicesMu.Lock()
	defer devicesMu.Unlock()
	return slices.Clone(devices)
}

// Sync waits for all submitted work. It fails if something failed since the last
// Sync, or if a transaction did.
func (d *Device) Sync() error {
	d.Queue.Lock()
	defer d.Queue.Unlock()
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
	d.Queue.Lock()
	defer d.Queue.Unlock()
	return d.Pool.MakeRoom()
}

// Close closes the driver's device.
func (d *Device) Close() error {
	devicesMu.Lock()
	devices = slices.DeleteFunc(devices, func(x *Device) bool { return x == d })
	devicesMu.Unlock()
	return d.Pool.Close()
}

// Retry calls run, a second time if memory lacked that dead tensors held.
func (d *Device) Retry(run func() error) error {
	err := run()
	if errors.Is(err, driver.ErrMemory) {
		hostmem.Collect()
		if err = d.Trim(); err == nil {
			err = run()
		}
	}
	return err
}

// A Failure is an error of a device.
type Failure struct {
	Device graph.Device
	Err    error
}

func (e *Failure) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Failure) Unwrap() error { return e.Err }

// Failed names the device of an error, unless the error names one.
func (d *Device) Failed(err error) error {
	if err == nil {
		return nil
	}
	if f := (*Failure)(nil); errors.As(err, &f) {
		return err
	}
	return &Failure{d.Handle, err}
}

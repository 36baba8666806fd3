// Package gpudevice is the part of a driver.Device that GPUs share: the accounting of buffers and
// failures, and how a kernel becomes a program.
package gpudevice

import (
	"errors"
	"fmt"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/loops"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/tune"
	"github.com/tensorken/tensorken/ir"
)

// A Driver is the part of a Device that depends on the kind of GPU.
type Driver interface {
	tune.Machine
	// Enter makes the device ready for the other methods, until leave. It fails if the device is
	// gone.
	Enter() (leave func(), err error)
	// Wait waits for all work. It sets Failed to a failure that it does not return.
	Wait() error
	// NewBuffer allocates m.Room bytes.
	NewBuffer(m Memory) (Buffer, error)
	// FreeUnused frees memory that is only kept for reuse.
	FreeUnused()
}

// A Device is embedded in the devices of a package.
type Device struct {
	Target  schedule.Target
	Tuner   *tune.Tuner
	Limit   int64  // bytes of one buffer
	Advice  string // how to get more, for errors
	Budget  int64  // bytes of all buffers
	Held    int64  // bytes of the buffers there are
	Kept    loops.Kept
	Failed  error // the first failure since the last Sync
	Closed  error // why the device is gone
	name    string
	driver  Driver
	buffers map[Buffer]struct{}
}

// Init gives the device its name and the rest of itself.
func (d *Device) Init(name string, rest Driver) {
	d.name, d.driver, d.buffers = name, rest, map[Buffer]struct{}{}
}

// Name implements driver.Device.
func (d *Device) Name() string { return d.name }

// Sync implements driver.Device.
func (d *Device) Sync() error {
	leave, err := d.driver.Enter()
	if err != nil {
		return err
	}
	defer leave()
	if err = d.driver.Wait(); err == nil {
		err = d.Failed
	}
	d.Failed = nil // the caller gets it
	return err
}

// Isolate implements tune.Machine.
func (d *Device) Isolate(f func() error) error {
	if err := d.driver.Wait(); err != nil {
		return err
	}
	failed := d.Failed
	d.Failed = nil
	err := f()
	d.Kept.Free() // later work may need less scratch
	if e := d.Sync(); err == nil {
		err = e
	}
	d.Failed = failed
	return err
}

// Compile starts to compile a kernel's passes. If the GPU's driver refuses one, Run returns the
// error.
func (d *Device) Compile(k *ir.Kernel) (driver.Program, error) {
	leave, err := d.driver.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	for _, a := range k.Args {
		if a.Kind == ir.Out && int64(a.Len) > d.Limit/int64(a.DType.Size()) {
			return nil, fmt.Errorf("%s: %w: a tensor of %d %v is asked for; this GPU takes at most %d bytes in one: %s", d.name, driver.ErrMemory, a.Len, a.DType, d.Limit, d.Advice)
		}
	}
	p, err := d.Tuner.Compile(k, d.Target, d.driver)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.name, err)
	}
	return d.driver.Build(k, p)
}

// Retry calls f; if memory lacks, it frees the memory kept for reuse and calls f again.
func (d *Device) Retry(f func() error) error {
	err := f()
	if errors.Is(err, driver.ErrMemory) {
		d.MakeRoom()
		err = f()
	}
	return err
}

// MakeRoom frees memory that is only kept for reuse.
func (d *Device) MakeRoom() {
	d.Kept.Free()
	d.driver.FreeUnused()
}

package exec

import (
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
)

// A syncEpoch is the work submitted between two syncs. An asynchronous failure
// cannot be attributed to one call, so it poisons every buffer written in its epoch.
type syncEpoch struct{ err atomic.Pointer[error] }

// failed returns the failure of the epoch, nil if there is none or no epoch.
func (e *syncEpoch) failed() error {
	if e == nil {
		return nil
	}
	if err := e.err.Load(); err != nil {
		return *err
	}
	return nil
}

// sync waits for the submitted work. The caller holds d.queue.
func (d *Device) sync() error {
	err := d.drv.Sync()
	if d.epoch == nil { // the call that met a failure has returned it
		return err
	}
	if err != nil {
		d.epoch.err.Store(&err)
		d.reports.abandon(err)
	}
	d.epoch = new(syncEpoch)
	return err
}

// download fills dst with the bytes of a buffer from an offset on. The caller holds
// d.queue.
func (d *Device) download(dst []byte, src driver.Buffer, offset int) error {
	err := d.drv.Download(dst, src, offset)
	if d.epoch == nil {
		return err
	}
	if err != nil {
		if failed := d.sync(); failed != nil {
			return failed
		}
		return err // of the download alone
	}
	d.epoch = new(syncEpoch)
	return nil
}

// abandon fails the pending executions, as their reports may be lost.
func (r *reports) abandon(err error) {
	for _, x := range r.pending {
		x.plan, x.leaves, x.fault = nil, nil, newFault(err)
		x.settle()
	}
	if r.buffer != nil {
		r.buffer.Free()
	}
	*r = reports{unreported: r.unreported}
}

package exec

import (
	"time"

	"github.com/tensorken/tensorken/driver"
)

// flushDelay is the longest time for which a device holds calls, if Go's timers are on time.
const flushDelay = 200 * time.Microsecond

// A flusher flushes a driver.Flusher that has held calls for some time.
type flusher struct {
	drv   driver.Flusher // nil if the device is none
	timer *time.Timer
	armed bool // guarded by Device.queue, as the timer is
}

// newFlusher returns the flusher of a device, whose drv and queue are set.
func newFlusher(d *Device) (f flusher) {
	var ok bool
	if f.drv, ok = d.drv.(driver.Flusher); !ok {
		return f
	}
	f.timer = time.AfterFunc(time.Hour, func() {
		d.queue.Lock()
		defer d.queue.Unlock()
		d.flusher.armed = false
		d.flusher.drv.Flush()
	})
	f.timer.Stop()
	return f
}

// ran arms the timer, after the driver's Run. It is not stopped when the driver starts the
// calls for another reason: the next calls may be held as well.
func (f *flusher) ran() {
	if f.drv != nil && !f.armed && f.drv.Holds() {
		f.armed = true
		f.timer.Reset(flushDelay)
	}
}

// flushHeld starts the calls that the driver holds. The caller holds no lock.
func (d *Device) flushHeld() {
	if f := d.flusher.drv; f != nil {
		d.queue.Lock()
		defer d.queue.Unlock()
		f.Flush()
	}
}

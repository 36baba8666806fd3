package exec

import (
	"time"

	"github.com/tensorken/tensorken/driver"
)

const (
	// flushDelay is the time after which a device starts calls that it holds, if Go's timers are
	// on time and no more come.
	flushDelay = 200 * time.Microsecond
	// manyRuns is the number of Runs in that time from which on the device will soon have enough
	// calls to start them by itself.
	manyRuns = 8
)

// A flusher flushes a driver.Flusher that has held calls for some time.
type flusher struct {
	drv   driver.Flusher // nil if the device is none
	timer *time.Timer
	// Guarded by Device.queue, as the timer is.
	armed bool
	runs  int // since the timer was set
}

// newFlusher returns the flusher of a device, whose drv and queue are set.
func newFlusher(d *Device) (f flusher) {
	var ok bool
	if f.drv, ok = d.drv.(driver.Flusher); !ok {
		return f
	}
	f.timer = time.AfterFunc(time.Hour, func() {
		if !d.queue.TryLock() { // there are plans still, or a wait, which flushes
			d.flusher.timer.Reset(flushDelay)
			return
		}
		defer d.queue.Unlock()
		d.flusher.tick()
	})
	f.timer.Stop()
	return f
}

// ran arms the timer, after the driver's Run. It is not stopped when the driver starts the
// calls for another reason: the next calls may be held as well.
func (f *flusher) ran() {
	if f.drv == nil {
		return
	}
	f.runs++
	if !f.armed && f.drv.Holds() {
		f.set()
	}
}

func (f *flusher) set() {
	f.armed, f.runs = true, 0
	f.timer.Reset(flushDelay)
}

// tick starts the calls that are held when the timer ends, or sets it again after many Runs.
func (f *flusher) tick() {
	if f.runs >= manyRuns {
		f.set()
		return
	}
	f.armed = false
	f.drv.Flush()
}

// flushHeld starts the calls that the driver holds. The caller holds no lock.
func (d *Device) flushHeld() {
	if f := d.flusher.drv; f != nil {
		d.queue.Lock()
		defer d.queue.Unlock()
		f.Flush()
	}
}

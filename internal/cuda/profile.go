//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"math"
	"time"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
)

// A gpuClock tells the host's time of events.
type gpuClock struct {
	host   time.Time
	event  uintptr   // at about that time
	free   []uintptr // events that may be recorded again
	events []uintptr // all
}

// A timing has events around the calls of one RunTimed.
type timing struct {
	device *device
	events []uintptr // one before the first call, and one behind each
	spans  []driver.Span
}

// RunTimed is Run with an event behind each call.
func (d *device) RunTimed(calls []driver.Call) (driver.Timing, error) {
	leave, err := d.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := d.prepare(calls); err != nil {
		return nil, err
	}
	t := &timing{device: d}
	if d.clock.event == 0 {
		if d.clock.event, err = d.mark(); err != nil {
			return nil, err
		}
		if err := d.wait(); err != nil {
			return nil, err
		}
		d.clock.host = clock.Now()
	}
	for i := range len(calls) + 1 {
		if i > 0 {
			if err := d.call(&calls[i-1]); err != nil {
				return nil, err
			}
		}
		e, err := d.mark()
		if err != nil {
			return nil, err
		}
		t.events = append(t.events, e)
	}
	return t, nil
}

// mark puts an event behind the work submitted so far.
func (d *device) mark() (event uintptr, err error) {
	if last := len(d.clock.free) - 1; last >= 0 {
		event, d.clock.free = d.clock.free[last], d.clock.free[:last]
	} else if err := d.lib.call("cuEventCreate", d.lib.EventCreate, uintptr(unsafe.Pointer(&event)), 0); err != nil {
		return 0, d.fail(err)
	} else {
		d.clock.events = append(d.clock.events, event)
	}
	if err := d.lib.call("cuEventRecord", d.lib.EventRecord, event, d.stream); err != nil {
		return 0, d.fail(err)
	}
	return event, nil
}

// Spans waits for the calls.
func (t *timing) Spans() ([]driver.Span, error) {
	d := t.device
	leave, err := d.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	if t.spans != nil {
		return t.spans, nil
	}
	if err := d.lib.call("cuEventSynchronize", d.lib.EventSynchronize, t.events[len(t.events)-1]); err != nil {
		return nil, d.fail(err)
	}
	last, at := d.clock.event, d.clock.host
	t.spans = make([]driver.Span, 0, len(t.events))
	for _, e := range t.events { // from event to event, as a float32 has few digits for a long time
		var bits uint32
		if err := d.lib.call("cuEventElapsedTime", d.lib.EventElapsedTime, uintptr(unsafe.Pointer(&bits)), last, e); err != nil {
			return nil, d.fail(err)
		}
		took := time.Duration(float64(math.Float32frombits(bits)) * float64(time.Millisecond))
		t.spans = append(t.spans, driver.Span{Start: at, Duration: took})
		last, at = e, at.Add(took)
	}
	t.spans = t.spans[1:]
	d.clock.free = append(d.clock.free, t.events...)
	t.events = nil
	return t.spans, nil
}

// freeEvents frees all events.
func (d *device) freeEvents() {
	for _, e := range d.clock.events {
		d.lib.call("cuEventDestroy", d.lib.EventDestroy_v2, e)
	}
	d.clock = gpuClock{}
}

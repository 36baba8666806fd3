//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/tensorken/tensorken/driver"
)

// A beside is the device's second stream, in which collectives run while kernels go on. A collective follows the
// work before it, and later work that uses its buffers follows the collective.
type beside struct {
	stream  uintptr
	before  uintptr     // event of the device's stream, behind the work before the last collectives
	ends    [32]uintptr // events behind collectives, in turns: a later one is also behind the one before
	started int         // collectives so far
	awaited int         // of them the device's stream waits for
}

// make makes the stream and its events.
func (s *beside) make(d *device) error {
	if s.stream != 0 {
		return nil
	}
	const notBlocking, first = 1, ^uintptr(4) // the greatest priority: the blocks of a collective do not wait for a whole kernel
	l := d.lib
	err := l.call("cuStreamCreateWithPriority", l.StreamCreateWithPriority, uintptr(unsafe.Pointer(&s.stream)), notBlocking, first)
	if err == nil {
		err = l.call("cuEventCreate", l.EventCreate, uintptr(unsafe.Pointer(&s.before)), noTiming)
	}
	for i := range s.ends {
		if err == nil {
			err = l.call("cuEventCreate", l.EventCreate, uintptr(unsafe.Pointer(&s.ends[i])), noTiming)
		}
	}
	if err != nil {
		s.free(d)
		return d.fail(err)
	}
	return nil
}

func (s *beside) free(d *device) {
	for _, e := range append(s.ends[:], s.before) {
		if e != 0 {
			d.lib.call("cuEventDestroy", d.lib.EventDestroy_v2, e)
		}
	}
	if s.stream != 0 {
		d.lib.call("cuStreamDestroy", d.lib.StreamDestroy_v2, s.stream)
	}
	*s = beside{}
}

// begin makes the second stream wait for the device's work so far.
func (s *beside) begin(d *device) error { return d.follow(s.stream, d.stream, s.before) }

// end notes the buffers of collectives that were started since begin.
func (s *beside) end(d *device, calls []driver.CollectiveCall) error {
	s.started++
	for i := range calls {
		for _, a := range []driver.Arg{calls[i].From, calls[i].To} {
			a.Buffer.(*buffer).collective = s.started
		}
	}
	return d.lib.call("cuEventRecord", d.lib.EventRecord, s.ends[s.started%len(s.ends)], s.stream)
}

// await makes later work in the device's stream wait for collectives up to a number.
func (s *beside) await(d *device, number int) error {
	if number <= s.awaited {
		return nil
	}
	if err := d.lib.call("cuStreamWaitEvent", d.lib.StreamWaitEvent, d.stream, s.ends[number%len(s.ends)], 0); err != nil {
		return d.fail(err)
	}
	s.awaited = number
	return nil
}

// awaitCall is await for the buffers of a call.
func (s *beside) awaitCall(d *device, c *driver.Call) error { return s.await(d, s.of(c)) }

// of returns the number of the last collective that uses a buffer of a call.
func (s *beside) of(c *driver.Call) (number int) {
	if s.started == s.awaited {
		return 0
	}
	for i := range c.Args {
		if b, ok := c.Args[i].Buffer.(*buffer); ok {
			number = max(number, b.collective)
		}
	}
	return number
}

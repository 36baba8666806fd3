//go:build js

package wgpu

import (
	"syscall/js"
	"time"
)

// grace is the time within which the browser reports the loss of a device after its first effects.
const grace = time.Second

func (d *device) Submit(commands []Command) (uint64, error) {
	if d.lost != nil {
		return 0, d.lost
	}
	e := encoding{stream: &d.stream}
	for i := range commands {
		e.append(&commands[i])
	}
	d.submitted++
	number := d.submitted
	d.stream.put(submit, d.newRequest(func(event) { d.done = max(d.done, number) }))
	d.flush()
	return number, d.lost
}

func (d *device) Done() uint64 { return d.done }

func (d *device) Wait(submission uint64) error {
	d.poll()
	if d.lost == nil && submission > d.submitted {
		return &Error{Validation, "Wait", "there is no such submission"}
	}
	return d.wait("Wait", func() bool { return d.done >= submission })
}

func (d *device) Map(b Buffer, n int64) error {
	if d.lost != nil {
		return d.lost
	}
	m := &mapping{size: n}
	d.stream.put(mapBuffer, d.newRequest(func(e event) { m.ready, m.err = true, e.err("Map") }), uint32(b))
	d.stream.long(n)
	d.flush()
	d.mappings[b] = m
	return d.lost
}

func (d *device) Read(b Buffer, dst []byte) error {
	m := d.mappings[b]
	if m == nil {
		return &Error{Validation, "Read", "the buffer is not mapped"}
	}
	delete(d.mappings, b)
	if err := d.wait("Read", func() bool { return m.ready }); err != nil {
		return err
	}
	err := m.err
	if err == nil {
		mapped := d.script.Call("mapped", uint32(b), m.size)
		if !mapped.IsUndefined() {
			js.CopyBytesToGo(dst, mapped)
			d.stream.put(unmap, uint32(b))
			return nil
		}
		err = &Error{Lost, "Read", "the buffer is no longer mapped"}
	}
	if e, ok := err.(*Error); ok && e.Kind == Lost { // the event that says why is on its way
		d.timeout = min(d.timeout, grace)
		return d.wait("Read", func() bool { return false })
	}
	return err
}

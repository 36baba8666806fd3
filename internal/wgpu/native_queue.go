//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/tensorken/tensorken/internal/dynlib"
)

func (d *device) Submit(commands []Command) (uint64, error) {
	if d.lost != nil {
		return 0, d.lost
	}
	e := encoding{device: d, encoder: dynlib.Call(d.DeviceCreateCommandEncoder, d.device, 0)}
	for i := range commands {
		switch c := &commands[i]; {
		case c.Pipeline != 0:
			e.dispatchOne(c)
		case c.Queries != 0:
			e.endPass()
			dynlib.Call(d.CommandEncoderResolveQuerySet, e.encoder, uintptr(c.Queries), 0, uintptr(c.Size/8), uintptr(c.Dst), 0)
		default:
			e.endPass()
			dynlib.Call(d.CommandEncoderCopyBufferToBuffer, e.encoder, uintptr(c.Src), uintptr(c.SrcOffset), uintptr(c.Dst), uintptr(c.DstOffset), uintptr(c.Size))
		}
	}
	e.endPass()
	d.submitEncoder(e.encoder)
	d.submitted++
	number := d.submitted
	d.request(d.QueueOnSubmittedWorkDone, callbacks().status, func(*event) { d.done = max(d.done, number) }, d.queue)
	return number, nil
}

// submitEncoder submits an encoder's commands, and releases it.
func (d *device) submitEncoder(encoder uintptr) {
	*d.commandBuffers = dynlib.Call(d.CommandEncoderFinish, encoder, 0)
	dynlib.Call(d.CommandEncoderRelease, encoder)
	dynlib.Call(d.QueueSubmit, d.queue, 1, uintptr(unsafe.Pointer(d.commandBuffers)))
	dynlib.Call(d.CommandBufferRelease, *d.commandBuffers)
}

// An encoding encodes a command buffer. Consecutive dispatches with the same query share a
// pass, and it does not repeat calls that would set the same state.
type encoding struct {
	*device
	encoder, pass uintptr
	queries       Queries // of the pass
	query         uint32
	pipeline      Pipeline
	group         Group
	offset        uint32
}

func (e *encoding) dispatchOne(c *Command) {
	if c.Queries != e.queries || c.Query != e.query {
		e.endPass()
	}
	if e.pass == 0 {
		e.beginPass(c)
	}
	if c.Pipeline != e.pipeline {
		e.pipeline = c.Pipeline
		e.call(e.ComputePassEncoderSetPipeline, e.pass, e.pipelines[c.Pipeline].handle)
	}
	if c.Group != e.group || c.Params && c.Offset != e.offset {
		e.group, e.offset = c.Group, c.Offset
		offsets := uintptr(0)
		if c.Params {
			offsets = 1
		}
		*e.device.offset = c.Offset
		e.call(e.ComputePassEncoderSetBindGroup, e.pass, 0, uintptr(c.Group), offsets, uintptr(unsafe.Pointer(e.device.offset)))
	}
	e.call(e.ComputePassEncoderDispatchWorkgroups, e.pass, uintptr(c.Groups[0]), uintptr(c.Groups[1]), uintptr(c.Groups[2]))
}

// call is dynlib.Call for frequent calls: it reuses the argument slice. Pointers in
// args must be to memory that the device holds.
func (d *device) call(fn uintptr, args ...uintptr) uintptr {
	n := copy(d.args[:], args)
	r, _, _ := purego.SyscallN(fn, d.args[:n]...)
	return r
}

// beginPass begins a pass for the query of a command.
func (e *encoding) beginPass(c *Command) {
	e.queries, e.query = c.Queries, c.Query
	e.pipeline, e.group = 0, 0
	if c.Queries == 0 {
		e.pass = e.call(e.CommandEncoderBeginComputePass, e.encoder, 0)
		return
	}
	desc := &passDescriptor{times: &timestampWrites{queries: uintptr(c.Queries), begin: c.Query, end: c.Query + 1}}
	e.pass = dynlib.Call(e.CommandEncoderBeginComputePass, e.encoder, uintptr(unsafe.Pointer(desc)))
}

func (e *encoding) endPass() {
	if e.pass != 0 {
		dynlib.Call(e.ComputePassEncoderEnd, e.pass)
		dynlib.Call(e.ComputePassEncoderRelease, e.pass)
		e.pass = 0
	}
}

func (d *device) NewQueries(n int) (Queries, error) {
	var q uintptr
	desc := &querySetDescriptor{kind: queryTimestamp, count: uint32(n)}
	err := d.scoped("NewQueries", func() { q = dynlib.Call(d.DeviceCreateQuerySet, d.device, uintptr(unsafe.Pointer(desc))) })
	return Queries(q), err
}

func (d *device) FreeQueries(q Queries) {
	dynlib.Call(d.QuerySetDestroy, uintptr(q))
	dynlib.Call(d.QuerySetRelease, uintptr(q))
}

func (d *device) Wait(submission uint64) error {
	d.poll()
	if d.lost != nil {
		return d.lost
	}
	if submission > d.submitted {
		return &Error{Validation, "Wait", "there is no such submission"}
	}
	if submission <= d.done {
		return nil
	}
	if err := d.wait("Wait", func() bool { return d.done >= submission }); err != nil {
		return d.markLost(err)
	}
	return d.lost
}

func (d *device) Map(b Buffer, n int64) error {
	if d.lost != nil {
		return d.lost
	}
	m := &mapping{size: n}
	d.request(d.BufferMapAsync, callbacks().status, func(e *event) {
		m.ready = true
		if uint32(e.a) != success {
			m.err = &Error{Internal, "Map", e.message}
		}
	}, uintptr(b), mapRead, 0, uintptr(n))
	d.mappings[b] = m
	return nil
}

func (d *device) Read(b Buffer, dst []byte) error {
	m := d.mappings[b]
	if m == nil {
		return &Error{Validation, "Read", "the buffer is not mapped"}
	}
	delete(d.mappings, b)
	if err := d.wait("Read", func() bool { return m.ready }); err != nil {
		return d.markLost(err)
	}
	if d.lost != nil {
		return d.lost
	}
	if m.err != nil {
		return m.err
	}
	p := dynlib.Call(d.BufferGetConstMappedRange, uintptr(b), 0, uintptr(m.size))
	if p == 0 {
		return &Error{Internal, "Read", "the buffer has no mapped range"}
	}
	copy(dst, unsafe.Slice((*byte)(pointer(p)), m.size))
	dynlib.Call(d.BufferUnmap, uintptr(b))
	return nil
}

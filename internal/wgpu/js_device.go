//go:build js

package wgpu

import (
	_ "embed"
	"fmt"
	"syscall/js"
	"time"
)

//go:embed replay.js
var script string

// fullStream is the size in bytes at which Write runs the stream without waiting for a submission.
const fullStream = 1 << 20

// device is a Device of navigator.gpu. Calls append commands to a stream in Go's memory, which
// flush copies to JavaScript's memory and replay.js executes.
type device struct {
	adapter     Adapter
	timeout     time.Duration
	mailbox     *mailbox
	lastRequest uint32
	pending     map[uint32]func(event) // handlers of events, by request
	stream      stream                 // commands that are not yet run
	jsStream    js.Value               // JavaScript's copy of the stream
	jsSize      int                    // the size of jsStream in bytes
	script      js.Value               // the object that replay.js returns
	run         js.Value               // script.run
	lastHandle  uint32
	freeHandles []uint32
	pipelines   map[Pipeline]*pipeline
	mappings    map[Buffer]*mapping
	submitted   uint64 // the number of the last submission
	done        uint64 // the number of the last submission that is complete
	lost        error  // the error that lost the device
	failed      error  // the error that Poll will return
	closed      bool
}

// A pipeline is a pipeline that the browser compiles asynchronously.
type pipeline struct {
	ready bool
	err   error
}

// A mapping is a buffer that is mapped asynchronously.
type mapping struct {
	size  int64
	ready bool
	err   error
}

// newDevice returns the device of a GPUDevice. If the page's security policy forbids evaluating
// text as JavaScript, it destroys the GPUDevice and returns an error.
func newDevice(a Adapter, gpu js.Value, o Options) (d *device, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case js.Error:
			gpu.Call("destroy")
			d.mailbox.tell.Release()
			d, err = nil, &Error{Internal, "Open", e.Error()}
		default:
			panic(e)
		}
	}()
	d = &device{
		adapter: a, timeout: o.timeout(), mailbox: newMailbox(), lastRequest: firstRequest,
		pending: map[uint32]func(event){}, pipelines: map[Pipeline]*pipeline{}, mappings: map[Buffer]*mapping{},
	}
	start := js.Global().Get("Function").New("return (" + script + ")").Invoke()
	d.script = start.Invoke(gpu, codeNames, requestLost, requestUncaught, d.mailbox.tell)
	d.run = d.script.Get("run")
	return d, nil
}

// newRequest returns the number of a new request. poll calls handle with the event that answers
// the request.
func (d *device) newRequest(handle func(event)) uint32 {
	d.lastRequest++
	d.pending[d.lastRequest] = handle
	return d.lastRequest
}

// poll handles the events that have arrived, and reports whether there were any.
func (d *device) poll() bool {
	events := d.mailbox.take()
	for _, e := range events {
		if handle := d.pending[e.request]; handle != nil {
			delete(d.pending, e.request)
			handle(e)
			continue
		}
		switch {
		case e.request == requestLost:
			d.markLost(&Error{Lost, "Device", e.message})
		case e.request == requestUncaught && d.failed == nil:
			d.failed = e.err("Device")
		}
	}
	return len(events) > 0
}

// wait polls until done returns true or the device is lost. done reads variables that a handler
// of an event sets.
func (d *device) wait(call string, done func() bool) error {
	for {
		d.poll()
		if d.lost != nil || done() {
			return d.lost
		}
		if err := d.mailbox.wait(call, d.timeout); err != nil {
			return d.markLost(err)
		}
	}
}

// markLost records err as the error that lost the device, unless one is recorded already. It
// returns the recorded error.
func (d *device) markLost(err error) error {
	if d.lost == nil {
		d.lost = err
	}
	return d.lost
}

// flush runs the stream.
func (d *device) flush() {
	if len(d.stream) == 0 {
		return
	}
	if len(d.stream) > d.jsSize {
		d.jsSize = max(2*len(d.stream), 64<<10)
		d.jsStream = d.script.Call("memory", d.jsSize)
	}
	js.CopyBytesToJS(d.jsStream, d.stream)
	if thrown := d.run.Invoke(len(d.stream)); thrown.Type() == js.TypeString {
		d.markLost(&Error{Lost, "Device", "JavaScript refused a command: " + thrown.String()})
	}
	d.stream = d.stream[:0]
}

// newHandle returns a handle that is not in use.
func (d *device) newHandle() uint32 {
	if n := len(d.freeHandles); n > 0 {
		h := d.freeHandles[n-1]
		d.freeHandles = d.freeHandles[:n-1]
		return h
	}
	d.lastHandle++
	return d.lastHandle
}

// free frees an object and its handle.
func (d *device) free(handle uint32) {
	d.stream.put(free, handle)
	d.freeHandles = append(d.freeHandles, handle)
}

// newObject makes an object and returns its handle. put appends the command that makes it, which
// JavaScript runs in an error scope: newObject waits for the scope's result, the answer to
// the request, and returns its error.
func (d *device) newObject(call string, put func(handle, request uint32)) (uint32, error) {
	if d.lost != nil {
		return 0, d.lost
	}
	var done bool
	var err error
	h := d.newHandle()
	put(h, d.newRequest(func(e event) { done, err = true, e.err(call) }))
	d.flush()
	if lost := d.wait(call, func() bool { return done }); lost != nil {
		return 0, lost
	}
	if err != nil {
		d.free(h)
		return 0, err
	}
	return h, nil
}

func (d *device) Adapter() *Adapter { return &d.adapter }

func (d *device) NewBuffer(size int64, u Usage) (Buffer, error) {
	if size > d.adapter.Limits.Buffer {
		return 0, &Error{OutOfMemory, "NewBuffer", fmt.Sprintf("%d bytes; a buffer of this adapter has at most %d", size, d.adapter.Limits.Buffer)}
	}
	h, err := d.newObject("NewBuffer", func(handle, request uint32) {
		d.stream.put(newBuffer, handle, request)
		d.stream.long(size)
		d.stream.words(uint32(usages[u]))
	})
	return Buffer(h), err
}

// FreeBuffer runs the stream, so that the memory is free at once.
func (d *device) FreeBuffer(b Buffer) {
	delete(d.mappings, b)
	d.free(uint32(b))
	d.flush()
}

func (d *device) Write(b Buffer, offset int64, data []byte) {
	for len(data) > 0 && d.lost == nil {
		n := min(len(data), fullStream)
		d.stream.put(write, uint32(b))
		d.stream.long(offset)
		d.stream.data(data[:n])
		if len(d.stream) >= fullStream {
			d.flush()
		}
		offset, data = offset+int64(n), data[n:]
	}
}

func (d *device) NewLayout(write []bool, params int64) (Layout, error) {
	h, err := d.newObject("NewLayout", func(handle, request uint32) {
		d.stream.put(newLayout, handle, request, uint32(params), uint32(len(write)))
		for _, w := range write {
			if w {
				d.stream.words(1)
			} else {
				d.stream.words(0)
			}
		}
	})
	return Layout(h), err
}

func (d *device) NewPipeline(source string, l Layout) (Pipeline, error) {
	p := new(pipeline)
	h, err := d.newObject("NewPipeline", func(handle, request uint32) {
		ready := d.newRequest(func(e event) { p.ready, p.err = true, e.err("NewPipeline") })
		d.stream.put(newPipeline, handle, request, ready, uint32(l))
		d.stream.data([]byte(source))
	})
	if err != nil {
		return 0, err
	}
	d.pipelines[Pipeline(h)] = p
	return Pipeline(h), nil
}

func (d *device) Await(p Pipeline) error {
	compiled := d.pipelines[p]
	if err := d.wait("NewPipeline", func() bool { return compiled.ready }); err != nil {
		return err
	}
	return compiled.err
}

func (d *device) FreePipeline(p Pipeline) {
	delete(d.pipelines, p)
	d.free(uint32(p))
}

func (d *device) NewGroup(l Layout, bindings []Binding) (Group, error) {
	h := d.newHandle()
	d.stream.put(newGroup, h, uint32(l), uint32(len(bindings)))
	for _, b := range bindings {
		d.stream.words(uint32(b.Buffer))
		d.stream.long(b.Size)
	}
	return Group(h), d.lost
}

func (d *device) FreeGroup(g Group) { d.free(uint32(g)) }

func (d *device) NewQueries(n int) (Queries, error) {
	h, err := d.newObject("NewQueries", func(handle, request uint32) { d.stream.put(newQueries, handle, request, uint32(n)) })
	return Queries(h), err
}

func (d *device) FreeQueries(q Queries) { d.free(uint32(q)) }

func (d *device) Poll() error {
	d.poll()
	if d.lost != nil {
		return d.lost
	}
	err := d.failed
	d.failed = nil
	return err
}

func (d *device) Close() {
	if d.closed {
		return
	}
	d.closed = true
	d.flush()
	d.script.Call("close")
	d.mailbox.tell.Release()
	d.lost = &Error{Lost, "Device", "it is closed"}
}

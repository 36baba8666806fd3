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

// fullStream is the number of bytes from which a stream is run before a submission.
const fullStream = 1 << 20

// device is a Device of navigator.gpu.
type device struct {
	adapter   Adapter
	timeout   time.Duration
	box       *mailbox
	request   uint32                 // the last
	pending   map[uint32]func(event) // by request
	stream    stream                 // not yet run
	memory    js.Value               // of JavaScript, which runs streams from it
	room      int                    // its bytes
	script    js.Value               // the functions of replay.js
	run       js.Value               // the one that is called most
	last      uint32                 // handle
	unused    []uint32               // handles
	pipelines map[Pipeline]*pipeline
	mappings  map[Buffer]*mapping
	submitted uint64
	done      uint64
	lost      error // the error that lost the device
	failed    error // the error that Poll will return
	closed    bool
}

type pipeline struct {
	ready bool
	err   error
}

type mapping struct {
	size  int64
	ready bool
	err   error
}

// newDevice returns a device of a GPUDevice. It fails, and destroys the GPUDevice, if the page
// forbids to evaluate text.
func newDevice(a Adapter, gpu js.Value, o Options) (d *device, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case js.Error:
			gpu.Call("destroy")
			d.box.tell.Release()
			d, err = nil, &Error{Internal, "Open", e.Error()}
		default:
			panic(e)
		}
	}()
	d = &device{
		adapter: a, timeout: o.timeout(), box: newMailbox(), request: firstRequest,
		pending: map[uint32]func(event){}, pipelines: map[Pipeline]*pipeline{}, mappings: map[Buffer]*mapping{},
	}
	start := js.Global().Get("Function").New("return (" + script + ")").Invoke()
	d.script = start.Invoke(gpu, codeNames, requestLost, requestUncaught, d.box.tell)
	d.run = d.script.Get("run")
	return d, nil
}

// ask returns a new request, whose event handle will get.
func (d *device) ask(handle func(event)) uint32 {
	d.request++
	d.pending[d.request] = handle
	return d.request
}

// poll handles events, and reports whether there were any.
func (d *device) poll() bool {
	events := d.box.take()
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

// wait waits until done, which reads variables of a handler, is true, or the device is
// lost.
func (d *device) wait(call string, done func() bool) error {
	for {
		d.poll()
		if d.lost != nil || done() {
			return d.lost
		}
		if err := d.box.wait(call, d.timeout); err != nil {
			return d.markLost(err)
		}
	}
}

// markLost records the error that lost the device, unless there is one, and returns it.
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
	if len(d.stream) > d.room {
		d.room = max(2*len(d.stream), 64<<10)
		d.memory = d.script.Call("memory", d.room)
	}
	js.CopyBytesToJS(d.memory, d.stream)
	if thrown := d.run.Invoke(len(d.stream)); thrown.Type() == js.TypeString {
		d.markLost(&Error{Lost, "Device", "JavaScript refused a command: " + thrown.String()})
	}
	d.stream = d.stream[:0]
}

// handle returns a handle that is not in use.
func (d *device) handle() uint32 {
	if n := len(d.unused); n > 0 {
		h := d.unused[n-1]
		d.unused = d.unused[:n-1]
		return h
	}
	d.last++
	return d.last
}

// free frees an object.
func (d *device) free(handle uint32) {
	d.stream.put(free, handle)
	d.unused = append(d.unused, handle)
}

// scoped makes an object: put appends the command for a handle and a request. It returns the
// error that the command causes.
func (d *device) scoped(call string, put func(handle, request uint32)) (uint32, error) {
	if d.lost != nil {
		return 0, d.lost
	}
	var done bool
	var err error
	h := d.handle()
	put(h, d.ask(func(e event) { done, err = true, e.err(call) }))
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
	h, err := d.scoped("NewBuffer", func(handle, request uint32) {
		d.stream.put(newBuffer, handle, request)
		d.stream.long(size)
		d.stream.words(uint32(usages[u]))
	})
	return Buffer(h), err
}

// FreeBuffer frees at once: a stream may be run much later.
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
	h, err := d.scoped("NewLayout", func(handle, request uint32) {
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
	h, err := d.scoped("NewPipeline", func(handle, request uint32) {
		ready := d.ask(func(e event) { p.ready, p.err = true, e.err("NewPipeline") })
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
	q := d.pipelines[p]
	if err := d.wait("NewPipeline", func() bool { return q.ready }); err != nil {
		return err
	}
	return q.err
}

func (d *device) FreePipeline(p Pipeline) {
	delete(d.pipelines, p)
	d.free(uint32(p))
}

func (d *device) NewGroup(l Layout, bindings []Binding) (Group, error) {
	h := d.handle()
	d.stream.put(newGroup, h, uint32(l), uint32(len(bindings)))
	for _, b := range bindings {
		d.stream.words(uint32(b.Buffer))
		d.stream.long(b.Size)
	}
	return Group(h), d.lost
}

func (d *device) FreeGroup(g Group) { d.free(uint32(g)) }

func (d *device) NewQueries(n int) (Queries, error) {
	h, err := d.scoped("NewQueries", func(handle, request uint32) { d.stream.put(newQueries, handle, request, uint32(n)) })
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
	d.box.tell.Release()
	d.lost = &Error{Lost, "Device", "it is closed"}
}

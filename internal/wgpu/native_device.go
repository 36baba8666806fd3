//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/dynlib"
)

// device is a device of a native library: an [async] makes it a Device.
type device struct {
	*instance
	device, queue  uintptr
	adapter        Adapter
	lost           error  // the error that lost the device
	failed         *Error // the error that Poll will return
	closed         bool
	submitted      uint64
	done           uint64 // the last submission that is complete
	groupLayouts   map[string]uintptr
	layouts        []layout
	pipelines      []pipeline
	freePipelines  []Pipeline
	mappings       map[Buffer]*mapping
	staged         bool // large writes go by way of staging buffers
	staging        []*stagingBuffer
	offset         *uint32 // C reads it
	commandBuffers *uintptr
	args           [8]uintptr
}

type layout struct{ group, pipeline uintptr }

type pipeline struct {
	handle uintptr
	ready  bool
	err    error
}

type mapping struct {
	size  int64
	ready bool
	err   error
}

// newDevice opens a device with the adapter's limits and the features of this package.
func (n *instance) newDevice(a *found, o Options) (*device, error) {
	d := &device{
		instance: n, adapter: a.Adapter,
		groupLayouts: map[string]uintptr{}, layouts: make([]layout, 1), pipelines: make([]pipeline, 1), mappings: map[Buffer]*mapping{},
		staged: a.Kind == Discrete, offset: new(uint32), commandBuffers: new(uintptr),
	}
	var wanted []uint32
	for number, name := range features {
		if a.Has(name) {
			wanted = append(wanted, number)
		}
	}
	a.limits.next = nil
	desc := &deviceDescriptor{
		features: uintptr(len(wanted)), feature: unsafe.SliceData(wanted), limits: a.limits,
		lost:     callbackInfo{mode: allowProcessEvents, callback: callbacks().result, u1: n.number, u2: eventLost},
		uncaught: errorCallbackInfo{callback: callbacks().result, u1: n.number, u2: eventUncaught},
	}
	on, off := []string(nil), deviceOff
	if !o.Validate {
		on, off = fastToggles, slices.Concat(deviceOff, fastOff)
	}
	desc.next = toggles(on, off)
	n.report = d.handle
	var done bool
	var why string
	n.request(n.AdapterRequestDevice, callbacks().result, func(e *event) {
		done, d.device, why = true, e.b, e.message
	}, a.handle, uintptr(unsafe.Pointer(desc)))
	if err := n.wait("Open", func() bool { return done }); err != nil {
		return nil, err
	}
	if d.device == 0 {
		return nil, &Error{Internal, "Open", fmt.Sprintf("adapter %q opens no device: %s", a.Name, why)}
	}
	d.queue = dynlib.Call(n.DeviceGetQueue, d.device)
	return d, nil
}

// handle handles an event that no request is waiting for.
func (d *device) handle(e *event) {
	switch {
	case e.id == eventLost:
		if reason := uint32(e.b); d.lost == nil && !d.closed && reason != lostCancelled {
			d.lost, d.dead = &Error{Lost, "Device", e.message}, true
		}
	case d.failed == nil:
		d.failed = &Error{errorTypes[uint32(e.b)], "Device", e.message}
	}
}

// markLost records the error that lost the device, unless there is one, and returns it.
func (d *device) markLost(err error) error {
	if d.lost == nil {
		d.lost = err
	}
	return d.lost
}

func (d *device) Adapter() *Adapter { return &d.adapter }

// scoped calls f and returns the first error that f causes. Dawn reports it before the call
// that fails returns, so there is no need for an error scope, which takes three calls more.
func (d *device) scoped(name string, f func()) error {
	d.handleEvents() // of earlier calls
	if d.lost != nil {
		return d.lost
	}
	earlier := d.failed
	d.failed = nil
	f()
	d.handleEvents()
	failed := d.failed
	d.failed = earlier
	switch {
	case d.lost != nil:
		return d.lost
	case failed != nil:
		return &Error{failed.Kind, name, failed.Message}
	}
	return nil
}

func (d *device) NewBuffer(size int64, u Usage) (Buffer, error) {
	if size > d.adapter.Limits.Buffer {
		return 0, &Error{OutOfMemory, "NewBuffer", fmt.Sprintf("%d bytes; a buffer of this adapter has at most %d", size, d.adapter.Limits.Buffer)}
	}
	b, err := d.createBuffer("NewBuffer", &bufferDescriptor{usage: usages[u], size: uint64(size)})
	return Buffer(b), err
}

// createBuffer creates a buffer. It returns 0 with an error, and also without one if memory cannot be mapped.
func (d *device) createBuffer(call string, desc *bufferDescriptor) (b uintptr, err error) {
	err = d.scoped(call, func() { b = dynlib.Call(d.DeviceCreateBuffer, d.device, uintptr(unsafe.Pointer(desc))) })
	if err != nil && b != 0 {
		dynlib.Call(d.BufferRelease, b)
		b = 0
	}
	return b, err
}

func (d *device) FreeBuffer(b Buffer) {
	delete(d.mappings, b)
	dynlib.Call(d.BufferDestroy, uintptr(b))
	dynlib.Call(d.BufferRelease, uintptr(b))
}

// groupLayout returns the cached layout of a group.
func (d *device) groupLayout(list []bindingLayout, key string) uintptr {
	h := d.groupLayouts[key]
	if h == 0 {
		desc := &layoutDescriptor{count: uintptr(len(list)), list: unsafe.SliceData(list)}
		h = dynlib.Call(d.DeviceCreateBindGroupLayout, d.device, uintptr(unsafe.Pointer(desc)))
		d.groupLayouts[key] = h
	}
	return h
}

func (d *device) NewLayout(write []bool, params int64) (Layout, error) {
	list := make([]bindingLayout, len(write))
	for i, w := range write {
		list[i] = bindingLayout{binding: uint32(i), visibility: stageCompute, kind: bindReadStorage}
		if w {
			list[i].kind = bindStorage
		}
	}
	if params > 0 {
		list = append(list, bindingLayout{binding: uint32(len(list)), visibility: stageCompute, kind: bindUniform, dynamic: 1, minSize: uint64(params)})
	}
	var l layout
	err := d.scoped("NewLayout", func() {
		l.group = d.groupLayout(list, fmt.Sprint(write, params))
		desc := &pipelineLayoutDescriptor{count: 1, list: &l.group}
		l.pipeline = dynlib.Call(d.DeviceCreatePipelineLayout, d.device, uintptr(unsafe.Pointer(desc)))
	})
	if err != nil {
		return 0, err
	}
	d.layouts = append(d.layouts, l)
	return Layout(len(d.layouts) - 1), nil
}

func (d *device) NewPipeline(source string, l Layout) (Pipeline, error) {
	var module uintptr
	code := &shaderSource{chained: chained{sType: sTypeWGSL}, code: viewOf(source)}
	desc := &shaderDescriptor{next: unsafe.Pointer(code)}
	err := d.scoped("NewPipeline", func() {
		module = dynlib.Call(d.DeviceCreateShaderModule, d.device, uintptr(unsafe.Pointer(desc)))
	})
	if module != 0 {
		defer dynlib.Call(d.ShaderModuleRelease, module)
	}
	if err != nil {
		return 0, err
	}
	var p Pipeline
	if n := len(d.freePipelines); n > 0 {
		p, d.freePipelines = d.freePipelines[n-1], d.freePipelines[:n-1]
	} else {
		p = Pipeline(len(d.pipelines))
		d.pipelines = append(d.pipelines, pipeline{})
	}
	compute := &pipelineDescriptor{layout: d.layouts[l].pipeline, module: module, entry: viewOf("main")}
	d.pipelines[p] = pipeline{}
	d.request(d.DeviceCreateComputePipelineAsync, callbacks().result, func(e *event) {
		q := &d.pipelines[p]
		q.ready, q.handle = true, e.b
		switch uint32(e.a) {
		case success:
		case pipelineInvalid:
			q.err = &Error{Validation, "NewPipeline", e.message}
		default:
			q.err = &Error{Internal, "NewPipeline", e.message}
		}
	}, d.device, uintptr(unsafe.Pointer(compute)))
	return p, nil
}

func (d *device) Await(p Pipeline) error {
	if d.lost != nil {
		return d.lost
	}
	if !d.pipelines[p].ready {
		if err := d.wait("NewPipeline", func() bool { return d.pipelines[p].ready }); err != nil {
			return d.markLost(err)
		}
	}
	q := &d.pipelines[p]
	if q.err != nil && d.lost != nil {
		return d.lost
	}
	return q.err
}

func (d *device) FreePipeline(p Pipeline) {
	if d.Await(p); !d.pipelines[p].ready {
		return // the callback never came: the number stays in use
	}
	if h := d.pipelines[p].handle; h != 0 {
		dynlib.Call(d.ComputePipelineRelease, h)
	}
	d.pipelines[p] = pipeline{}
	d.freePipelines = append(d.freePipelines, p)
}

func (d *device) NewGroup(l Layout, bindings []Binding) (Group, error) {
	if d.lost != nil {
		return 0, d.lost
	}
	entries := make([]groupEntry, len(bindings))
	for i, b := range bindings {
		entries[i] = groupEntry{binding: uint32(i), buffer: uintptr(b.Buffer), size: uint64(b.Size)}
	}
	desc := &groupDescriptor{layout: d.layouts[l].group, count: uintptr(len(entries)), list: unsafe.SliceData(entries)}
	return Group(dynlib.Call(d.DeviceCreateBindGroup, d.device, uintptr(unsafe.Pointer(desc)))), nil
}

func (d *device) FreeGroup(g Group) { dynlib.Call(d.BindGroupRelease, uintptr(g)) }

func (d *device) Poll() error {
	d.poll()
	if d.lost != nil {
		return d.lost
	}
	if d.failed == nil {
		return nil
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
	if e, ok := d.lost.(*Error); ok && e.Kind == Timeout {
		return // closing would block: leak it
	}
	d.freeStaging()
	for i := range d.pipelines[1:] {
		if h := d.pipelines[1+i].handle; h != 0 {
			dynlib.Call(d.ComputePipelineRelease, h)
		}
	}
	for _, l := range d.layouts[1:] {
		dynlib.Call(d.PipelineLayoutRelease, l.pipeline)
	}
	for _, h := range d.groupLayouts {
		dynlib.Call(d.BindGroupLayoutRelease, h)
	}
	dynlib.Call(d.DeviceDestroy, d.device)
	dynlib.Call(d.QueueRelease, d.queue)
	dynlib.Call(d.DeviceRelease, d.device)
	d.poll()
	d.instance.close()
	d.lost = &Error{Lost, "Device", "it is closed"}
}

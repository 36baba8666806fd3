//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/dynlib"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/internal/terminal"
)

// An instance is the source of adapters and of one device. Each device has its own, so
// that only it processes its events.
type instance struct {
	*library
	instance uintptr
	timeout  time.Duration
	now      func() time.Time
	box      *mailbox
	number   uintptr // of the mailbox
	lastID   uintptr
	pending  map[uintptr]func(*event)
	dead     bool         // its device is lost: few events will follow
	report   func(*event) // handles events without a request
	info     callbackInfo // of the request being made
}

// Dawn's toggles, by object. A build ignores unknown names. Integer division keeps its
// emulation, on which kernels rely.
var (
	instanceToggles = []string{"allow_unsafe_apis"}
	adapterToggles  = []string{"vulkan_enable_f16_on_nvidia", "use_vulkan_memory_model", "use_dxc"}
	// fastToggles are for devices without validation.
	fastToggles = []string{"skip_validation", "disable_robustness", "disable_workgroup_init"}
	fastOff     = []string{"lazy_clear_resource_on_first_use", "enable_spirv_validation"}
	// deviceOff are for all devices: without this one timestamps are exact.
	deviceOff = []string{"timestamp_quantization"}
)

// toggles returns a descriptor of toggles, as a chain of length one.
func toggles(on, off []string) unsafe.Pointer {
	list := func(names []string) (uintptr, **byte) {
		if len(names) == 0 {
			return 0, nil
		}
		c := make([]*byte, len(names))
		for i, n := range names {
			c[i] = cString(n)
		}
		return uintptr(len(c)), &c[0]
	}
	t := &togglesDescriptor{chained: chained{sType: sTypeToggles}}
	t.enabled, t.enable = list(on)
	t.disabled, t.disable = list(off)
	return unsafe.Pointer(t)
}

func (l *library) newInstance(o Options) (*instance, error) {
	box, number, err := newMailbox()
	if err != nil {
		return nil, err
	}
	n := &instance{
		library: l, timeout: o.timeout(), now: clock.Now, box: box, number: number,
		lastID: firstRequest, pending: map[uintptr]func(*event){}, report: func(*event) {},
	}
	d := &instanceDescriptor{next: toggles(instanceToggles, nil)}
	if n.instance = dynlib.Call(l.CreateInstance, uintptr(unsafe.Pointer(d))); n.instance == 0 {
		freeMailbox(number)
		return nil, &Error{Internal, "Load", "the library makes no instance"}
	}
	return n, nil
}

// close releases an instance, except for the first: without an instance the driver is
// unloaded, and NVIDIA's driver fails after being loaded many times.
func (n *instance) close() {
	if n.kept.CompareAndSwap(false, true) {
		return
	}
	dynlib.Call(n.InstanceRelease, n.instance)
	freeMailbox(n.number)
}

// request calls a function with args and a callback descriptor. When the callback has
// come, poll calls handle with its event.
//
//go:uintptrescapes
func (n *instance) request(fn, callback uintptr, handle func(*event), args ...uintptr) {
	n.lastID++
	n.pending[n.lastID] = handle
	n.info = callbackInfo{mode: allowProcessEvents, callback: callback, u1: n.number, u2: n.lastID}
	var buf [16]uintptr
	all := byValue(append(buf[:0], args...), unsafe.Pointer(&n.info), int(unsafe.Sizeof(n.info)/8))
	dynlib.Call(fn, all...)
	runtime.KeepAlive(n)
}

// poll processes callbacks and handles their events. It reports whether there were any.
func (n *instance) poll() bool {
	dynlib.Call(n.InstanceProcessEvents, n.instance)
	return n.handleEvents()
}

// handleEvents handles the events of callbacks that have come. It reports whether there were
// any.
func (n *instance) handleEvents() bool {
	first := n.box.take()
	for e := first; e != nil; e = e.next {
		if e.id < firstRequest {
			n.report(e)
		} else if handle := n.pending[e.id]; handle != nil {
			delete(n.pending, e.id)
			handle(e)
		}
	}
	return first != nil
}

// grace is the time to wait for outstanding callbacks of a lost device.
const grace = time.Second

// wait polls until done, which reads variables of a handler, is true. It times out only after a period
// without any callback. It polls because blocking waits of some drivers do not return. It sleeps
// between polls once it has waited as long as a sleep takes. Polls before do not yield to other
// goroutines, because a goroutine that yields may go on at another core, with cold caches.
func (n *instance) wait(name string, done func() bool) error {
	start := n.now()
	for {
		if n.poll() {
			start = n.now()
		}
		if done() {
			return nil
		}
		waited := n.now().Sub(start)
		switch {
		case waited > n.timeout || n.dead && waited > grace:
			return &Error{Timeout, name, fmt.Sprintf("nothing came in %v", waited.Round(time.Millisecond))}
		case waited > dynlib.LeastPause:
			dynlib.Pause(min(waited/32, time.Millisecond))
		}
	}
}

// A found adapter is one that can be opened.
type found struct {
	Adapter
	handle uintptr
	limits *limits
}

// find lists adapters: of the first backend that has a GPU the fastest, the one with the lowest
// power and the software one, because webgpu.h has no other enumeration.
func (n *instance) find() ([]found, error) {
	var list []found
	var why string
	next := toggles(adapterToggles, nil)
	for _, backend := range backendsOf[runtime.GOOS] {
		if slices.ContainsFunc(list, func(a found) bool { return a.Kind != Software }) {
			break
		}
		for _, o := range []adapterOptions{{power: highPerformance}, {power: lowPower}, {fallback: 1}} {
			o.next, o.level, o.backend = next, levelCore, backend
			var handle uintptr
			var done bool
			n.request(n.InstanceRequestAdapter, callbacks().result, func(e *event) {
				done = true
				if uint32(e.a) == success {
					handle = e.b
				} else if e.message != "" {
					why = e.message
				}
			}, n.instance, uintptr(unsafe.Pointer(&o)))
			if err := n.wait("Adapters", func() bool { return done }); err != nil {
				release(n, list)
				return nil, err
			}
			if handle == 0 {
				continue
			}
			a := n.describe(handle)
			if slices.ContainsFunc(list, a.same) {
				dynlib.Call(n.AdapterRelease, handle)
				continue
			}
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return nil, noAdapter(runtime.GOOS, why)
	}
	sorts.Stable(list, func(a, b found) int { return rank(a.Kind) - rank(b.Kind) })
	return list, nil
}

func (a *found) same(b found) bool {
	return a.Backend == b.Backend && a.VendorID == b.VendorID && a.DeviceID == b.DeviceID && a.Name == b.Name
}

func release(n *instance, list []found) {
	for _, a := range list {
		dynlib.Call(n.AdapterRelease, a.handle)
	}
}

// describe reads an adapter's properties.
func (n *instance) describe(handle uintptr) found {
	a := found{handle: handle, limits: new(limits)}
	info, list, heaps := new(adapterInfo), new(supportedFeatures), new(memoryHeaps)
	dynlib.Call(n.AdapterGetLimits, handle, uintptr(unsafe.Pointer(a.limits)))
	dynlib.Call(n.AdapterGetFeatures, handle, uintptr(unsafe.Pointer(list)))
	supported := unsafe.Slice(list.list, list.count)
	if slices.Contains(supported, featureHeaps) {
		heaps.sType = sTypeHeaps
		info.next = unsafe.Pointer(heaps)
	}
	dynlib.Call(n.AdapterGetInfo, handle, uintptr(unsafe.Pointer(info)))
	text := func(v stringView) string { return terminal.Escape(v.String(), "") }
	a.Adapter = Adapter{
		Name: text(info.device), Vendor: text(info.vendor), Architecture: text(info.architecture),
		Driver: text(info.des), Backend: backends[info.backend], Kind: adapterKinds[info.kind],
		VendorID: info.vendorID, DeviceID: info.deviceID,
		SubgroupMin: int(info.subgroupMin), SubgroupMax: int(info.subgroupMax),
		Memory: heaps.deviceLocal(), Limits: a.limits.read(),
	}
	for _, f := range supported {
		if name := features[f]; name != "" {
			a.Features = append(a.Features, name)
		}
	}
	slices.Sort(a.Features)
	var buf [32]uintptr
	dynlib.Call(n.AdapterInfoFreeMembers, byValue(buf[:0], unsafe.Pointer(info), adapterInfoWords)...)
	dynlib.Call(n.SupportedFeaturesFreeMembers, byValue(buf[:0], unsafe.Pointer(list), 2)...)
	dynlib.Call(n.AdapterPropertiesMemoryHeapsFreeMembers, byValue(buf[:0], unsafe.Pointer(heaps), memoryHeapsWords)...)
	runtime.KeepAlive(info)
	runtime.KeepAlive(list)
	runtime.KeepAlive(heaps)
	return a
}

// deviceLocal returns the size of the largest heap of device memory.
func (h *memoryHeaps) deviceLocal() int64 {
	var most uint64
	for _, m := range unsafe.Slice(h.list, h.count) {
		if m.properties&heapDeviceLocal != 0 {
			most = max(most, m.size)
		}
	}
	return int64(most)
}

func (l *limits) read() Limits {
	return Limits{
		StorageBuffers: int(l.storageBuffers), StorageBinding: int64(l.storageBinding), Buffer: int64(l.buffer),
		WorkgroupStorage: int(l.workgroupStorage), WorkgroupSize: int(l.workgroupSize),
		WorkgroupSizes: [3]int{int(l.workgroupSizes[0]), int(l.workgroupSizes[1]), int(l.workgroupSizes[2])},
		Workgroups:     int(l.workgroups), UniformAlignment: int(l.uniformAlign), UniformBinding: int64(l.uniformBinding),
		BindingsOfOneLayout: int(l.bindingsOfGroup),
	}
}

// sane reports whether limits are plausible. It is the last check that the layouts of
// structures are right.
func (l *Limits) sane() bool {
	in := func(x, lo, hi int64) bool { return x >= lo && x <= hi }
	return in(int64(l.StorageBuffers), 4, 1<<20) && in(l.StorageBinding, 1<<20, 1<<50) && in(l.Buffer, 1<<20, 1<<62) &&
		in(int64(l.WorkgroupStorage), 1<<12, 1<<24) && in(int64(l.WorkgroupSize), 64, 1<<16) &&
		in(int64(l.Workgroups), 1<<10, 1<<31) && in(int64(l.UniformAlignment), 4, 1<<12)
}

// Adapters implements Library.
func (l *library) Adapters() ([]Adapter, error) {
	n, err := l.newInstance(Options{Timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	defer n.close()
	list, err := n.find()
	if err != nil {
		return nil, err
	}
	defer release(n, list)
	return public(list), nil
}

func public(list []found) []Adapter {
	var as []Adapter
	for _, a := range list {
		as = append(as, a.Adapter)
	}
	return as
}

// Open implements Library.
func (l *library) Open(pick func([]Adapter) (int, error), o Options) (Device, error) {
	n, err := l.newInstance(o)
	if err != nil {
		return nil, err
	}
	d, err := n.open(pick, o)
	if err != nil {
		n.close()
		return nil, err
	}
	return &async{dev: d}, nil
}

func (n *instance) open(pick func([]Adapter) (int, error), o Options) (*device, error) {
	list, err := n.find()
	if err != nil {
		return nil, err
	}
	defer release(n, list)
	i, err := pick(public(list))
	if err != nil {
		return nil, err
	}
	if a := &list[i]; !a.Limits.sane() {
		return nil, &Error{Internal, "Open", fmt.Sprintf("adapter %q reports limits that no adapter has, %+v: %v is not the library that it seems to be", a.Name, a.Limits, n.library)}
	}
	return n.newDevice(&list[i], o)
}

package wgpu

import (
	"errors"
	"fmt"
)

// A Fake is a library in memory, for tests of what stands on this package.
// Work is done when it is submitted, and complete when it is waited for.
type Fake struct {
	List []Adapter
	// Shaders are what pipelines compute, by their source. A source that is
	// not among them is refused.
	Shaders map[string]Shader
	// Memory is how many bytes the buffers of a device may take; 0 is no limit.
	Memory int64
	// Devices are those that were opened.
	Devices []*FakeDevice
}

// A Shader computes what one dispatch does.
type Shader func(groups [3]uint32, buffers [][]byte, params []byte)

// FakeAdapter is an adapter with the least limits of WebGPU.
func FakeAdapter(name string, k Kind) Adapter {
	return Adapter{Name: name, Vendor: "fake", Backend: "memory", Kind: k, Limits: Limits{
		StorageBuffers: 8, StorageBinding: 128 << 20, Buffer: 256 << 20, WorkgroupStorage: 16 << 10, WorkgroupSize: 256,
		WorkgroupSizes: [3]int{256, 256, 64}, Workgroups: 65535, UniformAlignment: 256, UniformBinding: 64 << 10, BindingsOfOneLayout: 1000,
	}}
}

// String returns "fake".
func (f *Fake) String() string { return "fake" }

// Adapters returns the list.
func (f *Fake) Adapters() ([]Adapter, error) { return f.List, nil }

// Open opens a device on an adapter of the list.
func (f *Fake) Open(pick func([]Adapter) (int, error), _ Options) (Device, error) {
	i, err := pick(f.List)
	if err != nil {
		return nil, err
	}
	d := &FakeDevice{fake: f, adapter: f.List[i], buffers: map[Buffer][]byte{}, pipelines: map[Pipeline]fakePipeline{}, groups: map[Group]fakeGroup{}, layouts: map[Layout]int64{}}
	f.Devices = append(f.Devices, d)
	return d, nil
}

// FakeDevice is a device of a [Fake]. Its fields count what was asked of it.
type FakeDevice struct {
	Writes, Groups, Dispatches int
	Most                       uint64 // submissions under way at once
	fake                       *Fake
	adapter                    Adapter
	lost, failed               error
	next                       uintptr
	buffers                    map[Buffer][]byte
	layouts                    map[Layout]int64
	pipelines                  map[Pipeline]fakePipeline
	groups                     map[Group]fakeGroup
	held                       int64
	submitted, done            uint64
}

type fakePipeline struct {
	shader Shader
	params int64
}

type fakeGroup struct{ bindings []Binding }

// Lose loses the device.
func (d *FakeDevice) Lose(why string) { d.lost = &Error{Lost, "Device", why} }

// Fail makes the next Poll report an error.
func (d *FakeDevice) Fail(why string) { d.failed = &Error{Internal, "Device", why} }

// Live says how many buffers, groups and pipelines there are.
func (d *FakeDevice) Live() (buffers, groups, pipelines int) {
	return len(d.buffers), len(d.groups), len(d.pipelines)
}

func (d *FakeDevice) handle() uintptr {
	d.next++
	return d.next
}

// Adapter implements Device, as all that follow.
func (d *FakeDevice) Adapter() *Adapter { return &d.adapter }

// NewBuffer allocates bytes that are not zero.
func (d *FakeDevice) NewBuffer(size int64, _ Usage) (Buffer, error) {
	if limit := d.fake.Memory; d.lost == nil && (size > d.adapter.Limits.Buffer || limit > 0 && d.held+size > limit) {
		return 0, &Error{OutOfMemory, "NewBuffer", fmt.Sprintf("%d bytes", size)}
	}
	d.held += size
	b := Buffer(d.handle())
	d.buffers[b] = make([]byte, size)
	for i := range d.buffers[b] {
		d.buffers[b][i] = 0xA5
	}
	return b, d.lost
}

// FreeBuffer forgets a buffer.
func (d *FakeDevice) FreeBuffer(b Buffer) {
	d.held -= int64(len(d.buffers[b]))
	delete(d.buffers, b)
}

// Write copies data at once.
func (d *FakeDevice) Write(b Buffer, offset int64, data []byte) {
	d.Writes++
	copy(d.buffers[b][offset:], data)
}

// NewLayout makes a layout.
func (d *FakeDevice) NewLayout(_ []bool, params int64) (Layout, error) {
	l := Layout(d.handle())
	d.layouts[l] = params
	return l, d.lost
}

// NewPipeline looks a shader up.
func (d *FakeDevice) NewPipeline(source string, l Layout) (Pipeline, error) {
	s := d.fake.Shaders[source]
	if s == nil {
		return 0, &Error{Validation, "NewPipeline", "unknown shader"}
	}
	p := Pipeline(d.handle())
	d.pipelines[p] = fakePipeline{s, d.layouts[l]}
	return p, d.lost
}

// Await does not wait.
func (d *FakeDevice) Await(Pipeline) error { return d.lost }

// FreePipeline forgets a pipeline.
func (d *FakeDevice) FreePipeline(p Pipeline) { delete(d.pipelines, p) }

// NewGroup makes a group.
func (d *FakeDevice) NewGroup(_ Layout, bindings []Binding) (Group, error) {
	d.Groups++
	g := Group(d.handle())
	d.groups[g] = fakeGroup{append([]Binding(nil), bindings...)}
	return g, d.lost
}

// NewParams makes a group.
func (d *FakeDevice) NewParams(l Layout, b Buffer) (Group, error) {
	return d.NewGroup(l, []Binding{{b, d.layouts[l]}})
}

// FreeGroup forgets a group.
func (d *FakeDevice) FreeGroup(g Group) { delete(d.groups, g) }

// Submit runs commands at once.
func (d *FakeDevice) Submit(commands []Command) (uint64, error) {
	if d.lost != nil {
		return 0, d.lost
	}
	for _, c := range commands {
		if c.Pipeline == 0 {
			copy(d.buffers[c.Dst][c.DstOffset:], d.buffers[c.Src][c.SrcOffset:][:c.Size])
			continue
		}
		d.Dispatches++
		p := d.pipelines[c.Pipeline]
		var buffers [][]byte
		for _, b := range d.groups[c.Group].bindings {
			buffers = append(buffers, d.buffers[b.Buffer][:b.Size])
		}
		var params []byte
		if p.params > 0 {
			params = d.buffers[d.groups[c.Params].bindings[0].Buffer][c.Offset:][:p.params]
		}
		p.shader(c.Groups, buffers, params)
	}
	d.submitted++
	d.Most = max(d.Most, d.submitted-d.done)
	return d.submitted, nil
}

// Done returns the last submission that was waited for.
func (d *FakeDevice) Done() uint64 { return d.done }

// Wait completes submissions.
func (d *FakeDevice) Wait(submission uint64) error {
	d.done = max(d.done, submission)
	return d.lost
}

// Map does nothing.
func (d *FakeDevice) Map(Buffer, int64) error { return d.lost }

// Read copies a buffer's bytes.
func (d *FakeDevice) Read(b Buffer, dst []byte) error {
	copy(dst, d.buffers[b])
	d.done = d.submitted
	return d.lost
}

// Poll returns what Lose and Fail said.
func (d *FakeDevice) Poll() error {
	if d.lost != nil {
		return d.lost
	}
	err := d.failed
	d.failed = nil
	return err
}

// Close loses the device.
func (d *FakeDevice) Close() { d.lost = errors.New("the device is closed") }

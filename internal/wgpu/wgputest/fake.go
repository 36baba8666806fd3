package wgputest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tensorken/tensorken/internal/wgpu"
)

// A Fake is a library in memory. Submit executes commands at once; they count as
// complete only after Wait or Read.
type Fake struct {
	List []wgpu.Adapter
	// Shaders gives each source text the function that a dispatch calls.
	// NewPipeline refuses other sources.
	Shaders map[string]Shader
	// Memory limits the bytes of a device's buffers; 0 means no limit.
	Memory int64
	// Devices lists the devices opened.
	Devices []*FakeDevice
}

// A Shader executes one dispatch.
type Shader func(groups [3]uint32, buffers [][]byte, params []byte)

// FakeAdapter returns an adapter with WebGPU's default limits.
func FakeAdapter(name string, k wgpu.Kind) wgpu.Adapter {
	return wgpu.Adapter{Name: name, Vendor: "fake", Backend: "memory", Kind: k, Limits: wgpu.Limits{
		StorageBuffers: 8, StorageBinding: 128 << 20, Buffer: 256 << 20, WorkgroupStorage: 16 << 10, WorkgroupSize: 256,
		WorkgroupSizes: [3]int{256, 256, 64}, Workgroups: 65535, UniformAlignment: 256, UniformBinding: 64 << 10, BindingsOfOneLayout: 1000,
	}}
}

// String returns "fake".
func (f *Fake) String() string { return "fake" }

// Adapters returns the list.
func (f *Fake) Adapters() ([]wgpu.Adapter, error) { return f.List, nil }

// Open opens a device on an adapter of the list.
func (f *Fake) Open(pick func([]wgpu.Adapter) (int, error), _ wgpu.Options) (wgpu.Device, error) {
	i, err := pick(f.List)
	if err != nil {
		return nil, err
	}
	d := &FakeDevice{fake: f, clock: 1 << 40, adapter: f.List[i], buffers: map[wgpu.Buffer][]byte{}, pipelines: map[wgpu.Pipeline]fakePipeline{}, groups: map[wgpu.Group]fakeGroup{}, layouts: map[wgpu.Layout]int64{}, queries: map[wgpu.Queries][]uint64{}}
	f.Devices = append(f.Devices, d)
	return d, nil
}

// FakeDevice is a device of a [Fake]. Its fields count calls.
type FakeDevice struct {
	Writes, Groups, Dispatches int
	Most                       uint64 // greatest number of submissions in flight
	fake                       *Fake
	adapter                    wgpu.Adapter
	lost, failed               error
	next                       uintptr
	buffers                    map[wgpu.Buffer][]byte
	layouts                    map[wgpu.Layout]int64
	pipelines                  map[wgpu.Pipeline]fakePipeline
	groups                     map[wgpu.Group]fakeGroup
	queries                    map[wgpu.Queries][]uint64
	clock                      uint64 // advances by 1000 with each dispatch
	held                       int64
	submitted, done            uint64
}

type fakePipeline struct {
	shader Shader
	params int64
}

type fakeGroup struct{ bindings []wgpu.Binding }

// Lose loses the device.
func (d *FakeDevice) Lose(why string) {
	d.lost = &wgpu.Error{Kind: wgpu.Lost, Call: "Device", Message: why}
}

// Fail makes the next Poll report an error.
func (d *FakeDevice) Fail(why string) {
	d.failed = &wgpu.Error{Kind: wgpu.Internal, Call: "Device", Message: why}
}

// Live counts buffers, groups and pipelines that are not freed.
func (d *FakeDevice) Live() (buffers, groups, pipelines int) {
	return len(d.buffers), len(d.groups), len(d.pipelines)
}

func (d *FakeDevice) handle() uintptr {
	d.next++
	return d.next
}

// Adapter implements wgpu.Device, as the methods below do.
func (d *FakeDevice) Adapter() *wgpu.Adapter { return &d.adapter }

// NewBuffer allocates bytes filled with 0xA5, because a device need not clear them.
func (d *FakeDevice) NewBuffer(size int64, _ wgpu.Usage) (wgpu.Buffer, error) {
	if limit := d.fake.Memory; d.lost == nil && (size > d.adapter.Limits.Buffer || limit > 0 && d.held+size > limit) {
		return 0, &wgpu.Error{Kind: wgpu.OutOfMemory, Call: "NewBuffer", Message: fmt.Sprintf("%d bytes", size)}
	}
	d.held += size
	b := wgpu.Buffer(d.handle())
	d.buffers[b] = make([]byte, size)
	for i := range d.buffers[b] {
		d.buffers[b][i] = 0xA5
	}
	return b, d.lost
}

// FreeBuffer forgets a buffer.
func (d *FakeDevice) FreeBuffer(b wgpu.Buffer) {
	d.held -= int64(len(d.buffers[b]))
	delete(d.buffers, b)
}

// Write copies data at once.
func (d *FakeDevice) Write(b wgpu.Buffer, offset int64, data []byte) {
	d.Writes++
	copy(d.buffers[b][offset:], data)
}

// NewLayout makes a layout.
func (d *FakeDevice) NewLayout(_ []bool, params int64) (wgpu.Layout, error) {
	l := wgpu.Layout(d.handle())
	d.layouts[l] = params
	return l, d.lost
}

// NewPipeline looks a shader up.
func (d *FakeDevice) NewPipeline(source string, l wgpu.Layout) (wgpu.Pipeline, error) {
	s := d.fake.Shaders[source]
	if s == nil {
		return 0, &wgpu.Error{Kind: wgpu.Validation, Call: "NewPipeline", Message: "unknown shader"}
	}
	p := wgpu.Pipeline(d.handle())
	d.pipelines[p] = fakePipeline{s, d.layouts[l]}
	return p, d.lost
}

// Await does not wait.
func (d *FakeDevice) Await(wgpu.Pipeline) error { return d.lost }

// FreePipeline forgets a pipeline.
func (d *FakeDevice) FreePipeline(p wgpu.Pipeline) { delete(d.pipelines, p) }

// NewGroup makes a group.
func (d *FakeDevice) NewGroup(_ wgpu.Layout, bindings []wgpu.Binding) (wgpu.Group, error) {
	d.Groups++
	g := wgpu.Group(d.handle())
	d.groups[g] = fakeGroup{append([]wgpu.Binding(nil), bindings...)}
	return g, d.lost
}

// FreeGroup forgets a group.
func (d *FakeDevice) FreeGroup(g wgpu.Group) { delete(d.groups, g) }

// Submit runs commands at once.
func (d *FakeDevice) Submit(commands []wgpu.Command) (uint64, error) {
	if d.lost != nil {
		return 0, d.lost
	}
	for _, c := range commands {
		if c.Pipeline == 0 && c.Queries != 0 {
			for i, t := range d.queries[c.Queries][:c.Size/8] {
				binary.LittleEndian.PutUint64(d.buffers[c.Dst][8*i:], t)
			}
			clear(d.queries[c.Queries])
			continue
		}
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
			last := len(buffers) - 1
			b := d.groups[c.Group].bindings[last]
			params, buffers = d.buffers[b.Buffer][c.Offset:][:p.params], buffers[:last]
		}
		p.shader(c.Groups, buffers, params)
		d.timestamp(&c)
	}
	d.submitted++
	d.Most = max(d.Most, d.submitted-d.done)
	return d.submitted, nil
}

// timestamp advances the clock, and writes the timestamps of a dispatch.
func (d *FakeDevice) timestamp(c *wgpu.Command) {
	begin := d.clock
	d.clock += 1000
	if c.Queries == 0 {
		return
	}
	times := d.queries[c.Queries][c.Query:]
	if times[0] == 0 {
		times[0] = begin
	}
	times[1] = d.clock
}

// NewQueries makes a set of timestamps.
func (d *FakeDevice) NewQueries(n int) (wgpu.Queries, error) {
	q := wgpu.Queries(d.handle())
	d.queries[q] = make([]uint64, n)
	return q, d.lost
}

// FreeQueries forgets a set.
func (d *FakeDevice) FreeQueries(q wgpu.Queries) { delete(d.queries, q) }

// Queries counts the sets of timestamps that are not freed.
func (d *FakeDevice) Queries() int { return len(d.queries) }

// Done returns the last submission completed.
func (d *FakeDevice) Done() uint64 { return d.done }

// Wait completes submissions.
func (d *FakeDevice) Wait(submission uint64) error {
	d.done = max(d.done, submission)
	return d.lost
}

// Map does nothing.
func (d *FakeDevice) Map(wgpu.Buffer, int64) error { return d.lost }

// Read copies a buffer's bytes.
func (d *FakeDevice) Read(b wgpu.Buffer, dst []byte) error {
	copy(dst, d.buffers[b])
	d.done = d.submitted
	return d.lost
}

// Poll returns the error set by Lose or Fail.
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

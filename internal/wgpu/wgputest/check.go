package wgputest

import (
	"fmt"
	"io"

	"github.com/tensorken/tensorken/internal/wgpu"
)

// Check wraps a library: its devices write each call to w, and panic at a call
// that WebGPU or package wgpu forbids. A device that does not validate would
// crash on such a call, or go on with wrong results.
func Check(l wgpu.Library, w io.Writer) wgpu.Library { return &checkedLibrary{l, w} }

type checkedLibrary struct {
	wgpu.Library
	w io.Writer
}

func (l *checkedLibrary) Open(pick func([]wgpu.Adapter) (int, error), o wgpu.Options) (wgpu.Device, error) {
	d, err := l.Library.Open(pick, o)
	fmt.Fprintf(l.w, "Open(%+v) = %v\n", o, err)
	if err != nil {
		return nil, err
	}
	return &checked{
		d: d, w: l.w,
		buffers: map[wgpu.Buffer]*checkedBuffer{}, layouts: map[wgpu.Layout]checkedLayout{},
		pipelines: map[wgpu.Pipeline]*checkedPipeline{}, groups: map[wgpu.Group]checkedGroup{},
		queries: map[wgpu.Queries]int{},
	}, nil
}

type checked struct {
	d         wgpu.Device
	w         io.Writer
	buffers   map[wgpu.Buffer]*checkedBuffer
	layouts   map[wgpu.Layout]checkedLayout
	pipelines map[wgpu.Pipeline]*checkedPipeline
	groups    map[wgpu.Group]checkedGroup
	queries   map[wgpu.Queries]int // timestamps
	submitted uint64
	closed    bool
}

type checkedBuffer struct {
	size   int64
	usage  wgpu.Usage
	mapped int64 // bytes, 0 if unmapped
}

type checkedLayout struct {
	write  []bool
	params int64
}

type checkedPipeline struct {
	layout wgpu.Layout
	ready  bool
}

type checkedGroup struct {
	layout   wgpu.Layout
	bindings []wgpu.Binding
}

// misuse panics for a failed check: the caller, in this module, has a bug.
func misuse(call, format string, args ...any) {
	panic("wgpu: " + call + ": " + fmt.Sprintf(format, args...))
}

func (c *checked) log(format string, args ...any) { fmt.Fprintf(c.w, format+"\n", args...) }

func (c *checked) open(call string) {
	if c.closed {
		misuse(call, "the device is closed")
	}
}

// buffer returns a live buffer. If usages are given, it has one of them.
func (c *checked) buffer(call string, b wgpu.Buffer, want ...wgpu.Usage) *checkedBuffer {
	c.open(call)
	k := c.buffers[b]
	if k == nil {
		misuse(call, "buffer %#x is none, or was freed", b)
	}
	for _, u := range want {
		if k.usage == u {
			return k
		}
	}
	if len(want) > 0 {
		misuse(call, "buffer %#x is of usage %d, want one of %d", b, k.usage, want)
	}
	return k
}

// span checks that a range of bytes lies in the buffer, at multiples of 4.
func (k *checkedBuffer) span(call string, offset, n int64) {
	if offset < 0 || offset%4 != 0 || n%4 != 0 || n < 0 || offset+n > k.size {
		misuse(call, "%d bytes from %d on of a buffer of %d", n, offset, k.size)
	}
}

func (c *checked) Adapter() *wgpu.Adapter { return c.d.Adapter() }

func (c *checked) NewBuffer(size int64, u wgpu.Usage) (wgpu.Buffer, error) {
	c.open("NewBuffer")
	if size <= 0 || size%4 != 0 {
		misuse("NewBuffer", "%d bytes, want a multiple of 4", size)
	}
	b, err := c.d.NewBuffer(size, u)
	c.log("NewBuffer(%d, %d) = %#x, %v", size, u, b, err)
	if err == nil {
		c.buffers[b] = &checkedBuffer{size: size, usage: u}
	}
	return b, err
}

func (c *checked) FreeBuffer(b wgpu.Buffer) {
	c.buffer("FreeBuffer", b)
	c.log("FreeBuffer(%#x)", b)
	delete(c.buffers, b)
	c.d.FreeBuffer(b)
}

func (c *checked) Write(b wgpu.Buffer, offset int64, data []byte) {
	c.buffer("Write", b, wgpu.Storage, wgpu.Params).span("Write", offset, int64(len(data)))
	c.log("Write(%#x, %d, %d bytes)", b, offset, len(data))
	c.d.Write(b, offset, data)
}

func (c *checked) NewLayout(write []bool, params int64) (wgpu.Layout, error) {
	c.open("NewLayout")
	if limits := c.Adapter().Limits; len(write) > limits.StorageBuffers || params < 0 || params%16 != 0 || params > limits.UniformBinding {
		misuse("NewLayout", "%d buffers and %d bytes of numbers; limits are %+v", len(write), params, limits)
	}
	l, err := c.d.NewLayout(write, params)
	c.log("NewLayout(%v, %d) = %d, %v", write, params, l, err)
	if err == nil {
		c.layouts[l] = checkedLayout{append([]bool(nil), write...), params}
	}
	return l, err
}

func (c *checked) layout(call string, l wgpu.Layout) checkedLayout {
	c.open(call)
	k, ok := c.layouts[l]
	if !ok {
		misuse(call, "there is no layout %d", l)
	}
	return k
}

func (c *checked) NewPipeline(source string, l wgpu.Layout) (wgpu.Pipeline, error) {
	c.layout("NewPipeline", l)
	p, err := c.d.NewPipeline(source, l)
	c.log("NewPipeline(%d bytes, %d) = %d, %v", len(source), l, p, err)
	if err == nil {
		c.pipelines[p] = &checkedPipeline{layout: l}
	}
	return p, err
}

func (c *checked) pipeline(call string, p wgpu.Pipeline) *checkedPipeline {
	c.open(call)
	k := c.pipelines[p]
	if k == nil {
		misuse(call, "pipeline %d is none, or was freed", p)
	}
	return k
}

func (c *checked) Await(p wgpu.Pipeline) error {
	k := c.pipeline("Await", p)
	err := c.d.Await(p)
	c.log("Await(%d) = %v", p, err)
	k.ready = err == nil
	return err
}

func (c *checked) FreePipeline(p wgpu.Pipeline) {
	c.pipeline("FreePipeline", p)
	c.log("FreePipeline(%d)", p)
	delete(c.pipelines, p)
	c.d.FreePipeline(p)
}

func (c *checked) NewGroup(l wgpu.Layout, bindings []wgpu.Binding) (wgpu.Group, error) {
	k := c.layout("NewGroup", l)
	storage := bindings
	if k.params > 0 && len(bindings) > 0 {
		last := len(bindings) - 1
		storage = bindings[:last]
		if b := bindings[last]; c.buffer("NewGroup", b.Buffer, wgpu.Params).size < k.params || b.Size != k.params {
			misuse("NewGroup", "%d bytes of numbers for a layout of %d", b.Size, k.params)
		}
	}
	if len(storage) != len(k.write) {
		misuse("NewGroup", "%d buffers for a layout of %d", len(storage), len(k.write))
	}
	written := map[wgpu.Buffer]bool{}
	for i, b := range storage {
		q := c.buffer("NewGroup", b.Buffer, wgpu.Storage)
		q.span("NewGroup", 0, b.Size)
		if limit := c.Adapter().Limits.StorageBinding; b.Size == 0 || b.Size > limit {
			misuse("NewGroup", "binding %d has %d bytes, of at most %d", i, b.Size, limit)
		}
		if was, bound := written[b.Buffer]; bound && (was || k.write[i]) {
			misuse("NewGroup", "buffer %#x is bound twice and written", b.Buffer)
		}
		written[b.Buffer] = k.write[i]
	}
	g, err := c.d.NewGroup(l, bindings)
	c.log("NewGroup(%d, %v) = %#x, %v", l, bindings, g, err)
	if err == nil {
		c.groups[g] = checkedGroup{layout: l, bindings: append([]wgpu.Binding(nil), bindings...)}
	}
	return g, err
}

func (c *checked) FreeGroup(g wgpu.Group) {
	c.open("FreeGroup")
	if _, ok := c.groups[g]; !ok {
		misuse("FreeGroup", "group %#x is none, or was freed", g)
	}
	c.log("FreeGroup(%#x)", g)
	delete(c.groups, g)
	c.d.FreeGroup(g)
}

func (c *checked) Submit(commands []wgpu.Command) (uint64, error) {
	c.open("Submit")
	for i := range commands {
		call := fmt.Sprintf("Submit: command %d", i)
		switch k := &commands[i]; {
		case k.Pipeline != 0:
			c.dispatch(call, k)
		case k.Queries != 0:
			c.timestamps(call, k.Queries, k.Size/8)
			c.buffer(call, k.Dst, wgpu.Times).span(call, 0, k.Size)
		default:
			c.copy(call, k)
		}
	}
	n, err := c.d.Submit(commands)
	c.log("Submit(%+v) = %d, %v", commands, n, err)
	if err == nil {
		if n != c.submitted+1 {
			misuse("Submit", "it is number %d, after %d", n, c.submitted)
		}
		c.submitted = n
	}
	return n, err
}

// timestamps checks that a set has n timestamps.
func (c *checked) timestamps(call string, q wgpu.Queries, n int64) {
	if has, ok := c.queries[q]; !ok || n > int64(has) {
		misuse(call, "%d timestamps of queries %#x, which have %d", n, q, has)
	}
}

func (c *checked) NewQueries(n int) (wgpu.Queries, error) {
	c.open("NewQueries")
	if n < 1 || n > 4096 || !c.Adapter().Has(wgpu.TimestampQuery) {
		misuse("NewQueries", "%d timestamps, want 1 to 4096, of an adapter with features %v", n, c.Adapter().Features)
	}
	q, err := c.d.NewQueries(n)
	c.log("NewQueries(%d) = %#x, %v", n, q, err)
	if err == nil {
		c.queries[q] = n
	}
	return q, err
}

func (c *checked) FreeQueries(q wgpu.Queries) {
	c.timestamps("FreeQueries", q, 0)
	c.log("FreeQueries(%#x)", q)
	delete(c.queries, q)
	c.d.FreeQueries(q)
}

func (c *checked) dispatch(call string, k *wgpu.Command) {
	if k.Queries != 0 {
		c.timestamps(call, k.Queries, int64(k.Query)+2)
	}
	p := c.pipeline(call, k.Pipeline)
	if !p.ready {
		misuse(call, "pipeline %d was not waited for", k.Pipeline)
	}
	l := c.layouts[p.layout]
	g, ok := c.groups[k.Group]
	if !ok || fmt.Sprint(c.layouts[g.layout]) != fmt.Sprint(l) {
		misuse(call, "group %#x does not fit pipeline %d", k.Group, k.Pipeline)
	}
	for _, b := range g.bindings {
		c.buffer(call, b.Buffer)
	}
	if k.Params != (l.params > 0) {
		misuse(call, "numbers %v for pipeline %d, which has %d bytes of them", k.Params, k.Pipeline, l.params)
	}
	if k.Params {
		b := c.buffer(call, g.bindings[len(g.bindings)-1].Buffer)
		if k.Offset%uint32(c.Adapter().Limits.UniformAlignment) != 0 || int64(k.Offset)+l.params > b.size {
			misuse(call, "numbers from %d on, in a buffer of %d", k.Offset, b.size)
		}
	}
	for _, n := range k.Groups {
		if int(n) > c.Adapter().Limits.Workgroups {
			misuse(call, "%d workgroups, of at most %d a dimension", k.Groups, c.Adapter().Limits.Workgroups)
		}
	}
}

func (c *checked) copy(call string, k *wgpu.Command) {
	c.buffer(call, k.Src, wgpu.Storage, wgpu.Times).span(call, k.SrcOffset, k.Size)
	dst := c.buffer(call, k.Dst, wgpu.Storage, wgpu.Readback)
	dst.span(call, k.DstOffset, k.Size)
	if k.Src == k.Dst || dst.mapped > 0 {
		misuse(call, "from buffer %#x to %#x, mapped %d bytes", k.Src, k.Dst, dst.mapped)
	}
}

func (c *checked) Done() uint64 { return c.d.Done() }

func (c *checked) Wait(submission uint64) error {
	c.open("Wait")
	if submission > c.submitted {
		misuse("Wait", "there is no submission %d", submission)
	}
	err := c.d.Wait(submission)
	c.log("Wait(%d) = %v", submission, err)
	return err
}

func (c *checked) Map(b wgpu.Buffer, n int64) error {
	k := c.buffer("Map", b, wgpu.Readback)
	k.span("Map", 0, n)
	if k.mapped > 0 || n == 0 {
		misuse("Map", "%d bytes of a buffer with %d mapped", n, k.mapped)
	}
	err := c.d.Map(b, n)
	c.log("Map(%#x, %d) = %v", b, n, err)
	if err == nil {
		k.mapped = n
	}
	return err
}

func (c *checked) Read(b wgpu.Buffer, dst []byte) error {
	k := c.buffer("Read", b, wgpu.Readback)
	if int64(len(dst)) > k.mapped {
		misuse("Read", "%d bytes of %d mapped", len(dst), k.mapped)
	}
	err := c.d.Read(b, dst)
	c.log("Read(%#x, %d bytes) = %v", b, len(dst), err)
	k.mapped = 0
	return err
}

func (c *checked) Poll() error {
	c.open("Poll")
	err := c.d.Poll()
	if err != nil {
		c.log("Poll() = %v", err)
	}
	return err
}

func (c *checked) Close() {
	if !c.closed {
		c.log("Close() with %d buffers, %d groups, %d pipelines and %d queries", len(c.buffers), len(c.groups), len(c.pipelines), len(c.queries))
	}
	c.closed = true
	c.d.Close()
}

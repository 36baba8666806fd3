package gpu

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/ir"
)

// increment stores, from an offset on, an input's first word plus a number.
var increment = sources{passes: []source{{
	text: `struct Params { by: u32, at: i32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;
@compute @workgroup_size(1) fn main() { out[p.at] = x[0] + p.by; }
`,
	pass: &shader.Pass{
		Buffers: []*shader.Buffer{{Arg: 0, Write: true}, {Arg: 1}},
		Grid:    [3]int{1, 1, 1},
		Params:  []*shader.Param{{Arg: 2}, {Arg: 0, Offset: true}},
	},
}}}

// twice does the same in two passes, by way of scratch.
var twice = sources{
	scratch: []int{64},
	passes: []source{
		{
			text: `@group(0) @binding(0) var<storage, read_write> s: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@compute @workgroup_size(1) fn main() { s[3] = x[0]; }
`,
			pass: &shader.Pass{
				Buffers: []*shader.Buffer{{Arg: -1, Write: true}, {Arg: 1}},
				Grid:    [3]int{1, 1, 1},
			},
		},
		{
			text: `struct Params { by: u32, at: i32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> s: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;
@compute @workgroup_size(1) fn main() { out[p.at] = s[3] + p.by; }
`,
			pass: &shader.Pass{
				Buffers: []*shader.Buffer{{Arg: 0, Write: true}, {Arg: -1}},
				Grid:    [3]int{1, 1, 1},
				Params:  []*shader.Param{{Arg: 2}, {Arg: 0, Offset: true}},
			},
		},
	},
}

var get, put = binary.LittleEndian.Uint32, binary.LittleEndian.PutUint32

// shaders are the functions of the programs' passes.
var shaders = map[string]wgputest.Shader{
	increment.passes[0].text: func(_ [3]uint32, b [][]byte, p []byte) { put(b[0][4*get(p[4:]):], get(b[1])+get(p)) },
	total.passes[0].text: func(_ [3]uint32, b [][]byte, p []byte) {
		sum := get(b[1])
		for i := range totalNumbers {
			sum += get(p[4*i:])
		}
		put(b[0], sum)
	},
	twice.passes[0].text: func(_ [3]uint32, b [][]byte, _ []byte) { put(b[0][12:], get(b[1])) },
	twice.passes[1].text: func(_ [3]uint32, b [][]byte, p []byte) { put(b[0][4*get(p[4:]):], get(b[1][12:])+get(p)) },
	patchShader.passes[0].text: func(_ [3]uint32, b [][]byte, p []byte) {
		at := b[0][4*get(p):]
		put(at, get(at)&get(p[4:])|get(p[8:]))
	},
}

var incrementArgs = []ir.Arg{{Kind: ir.Out, DType: ir.Uint32, Len: 1}, {Kind: ir.In, DType: ir.Uint32}, {Kind: ir.Value, DType: ir.Uint32}}

// fake returns a device in memory.
func fake(t testing.TB, memory int64) (*device, *wgputest.FakeDevice) {
	t.Helper()
	return fakeOf(t, wgpu.Discrete, memory)
}

func fakeOf(t testing.TB, k wgpu.Kind, memory int64) (*device, *wgputest.FakeDevice) {
	t.Helper()
	lib := &wgputest.Fake{List: []wgpu.Adapter{wgputest.FakeAdapter("fake", k)}, Shaders: shaders, Memory: memory}
	d, err := wgputest.Check(lib, io.Discard).Open(wgputest.First, wgpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return newDevice(d, Options{Name: "fake"}), lib.Devices[0]
}

// prepare builds a program of increment's arguments.
func prepare(t testing.TB, d *device, p *sources) *program {
	t.Helper()
	q, err := d.build(p, schedule.SignatureOf(&ir.Kernel{Args: incrementArgs}, d.Target))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func alloc(t testing.TB, d *device, bytes int) driver.Buffer {
	t.Helper()
	b, err := d.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// chain is n calls, each of which adds its number to the last result, in two buffers by
// turns.
func chain(p *program, n int, a, b driver.Buffer) []driver.Call {
	var calls []driver.Call
	for i := range n {
		calls = append(calls, driver.Call{Program: p, Args: []driver.Arg{{Buffer: b}, {Buffer: a}, {Num: ir.Number(i)}}})
		a, b = b, a
	}
	return calls
}

// testChain runs a chain and looks at its result.
func testChain(t *testing.T, d *device, p *program, n int) {
	t.Helper()
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	last := a
	if n%2 == 1 {
		last = b
	}
	testCalls(t, d, chain(p, n, a, b), a, 7, last, uint32(7+n*(n-1)/2))
	a.Free()
	b.Free()
}

// testCalls runs calls with a word in one buffer, and looks at the word of another.
func testCalls(t *testing.T, d *device, calls []driver.Call, in driver.Buffer, word byte, out driver.Buffer, want uint32) {
	t.Helper()
	var got [4]byte
	err := d.Upload(in, 0, []byte{word, 0, 0, 0})
	if err == nil {
		err = d.Run(calls)
	}
	if err == nil {
		err = d.Download(got[:], out, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if get(got[:]) != want {
		t.Fatalf("got %d after %d calls, want %d", get(got[:]), len(calls), want)
	}
}

func TestBatches(t *testing.T) {
	for kind, batch := range map[wgpu.Kind]int{wgpu.Discrete: 128, wgpu.Integrated: 16, wgpu.Software: 16} {
		d, f := fakeOf(t, kind, 0)
		p := prepare(t, d, &increment)
		const n = 1000
		testChain(t, d, p, n)
		if f.Dispatches != n {
			t.Errorf("%v: a chain of %d makes %d dispatches", kind, n, f.Dispatches)
		}
		if f.Most > maxFlights+1 {
			t.Errorf("%v: %d submissions were under way, want at most %d", kind, f.Most, maxFlights+1)
		}
		submissions := 0
		for left, size := n, firstBatch; left > 0; size = min(2*size, batch) {
			submissions++
			left -= size
		}
		if f.Writes != 1+submissions {
			t.Errorf("%v: a chain of %d makes %d writes, want one upload and %d of parameters", kind, n, f.Writes, submissions)
		}
		if f.Groups != 2 {
			t.Errorf("%v: a chain of two buffers makes %d groups, want 2", kind, f.Groups)
		}
		testChain(t, d, prepare(t, d, &twice), 300)
	}
}

// Calls that run again, after a wait, upload nothing and allocate little.
func TestRunAgain(t *testing.T) {
	d, f := fake(t, 0)
	p := prepare(t, d, &increment)
	calls := chain(p, 100, alloc(t, d, 4), alloc(t, d, 4))
	if err := d.Run(calls); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
	writes, groups := f.Writes, f.Groups
	if err := d.Run(calls); err != nil {
		t.Fatal(err)
	}
	if f.Writes != writes || f.Groups != groups {
		t.Errorf("the second time makes %d writes and %d groups, want none", f.Writes-writes, f.Groups-groups)
	}
}

func TestFreed(t *testing.T) {
	d, f := fake(t, 0)
	before, _, _ := f.Live()
	p := prepare(t, d, &increment)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	if err := d.Run(chain(p, 2, a, b)); err != nil {
		t.Fatal(err)
	}
	if err := d.Download(make([]byte, 4), a, 0); err != nil {
		t.Fatal(err)
	}
	a.Free()
	b.Free()
	b.Free() // does no harm
	if err := d.Run(chain(p, 1, a, b)); err == nil {
		t.Error("running with freed buffers succeeds")
	}
	if d.Held != 0 {
		t.Errorf("%d bytes are held after all are freed", d.Held)
	}
	late, later := alloc(t, d, 4), alloc(t, d, 4)
	defer late.Free() // Close has done it
	if err := d.Run(chain(p, 1, late, later)); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if buffers, groups, pipelines := f.Live(); buffers != before || groups != 0 || pipelines != 0 {
		t.Errorf("after Close there are %d buffers, %d groups, %d pipelines", buffers-before, groups, pipelines)
	}
}

// The caches are bounded.
func TestBounded(t *testing.T) {
	d, f := fake(t, 0)
	p := prepare(t, d, &increment)
	a := alloc(t, d, 4)
	for range maxGroups + 500 {
		if err := d.Run(chain(p, 1, a, alloc(t, d, 4))); err != nil {
			t.Fatal(err)
		}
	}
	d.flush()
	if _, groups, _ := f.Live(); groups > maxGroups {
		t.Errorf("%d groups are kept, want at most %d", groups, maxGroups)
	}
	d.pipelines.Trim(0, d.freePipeline)
	testChain(t, d, p, 10) // compiles again
	q := prepare(t, d, &increment)
	d.flush()
	d.pipelines.Trim(0, d.freePipeline)
	testChain(t, d, q, 10)
	testChain(t, d, p, 10)
	if _, _, pipelines := f.Live(); pipelines != 1 {
		t.Errorf("%d pipelines of one source", pipelines)
	}
}

// Bytes go where they should, and nothing beside them is touched.
func TestBytes(t *testing.T) {
	d, _ := fake(t, 0)
	testBytes(t, d)
}

func testBytes(t *testing.T, d *device) {
	const size = 23
	b := alloc(t, d, size)
	want := make([]byte, size)
	if err := d.Upload(b, 0, want); err != nil {
		t.Fatal(err)
	}
	for offset := range size {
		for n := 1; n <= min(9, size-offset); n++ {
			src := make([]byte, n)
			for i := range src {
				src[i] = byte(17*offset + 5*n + i)
			}
			copy(want[offset:], src)
			if err := d.Upload(b, offset, src); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, size)
			if err := d.Download(got, b, 0); err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Fatalf("Upload of %d bytes at %d: got %v, want %v", n, offset, got, want)
			}
			if err := d.Download(got[:n], b, offset); err != nil || string(got[:n]) != string(src) {
				t.Fatalf("Download of %d bytes at %d: got %v (%v), want %v", n, offset, got[:n], err, src)
			}
		}
	}
}

// Uploads that are done are forgotten.
func TestUploadsAreForgotten(t *testing.T) {
	for _, sync := range []bool{true, false} {
		d, _ := fake(t, 0)
		p := prepare(t, d, &increment)
		a, b := alloc(t, d, 64), alloc(t, d, 64)
		for range 1000 {
			err := d.Upload(a, 0, make([]byte, 64))
			if err == nil && sync {
				err = d.Sync()
			}
			if err == nil {
				err = d.Run(chain(p, 1, a, b))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if n := len(d.uploads); n > maxFlights+1 {
			t.Errorf("sync=%v: after 1000 uploads %d are remembered, want at most %d", sync, n, maxFlights+1)
		}
	}
}

func TestLost(t *testing.T) {
	d, f := fake(t, 0)
	other, _ := fake(t, 0)
	p := prepare(t, d, &increment)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	f.Lose("it fell off the bus")
	k := new(ir.Kernel)
	var first error
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"Run", func() error { return d.Run(chain(p, 1, a, b)) }},
		{"Upload", func() error { return d.Upload(a, 0, make([]byte, 4)) }},
		{"Download", func() error { return d.Download(make([]byte, 4), a, 0) }},
		{"Alloc", func() error { _, err := d.Alloc(4); return err }},
		{"Compile", func() error { _, err := d.Compile(k); return err }},
		{"Sync", d.Sync},
		{"Sync again", d.Sync},
	} {
		err := c.f()
		if first == nil {
			first = err
		}
		if err == nil || err != first || !strings.Contains(err.Error(), "it fell off the bus") {
			t.Errorf("%s of a lost device: got error %v, want that of the loss, %v", c.name, err, first)
		}
	}
	a.Free()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	testChain(t, other, prepare(t, other, &increment), 3)
}

func TestMemory(t *testing.T) {
	d, _ := fake(t, 1000)
	alloc(t, d, 600)
	for _, size := range []int{500, 1 << 40, -1} {
		_, err := d.Alloc(size)
		if !errors.Is(err, driver.ErrMemory) || !strings.Contains(err.Error(), "608") {
			t.Errorf("Alloc(%d): got error %v, want one of memory that says that 608 are held", size, err)
		}
	}
	if err := d.Sync(); err != nil {
		t.Errorf("Sync tells again what Alloc told: %v", err)
	}
	huge := &ir.Kernel{Template: ir.Pointwise, Args: []ir.Arg{{Kind: ir.Out, DType: ir.Float32, Len: 1 << 48}}}
	if _, err := d.Compile(huge); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("Compile for 2^48 elements: got error %v, want one of memory", err)
	}
}

// A software adapter takes no more memory than the machine can spare.
func TestBudget(t *testing.T) {
	d, _ := fakeOf(t, wgpu.Software, 0)
	limit, err := hostmem.Limit()
	if got := d.Budget; got <= 0 || got >= int64(limit) || err != nil {
		t.Errorf("the budget is %d bytes of %d, %v", got, limit, err)
	}
	d = newDevice(d.dev, Options{Name: "fake", Memory: 1000})
	b := alloc(t, d, 600)
	if _, err := d.Alloc(500); !errors.Is(err, driver.ErrMemory) || !strings.Contains(err.Error(), "608 of 1000 held") {
		t.Errorf("Alloc(500): got error %v, want one of memory that says that 608 of 1000 are held", err)
	}
	b.Free()
	alloc(t, d, 500)
}

// refusing is a device that fails one kind of call.
type refusing struct {
	wgpu.Device
	call string
	kind wgpu.ErrorKind
}

func (r *refusing) refuse(call string) error {
	if r.call != call {
		return nil
	}
	return &wgpu.Error{Kind: r.kind, Call: call, Message: "not today"}
}

func (r *refusing) Submit(commands []wgpu.Command) (uint64, error) {
	if err := r.refuse("Submit"); err != nil {
		return 0, err
	}
	return r.Device.Submit(commands)
}

func (r *refusing) Map(b wgpu.Buffer, n int64) error {
	if err := r.refuse("Map"); err != nil {
		return err
	}
	return r.Device.Map(b, n)
}

func (r *refusing) Read(b wgpu.Buffer, dst []byte) error {
	if err := r.refuse("Read"); err != nil {
		return err
	}
	return r.Device.Read(b, dst)
}

func (r *refusing) Await(p wgpu.Pipeline) error {
	if err := r.refuse("Await"); err != nil {
		return err
	}
	return r.Device.Await(p)
}

// A download that fails keeps no memory.
func TestDownloadFails(t *testing.T) {
	if testing.Short() {
		t.Skip("copies large buffers")
	}
	dst := make([]byte, piece+4)
	for _, call := range []string{"Submit", "Map", "Read"} {
		d, f := fake(t, 0)
		b := alloc(t, d, len(dst))
		before, _, _ := f.Live()
		r := &refusing{d.dev, call, wgpu.Internal}
		d.dev = r
		if err := d.Download(dst, b, 0); err == nil || !strings.Contains(err.Error(), "not today") {
			t.Errorf("Download where %s fails: got error %v", call, err)
		}
		d.staging.free(d)
		if n, _, _ := f.Live(); n != before {
			t.Errorf("Download where %s fails keeps %d buffers", call, n-before)
		}
		r.call = ""
		if err := d.Sync(); call != "Submit" && err != nil {
			t.Errorf("Sync tells again what Download told: %v", err)
		}
		if err := d.Sync(); err != nil {
			t.Errorf("Sync tells twice that %s failed: %v", call, err)
		}
		if err := d.Download(dst, b, 0); err != nil {
			t.Errorf("Download after one where %s failed: %v", call, err)
		}
	}
}

// A shader that the driver failed to compile is compiled again, but not one
// that is wrong.
func TestCompileFails(t *testing.T) {
	for kind, want := range map[wgpu.ErrorKind]bool{wgpu.Internal: true, wgpu.OutOfMemory: true, wgpu.Validation: false} {
		d, f := fake(t, 0)
		r := &refusing{d.dev, "Await", kind}
		d.dev = r
		p := prepare(t, d, &increment)
		a, b := alloc(t, d, 4), alloc(t, d, 4)
		for range 2 {
			if err := d.Run(chain(p, 1, a, b)); err == nil || strings.Contains(err.Error(), "fault of the library") == want {
				t.Errorf("Run of a shader that fails to compile, by kind %d: got error %v", kind, err)
			}
		}
		r.call = ""
		if err := d.Run(chain(p, 1, a, b)); (err == nil) != want {
			t.Errorf("Run of a shader that failed to compile, by kind %d: got error %v, want that it runs: %v", kind, err, want)
		}
		if _, _, n := f.Live(); n != 1 {
			t.Errorf("%d pipelines are kept, want 1", n)
		}
	}
}

// Memory for reuse grows within the device's limit, and is freed where buffers need it.
func TestScratch(t *testing.T) {
	small, large := twice, twice
	small.scratch, large.scratch = []int{4000}, []int{5500}
	d, _ := fake(t, 10000+maxUniforms*slot)
	p, q := prepare(t, d, &small), prepare(t, d, &large)
	testChain(t, d, p, 1)
	d.staging.free(d)
	a, b := alloc(t, d, 16), alloc(t, d, 3000)
	if err := d.Run(chain(q, 1, a, b)); err != nil {
		t.Errorf("Run with 5500 bytes of scratch, where 7000 are free or scratch: %v", err)
	}
	if _, err := d.Alloc(5000); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("Alloc of 5000 bytes, where 1500 are free: got error %v, want one of memory", err)
	}
	c, err := d.Alloc(5000)
	if err != nil {
		t.Fatalf("Alloc of 5000 bytes, tried again: %v", err)
	}
	if err := d.Run(chain(q, 1, a, b)); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("Run with 5500 bytes of scratch, where 2000 are free: got error %v, want one of memory", err)
	}
	for _, b := range []driver.Buffer{a, b, c} {
		b.Free()
	}
	testChain(t, d, q, 1)
}

func TestFailure(t *testing.T) {
	d, f := fake(t, 0)
	f.Fail("a bad day")
	if err := d.Run(nil); err != nil {
		t.Errorf("Run: %v, want that Sync tells", err)
	}
	b := alloc(t, d, 4)
	for range 2 {
		if err := d.Download(make([]byte, 4), b, 0); err == nil || !strings.Contains(err.Error(), "a bad day") {
			t.Errorf("Download before Sync: got error %v", err)
		}
	}
	if err := d.Sync(); err == nil || !strings.Contains(err.Error(), "a bad day") {
		t.Errorf("Sync: got error %v", err)
	}
	if err := d.Sync(); err != nil {
		t.Errorf("the second Sync: %v", err)
	}
	if err := d.Download(make([]byte, 4), b, 0); err != nil {
		t.Errorf("Download after Sync: %v", err)
	}
}

func TestRefused(t *testing.T) {
	d, _ := fake(t, 0)
	other, _ := fake(t, 0)
	p := prepare(t, d, &increment)
	notes, err := d.build(&increment, schedule.SignatureOf(&ir.Kernel{Args: []ir.Arg{{Kind: ir.Status, DType: ir.Int32}}}, d.Target))
	if err != nil {
		t.Fatal(err)
	}
	line := &ir.View{Coef: []int{1}}
	reads, err := d.build(&increment, schedule.SignatureOf(&ir.Kernel{
		Axes: []ir.Axis{{Len: 2}},
		Args: []ir.Arg{{Kind: ir.In, DType: ir.Uint32}},
		Body: []ir.Instr{{Op: ir.Load, View: line, Domain: ir.Axes(0)}},
	}, d.Target))
	if err != nil {
		t.Fatal(err)
	}
	a, b := alloc(t, d, 8), alloc(t, d, 4)
	foreign := alloc(t, other, 4)
	number := driver.Arg{Num: 1}
	for _, c := range []struct {
		name string
		call driver.Call
		want string
	}{
		{"another device's program", driver.Call{Program: prepare(t, other, &increment)}, "program of another device"},
		{"too few arguments", driver.Call{Program: p, Args: []driver.Arg{{Buffer: a}}}, "1 arguments for a kernel of 3"},
		{"another device's buffer", driver.Call{Program: p, Args: []driver.Arg{{Buffer: a}, {Buffer: foreign}, number}}, "argument 1 is not a buffer of this device"},
		{"no buffer", driver.Call{Program: p, Args: []driver.Arg{{Buffer: a}, number, number}}, "argument 1 is not a buffer of this device"},
		{"one buffer read and written", driver.Call{Program: p, Args: []driver.Arg{{Buffer: a}, {Buffer: a}, number}}, "arguments 0 and 1 are one buffer"},
		{"a negative offset", driver.Call{Program: p, Args: []driver.Arg{{Buffer: a, Offset: -1}, {Buffer: b}, number}}, "starts at element -1"},
		{"an offset of a result", driver.Call{Program: p, Args: []driver.Arg{{Buffer: a, Offset: 1}, {Buffer: b}, number}}, "element 1, and is written"},
		{"an input past the end", driver.Call{Program: p, Args: []driver.Arg{{Buffer: a}, {Buffer: b, Offset: 2}, number}}, "argument 1: elements 0 to 0 from 2 on, in a buffer of 1"},
		{"an input that ends past the end", driver.Call{Program: reads, Args: []driver.Arg{{Buffer: a, Offset: 1}}}, "argument 0: elements 0 to 2 from 1 on, in a buffer of 2"},
		{"a status past the end", driver.Call{Program: notes, Args: []driver.Arg{{Buffer: a, Offset: 1}}}, "argument 0: elements 0 to 6 from 1 on, in a buffer of 2"},
	} {
		if err := d.Run([]driver.Call{c.call}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Run of a call with %s: got error %v, want %q", c.name, err, c.want)
		}
	}
	bad := sources{passes: []source{{text: "nonsense", pass: &shader.Pass{}}}}
	if _, err := d.build(&bad, schedule.SignatureOf(&ir.Kernel{}, d.Target)); err == nil || !strings.Contains(err.Error(), "please report it") || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a shader that is refused: got error %v, want one that shows it", err)
	}
	if err := d.Upload(a, 4, make([]byte, 5)); err == nil {
		t.Error("Upload past the end succeeds")
	}
	if err := d.Download(make([]byte, 5), a, 4); err == nil {
		t.Error("Download past the end succeeds")
	}
}

package wgpu_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
)

// first picks the first adapter, software or not.
func first(as []wgpu.Adapter) (int, error) {
	if len(as) == 0 {
		return 0, wgpu.ErrNoAdapter
	}
	return 0, nil
}

// open opens an adapter of this machine, or skips the test.
func open(t testing.TB, o wgpu.Options) wgpu.Device {
	t.Helper()
	lib, err := wgpu.Load("")
	var d wgpu.Device
	if err == nil {
		if o.Timeout == 0 {
			o.Timeout = time.Minute
		}
		d, err = wgputest.Check(lib, io.Discard).Open(first, o)
	}
	if err != nil {
		if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
			t.Fatal(err)
		}
		t.Skip("no GPU: ", err)
	}
	t.Cleanup(d.Close)
	return d
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

const scale = `
struct Params { by: f32, start: i32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {
	if (g.x < arrayLength(&b)) { b[g.x] = a[i32(g.x) + p.start] * p.by; }
}`

func floats(xs ...float32) []byte {
	var b []byte
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func TestDevice(t *testing.T) {
	for _, validate := range []bool{true, false} {
		t.Run(fmt.Sprintf("validate=%v", validate), func(t *testing.T) {
			d := open(t, wgpu.Options{Validate: validate})
			t.Logf("%+v", *d.Adapter())
			a := must(d.NewBuffer(16, wgpu.Storage))(t)
			b := must(d.NewBuffer(8, wgpu.Storage))(t)
			r := must(d.NewBuffer(8, wgpu.Readback))(t)
			n := must(d.NewBuffer(512, wgpu.Params))(t)
			l := must(d.NewLayout([]bool{false, true}, 256))(t)
			p := must(d.NewPipeline(scale, l))(t)
			if err := d.Await(p); err != nil {
				t.Fatal(err)
			}
			g := must(d.NewGroup(l, []wgpu.Binding{{a, 16}, {b, 8}, {n, 256}}))(t)
			d.Write(a, 0, floats(1, 2, 3, 4))
			d.Write(n, 256, binary.LittleEndian.AppendUint32(floats(10), 2))
			s := must(d.Submit([]wgpu.Command{
				{Pipeline: p, Group: g, Params: true, Offset: 256, Groups: [3]uint32{1, 1, 1}},
				{Src: b, Dst: r, Size: 8},
			}))(t)
			if err := d.Map(r, 8); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 8)
			if err := d.Read(r, got); err != nil {
				t.Fatal(err)
			}
			if want := floats(30, 40); string(got) != string(want) {
				t.Errorf("scaled: got %v, want %v", got, want)
			}
			if err := d.Wait(s); err != nil {
				t.Error(err)
			}
			if err := d.Poll(); err != nil {
				t.Error(err)
			}
			d.FreeGroup(g)
			d.FreePipeline(p)
			for _, x := range []wgpu.Buffer{a, b, r, n} {
				d.FreeBuffer(x)
			}
		})
	}
}

// Errors are found even while goroutines move from thread to thread.
func TestErrorAmongThreads(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("one thread, on which goroutines that never rest keep the event loop from running")
	}
	d := open(t, wgpu.Options{Validate: true})
	l := must(d.NewLayout([]bool{true}, 0))(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	stop := make(chan struct{})
	defer close(stop)
	for range 16 {
		go func() {
			for tick := time.Tick(10 * time.Microsecond); ; {
				select {
				case <-stop:
					return
				case <-tick:
					runtime.GC()
				}
			}
		}()
	}
	for i := range 200 {
		var e *wgpu.Error
		if _, err := d.NewPipeline("@compute @workgroup_size(1) fn main() { x = 1; }", l); !errors.As(err, &e) || e.Kind != wgpu.Validation {
			t.Fatalf("pipeline %d of a wrong shader: error %v", i, err)
		}
	}
}

func TestShaderRefused(t *testing.T) {
	d := open(t, wgpu.Options{Validate: true})
	l := must(d.NewLayout([]bool{true}, 0))(t)
	_, err := d.NewPipeline("@compute @workgroup_size(1) fn main() { x = 1; }", l)
	var e *wgpu.Error
	if !errors.As(err, &e) || e.Kind != wgpu.Validation || !strings.Contains(err.Error(), "unresolved value 'x'") {
		t.Errorf("a shader of an unknown name: %v", err)
	}
	p, err := d.NewPipeline("@group(0) @binding(3) var<storage, read_write> a: array<u32>;\n@compute @workgroup_size(1) fn main() { a[0] = 1; }", l)
	if err == nil {
		err = d.Await(p)
	}
	if !errors.As(err, &e) || e.Kind != wgpu.Validation {
		t.Errorf("a shader of another layout: %v", err)
	}
	if err := d.Poll(); err != nil {
		t.Error(err)
	}
}

func TestOutOfMemory(t *testing.T) {
	d := open(t, wgpu.Options{})
	for _, size := range []int64{(d.Adapter().Limits.Buffer + 4) &^ 3, 1 << 60} {
		b, err := d.NewBuffer(size, wgpu.Storage)
		var e *wgpu.Error
		if !errors.As(err, &e) || e.Kind != wgpu.OutOfMemory {
			t.Errorf("NewBuffer(%d) = %v, %v, want an error of memory", size, b, err)
		}
	}
}

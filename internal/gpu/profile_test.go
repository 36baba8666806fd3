package gpu

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/tensor"
)

// fakeTimed returns a device in memory, with timestamps.
func fakeTimed(t *testing.T) (profiler, *wgputest.FakeDevice) {
	t.Helper()
	a := wgputest.FakeAdapter("fake", wgpu.Integrated)
	a.Features = []string{wgpu.TimestampQuery}
	lib := &wgputest.Fake{List: []wgpu.Adapter{a}, Shaders: shaders}
	d, err := wgputest.Check(lib, io.Discard).Open(wgputest.First, wgpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return New(d, Options{Name: "fake"}).(profiler), lib.Devices[0]
}

// The span of a call includes all its passes, and a device needs few sets of queries.
func TestRunTimed(t *testing.T) {
	d, f := fakeTimed(t)
	one, two := prepare(t, d.device, &increment), prepare(t, d.device, &twice)
	a, b := alloc(t, d.device, 4), alloc(t, d.device, 4)
	calls := chain(one, 40, a, b) // more than one submission
	calls[3].Program, calls[20].Program = two, two
	const rounds = 30
	var timings []driver.Timing
	before := clock.Now()
	for range rounds {
		timing, err := d.RunTimed(calls)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Sync(); err != nil {
			t.Fatal(err)
		}
		timings = append(timings, timing)
	}
	if n := f.Queries(); n > 8 {
		t.Errorf("%d sets of queries are in use, want 8 at most", n)
	}
	var last time.Time
	for round, timing := range timings {
		spans, err := timing.Spans()
		if err != nil || len(spans) != len(calls) {
			t.Fatalf("round %d: %d spans, %v, want %d", round, len(spans), err, len(calls))
		}
		for i, s := range spans {
			want := time.Microsecond // of a dispatch
			if calls[i].Program == driver.Program(two) {
				want *= 2
			}
			if s.Duration != want || s.Start.Before(last) || s.Start.Before(before) {
				t.Errorf("round %d, call %d: it starts at %v and takes %v; want %v from %v on", round, i, s.Start.Sub(before), s.Duration, want, last.Sub(before))
			}
			last = s.Start.Add(s.Duration)
		}
	}
	if err := d.Run(calls); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if buffers, _, _ := f.Live(); buffers != 0 || f.Queries() != 0 {
		t.Errorf("after Close there are %d buffers and %d sets of queries", buffers, f.Queries())
	}
	if _, err := timings[0].Spans(); err == nil {
		t.Error("Spans after Close succeeds")
	}
}

// A failure to read timestamps fails Spans, and nothing that is computed.
func TestRunTimedFails(t *testing.T) {
	d, f := fakeTimed(t)
	p := prepare(t, d.device, &increment)
	a, b := alloc(t, d.device, 4), alloc(t, d.device, 4)
	r := &refusing{d.dev, "Read", wgpu.Internal}
	d.dev = r
	timing, err := d.RunTimed(chain(p, 40, a, b))
	if err != nil {
		t.Fatal(err)
	}
	var e *wgpu.Error
	if _, err := timing.Spans(); !errors.As(err, &e) {
		t.Errorf("Spans gives error %v, want that of Read", err)
	}
	if err := d.Sync(); err != nil {
		t.Errorf("Sync gives error %v of timestamps", err)
	}
	for _, call := range []string{"Submit", "Map"} {
		r.call = call
		if _, err := d.RunTimed(chain(p, 40, a, b)); !errors.As(err, &e) {
			t.Errorf("RunTimed gives error %v, want that of %s", err, call)
		}
	}
	d.Close()
	if n := f.Queries(); n != 0 {
		t.Errorf("%d sets of queries are not freed", n)
	}
}

func TestNoTimestamps(t *testing.T) {
	_, f := fake(t, 0)
	if _, ok := New(f, Options{}).(driver.Profiler); ok {
		t.Error("a device without timestamps is a driver.Profiler")
	}
}

// A GPU's kernels have its own times and the program's lines.
func TestProfile(t *testing.T) {
	if testing.Short() {
		t.Skip("measures the device")
	}
	wgputest.Need(t)
	d, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := d.(driver.Profiler); !ok {
		t.Skip("the adapter has no timestamps")
	}
	dev := deviceOf(t, d)
	defer dev.Close()
	x := tensor.NewRNG(1).Normal(256, 256).To(dev)
	if err := tensor.Eval(x); err != nil {
		t.Fatal(err)
	}
	step := func() (line string) {
		_, _, n, _ := runtime.Caller(0)
		y := x.MatMul(x.T()).Softmax(-1)
		if err := tensor.Eval(y); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("profile_test.go:%d", n+1)
	}
	step()
	var line string
	trace := tensor.Profile(func() {
		for range 3 {
			line = step()
		}
	})
	var templates []string
	for _, k := range trace.Kernels {
		templates = append(templates, k.Template)
		if k.Device != dev || k.Site != line || k.Waited || k.Duration <= 0 || k.Duration > trace.Wall+time.Second {
			t.Errorf("%+v of a trace of %v: want one of line %s", k, trace.Wall, line)
		}
	}
	if want := slices.Repeat([]string{"contraction", "reduce"}, 3); !slices.Equal(templates, want) {
		t.Errorf("the kernels are %v, want %v", templates, want)
	}
	if p := trace.Peaks[dev]; p.Bytes < 1e6 || p.FLOPs < 1e6 {
		t.Errorf("the peak is %+v", p)
	}
	t.Logf("\n%v", trace)
}

package tensor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// nextLine is the file and line after the one that it is called from.
func nextLine() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf("profile_test.go:%d", line+1)
}

func eval(t *testing.T, trees ...any) {
	t.Helper()
	if err := tensor.Eval(trees...); err != nil {
		t.Fatal(err)
	}
}

// lines lists the templates and lines of the kernels of a trace.
func lines(trace *tensor.Trace) string {
	var text []string
	for _, k := range trace.Kernels {
		text = append(text, k.Template+" "+k.Site)
	}
	return strings.Join(text, ", ")
}

func TestProfile(t *testing.T) {
	x := tensor.NewRNG(1).Normal(32, 64)
	eval(t, x)
	var product, softmax, taken string
	trace := tensor.Profile(func() {
		product = nextLine()
		y := x.MatMul(x.T())
		y = y.Add(1).ReLU() // part of the product's kernel
		softmax = nextLine()
		p := y.Softmax(-1)
		eval(t, p)
		taken = nextLine()
		eval(t, x.Take(0, tensor.New([]int32{3, 1}, 2)))
	})
	want := fmt.Sprintf("contraction %s, reduce %s, pointwise %s", product, softmax, taken)
	if got := lines(trace); got != want {
		t.Errorf("the trace has %s, want %s", got, want)
	}
	k := trace.Kernels[0]
	if k.Name != "[32×32 | 64] float32 Mul Sum Add Lt Where" || k.Bytes != 4*(2*32*64+32*32) || k.FLOPs != 2*32*32*64+3*32*32 {
		t.Errorf("the product is %q, of %d bytes and %d operations", k.Name, k.Bytes, k.FLOPs)
	}
	last := time.Duration(0)
	for _, k := range trace.Kernels {
		if k.Device != tensor.CPU() || k.Start < last || k.Duration <= 0 || k.Start+k.Duration > trace.Wall || k.Waited {
			t.Errorf("a kernel on %v starts at %v, takes %v, waited %v, after %v, in all %v", k.Device, k.Start, k.Duration, k.Waited, last, trace.Wall)
		}
		last = k.Start + k.Duration
	}
	if p := trace.Peaks[tensor.CPU()]; p.Bytes < 1e6 || p.FLOPs < 1e6 {
		t.Errorf("the peak of the CPU is %+v", p)
	}
	if text := trace.String(); !strings.Contains(text, softmax) || strings.Contains(text, "no timestamps") {
		t.Errorf("the table is\n%s", text)
	}

	eval(t, x.Exp())
	if len(trace.Kernels) != 3 {
		t.Error("a trace grows after Profile")
	}
	if n := tensor.Internal.Node(graph.Token{}, x.Exp()); n.Call() != nil {
		t.Error("a call is recorded after Profile")
	}
	if got := tensor.Profile(func() {}).String(); !strings.HasPrefix(got, "no kernels in ") {
		t.Errorf("the table of nothing is %q", got)
	}
}

// A plan of the cache has the lines of the call that runs it.
func TestProfileCachedPlan(t *testing.T) {
	x := tensor.NewRNG(1).Normal(5, 7)
	eval(t, x)
	tensor.Profile(func() { eval(t, x.Mul(x).Sum(1)) }) // the first one measures the CPU, by plans
	plans := tensor.Info().Plans
	var first, second string
	trace := tensor.Profile(func() {
		first = nextLine()
		y := x.Mul(x).Sum(1)
		eval(t, y)
		second = nextLine()
		z := x.Mul(x).Sum(1)
		eval(t, z)
	})
	if n := tensor.Info().Plans - plans; n != 0 {
		t.Fatalf("%d plans are new, want 0", n)
	}
	if got, want := lines(trace), "reduce "+first+", reduce "+second; got != want {
		t.Errorf("the trace has %s, want %s", got, want)
	}
	y := x.Mul(x).Sum(1) // before Profile
	var asked string
	trace = tensor.Profile(func() {
		asked = nextLine()
		if err := tensor.Eval(y, tensor.Zeros(3)); err != nil {
			t.Fatal(err)
		}
	})
	if got, want := lines(trace), "reduce "+asked+", pointwise "+asked; got != want {
		t.Errorf("the trace of what was called before it has %q, want the line of Eval, %q", got, want)
	}
}

func TestProfileGoroutines(t *testing.T) {
	x := tensor.NewRNG(1).Normal(20, 20)
	eval(t, x)
	const goroutines, rounds = 8, 20
	var other *tensor.Trace
	var line string
	work := func() {
		for range rounds {
			eval(t, x.Exp())
		}
	}
	trace := tensor.Profile(func() {
		var all sync.WaitGroup
		for range goroutines {
			all.Go(work)
		}
		line = nextLine()
		y := x.Log()
		all.Go(func() { other = tensor.Profile(func() { eval(t, y) }) })
		all.Wait()
	})
	logs := 0
	for _, k := range trace.Kernels {
		if k.Site == line {
			logs++
		}
	}
	// The other Profile measures the peak meanwhile, if nothing has before.
	if n := len(trace.Kernels); n < goroutines*rounds+1 || logs != 1 {
		t.Errorf("the trace of %d goroutines has %d kernels, want at least %d; %d of line %s, want 1", goroutines, n, goroutines*rounds+1, logs, line)
	}
	if len(other.Kernels) == 0 {
		t.Error("a Profile in another one records nothing")
	}
}

func TestProfilePanics(t *testing.T) {
	err := tensor.Try(func() { tensor.Profile(func() { tensor.Zeros(2).Add(tensor.Zeros(3)) }) })
	if err == nil {
		t.Error("Profile hides a panic")
	}
	if n := tensor.Internal.Node(graph.Token{}, tensor.Zeros(2)); n.Call() != nil {
		t.Error("calls are recorded after a Profile that panicked")
	}
}

// plain is a device that cannot tell when a call ran.
type plain struct {
	driver.Device
	name string
}

func (p plain) Name() string { return p.name }

func TestProfileWithoutClock(t *testing.T) {
	d := tensor.NewDevice(plain{cpu.New(cpu.Options{}), "plain"})
	x := tensor.NewRNG(1).Normal(9, 9).To(d)
	trace := tensor.Profile(func() {
		eval(t, x.Exp().Sum())
		d.Close()
	})
	if len(trace.Kernels) == 0 {
		t.Fatal("no kernels")
	}
	for _, k := range trace.Kernels {
		if !k.Waited || k.Device != d || k.Duration <= 0 {
			t.Errorf("a kernel on %v, waited %v, takes %v", k.Device, k.Waited, k.Duration)
		}
	}
	if p := trace.Peaks[d]; p != (tensor.Peak{}) {
		t.Errorf("the peak of a closed device is %v", p)
	}
	if text := trace.String(); !strings.Contains(text, "no timestamps") {
		t.Errorf("the table does not say that times include waits:\n%s", text)
	}
}

// written is a trace of two devices, one of which ran two kernels at once.
func written() *tensor.Trace {
	gpu := tensor.NewDevice(plain{cpu.New(cpu.Options{}), "gpu"})
	const ms, us = time.Millisecond, time.Microsecond
	kernel := func(d *tensor.Device, template, name, site string, start, duration time.Duration, bytes, flops int) tensor.KernelTime {
		return tensor.KernelTime{Device: d, Template: template, Name: name, Site: site, Start: start, Duration: duration, Bytes: bytes, FLOPs: flops}
	}
	product := "[64×512 | 784] float32 Mul Sum Add"
	return &tensor.Trace{
		Wall: 12 * ms,
		Kernels: []tensor.KernelTime{
			kernel(gpu, "contraction", product, "model.go:41", 0, 2*ms, 1871872, 51445760),
			kernel(gpu, "pointwise", "[512] float32 Exp", "model.go:42", 1*ms, 500*us, 4096, 512),
			kernel(gpu, "contraction", product, "model.go:41", 4*ms, 1*ms, 1871872, 51445760),
			kernel(tensor.CPU(), "reduce", "[10 | 256] float32 Sum", "", 6*ms, 1500*ns, 10280, 2560),
			kernel(gpu, "contraction", product, "model.go:50", 8*ms, 4*ms, 1871872, 51445760),
		},
		Peaks: map[*tensor.Device]tensor.Peak{gpu: {Bytes: 20e9, FLOPs: 60e9}},
	}
}

const ns = time.Nanosecond

func TestTrace(t *testing.T) {
	goldentext.Check(t, "testdata/trace.golden", written().String())
}

func TestWriteTrace(t *testing.T) {
	var b bytes.Buffer
	if err := written().WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		TraceEvents []struct {
			Name, Ph string
			TS, Dur  float64
			PID, TID int
			Args     map[string]any
		}
		DisplayTimeUnit string
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, e := range got.TraceEvents {
		fmt.Fprintf(&text, "%s %s %d/%d %v+%v %v\n", e.Ph, e.Name, e.PID, e.TID, e.TS, e.Dur, e.Args)
	}
	goldentext.Check(t, "testdata/events.golden", text.String())
}

func TestWriteTraceFails(t *testing.T) {
	if err := written().WriteTrace(full{}); err == nil {
		t.Error("WriteTrace hides that the writer is full")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("full") }

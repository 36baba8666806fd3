package tensor

import (
	"time"

	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/profile"
)

// A Trace is the kernels that ran during a [Profile].
type Trace struct {
	Kernels []KernelTime // in order of their starts
	Wall    time.Duration
	// Peaks has the greatest speeds of the devices of the kernels.
	Peaks map[*Device]Peak
}

// A KernelTime is one run of a kernel.
type KernelTime struct {
	Device   *Device
	Template string // pointwise, reduce, contraction, a routine such as scatter, loop: attention by blocks of rows, or kernel: a Kernel's
	// Name describes the kernel: the lengths of its axes, reduced ones after a bar, the
	// type that it stores, and its operations.
	Name string
	// Site is the file and line that asked for it: the call from outside this module of
	// the operation that is most of the kernel's work, so the layers of an nn.Sequential
	// share a line. A kernel of a backward pass has the line of the operation that is
	// differentiated. If the call was before Profile, Site is
	// the line that asked for values, such as a call of Eval.
	Site     string
	Start    time.Duration // since the start of Profile
	Duration time.Duration
	// Waited says that the device has no clock of its own: Duration is the host's time
	// from submitting the kernel to its end.
	Waited bool
	// Bytes counts each element that is read or written once. FLOPs counts 1 for each
	// element of an elementwise operation, also if it is as expensive as Exp, and 1 for each
	// element that is reduced: so 2 for a product that is added.
	Bytes, FLOPs int
}

// A Peak is the greatest speed that a device has shown in simple kernels.
type Peak struct {
	Bytes float64 // a second, read by a sum of a long vector of float32
	FLOPs float64 // a second, of a product of square matrices of float32
}

// Profile calls f and records the kernels that run until f returns, in any goroutine and on
// any device:
//
//	trace := tensor.Profile(func() { step(batch) })
//	fmt.Print(trace)
//
// A tensor that f makes and does not ask for is not computed. The first calls of a step
// compile its kernels: profile a later one. The CPU's kernels are timed with the host's clock,
// a GPU's by timestamps of its own, which Profile collects at the end. Where a GPU has none,
// each kernel is waited for. Recording lines takes time for each operation that the program
// calls.
//
// The first Profile on a device measures its [Peak] after f, which takes some tenths of a
// second.
func Profile(f func()) *Trace {
	checkFunc("Profile", f)
	start := clock.Now()
	p := profile.Start()
	stop := p.Stop
	defer func() {
		if stop != nil {
			stop() // f has panicked
		}
	}()
	f()
	t := &Trace{Wall: clock.Since(start), Peaks: map[*Device]Peak{}}
	stop = nil
	for _, s := range p.Stop() {
		c := s.Step.Cost()
		d := (*Device)(s.Device.(*exec.Device))
		t.Kernels = append(t.Kernels, KernelTime{
			Device: d, Template: s.Step.Kind(), Name: s.Step.Name(), Site: s.Site.Pos(),
			Start: s.Start.Sub(start), Duration: s.Duration, Waited: s.Waited,
			Bytes: c.Read + c.Written, FLOPs: c.FLOPs,
		})
		t.Peaks[d] = Peak{}
	}
	for d := range t.Peaks {
		t.Peaks[d] = Peak(d.exec().Peak())
	}
	return t
}

// Package profile records the kernels that run.
package profile

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/internal/storage"
)

// A Profile records the kernels that run on any device until Stop.
type Profile struct {
	mu        sync.Mutex
	runs      []*timedRun
	stopSites func()
}

// A timedRun is an execution of a plan while profiles are recorded.
type timedRun struct {
	device  *storage.Device
	steps   []compile.Step
	sites   []*graph.CallSite // of the steps, in the call that evaluated this time
	timing  driver.Timing
	spans   []driver.Span // once collected; nil if the device could not tell them
	waited  bool          // for each step, as the device is no driver.Profiler
	collect sync.Once
}

// A Step is one run of a kernel in a profile.
type Step struct {
	Device graph.Device
	Step   *compile.Step
	Site   *graph.CallSite // of the node that the step is named after or, if unknown, of the evaluation
	Waited bool            // the time is the host's, and includes waiting for the kernel
	driver.Span
}

// profiles are the ones being recorded, nil for none. A change replaces the slice.
var (
	profiles   atomic.Pointer[[]*Profile]
	profilesMu sync.Mutex // held to replace them
)

// Start starts to record.
func Start() *Profile {
	p := &Profile{stopSites: graph.RecordSites()}
	changeProfiles(func(list []*Profile) []*Profile { return append(list, p) })
	return p
}

// Stop ends the recording, waits for the kernels that have been submitted, and returns
// them in order of their starts. Kernels whose device was lost are left out.
func (p *Profile) Stop() []Step {
	p.stopSites()
	changeProfiles(func(list []*Profile) []*Profile {
		return slices.DeleteFunc(list, func(q *Profile) bool { return q == p })
	})
	var steps []Step
	for _, r := range p.recorded() {
		for i, span := range r.finish() {
			steps = append(steps, Step{r.device.Handle, &r.steps[i], r.sites[i], r.waited, span})
		}
	}
	sorts.Stable(steps, func(a, b Step) int { return a.Start.Compare(b.Start) })
	return steps
}

func changeProfiles(f func([]*Profile) []*Profile) {
	profilesMu.Lock()
	defer profilesMu.Unlock()
	var list []*Profile
	if old := profiles.Load(); old != nil {
		list = slices.Clone(*old)
	}
	if list = f(list); len(list) == 0 {
		profiles.Store(nil)
		return
	}
	profiles.Store(&list)
}

// Submit runs calls of steps, once or several times, for the profiles that are being recorded. Node
// returns a node of the graph by number. The caller holds the queue.
func Submit(d *storage.Device, calls []driver.Call, steps []compile.Step, node func(int) *graph.Node) error {
	list := profiles.Load()
	if list == nil {
		return d.Queue.Run(calls)
	}
	timing, waited, err := d.RunTimed(calls)
	if err != nil {
		return err
	}
	r := &timedRun{device: d, steps: steps, timing: timing, waited: waited}
	r.sites = make([]*graph.CallSite, len(r.steps))
	var asked *graph.CallSite // for the values
	for i := range r.steps {
		if n := r.steps[i].Node; n >= 0 {
			r.sites[i] = node(n).CallSite()
		}
		if r.sites[i] == nil {
			if asked == nil {
				asked = graph.NewCallSite()
			}
			r.sites[i] = asked
		}
	}
	times := len(calls) / max(1, len(r.steps))
	r.steps, r.sites = slices.Repeat(r.steps, times), slices.Repeat(r.sites, times)
	for _, profile := range *list {
		profile.mu.Lock()
		profile.runs = append(profile.runs, r)
		profile.mu.Unlock()
	}
	return nil
}

// finish returns the spans, after waiting for them.
func (r *timedRun) finish() []driver.Span {
	r.collect.Do(func() {
		r.device.Queue.Lock()
		defer r.device.Queue.Unlock()
		if spans, err := r.timing.Spans(); err == nil {
			r.spans = spans
		}
		r.timing = nil
	})
	return r.spans
}

// Collect takes the times of a device that is about to be closed.
func Collect(d *storage.Device) {
	list := profiles.Load()
	if list == nil {
		return
	}
	for _, p := range *list {
		for _, r := range p.recorded() {
			if r.device == d {
				r.finish()
			}
		}
	}
}

func (p *Profile) recorded() []*timedRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.runs)
}

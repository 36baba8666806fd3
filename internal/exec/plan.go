package exec

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A plan is a compiled plan made ready for a device.
type plan struct {
	compiled *compile.Plan
	programs []driver.Program
	slots    []int   // size classes of the buffers to take
	slot     []int   // of each of the plan's buffers
	args     int     // of all steps together
	ties     [][]int // of an output, those without which it is worthless
	mayFail  []bool  // of a buffer, whether it depends on a check
}

// prepare returns the plan for a request, from the cache or compiled.
func (d *Device) prepare(r *request) (*plan, error) {
	if p, ok := d.plans.get(r.key); ok {
		return p, nil
	}
	c, err := compile.Graph(r.graph(), d.limits.Bindings, r.fallbacks)
	if err != nil {
		return nil, err
	}
	p := newPlan(c, d.limits.Bytes)
	p.ties = r.ties()
	p.mayFail = p.unsafe()
	for _, s := range c.Steps {
		if err := d.takes(s.Kernel); err != nil {
			return nil, err
		}
		program, err := d.program(s.Kernel)
		if err != nil {
			return nil, err
		}
		p.programs = append(p.programs, program)
		p.args += len(s.Args)
	}
	d.plans.put(string(r.key), p)
	return p, nil
}

// unsafe lists the buffers that depend on a check: those that would be worthless if
// all checks failed.
func (p *plan) unsafe() []bool {
	r := &run{plan: p, bad: make([]bool, len(p.compiled.Buffers))}
	for i := range p.compiled.Steps {
		s := &p.compiled.Steps[i]
		var report *failure
		if len(s.Indices) > 0 {
			report = newFailure(nil)
		}
		r.step(s, report)
	}
	p.spread(r.bad)
	return r.bad
}

// takes reports whether the device has the element types of a kernel.
func (d *Device) takes(k *ir.Kernel) error {
	var types []ir.DType
	for _, a := range k.Args {
		types = append(types, a.DType)
	}
	for _, in := range k.Body {
		types = append(types, in.Type)
	}
	for _, t := range types {
		if !d.limits.Has(t) {
			return fmt.Errorf("%v: %w: cast it to another, or compute with it on the CPU", t, driver.ErrType)
		}
	}
	return nil
}

// program compiles a kernel, if none with the same text is.
func (d *Device) program(k *ir.Kernel) (driver.Program, error) {
	key := k.String()
	if p, ok := d.programs.get([]byte(key)); ok {
		return p, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.drv.Compile(k)
	if err != nil {
		return nil, err
	}
	d.programs.put(key, p)
	return p, nil
}

// newPlan assigns the plan's buffers to slots of at most limit bytes. A buffer that is no output
// gives its slot back after the last step that reads it.
func newPlan(c *compile.Plan, limit int) *plan {
	p := &plan{compiled: c, slot: make([]int, len(c.Buffers))}
	last := make([]int, len(c.Buffers))
	for i, s := range c.Steps {
		for _, a := range s.Args {
			if isBuffer(a) {
				last[a.Index] = i
			}
		}
	}
	for i := range p.slot {
		p.slot[i] = -1
	}
	output := make([]bool, len(c.Buffers))
	for _, o := range c.Outputs {
		if !o.Leaf {
			output[o.Index] = true
		}
	}
	idle := map[int][]int{} // slots by class
	assign := func(i int) {
		k := class(c.Buffers[i].Len*c.Buffers[i].DType.Size(), limit)
		if free := idle[k]; len(free) > 0 && !output[i] {
			p.slot[i] = free[len(free)-1]
			idle[k] = free[:len(free)-1]
			return
		}
		p.slot[i] = len(p.slots)
		p.slots = append(p.slots, k)
	}
	for i, s := range c.Steps {
		for _, a := range s.Args {
			if isBuffer(a) && p.slot[a.Index] < 0 {
				assign(a.Index)
			}
		}
		for _, a := range s.Args {
			if isBuffer(a) && last[a.Index] == i && !output[a.Index] {
				last[a.Index] = -1 // once, though it may be several arguments
				k := p.slots[p.slot[a.Index]]
				idle[k] = append(idle[k], p.slot[a.Index])
			}
		}
	}
	for i := range p.slot { // outputs that no step writes: empty ones
		if p.slot[i] < 0 {
			assign(i)
		}
	}
	return p
}

// isBuffer reports whether an argument is one of the plan's buffers.
func isBuffer(a compile.Arg) bool {
	return !a.Leaf && !a.Report && (a.Kind == ir.In || a.Kind == ir.Out)
}

// Explain returns the plan that Eval would run, as text.
func Explain(def *Device, roots []*graph.Node) string {
	text := ""
	for _, part := range byDevice(def, roots, nil) {
		r := newRequest(nil, part.roots, nil)
		if err := r.ready(part.device); err != nil {
			r.release()
			return err.Error()
		}
		c, err := compile.Graph(r.graph(), part.device.limits.Bindings, nil)
		r.release()
		if err != nil {
			return err.Error()
		}
		text += c.String()
	}
	return text
}

package exec

import (
	"fmt"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/ir"
)

// A loadedPlan is a compiled plan with its programs and the assignment of its buffers to
// slots.
type loadedPlan struct {
	compiled     *compile.Plan
	programs     []driver.Program // by step
	slots        []request        // the buffers to acquire
	slot         []int            // by buffer of the compiled plan
	bindings     []binding        // the arguments of all steps
	dependencies dependencies
	mayFail      []bool // by buffer: it depends on a check
	fallsBack    []bool // by buffer: it holds its fallback if a check fails
}

// A binding says where an argument of a step's call comes from.
type binding struct {
	from   source
	index  int32 // of the scalar, report, leaf or slot
	offset int   // in elements
}

type source uint8

const (
	fromScalar source = iota
	fromReport
	fromLeaf
	fromSlot
)

// bind returns the binding of an argument.
func (p *loadedPlan) bind(a compile.Arg) binding {
	switch {
	case a.Kind == ir.Value:
		return binding{fromScalar, int32(a.Index), 0}
	case a.Kind == ir.Status, a.Report:
		return binding{fromReport, int32(a.Index), 0}
	case a.Leaf:
		return binding{fromLeaf, int32(a.Index), a.Offset}
	}
	return binding{fromSlot, int32(p.slot[a.Index]), a.Offset}
}

// load returns the plan of a capture, from the cache or newly compiled.
func (d *Device) load(c *capture) (*loadedPlan, error) {
	known := d.plans.Get(unsafe.String(unsafe.SliceData(c.key), len(c.key))) // a lookup keeps no key
	if known != nil {
		return known.Value, nil
	}
	compiled, err := d.compile(c, c.fallbacks)
	if err != nil {
		return nil, err
	}
	compiled.Pack()
	p := newLoadedPlan(compiled, d)
	p.dependencies = c.dependencies()
	p.mayFail = p.findMayFail()
	p.fallsBack = make([]bool, len(compiled.Buffers))
	for _, f := range c.fallbacks {
		if o := compiled.Outputs[f.Output]; compiled.FallsBack && !o.Leaf {
			p.fallsBack[o.Index] = true
		}
	}
	p.programs = make([]driver.Program, len(compiled.Steps))
	var text []byte
	for i := range compiled.Steps {
		s := &compiled.Steps[i]
		if s.Loop != nil {
			text = s.Loop.Append(text[:0])
		} else {
			text = s.Kernel.Append(text[:0])
		}
		if p.programs[i], err = d.program(s, text); err != nil {
			return nil, err
		}
		for _, a := range s.Args {
			p.bindings = append(p.bindings, p.bind(a))
		}
	}
	d.plans.Put(string(c.key), p)
	d.plans.Trim(maxPlans, nil)
	return p, nil
}

// compile compiles the graph of a capture, with loops if the device takes them.
func (d *Device) compile(c *capture, fallbacks []compile.Fallback) (*compile.Plan, error) {
	p, err := compile.Graph(c.graph(), kernelize.Options{Bindings: d.limits.Bindings, Halves: d.limits.Halves}, fallbacks)
	if c.isBody && err == nil {
		p.Stack(c.stacked)
		return p, nil
	}
	if loops, ok := d.drv.(driver.Looper); ok && err == nil {
		err = p.FuseRows(loops.LoopLimits(), d.limits.Bindings)
	}
	return p, err
}

// A loadedProgram is a program and its kernel or loop, which plans share and must not change.
type loadedProgram struct {
	driver.Program
	kernel *ir.Kernel // nil if loop is not
	loop   *ir.Loop
}

// program returns the program of a step: one for all kernels, or loops, of the same text. The step gets
// the first of these, so that others take no memory.
func (d *Device) program(s *compile.Step, text []byte) (driver.Program, error) {
	known := d.programs.Get(unsafe.String(unsafe.SliceData(text), len(text)))
	if known != nil {
		s.Kernel, s.Loop = known.Value.kernel, known.Value.loop
		return known.Value.Program, nil
	}
	for _, k := range s.Kernels() {
		if err := d.checkTypes(k); err != nil {
			return nil, err
		}
	}
	d.queue.Lock()
	var p driver.Program
	var err error
	if s.Loop != nil {
		p, err = d.drv.(driver.Looper).CompileLoop(s.Loop)
	} else {
		p, err = d.drv.Compile(s.Kernel)
	}
	d.queue.Unlock()
	if err != nil {
		return nil, err
	}
	d.programs.Put(string(text), loadedProgram{p, s.Kernel, s.Loop})
	d.programs.Trim(maxPrograms, nil)
	return p, nil
}

// checkTypes fails if the device lacks an element type of a kernel.
func (d *Device) checkTypes(k *ir.Kernel) error {
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

// newLoadedPlan assigns the buffers of a compiled plan to slots. A buffer that is no output
// leaves its slot to others after the last step that reads it.
func newLoadedPlan(c *compile.Plan, d *Device) *loadedPlan {
	p := &loadedPlan{compiled: c, slot: make([]int, len(c.Buffers))}
	last := make([]int, len(c.Buffers)) // the last step that needs a buffer
	for i, s := range c.Steps {
		for _, a := range s.Args {
			if isBuffer(a) {
				p.slot[a.Index], last[a.Index] = -1, i
			}
		}
	}
	end := len(c.Steps)
	for _, o := range c.Outputs {
		if !o.Leaf {
			p.slot[o.Index], last[o.Index] = -1, end
		}
	}
	idle := map[request][]int{} // slots
	assign := func(i int) {
		r := d.request(c.Buffers[i].Len * c.Buffers[i].DType.Size())
		if free := idle[r]; len(free) > 0 && last[i] != end {
			p.slot[i] = free[len(free)-1]
			idle[r] = free[:len(free)-1]
			return
		}
		p.slot[i] = len(p.slots)
		p.slots = append(p.slots, r)
	}
	for i, s := range c.Steps {
		for _, a := range s.Args {
			if isBuffer(a) && p.slot[a.Index] < 0 {
				assign(a.Index)
			}
		}
		for _, a := range s.Args {
			if isBuffer(a) && last[a.Index] == i {
				last[a.Index] = -1 // freed once, even if it is several arguments
				r := p.slots[p.slot[a.Index]]
				idle[r] = append(idle[r], p.slot[a.Index])
			}
		}
	}
	for i := range p.slot { // empty outputs, which no step writes
		if p.slot[i] < 0 {
			assign(i)
		}
	}
	return p
}

// isBuffer reports whether an argument is a buffer of the plan.
func isBuffer(a compile.Arg) bool {
	return !a.Leaf && !a.Report && (a.Kind == ir.In || a.Kind == ir.Out)
}

// Explain returns the plans that Eval would run, as text.
func Explain(def *Device, roots []*graph.Node) string {
	text := ""
	for _, p := range byDevice(def, roots, nil) {
		c := newCapture(nil, p.roots, nil, computed{})
		var plan *compile.Plan
		text += explainCalls(def, c.calls)
		err := p.device.ready(c)
		if err == nil {
			plan, err = p.device.compile(c, nil)
		}
		c.release()
		if err != nil {
			return err.Error()
		}
		text += plan.String()
	}
	return text
}

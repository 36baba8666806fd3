package exec

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/compile/blockwise"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/lru"
	"github.com/tensorken/tensorken/internal/memory"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A loadedPlan is a compiled plan with its programs and the assignment of its buffers to
// slots.
type loadedPlan struct {
	compiled *compile.Plan
	programs []driver.Program // by step
	slots    []memory.Request // the buffers to acquire, empty for those that leaves have
	takes    []taking         // the leaves whose buffers are slots
	returns  []bool           // by leaf: an output is in its memory, as it was; nil if no leaf is given away
	slot     []int            // by buffer of the compiled plan
	bindings []binding        // the arguments of all steps
	checks   storage.Checks
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

// appendCalls appends the calls of the plan, whose arguments it sets in args. Leaf and slot return the
// buffer of a leaf or slot, and where its elements begin.
func (p *loadedPlan) appendCalls(calls []driver.Call, args []driver.Arg, c *capture.Capture, x *storage.Execution, leaf, slot func(int) (driver.Buffer, int)) []driver.Call {
	for k := range p.bindings {
		b, arg := &p.bindings[k], &args[k]
		switch b.from {
		case fromScalar:
			arg.Num = c.Scalars[b.index]
		case fromReport:
			arg.Buffer, arg.Offset = x.Reports.Buffer, ir.StatusLen*(x.FirstCheck+int(b.index))
		case fromLeaf:
			arg.Buffer, arg.Offset = leaf(int(b.index))
		case fromSlot:
			arg.Buffer, arg.Offset = slot(int(b.index))
		}
		arg.Offset += b.offset
	}
	for i, program := range p.programs {
		n := len(p.compiled.Steps[i].Args)
		calls = append(calls, driver.Call{Program: program, Args: args[:n:n]})
		args = args[n:]
	}
	return calls
}

// A loader compiles the plans and programs of a device and keeps them.
type loader struct {
	memory *storage.Device

	plans    lru.Cache[string, *loadedPlan]   // by Capture.Key
	programs lru.Cache[string, loadedProgram] // by the kernel's text
}

// The most plans and programs that a loader keeps.
const (
	maxPlans    = 1 << 10
	maxPrograms = 1 << 11
)

// load returns the plan of a capture, from the cache or newly compiled.
func (l *loader) load(c *capture.Capture) (*loadedPlan, error) {
	known := l.plans.Get(unsafe.String(unsafe.SliceData(c.Key), len(c.Key))) // a lookup keeps no key
	if known != nil {
		return known.Value, nil
	}
	compiled, err := l.compile(c)
	if err != nil {
		return nil, err
	}
	p := &loadedPlan{compiled: compiled}
	p.setMemory(l.memory.Pool, l.assign(compiled, c), returned(compiled, c))
	compiled.Pack()
	p.setDepends(c)
	if err := l.loadPrograms(p); err != nil {
		return nil, err
	}
	for i := range compiled.Steps {
		s := &compiled.Steps[i]
		for _, a := range s.Args {
			p.bindings = append(p.bindings, p.bind(a))
		}
		if s.Check() >= 0 {
			p.checks.Steps = append(p.checks.Steps, s)
			if !s.Redundant {
				p.checks.End = i + 1
			}
		}
	}
	p.checks.Len, p.checks.All = compiled.Checks, compile.SetOf(shape.All(compiled.Checks)...)
	l.plans.Put(string(c.Key), p)
	l.plans.Trim(maxPlans, nil)
	return p, nil
}

// loadPrograms has the device compile the steps of a plan: first those that take it longest, as it may go on
// beside the others.
func (l *loader) loadPrograms(p *loadedPlan) (err error) {
	steps := p.compiled.Steps
	p.programs = make([]driver.Program, len(steps))
	effort := func(i int) int {
		if k := steps[i].Kernel; k != nil {
			return int(k.Template)
		}
		return 0
	}
	order := shape.All(len(steps))
	slices.SortStableFunc(order, func(i, j int) int { return effort(j) - effort(i) })
	var text []byte
	for _, i := range order {
		switch s := &steps[i]; {
		case s.Collective() >= 0: // it has no kernel
			continue
		case s.Loop != nil:
			text = s.Loop.Append(text[:0])
		default:
			text = s.Kernel.Append(text[:0])
		}
		if p.programs[i], err = l.program(&steps[i], text); err != nil {
			return err
		}
	}
	return nil
}

// A taking is a leaf whose buffer is a slot of a plan, because a result takes its memory.
type taking struct {
	same           []int // the leaves in the same memory
	leaf, slot     int
	memory.Request // a buffer of the slot's size
}

// assign assigns the buffers of a compiled plan to slots. A transaction that keeps the old values after a
// failure does not overwrite them.
func (l *loader) assign(p *compile.Plan, c *capture.Capture) compile.Memory {
	keepsOld := c.IsTransaction() && p.Checks > 0 && !p.FallsBack
	p.LeafMemory = c.LeafMemory()
	mayTake := func(leaf, bytes int) bool {
		return c.Leaves[leaf].Donated && !keepsOld && c.Leaves[leaf].Bytes() == bytes
	}
	if c.IsBody { // its steps use the same memory, and are too short for copies of replaced values
		mayTake = nil
	}
	return p.AssignMemory(returned(p, c), mayTake, func(bytes int) int { return l.memory.Pool.Request(bytes, false).Class }, l.memory.Limits.Machine)
}

// returned is the number of a plan's outputs, from the first, that a capture stores.
func returned(p *compile.Plan, c *capture.Capture) int {
	if c.Stored > 0 {
		return c.Stored
	}
	return len(p.Outputs)
}

// setMemory sets the plan's slots, for the first outputs.
func (p *loadedPlan) setMemory(pool *memory.Pool, m compile.Memory, outputs int) {
	p.slot = m.Slot
	same := map[int][]int{}
	for leaf, first := range p.compiled.LeafMemory {
		same[first] = append(same[first], leaf)
	}
	p.returns = make([]bool, len(p.compiled.LeafMemory))
	lasts := make([]bool, len(m.Slots))
	for _, o := range p.compiled.Outputs[:outputs] {
		switch {
		case !o.Leaf:
			lasts[m.Slot[o.Index]] = true
		case len(p.returns) > 0:
			for _, leaf := range same[p.compiled.LeafMemory[o.Index]] {
				p.returns[leaf] = true
			}
		}
	}
	for i, s := range m.Slots {
		r := pool.Request(s.Bytes, lasts[i])
		if s.Leaf >= 0 {
			p.takes = append(p.takes, taking{same[p.compiled.LeafMemory[s.Leaf]], s.Leaf, i, r})
			r = memory.Request{}
		}
		p.slots = append(p.slots, r)
	}
}

// setDepends sets the dependencies of each slot, without any for outputs that fall back. Each
// result of a recurrence depends on all that a step does.
func (p *loadedPlan) setDepends(c *capture.Capture) {
	sets := c.Depends(p.compiled.Depends)
	slots := make([]compile.Set, len(p.slots))
	var all compile.Set
	for i, o := range p.compiled.Outputs {
		if o.Leaf || p.compiled.FallsBack && c.Outputs[i].Old >= 0 {
			continue
		}
		s := &slots[p.slot[o.Index]]
		*s = s.With(sets[i])
		all = all.With(*s)
	}
	if c.IsBody {
		slots = slices.Repeat([]compile.Set{all}, len(slots))
	}
	p.checks.Depends = slots
}

// compile compiles the graph of a capture, with loops if the device takes them.
func (l *loader) compile(c *capture.Capture) (*compile.Plan, error) {
	roots, old := c.Graph()
	o := kernelize.Options{Bindings: l.memory.Limits.Bindings, Machine: l.memory.Limits.Machine}
	if looper, ok := l.memory.Driver.(driver.Looper); ok && !c.IsBody {
		o.Loops = looper.LoopLimits()
	}
	p, err := compile.Graph(roots, o, old)
	if c.IsBody && err == nil {
		p.Stack(c.Stacked)
		return p, nil
	}
	if err == nil {
		err = blockwise.Fuse(p, o.Loops, l.memory.Limits.Bindings)
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
func (l *loader) program(s *compile.Step, text []byte) (driver.Program, error) {
	known := l.programs.Get(unsafe.String(unsafe.SliceData(text), len(text)))
	if known != nil {
		s.Kernel, s.Loop = known.Value.kernel, known.Value.loop
		return known.Value.Program, nil
	}
	for _, k := range s.Kernels() {
		if err := l.checkTypes(k); err != nil {
			return nil, err
		}
	}
	p, err := l.build(s)
	if err != nil {
		return nil, err
	}
	l.programs.Put(string(text), loadedProgram{p, s.Kernel, s.Loop})
	l.programs.Trim(maxPrograms, nil)
	return p, nil
}

// build has the device compile a step; a panic of a schedule leaves the queue unlocked.
func (l *loader) build(s *compile.Step) (driver.Program, error) {
	l.memory.Queue.Lock()
	defer l.memory.Queue.Unlock()
	if s.Loop != nil {
		return l.memory.Driver.(driver.Looper).CompileLoop(s.Loop)
	}
	return l.memory.Driver.Compile(s.Kernel)
}

// checkTypes fails if the device lacks an element type of a kernel.
func (l *loader) checkTypes(k *ir.Kernel) error {
	var types []ir.DType
	for _, a := range k.Args {
		types = append(types, a.DType)
	}
	for _, in := range k.Body {
		types = append(types, in.Type)
	}
	for _, t := range types {
		if !l.memory.Limits.Has(t) {
			return fmt.Errorf("%v: %w: cast it to another, or compute with it on the CPU", t, driver.ErrType)
		}
	}
	return nil
}

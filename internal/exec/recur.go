package exec

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A bundle is the Store of a Recur: the values of its results.
type bundle struct {
	device *Device
	values []*graph.Value
}

func (b *bundle) Device() graph.Device { return b.device }

// pick returns the value of n, a result of a Recur, if the Recur has one that includes it. It
// gives n that value unless the Recur's is given.
func (k computed) pick(n, recur *graph.Node) *graph.Value {
	v := k.given[recur]
	given := v != nil
	if !given {
		v = recur.Value()
	}
	if v == nil {
		return nil
	}
	if v.Err == nil {
		all := v.Store.(*bundle).values
		if n.Ints[0] >= len(all) {
			return nil
		}
		v = all[n.Ints[0]]
	}
	if given {
		return v
	}
	n.SetValue(v)
	return n.Value()
}

// ownsBuffer reports whether a node is all of its buffer, in row-major order, as the carries that
// a step of a recurrence stores are.
func (b *builder) ownsBuffer(n *graph.Node) bool {
	if b.program != nil {
		return false
	}
	v := n.Value()
	return v != nil && (v.Err != nil || v.Offset == 0 && shape.IsRowMajor(n.Shape, v.Strides))
}

// A repeatStep runs the body of a recurrence once a step. The values of the body are its
// arguments, then those of the program.
type repeatStep struct {
	*graph.Recurrence
	device   *Device
	results  []*graph.Node // of the body
	operands []operand
	plan     *planStep // of the body, if it is one that stores each result apart
	aliasOf  []int     // of the carries: the output that is read as the next one; -1 if there is none
	body     *program  // if it takes more
}

// repeat compiles the body of a recurrence.
func (b *builder) repeat(d *Device, c call) (*repeatStep, error) {
	r := &repeatStep{Recurrence: graph.RecurrenceOf(c.node), device: d, operands: b.operands(c.src)}
	r.results, r.aliasOf = r.Results(), slices.Repeat([]int{-1}, r.Carries)
	if r.Steps == 0 {
		return r, nil
	}
	_, shares := d.drv.(driver.Sharer) // a step may read the part of a stack before the one it writes
	var roots, copies []*graph.Node
	for i, n := range r.results {
		copies = append(copies, graph.Copy(n))
		if i < r.Carries && shares {
			if k := slices.Index(r.results[r.Carries:], n); k >= 0 {
				r.aliasOf[i] = k + r.Carries
				continue
			}
		}
		if class := n.Op.Class(); class != ir.Elementwise && class != ir.Reduction || slices.Contains(roots, n) {
			n = copies[i]
		}
		roots = append(roots, n)
	}
	inner, err := b.body(r, c.src)
	if err != nil {
		return nil, err
	}
	x := newBody(d, roots, inner.given, len(r.results)-r.Carries)
	if !x.isOnePlan() || len(x.empty) > 0 {
		x.release()
	} else if p, err := inner.plan(x, roots); err != nil {
		return nil, err
	} else if p.plan.compiled.Apart(len(roots)) {
		r.plan = p
		return r, nil
	}
	r.body, r.aliasOf = inner.program, slices.Repeat([]int{-1}, r.Carries)
	if err := inner.compute(inner.byDevice(d, copies, nil), nil); err != nil {
		return nil, err
	}
	r.body.results = inner.operands(copies)
	return r, nil
}

// body returns a builder of a body, whose arguments have placeholders in the layouts of the
// operands.
func (b *builder) body(r *repeatStep, src []*graph.Node) (*builder, error) {
	inner := &builder{program: new(program), recorder: recorder{replayed: b.replayed, numbers: b.numbers, index: map[graph.Store]int{}, values: len(r.Args) + b.values}}
	inner.given, inner.keeps = map[*graph.Node]*graph.Value{}, true
	maps.Copy(inner.given, b.given)
	for s, k := range b.index {
		inner.index[s] = len(r.Args) + k
	}
	for i, n := range r.Args {
		v := b.valueOf(src[i])
		if v.Err != nil {
			return nil, v.Err
		}
		s := &storage{device: r.device}
		placeholder := &graph.Value{Store: s, Offset: v.Offset, Strides: v.Strides}
		stride := 0 // from step to step
		switch {
		case r.IsInput(i):
			placeholder.Strides, stride = v.Strides[1:], v.Strides[0]
		case i < r.Carries && r.aliasOf[i] >= 0:
			stride = n.Len()
		}
		if stride*n.DType.Size()%16 != 0 {
			placeholder.Offset = 1 // not aligned in all steps
		}
		inner.given[n], inner.index[s] = placeholder, i
	}
	return inner, nil
}

func (r *repeatStep) placeholders() (ns []*graph.Node) {
	for i, n := range r.results {
		v := r.view(i)
		v.Store = &storage{device: r.device}
		ns = append(ns, graph.Buffer(n.DType, r.Dims(r.results, i), v))
	}
	return ns
}

func (r *repeatStep) equal(s step) bool {
	o, ok := s.(*repeatStep)
	return ok && r.Steps == o.Steps && r.Reverse == o.Reverse && r.Carries == o.Carries && r.Inputs == o.Inputs &&
		equalOperands(r.operands, o.operands) && slices.Equal(r.aliasOf, o.aliasOf) &&
		(r.plan == nil) == (o.plan == nil) && (r.plan == nil || r.plan.equal(o.plan)) &&
		(r.body == nil) == (o.body == nil) && (r.body == nil || r.body.equal(o.body))
}

func (r *repeatStep) run(_ *Journal, values []*graph.Node, numbers []ir.Number) (results []*graph.Node, err error) {
	args := append(among(values, r.operands), values...)
	for _, n := range args[:len(r.operands)] {
		if err := n.Value().Err; err != nil {
			return nil, err
		}
	}
	if r.plan == nil {
		results, err = r.runByStep(args, numbers)
		return results, failure(r.device, err)
	}
	var all []*graph.Value
	err = r.device.retry(func() error {
		all, err = r.runPlan(args, numbers)
		return err
	})
	for i, v := range all {
		results = append(results, graph.Buffer(r.results[i].DType, r.Dims(r.results, i), v))
	}
	return results, failure(r.device, err)
}

// runByStep runs the program of the body step by step.
func (r *repeatStep) runByStep(args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	src := slices.Clone(args[:len(r.operands)])
	stacks := make([][]*graph.Node, len(r.results)-r.Carries)
	for step := range r.Steps {
		for i := r.Carries; r.IsInput(i); i++ {
			n, v := r.Args[i], src[i].Value()
			args[i] = graph.Buffer(n.DType, n.Shape, &graph.Value{Store: v.Store, Offset: v.Offset + r.Position(step)*v.Strides[0], Strides: v.Strides[1:]})
		}
		next, err := r.body.run(nil, args, numbers)
		if err != nil {
			return nil, err
		}
		copy(args, next[:r.Carries])
		for k, n := range next[r.Carries:] {
			stacks[k] = append(stacks[k], graph.Reshape(n, append([]int{1}, n.Shape...)))
		}
	}
	results := slices.Clone(args[:r.Carries])
	for k, parts := range stacks {
		if r.Reverse {
			slices.Reverse(parts)
		}
		of := r.results[r.Carries+k]
		stack := graph.Fill(of.DType, 0, append([]int{0}, of.Shape...))
		if len(parts) > 0 {
			stack = graph.Cat(0, parts)
		}
		results = append(results, stack)
	}
	return results, Eval(r.device, results)
}

// A recurring is a run of a recurrence whose body is one plan.
type recurring struct {
	*repeatStep
	p *loadedPlan
	c *capture // with the values of the run

	slot       []int        // of the results
	layouts    []slotLayout // by slot
	slots      []pooled     // of the plan; those of outputs are as long as the stacks
	alternates []pooled     // second buffers of carries, which odd steps write
	leafBlocks []*block     // by leaf, in use
}

// A slotLayout says which buffer each step writes for a slot of the plan, and at which offset.
type slotLayout struct {
	stepLen   int // of an output: the elements that a step adds to the stack; 0 of all else
	alternate int // of a carry: the index of its second buffer; -1 of all else
}

// runPlan submits the plan of the body for all steps.
func (r *repeatStep) runPlan(args []*graph.Node, numbers []ir.Number) ([]*graph.Value, error) {
	d := r.device
	d.collectIfDue()
	x := &recurring{repeatStep: r, p: r.plan.plan, c: r.plan.bind(args, numbers)}
	defer r.plan.release(x.c)
	if err := d.ready(x.c); err != nil {
		return nil, err
	}
	d.queue.Lock()
	defer d.queue.Unlock()
	defer x.release()
	if err := x.acquire(); err != nil {
		return nil, err
	}
	run, err := d.begin(x.p, x.c)
	if err != nil {
		return nil, err
	}
	err = x.run(run)
	if run != nil {
		err = d.conclude(run, err, false)
	}
	runtime.KeepAlive(x.c.leaves)
	if err != nil {
		return nil, err
	}
	return x.values(run)
}

// acquire acquires the buffers.
func (x *recurring) acquire() (err error) {
	requests := slices.Clone(x.p.slots)
	x.layouts = slices.Repeat([]slotLayout{{alternate: -1}}, len(requests))
	x.slot = make([]int, len(x.results))
	var alternates []request
	output := 0
	for i, n := range x.results {
		if i < x.Carries && x.aliasOf[i] >= 0 {
			continue
		}
		slot := x.p.slot[x.p.compiled.Outputs[output].Index]
		output++
		x.slot[i] = slot
		if i < x.Carries {
			x.layouts[slot].alternate = len(alternates)
			alternates = append(alternates, requests[slot])
		} else {
			x.layouts[slot].stepLen = n.Len()
			requests[slot] = x.device.request(x.Steps * n.Len() * n.DType.Size())
		}
	}
	for i, k := range x.aliasOf {
		if k >= 0 {
			x.slot[i] = x.slot[k]
		}
	}
	if x.slots, err = x.device.acquire(nil, requests...); err != nil {
		return err
	}
	if x.alternates, err = x.device.acquire(nil, alternates...); err != nil {
		return err
	}
	for i := range x.c.leaves {
		b, err := x.c.leaves[i].use(x.device)
		if err != nil {
			return err
		}
		x.leafBlocks = append(x.leafBlocks, b)
	}
	return nil
}

// release returns the buffers that no result has, and ends the use of the leaves.
func (x *recurring) release() {
	for _, b := range x.leafBlocks {
		b.done()
	}
	x.device.pool.release(x.slots...)
	x.device.pool.release(x.alternates...)
}

// stored returns the buffer that a step writes for a slot, and the offset in it.
func (x *recurring) stored(slot, step int) (b *pooled, offset int) {
	l := x.layouts[slot]
	if l.alternate >= 0 && step%2 == 1 {
		return &x.alternates[l.alternate], 0
	}
	return &x.slots[slot], l.stepLen * x.Position(step)
}

// maxCalls is about the number of calls that a recurrence submits at once.
const maxCalls = 1 << 10

// run submits the calls of all steps.
func (x *recurring) run(run *execution) error {
	steps := x.p.compiled.Steps
	perRun := max(1, maxCalls/max(1, len(steps)))
	args := make([]driver.Arg, perRun*len(x.p.bindings))
	calls := make([]driver.Call, 0, perRun*len(steps))
	for step := range x.Steps {
		rest := args[step%perRun*len(x.p.bindings):]
		for k, a := range x.p.bindings {
			rest[k] = x.argument(a, step, run)
		}
		for i := range steps {
			n := len(steps[i].Args)
			calls = append(calls, driver.Call{Program: x.p.programs[i], Args: rest[:n:n]})
			rest = rest[n:]
		}
		if len(calls) == cap(calls) || step == x.Steps-1 {
			if err := x.device.submit(x.p, x.c, calls); err != nil {
				return err
			}
			calls = calls[:0]
		}
	}
	return nil
}

// argument returns the argument of a call in a step.
func (x *recurring) argument(a binding, step int, run *execution) driver.Arg {
	switch a.from {
	case fromScalar:
		return driver.Arg{Num: x.c.scalars[a.index]}
	case fromReport:
		return driver.Arg{Buffer: run.reports.Buffer, Offset: ir.StatusLen * (run.firstCheck + int(a.index))}
	case fromSlot:
		b, offset := x.stored(int(a.index), step)
		return driver.Arg{Buffer: b.Buffer, Offset: offset + a.offset}
	}
	l, arg := &x.c.leaves[a.index], x.plan.args[a.index]
	offset := l.view.Offset + a.offset
	switch {
	case arg >= 0 && x.IsInput(arg):
		offset += x.Position(step) * l.value.Strides[0]
	case arg >= 0 && arg < x.Carries && step > 0:
		b, part := x.stored(x.slot[arg], step-1)
		return driver.Arg{Buffer: b.Buffer, Offset: part + offset}
	}
	return driver.Arg{Buffer: x.leafBlocks[a.index].Buffer, Offset: offset}
}

// values makes storages of the buffers and returns the values of the results.
func (x *recurring) values(run *execution) ([]*graph.Value, error) {
	values := make([]*graph.Value, len(x.results))
	for i := range x.results {
		values[i] = x.view(i)
		if i < x.Carries && x.aliasOf[i] >= 0 {
			continue
		}
		b, _ := x.stored(x.slot[i], x.Steps-1)
		s := x.device.newStorage(*b)
		*b = pooled{} // the storage has it
		if run != nil {
			s.exec, s.slot = run, x.slot[i]
		}
		values[i].Store = s
	}
	for i, k := range x.aliasOf {
		if k >= 0 {
			values[i].Store = values[k].Store
		}
	}
	for i, v := range values {
		if err := v.Store.(*storage).failed(); err != nil {
			values[i] = &graph.Value{Err: err}
		}
	}
	return values, nil
}

// view returns the value of a result but for its Store.
func (x *repeatStep) view(result int) *graph.Value {
	if result < x.Carries && x.aliasOf[result] >= 0 { // the last step of a stack
		stack := x.view(x.aliasOf[result])
		return &graph.Value{Offset: x.Position(x.Steps-1) * stack.Strides[0], Strides: stack.Strides[1:]}
	}
	return &graph.Value{Strides: shape.RowMajor(x.Dims(x.results, result))}
}

// explainRecurrence returns the plan of the body, as text.
func explainRecurrence(def *Device, c *call) string {
	r := graph.RecurrenceOf(c.node)
	given := map[*graph.Node]*graph.Node{}
	for i, n := range r.Args {
		v := &graph.Value{Store: FromHost(nil), Strides: shape.RowMajor(n.Shape)}
		given[n] = graph.Buffer(n.DType, n.Shape, v)
		given[n].Device = c.src[i].Device
	}
	body := strings.TrimSuffix(Explain(def, graph.Substitute(r.Results(), given)), "\n")
	return fmt.Sprintf("%d times:\n  %s\n", r.Steps, strings.ReplaceAll(body, "\n", "\n  "))
}

// newBody captures a graph whose arguments have the given values, such as the body of a
// recurrence; its last outputs are stacked.
func newBody(d *Device, roots []*graph.Node, given map[*graph.Node]*graph.Value, stacked int) *capture {
	c := captures.Get().(*capture)
	c.device, c.computed, c.isBody, c.stacked = d, computed{given: given, keeps: true}, true, stacked
	c.key = append(c.key, 0xff) // no operation: other keys begin with one
	c.keyInt(stacked)
	c.roots = append(c.roots, roots...)
	for _, n := range roots {
		c.walk(n)
	}
	for _, n := range roots {
		c.addOutput(n)
	}
	c.keyOutputs()
	return c
}

package exec

import (
	"errors"
	"runtime"
	"slices"

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
// gives n that value unless it is given to this capture alone.
func (c *capture) pick(n, recur *graph.Node) *graph.Value {
	v := c.given[recur]
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

// runRecurrence computes a Recur and gives the node its value.
func (c *call) runRecurrence(d *Device) error {
	r := graph.RecurrenceOf(c.node)
	values, err := d.recurrence(r, r.Results(), c.src)
	if err != nil {
		return err
	}
	c.node.ReplaceValue(&graph.Value{Store: &bundle{d, values}})
	return nil
}

// recurrence computes the results of a recurrence.
func (d *Device) recurrence(r *graph.Recurrence, results, src []*graph.Node) (values []*graph.Value, err error) {
	err = d.retry(func() error {
		values, err = d.recur(r, results, src)
		return err
	})
	if errors.Is(err, ErrNotOnePlan) {
		return d.recurByPlans(r, results, src)
	}
	return values, err
}

// A recurring is a run of a recurrence whose body is one plan.
type recurring struct {
	*graph.Recurrence
	d       *Device
	c       *capture
	p       *loadedPlan
	results []*graph.Node
	src     []*graph.Node // the operands
	args    []int         // of the leaves: which argument of the body each views; -1 for none

	aliasOf    []int        // of the carries: the output that is read as the next one; -1 if there is none
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

// recur runs a recurrence and returns the values of its results. It fails with
// ErrNotOnePlan if no single plan computes the body so that each result has a buffer of
// its own.
func (d *Device) recur(r *graph.Recurrence, results, src []*graph.Node) (values []*graph.Value, err error) {
	d.collectIfDue()
	x := &recurring{Recurrence: r, d: d, results: results, src: src}
	if err := x.load(); err != nil {
		return nil, err
	}
	defer x.c.release()
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

// load captures and compiles the body.
func (x *recurring) load() error {
	x.aliasOf = slices.Repeat([]int{-1}, x.Carries)
	var roots []*graph.Node
	_, shares := x.d.drv.(driver.Sharer) // a step may read the part of a stack before the one it writes
	for i, n := range x.results {
		if i < x.Carries && shares {
			if k := slices.Index(x.results[x.Carries:], n); k >= 0 {
				x.aliasOf[i] = k + x.Carries
				continue
			}
		}
		if class := n.Op.Class(); class != ir.Elementwise && class != ir.Reduction || slices.Contains(roots, n) {
			n = graph.Copy(n)
		}
		roots = append(roots, n)
	}
	given, of, err := x.placeholders()
	if err != nil {
		return err
	}
	c := newBody(x.d, roots, given, len(x.results)-x.Carries)
	x.c = c
	if !c.isOnePlan() || len(c.empty) > 0 || x.Steps == 0 {
		err = ErrNotOnePlan
	} else if x.p, err = x.d.load(c); err == nil && !x.p.compiled.Apart(len(roots)) {
		err = ErrNotOnePlan
	}
	if err != nil {
		c.release()
		return err
	}
	x.args = c.argumentsOf(of)
	for i, arg := range x.args { // in place of the placeholders, the operands of the first step
		if arg >= 0 {
			c.leaves[i].replace(x.src[arg].Value())
		}
	}
	return nil
}

// placeholders returns values without elements for the arguments of the body, in the layouts of
// the operands, and by their Stores which argument each is for.
func (x *recurring) placeholders() (given map[*graph.Node]*graph.Value, of map[graph.Store]int, err error) {
	given, of = map[*graph.Node]*graph.Value{}, map[graph.Store]int{}
	for i, n := range x.Args {
		v := x.src[i].Value()
		if v.Err != nil {
			return nil, nil, v.Err
		}
		s := &storage{device: x.d}
		placeholder := &graph.Value{Store: s, Offset: v.Offset, Strides: v.Strides}
		stride := 0 // from step to step
		switch {
		case x.IsInput(i):
			placeholder.Strides, stride = v.Strides[1:], v.Strides[0]
		case i < x.Carries && x.aliasOf[i] >= 0:
			stride = n.Len()
		}
		if stride*n.DType.Size()%16 != 0 {
			placeholder.Offset = 1 // not aligned in all steps
		}
		given[n], of[s] = placeholder, i
	}
	return given, of, nil
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
			requests[slot] = x.d.request(x.Steps * n.Len() * n.DType.Size())
		}
	}
	for i, k := range x.aliasOf {
		if k >= 0 {
			x.slot[i] = x.slot[k]
		}
	}
	if x.slots, err = x.d.acquire(nil, requests...); err != nil {
		return err
	}
	if x.alternates, err = x.d.acquire(nil, alternates...); err != nil {
		return err
	}
	for i := range x.c.leaves {
		b, err := x.c.leaves[i].use(x.d)
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
	x.d.pool.release(x.slots...)
	x.d.pool.release(x.alternates...)
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
			if err := x.d.submit(x.p, x.c, calls); err != nil {
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
		return driver.Arg{Buffer: run.reports, Offset: ir.StatusLen * (run.firstCheck + int(a.index))}
	case fromSlot:
		b, offset := x.stored(int(a.index), step)
		return driver.Arg{Buffer: b.Buffer, Offset: offset + a.offset}
	}
	l, arg := &x.c.leaves[a.index], x.args[a.index]
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
		s := x.d.newStorage(*b)
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
func (x *recurring) view(result int) *graph.Value {
	if result < x.Carries && x.aliasOf[result] >= 0 { // the last step of a stack
		stack := x.view(x.aliasOf[result])
		return &graph.Value{Offset: x.Position(x.Steps-1) * stack.Strides[0], Strides: stack.Strides[1:]}
	}
	return &graph.Value{Strides: shape.RowMajor(x.Dims(x.results, result))}
}

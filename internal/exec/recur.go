package exec

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
	"github.com/tensorken/tensorken/internal/profile"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// ownsBuffer reports whether a node is all of its buffer, in row-major order, as the carries that
// a step of a recurrence stores are.
func (b *builder) ownsBuffer(n *graph.Node) bool {
	if b.recorder != nil {
		return false
	}
	v := n.Value()
	return v != nil && (v.Err != nil || isWhole(n.Shape, v))
}

// A repeatStep runs the body of a recurrence once a step. The values of the body are its
// arguments, then the program's values.
type repeatStep struct {
	*graph.Recurrence
	node     *graph.Node
	device   *Device
	results  []*graph.Node // of the body
	operands []operand
	body     program
	plan     *planStep // the body, if it is one plan that stores each result apart
	aliasOf  []int     // of each result: the output in whose memory it is, a carry in the part of the last step; or -1
}

// repeat compiles the body of a recurrence.
func (b *builder) repeat(d *Device, c capture.Call) (*repeatStep, error) {
	rec := graph.RecurrenceOf(c.Node)
	r := &repeatStep{Recurrence: rec, node: c.Node, device: d, operands: b.operands(c.Src), results: rec.Results()}
	r.aliasOf = slices.Repeat([]int{-1}, len(r.results))
	if r.Steps == 0 {
		return r, nil
	}
	r.findAliases()
	inner, err := b.body(r, c.Src)
	if err != nil {
		return nil, err
	}
	for _, cats := range []bool{true, false} {
		roots, stacked := r.roots(cats)
		x := capture.NewBody(d.memory, roots, inner.Given, stacked)
		if len(x.Foreign)+len(x.Calls)+len(x.Empty) > 0 || x.Failed != nil {
			x.Release()
			break
		}
		if r.plan, err = inner.plan(d, x, roots); err != nil {
			return nil, err
		}
		if r.plan.plan.compiled.Apart(len(roots)) {
			r.plan.once = b.recorder == nil
			r.body.steps = append(r.body.steps, r.plan)
			return r, nil
		}
	}
	r.plan = nil
	var roots []*graph.Node
	for i, n := range r.results {
		r.aliasOf[i], roots = -1, append(roots, graph.Copy(n))
	}
	return r, inner.record(d, roots, nil)
}

// findAliases sets aliasOf.
func (r *repeatStep) findAliases() {
	shares := r.device.memory.Limits.Shares // a step may read the part of a stack before the one it writes
	var flat []*graph.Node
	for _, n := range r.results {
		flat = append(flat, flattened(n))
	}
	for i, n := range flat {
		if k := slices.Index(flat[r.Carries:], n) + r.Carries; k >= r.Carries && k != i && (i >= r.Carries || shares) {
			r.aliasOf[i] = k
		}
	}
}

// roots returns the nodes that a step stores apart, of which the last are stacked. With cats a Cat
// is stored as it is: without, a plan has put it into another's buffer.
func (r *repeatStep) roots(cats bool) (roots []*graph.Node, stacked int) {
	for i, n := range r.results {
		if r.aliasOf[i] >= 0 {
			continue
		}
		if i >= r.Carries {
			stacked++
		}
		n = flattened(n)
		class := n.Op.Class()
		if class != ir.Elementwise && class != ir.Reduction && !(cats && n.Op == ir.Cat) || slices.Contains(roots, n) {
			n = graph.Copy(n)
		}
		roots = append(roots, n)
	}
	return roots, stacked
}

// flattened returns the node that n has the elements of, in their order.
func flattened(n *graph.Node) *graph.Node {
	for n.Op == ir.Reshape && n.Src().Len() > 0 {
		n = n.Src().At(0)
	}
	return n
}

// body returns a builder of the body, whose arguments have placeholders in the layouts of the
// operands.
func (b *builder) body(r *repeatStep, src []*graph.Node) (*builder, error) {
	inner := newBuilder(&r.body, len(r.Args), b)
	inner.Keeps = true
	for i, n := range r.Args {
		v := b.ValueOf(src[i])
		if v.Err != nil {
			return nil, v.Err
		}
		stored := storage.Of(v).TypeOn(r.device.memory, n.DType)
		placeholder := &graph.Value{Store: storage.Placeholder(r.device.memory, stored), Offset: v.Offset, Strides: v.Strides}
		stride := 0 // from step to step
		switch {
		case r.IsInput(i):
			placeholder.Strides, stride = v.Strides[1:], v.Strides[0]
		case i < r.Carries && r.aliasOf[i] >= 0:
			stride = n.Len()
		}
		if !stored.Aligned(stride) {
			placeholder.Offset = 1 // not aligned in all steps
		}
		inner.Given[n], inner.index[placeholder.Store] = placeholder, i
	}
	return inner, nil
}

func (r *repeatStep) placeholders() []*graph.Node {
	values := make([]*graph.Value, len(r.results))
	for i := range values {
		values[i] = r.view(i)
		values[i].Store = storage.Placeholder(r.device.memory, r.results[i].DType)
	}
	return r.nodes(values)
}

// nodes returns the results as nodes.
func (r *repeatStep) nodes(values []*graph.Value) []*graph.Node {
	nodes := make([]*graph.Node, len(values))
	for i, v := range values {
		nodes[i] = graph.Buffer(r.results[i].DType, r.Dims(r.results, i), v)
		nodes[i].Device = r.node.Device
	}
	return nodes
}

func (r *repeatStep) equal(s step) bool {
	o, ok := s.(*repeatStep)
	return ok && r.Steps == o.Steps && r.Reverse == o.Reverse && r.Carries == o.Carries && r.Inputs == o.Inputs &&
		equalOperands(r.operands, o.operands) && slices.Equal(r.aliasOf, o.aliasOf) && r.body.equal(&o.body)
}

func (r *repeatStep) String() string {
	body := strings.TrimSuffix(r.body.String(), "\n")
	return fmt.Sprintf("%d times:\n  %s\n", r.Steps, strings.ReplaceAll(body, "\n", "\n  "))
}

func (r *repeatStep) run(_ *storage.Journal, values []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	args := append(among(values, r.operands), values...)
	for _, n := range args[:len(r.operands)] {
		if err := n.Value().Err; err != nil {
			return nil, err
		}
	}
	var results []*graph.Value
	var err error
	if r.plan == nil {
		results, err = r.runByStep(args, numbers)
	} else {
		err = r.device.memory.Retry(func() error {
			results, err = r.runPlan(args, numbers)
			return err
		})
	}
	if err != nil {
		return nil, r.device.memory.Failed(err)
	}
	return r.nodes(results), nil
}

// runByStep runs the program of the body step by step.
func (r *repeatStep) runByStep(args []*graph.Node, numbers []ir.Number) ([]*graph.Value, error) {
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
		n := r.results[r.Carries+k]
		stack := graph.Fill(n.DType, 0, append([]int{0}, n.Shape...))
		if r.Reverse {
			slices.Reverse(parts)
		}
		if r.Steps > 0 {
			stack = graph.Cat(0, parts)
		}
		results = append(results, stack)
	}
	err := Eval(r.device, results)
	return valuesOf(results), err
}

// A recurring is a run of a recurrence whose body is one plan.
type recurring struct {
	*repeatStep
	*launch // its slots are the plan's, outputs being as long as the stacks, then the alternates
	p       *loadedPlan
	c       *capture.Capture // with the values of the run
	slot    []int            // of the results
	layouts []slotLayout     // by slot of the plan
}

// A slotLayout says which buffer each step writes for a slot of the plan, and at which offset.
type slotLayout struct {
	stepLen   int // of an output: the elements that a step adds to the stack; 0 of all else
	alternate int // of a carry: the slot that odd steps write; 0 of all else
}

// runPlan submits the plan of the body for all steps.
func (r *repeatStep) runPlan(args []*graph.Node, numbers []ir.Number) ([]*graph.Value, error) {
	d := r.device
	d.memory.Pool.CollectIfDue()
	x := &recurring{repeatStep: r, launch: launches.Get().(*launch), p: r.plan.plan, c: r.plan.bind(args, numbers)}
	defer r.plan.release(x.c)
	if err := d.ready(x.c); err != nil {
		return nil, err
	}
	d.memory.Queue.Lock()
	defer d.memory.Queue.Unlock()
	defer x.release(d)
	if err := x.acquire(d, x.c, x.layOut()); err != nil {
		return nil, err
	}
	run, err := d.begin(x.p, x.c)
	if err != nil {
		return nil, err
	}
	err = x.run(run)
	if run != nil {
		err = d.memory.Conclude(run, err, false)
	}
	runtime.KeepAlive(x.c.Leaves)
	if err != nil {
		return nil, err
	}
	return x.finish(run), nil
}

// layOut sets the layouts, and returns the slots to acquire.
func (x *recurring) layOut() []memory.Request {
	requests := slices.Clone(x.p.slots)
	x.layouts, x.slot = make([]slotLayout, len(requests)), make([]int, len(x.results))
	output := len(x.p.compiled.Outputs)
	for i, n := range slices.Backward(x.results) {
		if x.aliasOf[i] >= 0 {
			continue
		}
		output--
		slot := x.p.slot[x.p.compiled.Outputs[output].Index]
		x.slot[i] = slot
		if i < x.Carries {
			x.layouts[slot].alternate = len(requests)
			requests = append(requests, requests[slot])
		} else {
			x.layouts[slot].stepLen = n.Len()
			requests[slot] = x.device.memory.Pool.Request(x.Steps*n.Len()*n.DType.Size(), true)
		}
	}
	for i, k := range x.aliasOf {
		if k >= 0 {
			x.slot[i] = x.slot[k]
		}
	}
	return requests
}

// stored returns the buffer that a step writes for a slot, and the offset in it.
func (x *recurring) stored(slot, step int) (b *memory.Pooled, offset int) {
	l := x.layouts[slot]
	if l.alternate > 0 && step%2 == 1 {
		return &x.slots[l.alternate], 0
	}
	return &x.slots[slot], l.stepLen * x.Position(step)
}

// maxCalls is about the number of calls that a recurrence submits at once.
const maxCalls = 1 << 10

// run submits the calls of all steps.
func (x *recurring) run(run *storage.Execution) error {
	perRun := max(1, maxCalls/max(1, len(x.p.programs)))
	args := make([]driver.Arg, perRun*len(x.p.bindings))
	for step := range x.Steps {
		leaf := func(i int) (driver.Buffer, int) { return x.leaf(i, step) }
		slot := func(i int) (driver.Buffer, int) {
			b, offset := x.stored(i, step)
			return b.Buffer, offset
		}
		x.calls = x.p.appendCalls(x.calls, args[step%perRun*len(x.p.bindings):], x.c, run, leaf, slot)
		if step%perRun == perRun-1 || step == x.Steps-1 {
			if err := profile.Submit(x.device.memory, x.calls, x.p.compiled.Steps, x.c.Node); err != nil {
				return err
			}
			x.calls = x.calls[:0]
		}
	}
	return nil
}

// leaf returns the buffer that a step reads for a leaf, and the offset in it: a carry is in the output
// of the step before.
func (x *recurring) leaf(i, step int) (driver.Buffer, int) {
	l, arg := &x.c.Leaves[i], x.plan.args[i]
	offset := l.View.Offset
	switch {
	case arg >= 0 && x.IsInput(arg):
		offset += x.Position(step) * l.Value.Strides[0]
	case arg >= 0 && arg < x.Carries && step > 0:
		b, part := x.stored(x.slot[arg], step-1)
		return b.Buffer, part + offset
	}
	return x.buffers[i], offset
}

// finish makes storages of the buffers and returns the values of the results.
func (x *recurring) finish(run *storage.Execution) []*graph.Value {
	values := make([]*graph.Value, len(x.results))
	region := regionOfReplay(x.c)
	for i, slot := range x.slot {
		if x.storages[slot] == nil {
			b, _ := x.stored(slot, x.Steps-1)
			x.store(x.p, run, slot, x.device.memory.Store(*b), b)
		}
		v := x.view(i)
		values[i] = x.storages[slot].NewValue(v.Offset, v.Strides)
		storage.NoteStored(region, values[i])
	}
	return values
}

// view returns the value of a result but for its Store.
func (r *repeatStep) view(result int) *graph.Value {
	v := &graph.Value{Strides: shape.RowMajor(r.Dims(r.results, result))}
	if result < r.Carries && r.aliasOf[result] >= 0 { // the last step of a stack
		v.Offset = r.Position(r.Steps-1) * r.results[result].Len()
	}
	return v
}

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

// pick gives n, a result of a Recur, its value if the Recur has one that includes it.
func pick(n, recur *graph.Node) *graph.Value {
	v := recur.Value()
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
	n.SetValue(v)
	return n.Value()
}

// storeCarries has the first carries stored in row-major order, each on its own, as the
// steps store them.
func (c *call) storeCarries() {
	r := graph.RecurrenceOf(c.node)
	for i, n := range c.src[:r.Carries] {
		v := n.Value()
		if v == nil || v.Err == nil && (v.Offset != 0 || !shape.IsRowMajor(n.Shape, v.Strides)) {
			c.src[i] = graph.Copy(n)
		}
	}
}

// runRecurrence computes a Recur and gives the node its value.
func (c *call) runRecurrence(d *Device) error {
	r := graph.RecurrenceOf(c.node)
	results := r.Results()
	values, err := d.recur(r, results, c.src)
	if errors.Is(err, driver.ErrMemory) {
		forceGC()
		if err = d.Trim(); err == nil {
			values, err = d.recur(r, results, c.src)
		}
	}
	if errors.Is(err, ErrNotOnePlan) {
		values, err = d.recurByPlans(r, results, c.src)
	}
	if err != nil {
		return err
	}
	c.node.ReplaceValue(&graph.Value{Store: &bundle{d, values}})
	return nil
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

	same   []int           // of the carries: the output that is read as the next one; -1 if there is none
	slots  []*pooled       // of the plan; those of outputs are as long as the stacks
	others []*pooled       // second buffers of carries, in turn with the first
	block  []driver.Buffer // of the leaves
}

// recur runs a recurrence and returns the values of its results. It fails with
// ErrNotOnePlan if no single plan computes the body so that each result has a buffer of
// its own.
func (d *Device) recur(r *graph.Recurrence, results, src []*graph.Node) (values []*graph.Value, err error) {
	d.maybeGC()
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
	defer func() { d.pool.release(x.slots...); d.pool.release(x.others...) }()
	if err := x.acquire(); err != nil {
		return nil, err
	}
	run, err := d.begin(x.p, x.c)
	if err != nil {
		return nil, err
	}
	if run != nil {
		run.whole = true
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
	x.same = slices.Repeat([]int{-1}, x.Carries)
	var roots []*graph.Node
	_, shares := x.d.drv.(driver.Sharer) // a step may read the part of a stack before the one it writes
	for i, n := range x.results {
		if i < x.Carries && shares {
			if k := slices.Index(x.results[x.Carries:], n); k >= 0 {
				x.same[i] = k + x.Carries
				continue
			}
		}
		if class := n.Op.Class(); class != ir.Elementwise && class != ir.Reduction || slices.Contains(roots, n) {
			n = graph.Copy(n)
		}
		roots = append(roots, n)
	}
	given, of, err := x.stands()
	if err != nil {
		return err
	}
	c := newBody(x.d, roots, given, len(x.results)-x.Carries)
	x.c = c
	if len(c.foreign) > 0 || len(c.calls) > 0 || len(c.casts) > 0 || len(c.empty) > 0 || x.Steps == 0 {
		err = ErrNotOnePlan
	} else if x.p, err = x.d.load(c); err == nil && !x.p.compiled.Apart(len(roots)) {
		err = ErrNotOnePlan
	}
	if err != nil {
		c.release()
		return err
	}
	for i := range c.leaves { // in place of the stands, the operands of the first step
		l := &c.leaves[i]
		arg, ok := of[l.value.Store]
		if !ok {
			x.args = append(x.args, -1)
			continue
		}
		x.args = append(x.args, arg)
		v := x.src[arg].Value()
		l.view.Offset += v.Offset - l.value.Offset
		l.value = v
		l.stored, _ = v.Store.(*storage)
	}
	return nil
}

// stands returns values without elements for the arguments of the body, in the layouts of
// the operands, and by their Stores which argument each is for.
func (x *recurring) stands() (given map[*graph.Node]*graph.Value, of map[graph.Store]int, err error) {
	given, of = map[*graph.Node]*graph.Value{}, map[graph.Store]int{}
	for i, n := range x.Args {
		v := x.src[i].Value()
		if v.Err != nil {
			return nil, nil, v.Err
		}
		s := &storage{device: x.d}
		stand := &graph.Value{Store: s, Offset: v.Offset, Strides: v.Strides}
		stride := 0 // from step to step
		switch {
		case x.isInput(i):
			stand.Strides, stride = v.Strides[1:], v.Strides[0]
		case i < x.Carries && x.same[i] >= 0:
			stride = n.Len()
		}
		if stride*n.DType.Size()%16 != 0 {
			stand.Offset = 1 // not aligned in all steps
		}
		given[n], of[s] = stand, i
	}
	return given, of, nil
}

func (x *recurring) isInput(arg int) bool { return arg >= x.Carries && arg < x.Carries+x.Inputs }

// slot returns the slot of a result, and whether it is stacked.
func (x *recurring) slot(result int) (slot int, stacked bool) {
	output := result
	for _, s := range x.same[:min(result, x.Carries)] {
		if s >= 0 {
			output-- // it is no root
		}
	}
	return x.p.slot[x.p.compiled.Outputs[output].Index], result >= x.Carries
}

// acquire acquires the buffers.
func (x *recurring) acquire() (err error) {
	requests := slices.Clone(x.p.slots)
	var others []request
	for i, n := range x.results {
		if i < x.Carries && x.same[i] >= 0 {
			continue
		}
		slot, stacked := x.slot(i)
		if stacked {
			requests[slot] = x.d.request(x.Steps * n.Len() * n.DType.Size())
		} else {
			others = append(others, requests[slot])
		}
	}
	if x.slots, err = x.d.acquire(nil, requests...); err != nil {
		return err
	}
	if x.others, err = x.d.acquire(nil, others...); err != nil {
		return err
	}
	for i := range x.c.leaves {
		b, err := x.c.leaves[i].stored.blockOn(x.d)
		if err == nil {
			err = x.c.leaves[i].stored.failed() // since ready
		}
		if err != nil {
			return err
		}
		x.block = append(x.block, b.buffer)
	}
	return nil
}

// maxCalls is about the number of calls that a recurrence submits at once.
const maxCalls = 1 << 10

// run submits the calls of all steps.
func (x *recurring) run(run *execution) error {
	steps := x.p.compiled.Steps
	size := make([]int, len(x.slots)) // of the stacked ones: elements of a step
	isCarry := make([]int, len(x.slots))
	source := make([]int, x.Carries) // the slot that a carry is read from
	carries := 0
	for i, n := range x.results {
		if i < x.Carries && x.same[i] >= 0 {
			continue
		}
		slot, stacked := x.slot(i)
		if stacked {
			size[slot] = n.Len()
		} else {
			carries++
			isCarry[slot] = carries
			source[i] = slot
		}
	}
	for i, s := range x.same {
		if s >= 0 {
			source[i], _ = x.slot(s)
		}
	}
	// buffer returns the buffer of a slot in a step, and the offset of the step's part.
	buffer := func(slot, step int) (driver.Buffer, int) {
		if k := isCarry[slot]; k > 0 && step%2 == 1 {
			return x.others[k-1].Buffer, 0
		}
		return x.slots[slot].Buffer, size[slot] * x.position(step)
	}
	perRun := max(1, maxCalls/max(1, len(steps)))
	args := make([]driver.Arg, perRun*x.p.args)
	calls := make([]driver.Call, 0, perRun*len(steps))
	for step := range x.Steps {
		rest := args[step%perRun*x.p.args:]
		for i := range steps {
			s := &steps[i]
			call := rest[:len(s.Args):len(s.Args)]
			rest = rest[len(s.Args):]
			for k, a := range s.Args {
				switch {
				case a.Kind == ir.Value:
					call[k] = driver.Arg{Num: x.c.scalars[a.Index]}
				case a.Kind == ir.Status, a.Report:
					call[k] = driver.Arg{Buffer: run.reports, Offset: ir.StatusLen * (run.firstCheck + a.Index)}
				case a.Leaf:
					l, arg := &x.c.leaves[a.Index], x.args[a.Index]
					call[k] = driver.Arg{Buffer: x.block[a.Index], Offset: l.view.Offset + a.Offset}
					switch {
					case arg >= 0 && x.isInput(arg):
						call[k].Offset += x.position(step) * l.value.Strides[0]
					case arg >= 0 && arg < x.Carries && step > 0:
						b, offset := buffer(source[arg], step-1)
						call[k] = driver.Arg{Buffer: b, Offset: offset + l.view.Offset + a.Offset}
					}
				default:
					b, offset := buffer(x.p.slot[a.Index], step)
					call[k] = driver.Arg{Buffer: b, Offset: offset + a.Offset}
				}
			}
			calls = append(calls, driver.Call{Program: x.p.programs[i], Args: call})
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

// position is where along the first axis of inputs and outputs a step is.
func (x *recurring) position(step int) int {
	if x.Reverse {
		return x.Steps - 1 - step
	}
	return step
}

// values makes storages of the buffers and returns the values of the results.
func (x *recurring) values(run *execution) ([]*graph.Value, error) {
	values := make([]*graph.Value, len(x.results))
	store := func(b *pooled) *graph.Value {
		s := x.d.newStorage(b)
		if run != nil {
			s.exec = run
		}
		return &graph.Value{Store: s}
	}
	carries, last := 0, x.Steps-1
	for i, n := range x.results {
		if i < x.Carries && x.same[i] >= 0 {
			continue
		}
		slot, stacked := x.slot(i)
		from := &x.slots[slot]
		switch {
		case stacked:
			values[i] = store(*from)
			values[i].Strides = shape.RowMajor(append([]int{x.Steps}, n.Shape...))
			*from = nil
			continue
		case last%2 == 1:
			from = &x.others[carries]
		}
		carries++
		values[i] = store(*from)
		values[i].Strides = shape.RowMajor(n.Shape)
		*from = nil
	}
	for i, s := range x.same {
		if s >= 0 {
			v := values[s]
			values[i] = &graph.Value{Store: v.Store, Offset: x.position(last) * v.Strides[0], Strides: v.Strides[1:]}
		}
	}
	for i, v := range values {
		if err := v.Store.(*storage).failed(); err != nil {
			values[i] = &graph.Value{Err: err}
		}
	}
	return values, nil
}

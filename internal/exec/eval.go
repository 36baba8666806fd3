package exec

import (
	"runtime"
	"slices"

	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/profile"
	"github.com/tensorken/tensorken/internal/storage"
)

// Eval computes roots, in one plan for each device. Nodes that are committed to none
// are computed on def. It returns the first failure of a plan, or of a value that a
// root has.
func Eval(def *Device, roots []*graph.Node) error { return eval(def, builder{}, roots, nil) }

func eval(def *Device, b builder, roots, old []*graph.Node) error {
	if err := b.compute(def, roots, old, nil); err != nil {
		return err
	}
	for _, s := range b.donated {
		if e := s.Donated(); e != nil {
			s.Free(e)
		}
	}
	for _, n := range roots {
		if v := n.Value(); v != nil && v.Err != nil {
			return v.Err
		}
	}
	return nil
}

// Step is Eval as a transaction, for an optimizer: roots[i] is the new value of
// old[i], which is nil for a value that is new. If anything computed along with the
// roots meets a bad index, Step fails and the caller keeps the old values. The roots
// of each device are a transaction of their own.
//
// An asynchronous device meets the bad index after Step has returned. There the
// roots come to hold the elements of old, so that training continues from them, and
// the journal reports the failure once it is known.
//
// Together says that all ranks make the step, of graphs of equal shapes: its plans have its collectives.
func Step(def *Device, j *storage.Journal, together bool, roots, old []*graph.Node) error {
	return eval(def, builder{journal: j, together: together}, roots, old)
}

// Read evaluates n and returns its elements: see storage.Read.
func Read(def *Device, n *graph.Node) ([]byte, error) { return evaluated(def, n, storage.Read) }

// View is Read without a copy where there can be none: see storage.View.
func View(def *Device, n *graph.Node) ([]byte, error) { return evaluated(def, n, storage.View) }

func evaluated(def *Device, n *graph.Node, read func(*graph.Node) ([]byte, error)) ([]byte, error) {
	if v := n.Value(); v == nil || v.Err != nil {
		if err := Eval(def, []*graph.Node{n}); err != nil {
			return nil, err
		}
	}
	return read(n)
}

// eval runs the plan of a capture. If it fails the nodes stay as they were, and another try may
// succeed.
func (d *Device) eval(c *capture.Capture, j *storage.Journal) error {
	if err := d.ready(c); err != nil {
		return err
	}
	p, err := d.loader.load(c)
	if err != nil {
		return err
	}
	if err := d.execute(p, c, j, nil); err != nil {
		failCollectives(c, err)
		return err
	}
	c.MarkComputed()
	return nil
}

// execute runs a plan, beside collectives on the host unless o is nil.
func (d *Device) execute(p *loadedPlan, c *capture.Capture, j *storage.Journal, o *overlap) error {
	var lost error // of a run that has overwritten leaves, or started collectives
	return d.memory.Retry(func() error {
		if lost != nil {
			return lost
		}
		err := d.run(p, c, j, o)
		if err != nil && (c.IsGone() || c.Begun > 0 || o.hasStarted()) {
			lost = err
		}
		return err
	})
}

// ready makes the leaves available to d. It returns the first failure of a leaf. It waits until
// the failures of other devices' leaves are known and, for a transaction, the failures of all
// leaves.
func (d *Device) ready(c *capture.Capture) error {
	if c.Failed != nil {
		return c.Failed
	}
	for i := range c.Leaves {
		l := &c.Leaves[i]
		if l.Value.Err != nil {
			return l.Value.Err
		}
		if err := l.Stored.Ready(d.memory, c.IsTransaction()); err != nil {
			return err
		}
	}
	return nil
}

// begin returns the execution of a plan that may fail by an index, nil for others. The caller holds
// the queue.
func (d *Device) begin(p *loadedPlan, c *capture.Capture) (*storage.Execution, error) {
	var pending []storage.Pending
	for i := range c.Leaves {
		pending = c.Leaves[i].Stored.AppendPending(pending, p.checks.Len+i)
	}
	sites := c.Sites
	if sites == nil {
		sites = p.sitesOf(c)
	}
	return d.memory.Begin(&p.checks, pending, storage.Sites{List: sites, Again: c.Replayed}, c.IsTransaction())
}

// sitesOf returns the calls that made the indices that a plan checks.
func (p *loadedPlan) sitesOf(c *capture.Capture) (sites []*graph.IndexSite) {
	for _, s := range p.checks.Steps {
		for _, index := range s.Indices {
			sites = append(sites, c.Node(index.Node).Site())
		}
	}
	return sites
}

// A pause is something to do once some calls of a plan are submitted.
type pause struct {
	calls, skips int // calls before it, and calls that it is
	do           func() error
}

// submit submits the calls of a plan, and starts its collectives. If a later step waits for the reports they are copied
// once all are written. Collectives on the host start once their operands are.
func (d *Device) submit(p *loadedPlan, c *capture.Capture, l *launch, o *overlap) error {
	var pauses []pause
	if c.IsAwaited && p.checks.Len > 0 {
		pauses = append(pauses, pause{p.checks.End, 0, d.memory.Snapshot})
	}
	pauses = d.appendCollectives(pauses, p, c, l)
	pauses = o.appendPauses(pauses, p, l)
	slices.SortStableFunc(pauses, func(x, y pause) int { return x.calls - y.calls })
	first, steps := 0, p.compiled.Steps
	for _, x := range pauses {
		if first < x.calls {
			if err := profile.Submit(d.memory, l.calls[first:x.calls], steps[first:x.calls], c.Node); err != nil {
				return err
			}
		}
		first = max(first, x.calls+x.skips)
		if err := x.do(); err != nil {
			return err
		}
	}
	if first == len(steps) && first > 0 {
		return nil
	}
	return profile.Submit(d.memory, l.calls[first:], steps[first:], c.Node)
}

// run runs a plan and gives the outputs their values. Leaves that it may have overwritten are gone.
func (d *Device) run(p *loadedPlan, c *capture.Capture, j *storage.Journal, o *overlap) (err error) {
	d.memory.Queue.Lock()
	defer d.memory.Queue.Unlock()
	l := launches.Get().(*launch)
	defer l.release(d)
	if err := l.acquire(d, c, p.slots); err != nil {
		return err
	}
	x, err := d.begin(p, c)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil || l.hasTaken() {
			c.FreeDonated(p.returns)
		}
	}()
	if err = l.take(d, p, c); err == nil {
		l.bind(p, c, x)
		err = d.submit(p, c, l, o)
	}
	waits := c.IsTransaction() && !p.compiled.FallsBack
	if x != nil {
		err = d.memory.Conclude(x, err, waits)
	}
	if err != nil {
		return err
	}
	err = l.finish(d, p, c, x)
	runtime.KeepAlive(c.Leaves)
	switch {
	case err != nil || x == nil || !c.IsTransaction():
	case waits:
		err = x.Err()
	case j != nil:
		j.Note(x)
	}
	return err
}

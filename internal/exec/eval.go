package exec

import (
	"errors"
	"runtime"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
)

// A Failure is an error of a device.
type Failure struct {
	Device *Device
	Err    error
}

func (e *Failure) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Failure) Unwrap() error { return e.Err }

// Eval computes roots, in one plan for each device. Nodes that are committed to none
// are computed on def. It returns the first failure of a plan, or of a value that a
// root has.
func Eval(def *Device, roots []*graph.Node) error { return eval(def, nil, roots, nil) }

func eval(def *Device, j *Journal, roots, old []*graph.Node) error {
	b := builder{journal: j}
	if err := b.compute(def, roots, old, nil); err != nil {
		return err
	}
	for _, s := range b.donated {
		if e := s.donated.Load(); e != nil {
			s.free(e)
		}
	}
	for _, n := range roots {
		if v := n.Value(); v != nil && v.Err != nil {
			return v.Err
		}
	}
	return nil
}

// eval runs the plan of a capture. If it fails the nodes stay as they were, and another try may
// succeed.
func (d *Device) eval(c *capture, j *Journal) error {
	if err := d.ready(c); err != nil {
		return err
	}
	p, err := d.loader.load(c)
	if err != nil {
		return err
	}
	if err := d.execute(p, c, j); err != nil {
		return err
	}
	c.markComputed()
	return nil
}

// execute runs a plan.
func (d *Device) execute(p *loadedPlan, c *capture, j *Journal) error {
	var lost error // of a run that has overwritten leaves
	return d.retry(func() error {
		if lost != nil {
			return lost
		}
		err := d.run(p, c, j)
		if err != nil && c.isGone() {
			lost = err
		}
		return err
	})
}

// retry calls run, a second time if memory lacked that dead tensors held.
func (d *Device) retry(run func() error) error {
	err := run()
	if errors.Is(err, driver.ErrMemory) {
		memory.ForceGC()
		if err = d.Trim(); err == nil {
			err = run()
		}
	}
	return err
}

// ready makes the leaves available to d. It returns the first failure of a leaf. It waits until
// the failures of other devices' leaves are known and, for a transaction, those of all leaves.
func (d *Device) ready(c *capture) error {
	if c.failed != nil {
		return c.failed
	}
	for i := range c.leaves {
		v := c.leaves[i].value
		if v.Err != nil {
			return v.Err
		}
		s := c.leaves[i].stored
		foreign := s.device != nil && s.device != d
		if s.pending() && (foreign || c.isTransaction()) {
			if err := s.device.stream.lockAndReadReports(); err != nil {
				return err
			}
		}
		if err := s.failed(); err != nil {
			return err
		}
		if foreign {
			if err := d.fetch(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs a plan and gives the outputs their values.
func (d *Device) run(p *loadedPlan, c *capture, j *Journal) error {
	d.queue.Lock()
	defer d.queue.Unlock()
	l := launches.Get().(*launch)
	defer l.release(d)
	var err error
	if l.slots, err = d.pool.Acquire(l.slots, p.slots...); err != nil {
		return err
	}
	if err = l.use(d, c); err != nil {
		return err
	}
	x, err := d.stream.begin(p, c)
	if err != nil {
		return err
	}
	if err = l.take(d, p, c); err == nil {
		l.bind(p, c, x)
		if err = d.submit(p, c, l.calls); err != nil && l.hasTaken() {
			c.freeDonated(p)
		}
	}
	waits := c.isTransaction() && !p.compiled.FallsBack
	if x != nil {
		err = d.stream.conclude(x, err, waits)
	}
	if err != nil {
		return err
	}
	err = l.finish(d, p, c, x)
	runtime.KeepAlive(c.leaves)
	switch {
	case err != nil || x == nil || !c.isTransaction():
	case waits:
		err = x.fault.report()
	case j != nil:
		j.note(x)
	}
	if err == nil || l.hasTaken() {
		c.freeDonated(p)
	}
	return err
}

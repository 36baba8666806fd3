package exec

import (
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

const (
	reportBytes = 4 * ir.StatusLen
	minReports  = 1 << 12 // the least capacity of the buffer
)

// reports is an asynchronous device's buffer of reports on checked indices: one
// report for each step of a plan that checks some, assigned in turn. They are read at
// the next read of a value, and when the buffer is full. On other devices each
// execution has a buffer of its own, which is read at its end.
type reports struct {
	buffer       driver.Buffer
	capacity     int
	next         int
	pending      []*execution
	transactions int    // pending; their reports are read with the next value, to detect failures early
	unreported   *fault // the first of a transaction
}

// begin returns the execution of a plan that checks indices or depends on pending
// executions; nil for others. The caller holds d.queue.
func (d *Device) begin(p *loadedPlan, c *capture) (*execution, error) {
	r := &d.reports
	var leaves []origin
	for i := range c.leaves {
		if s := c.leaves[i].stored; s.pending() {
			if leaves == nil {
				leaves = make([]origin, len(c.leaves))
			}
			leaves[i] = s.origin
		}
	}
	checks := p.compiled.Checks
	if checks == 0 && leaves == nil {
		return nil, nil
	}
	x := &execution{plan: p, leaves: leaves, transaction: c.isTransaction()}
	for i := range p.compiled.Steps {
		for _, index := range p.compiled.Steps[i].Indices {
			site := c.nodes[index.Node].Site()
			if c.replayed {
				site = site.Again()
			}
			x.sites = append(x.sites, site)
		}
	}
	if !d.limits.Async {
		return x, d.acquireReports(x)
	}
	if r.next+checks > r.capacity || len(r.pending) >= r.capacity {
		if err := d.readReports(); err != nil {
			return nil, err
		}
		if err := d.reserveReports(checks); err != nil {
			return nil, err
		}
	}
	if x.transaction {
		r.transactions++
	}
	x.reports, x.firstCheck = r.buffer, r.next
	r.next += checks
	r.pending = append(r.pending, x)
	return x, nil
}

// acquireReports gives an execution a buffer for its reports, all 0.
func (d *Device) acquireReports(x *execution) error {
	size := reportBytes * x.plan.compiled.Checks
	own, err := d.acquire(nil, request{class: sizeClass(size, d.limits.Bytes)})
	if err != nil {
		return err
	}
	x.own, x.reports = own[0], own[0].Buffer
	if err := d.drv.Upload(x.reports, 0, make([]byte, size)); err != nil {
		d.pool.release(x.own)
		return err
	}
	return nil
}

// conclude ends an execution whose calls were submitted with that error. It reads the
// reports if the device is not asynchronous, or if the caller waits for them. The
// caller holds d.queue.
func (d *Device) conclude(x *execution, err error, waits bool) error {
	if d.limits.Async {
		if err == nil && waits {
			err = d.readReports()
		}
		return err
	}
	defer d.pool.release(x.own)
	data := make([]byte, reportBytes*x.plan.compiled.Checks)
	if err == nil {
		err = d.download(data, x.reports, 0)
	}
	if err == nil {
		x.attribute(data)
	}
	return err
}

// reserveReports makes room for a number of reports in the buffer, which is not in
// use. The caller holds d.queue.
func (d *Device) reserveReports(checks int) error {
	r := &d.reports
	if checks = max(checks, minReports); checks <= r.capacity {
		return nil
	}
	b, err := d.drv.Alloc(reportBytes * checks)
	if err != nil {
		return err
	}
	if err := d.drv.Upload(b, 0, make([]byte, reportBytes*checks)); err != nil {
		b.Free()
		return err
	}
	if r.buffer != nil {
		r.buffer.Free()
	}
	r.buffer, r.capacity = b, checks
	return nil
}

// readReports attributes the reports of the pending executions. The caller holds d.queue.
func (d *Device) readReports() error {
	r := &d.reports
	if len(r.pending) == 0 {
		return nil
	}
	data := make([]byte, reportBytes*r.next)
	if err := d.download(data, r.buffer, 0); err != nil {
		return err
	}
	found := false
	for _, x := range r.pending {
		x.attribute(data)
		if x.fault == nil {
			continue
		}
		found = true
		if x.transaction && (r.unreported == nil || r.unreported.reported.Load()) {
			r.unreported = x.fault
		}
	}
	r.pending = r.pending[:0]
	r.next, r.transactions = 0, 0
	if !found {
		return nil
	}
	clear(data)
	return d.drv.Upload(r.buffer, 0, data)
}

// lockAndReadReports is readReports for a caller that does not hold d.queue.
func (d *Device) lockAndReadReports() error {
	d.queue.Lock()
	defer d.queue.Unlock()
	return d.readReports()
}

// takeUnreported returns the error of a transaction that nobody has read yet.
func (r *reports) takeUnreported() error {
	f := r.unreported
	if f == nil {
		return nil
	}
	r.unreported = nil
	if f.reported.Load() {
		return nil
	}
	return f.report()
}

package exec

import (
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
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
	buffer       pooled
	capacity     int
	next         int
	pending      []*execution
	transactions int    // pending; their reports are read with the next value, to detect failures early
	unreported   *fault // the first of a transaction
}

// begin returns the execution of a plan that checks indices or depends on pending
// executions; nil for others. The caller holds d.queue.
func (d *Device) begin(p *loadedPlan, c *capture) (x *execution, err error) {
	r, checks := &d.reports, p.compiled.Checks
	var leaves []pendingLeaf
	unknown := p.checks
	for i := range c.leaves {
		if s := c.leaves[i].stored; s.pending() {
			leaves = append(leaves, pendingLeaf{checks + i, s.origin})
			unknown = unknown.With(compile.SetOf(checks + i))
		}
	}
	if len(unknown) == 0 {
		return nil, nil
	}
	x = &execution{plan: p, leaves: leaves, unknown: unknown, transaction: c.isTransaction()}
	for _, i := range p.checking {
		for _, index := range p.compiled.Steps[i].Indices {
			site := c.nodes[index.Node].Site()
			if c.replayed {
				site = site.Again()
			}
			x.sites = append(x.sites, site)
		}
	}
	if !d.limits.Async {
		x.reports, err = d.newReports(checks)
		return x, err
	}
	if r.next+checks > r.capacity || len(r.pending) >= r.capacity {
		if err := d.readReports(); err != nil {
			return nil, err
		}
		if n := max(checks, minReports); n > r.capacity {
			d.pool.release(r.buffer)
			*r = reports{unreported: r.unreported}
			if r.buffer, err = d.newReports(n); err != nil {
				return nil, err
			}
			r.capacity = n
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

// newReports returns a buffer for a number of reports, all 0.
func (d *Device) newReports(n int) (pooled, error) {
	data := make([]byte, reportBytes*n)
	own, err := d.acquire(nil, request{class: sizeClass(len(data), d.limits.Bytes)})
	if err == nil {
		err = d.drv.Upload(own[0].Buffer, 0, data)
	}
	if err != nil {
		d.pool.release(own...)
		return pooled{}, err
	}
	return own[0], nil
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
	defer d.pool.release(x.reports)
	data := make([]byte, reportBytes*x.plan.compiled.Checks)
	if err == nil {
		err = d.download(data, x.reports.Buffer, 0)
	}
	if err == nil {
		x.attribute(data)
	}
	return err
}

// readReports attributes the reports of the pending executions. The caller holds d.queue.
func (d *Device) readReports() error {
	r := &d.reports
	if len(r.pending) == 0 {
		return nil
	}
	data := make([]byte, reportBytes*r.next)
	if err := d.download(data, r.buffer.Buffer, 0); err != nil {
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
	return d.drv.Upload(r.buffer.Buffer, 0, data)
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
	r.unreported = nil
	if f == nil || f.reported.Load() {
		return nil
	}
	return f.report()
}

// abandonReports fails the pending executions, as their reports may be lost.
func (d *Device) abandonReports(err error) {
	for _, x := range d.reports.pending {
		x.fault = newFault(err)
		x.settle()
	}
	d.pool.release(d.reports.buffer)
	d.reports = reports{unreported: d.reports.unreported}
}

// A syncEpoch is the work submitted between two syncs. An asynchronous failure
// cannot be attributed to one call, so it poisons every buffer written in its epoch.
type syncEpoch struct{ failure atomic.Pointer[fault] }

// fault is the failure of the epoch, nil if there is none or no epoch.
func (e *syncEpoch) fault() *fault {
	if e == nil {
		return nil
	}
	return e.failure.Load()
}

func (e *syncEpoch) failed() error { return e.fault().report() }

// sync waits for the submitted work. The caller holds d.queue.
func (d *Device) sync() error {
	err := d.drv.Sync()
	if d.epoch == nil { // the call that met a failure has returned it
		return err
	}
	if err != nil {
		d.epoch.failure.Store(newFault(err))
		d.abandonReports(err)
	}
	d.epoch = new(syncEpoch)
	return err
}

// download fills dst with the bytes of a buffer from an offset on. The caller holds
// d.queue.
func (d *Device) download(dst []byte, src driver.Buffer, offset int) error {
	err := d.drv.Download(dst, src, offset)
	if d.epoch == nil {
		return err
	}
	if err != nil {
		if failed := d.sync(); failed != nil {
			return failed
		}
		return err // of the download alone
	}
	d.epoch = new(syncEpoch)
	return nil
}

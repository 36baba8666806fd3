package exec

import (
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/memory"
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
	buffer       memory.Pooled
	capacity     int
	next         int
	pending      []*execution
	transactions int    // pending; their reports are read with the next value, to detect failures early
	unreported   *fault // the first of a transaction
}

// begin returns the execution of a plan that checks indices or depends on pending
// executions; nil for others. The caller holds the queue.
func (s *stream) begin(p *loadedPlan, c *capture) (x *execution, err error) {
	r, checks := &s.reports, p.compiled.Checks
	var leaves []pendingLeaf
	unknown := p.checks
	for i := range c.leaves {
		if stored := c.leaves[i].stored; stored.pending() {
			leaves = append(leaves, pendingLeaf{checks + i, stored.origin})
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
	if !s.async {
		x.reports, err = s.newReports(checks)
		return x, err
	}
	if r.next+checks > r.capacity || len(r.pending) >= r.capacity {
		if err := s.readReports(); err != nil {
			return nil, err
		}
		if n := max(checks, minReports); n > r.capacity {
			s.pool.Release(r.buffer)
			*r = reports{unreported: r.unreported}
			if r.buffer, err = s.newReports(n); err != nil {
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
func (s *stream) newReports(n int) (memory.Pooled, error) {
	data := make([]byte, reportBytes*n)
	b, err := s.pool.AcquireOne(len(data))
	if err == nil {
		err = s.drv.Upload(b.Buffer, 0, data)
	}
	if err != nil {
		s.pool.Release(b)
		return memory.Pooled{}, err
	}
	return b, nil
}

// conclude ends an execution whose calls were submitted with that error. It reads the
// reports if the device is not asynchronous, or if the caller waits for them. The
// caller holds the queue.
func (s *stream) conclude(x *execution, err error, waits bool) error {
	if s.async {
		if err == nil && waits {
			err = s.readReports()
		}
		return err
	}
	defer s.pool.Release(x.reports)
	data := make([]byte, reportBytes*x.plan.compiled.Checks)
	if err == nil {
		err = s.download(data, x.reports.Buffer, 0)
	}
	if err == nil {
		x.attribute(data)
	}
	return err
}

// readReports attributes the reports of the pending executions. The caller holds the queue.
func (s *stream) readReports() error {
	r := &s.reports
	if len(r.pending) == 0 {
		return nil
	}
	data := make([]byte, reportBytes*r.next)
	if err := s.download(data, r.buffer.Buffer, 0); err != nil {
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
	return s.drv.Upload(r.buffer.Buffer, 0, data)
}

// lockAndReadReports is readReports for a caller that does not hold the queue.
func (s *stream) lockAndReadReports() error {
	s.queue.Lock()
	defer s.queue.Unlock()
	return s.readReports()
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
func (s *stream) abandonReports(err error) {
	for _, x := range s.reports.pending {
		x.fault = newFault(err)
		x.settle()
	}
	s.pool.Release(s.reports.buffer)
	s.reports = reports{unreported: s.reports.unreported}
}

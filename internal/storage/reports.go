package storage

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/driver"
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
	pending      []*Execution
	transactions int    // pending; their reports are read with the next value, to detect failures early
	unreported   *fault // the first of a transaction
	onHost       []byte // see memory
	snapshot     snapshot
}

// memory returns the host's memory for n reports, until the next call.
func (r *reports) memory(n int) []byte {
	r.onHost = slices.Grow(r.onHost[:0], reportBytes*n)
	return r.onHost[:reportBytes*n]
}

// A snapshot is a copy of the first reports to the host. It is made where a step that does not depend on the indices
// will wait for the reports, so that it need not wait for the work after them.
type snapshot struct {
	next int // as reports.next then
	wait func() ([]byte, error)
}

// Begin returns the execution of a plan that checks indices, which have sites, or has pending
// leaves; nil for others. The caller holds the queue.
func (s *stream) Begin(c *Checks, leaves []Pending, sites Sites, transaction bool) (x *Execution, err error) {
	if c.Len == 0 && len(leaves) == 0 {
		return nil, nil
	}
	x = &Execution{checks: c, sites: sites, leaves: leaves, transaction: transaction, unknown: c.All}
	for _, l := range leaves {
		x.unknown = x.unknown.With(compile.SetOf(l.number))
	}
	r, checks := &s.reports, c.Len
	if !s.Limits.Async {
		x.onHost = make([]byte, reportBytes*checks) // of its own: other goroutines may run plans at the same time
		x.Reports, err = s.newReports(x.onHost)
		return x, err
	}
	if r.next+checks > r.capacity || len(r.pending) >= r.capacity {
		if err := s.readReports(); err != nil {
			return nil, err
		}
		if n := max(checks, minReports); n > r.capacity {
			s.Pool.Release(r.buffer)
			*r = reports{unreported: r.unreported, onHost: r.onHost}
			data := r.memory(n)
			clear(data)
			if r.buffer, err = s.newReports(data); err != nil {
				return nil, err
			}
			r.capacity = n
		}
	}
	if x.transaction {
		r.transactions++
	}
	x.Reports, x.FirstCheck = r.buffer, r.next
	r.next += checks
	r.pending = append(r.pending, x)
	return x, nil
}

// newReports returns a buffer of reports that are all 0, as data is.
func (s *stream) newReports(data []byte) (memory.Pooled, error) {
	b, err := s.Pool.AcquireOne(len(data))
	if err == nil {
		err = s.Driver.Upload(b.Buffer, 0, data)
	}
	if err != nil {
		s.Pool.Release(b)
		return memory.Pooled{}, err
	}
	return b, nil
}

// Conclude ends an execution whose calls were submitted with that error. It reads the
// reports if the device is not asynchronous, or if the caller waits for them. The
// caller holds the queue.
func (s *stream) Conclude(x *Execution, err error, waits bool) error {
	if s.Limits.Async {
		if err == nil && waits {
			err = s.readReports()
		}
		return err
	}
	defer s.Pool.Release(x.Reports)
	if err == nil {
		err = s.download(x.onHost, x.Reports.Buffer, 0)
	}
	if err == nil {
		x.attribute(x.onHost, 0)
	}
	return err
}

// Snapshot copies the reports so far to the host, if the device can. The caller holds the queue.
func (s *stream) Snapshot() (err error) {
	d, ok := s.Driver.(driver.Snapshotter)
	if !ok || !s.Limits.Async {
		return nil
	}
	r := &s.reports
	r.snapshot.next = r.next
	r.snapshot.wait, err = d.Snapshot(driver.Piece{Buffer: r.buffer.Buffer, Bytes: reportBytes * r.next})
	return err
}

// taken returns the reports from the snapshot, nil without one of all, or if an index was bad: reports of later steps
// may name more results then.
func (r *reports) taken() ([]byte, error) {
	if r.snapshot.wait == nil || r.snapshot.next != r.next {
		return nil, nil
	}
	data, err := r.snapshot.wait()
	r.snapshot.wait = nil
	if hasBad(data) {
		return nil, err
	}
	return data, err
}

// hasBad reports whether reports have a bad index.
func hasBad(reports []byte) bool {
	return slices.ContainsFunc(reports, func(b byte) bool { return b != 0 })
}

// readReports attributes the reports of the pending executions. The caller holds the queue.
func (s *stream) readReports() error {
	r := &s.reports
	if len(r.pending) == 0 {
		return nil
	}
	data, err := r.taken()
	if err != nil {
		return cmp.Or(s.sync(), err)
	}
	if data == nil {
		data = r.memory(r.next)
		err = s.download(data, r.buffer.Buffer, 0)
	}
	if err != nil {
		return err
	}
	found := false
	for _, x := range r.pending {
		x.attribute(data, 0)
		if x.fault == nil {
			continue
		}
		found = true
		if x.transaction && (r.unreported == nil || r.unreported.reported.Load()) {
			r.unreported = x.fault
		}
	}
	r.pending = r.pending[:0]
	r.next, r.transactions, r.snapshot = 0, 0, snapshot{}
	if !found {
		return nil
	}
	clear(data)
	return s.Driver.Upload(r.buffer.Buffer, 0, data)
}

// lockAndReadReports is readReports for a caller that does not hold the queue.
func (s *stream) lockAndReadReports() error {
	s.Queue.Lock()
	defer s.Queue.Unlock()
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
	s.Pool.Release(s.reports.buffer)
	s.reports = reports{unreported: s.reports.unreported}
}

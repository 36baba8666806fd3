package exec

import (
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
)

// A stretch is all that a device is asked for between two times at which it is
// known to have done all before. Where something fails that nobody waits for,
// nobody knows what it was: then nothing that the stretch filled is worth
// anything.
type stretch struct{ err atomic.Pointer[error] }

// fail is why what the stretch filled is worthless, if it is. Nothing fails
// without a stretch.
func (s *stretch) fail() error {
	if s == nil {
		return nil
	}
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

// sync waits for all that was run. The caller holds d.mu.
func (d *Device) sync() error {
	err := d.drv.Sync()
	if err != nil {
		d.stretch.err.Store(&err)
		d.status.abandon(err)
	}
	d.stretch = new(stretch)
	return err
}

// download fills dst with what a buffer holds from an offset on. The caller
// holds d.mu.
func (d *Device) download(dst []byte, src driver.Buffer, offset int) error {
	if err := d.drv.Download(dst, src, offset); err != nil {
		if failed := d.sync(); failed != nil {
			return failed
		}
		return err // of the download alone
	}
	d.stretch = new(stretch)
	return nil
}

// abandon fails the pending runs: what they noted may be lost.
func (s *status) abandon(err error) {
	for _, r := range s.pending {
		r.plan, r.leaves, r.failure = nil, nil, newFailure(err)
		r.done.Store(true)
	}
	if s.buffer != nil {
		s.buffer.Free()
	}
	*s = status{unreported: s.unreported}
}

package storage

import (
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/memory"
)

// fetch makes the elements of another device available to d: as a copy on d if the device is a
// peer, else on the host. The caller holds no device's lock.
func (d *Device) fetch(s *Storage) error {
	copied := false
	err := d.Retry(func() (err error) {
		copied, err = d.copyPeer(s)
		return err
	})
	if copied || err != nil {
		return err
	}
	return s.toHost()
}

// copyPeer copies the elements of a peer to d, unless d has a copy. It reports false if the
// device is no peer.
func (d *Device) copyPeer(s *Storage) (copied bool, err error) {
	drv, ok := d.Driver.(driver.PeerCopier)
	if !ok {
		return false, nil
	}
	if !s.block.Use() {
		return false, s.failed()
	}
	defer s.block.Done()
	if !drv.IsPeer(s.block.Buffer) {
		return false, nil
	}
	if s.isOn(d) {
		return true, nil
	}
	defer lockBoth(d, s.device)()
	if err := s.failed(); err != nil { // found by another goroutine since the caller asked
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.copyOn(d)
	if c.isValid() { // by another goroutine
		return true, nil
	}
	size := s.block.Size()
	b, err := d.Pool.AcquireOne(size)
	if err != nil {
		return false, err
	}
	if err := drv.CopyPeer(b.Buffer, 0, s.block.Buffer, 0, size); err != nil {
		d.Pool.Release(b)
		return false, err
	}
	c.block, c.epoch = d.Pool.SetBlock(new(memory.Block), b), d.epoch
	return true, nil
}

// lockBoth locks the queues of two devices. It takes them in one order, whichever device is the
// first argument, so that goroutines that copy in both directions do not wait for each other.
func lockBoth(a, b *Device) (unlock func()) {
	if a.number > b.number {
		a, b = b, a
	}
	a.Queue.Lock()
	b.Queue.Lock()
	return func() {
		b.Queue.Unlock()
		a.Queue.Unlock()
	}
}

package storage

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/internal/memory"
)

// A deviceCopy is elements in a block of a device. A storage has one for each device that has a copy.
type deviceCopy struct {
	device *Device
	block  *memory.Block
	epoch  *syncEpoch // that writes the block; nil if that cannot fail
}

// storage returns a storage of the elements.
func (c deviceCopy) storage(file *mapped.File) *Storage {
	return &Storage{device: c.device, block: c.block, origin: origin{epoch: c.epoch}, file: file}
}

// isOn reports whether there is a valid copy on d.
func (s *Storage) isOn(d *Device) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copyOn(d).isValid()
}

// copyOn returns the copy on d, which may have no block yet. The caller holds s.mu.
func (s *Storage) copyOn(d *Device) *deviceCopy {
	i := slices.IndexFunc(s.copies, func(c deviceCopy) bool { return c.device == d })
	if i < 0 {
		i = len(s.copies)
		s.copies = append(s.copies, deviceCopy{device: d})
	}
	return &s.copies[i]
}

// isValid reports whether the copy has the elements, as far as is known.
func (c *deviceCopy) isValid() bool { return c.block != nil && c.epoch.failed() == nil }

// on returns the elements on d, for which they are ready. The caller holds d.Queue.
func (s *Storage) on(d *Device) (deviceCopy, error) {
	if s.device == d {
		return deviceCopy{d, s.block, s.epoch}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.copyOn(d)
	if c.isValid() {
		return *c, nil
	}
	if s.device != nil && s.host == nil { // a peer's copy, which has failed or was freed since
		return deviceCopy{}, cmp.Or(c.epoch.failed(), s.failed(), errFreed)
	}
	host, file, err := s.hostFor(d)
	if err != nil {
		return deviceCopy{}, err
	}
	uploaded, err := d.upload(host, file)
	if err != nil {
		return deviceCopy{}, err
	}
	*c = uploaded
	if r := graph.CurrentRegion(); r != nil {
		if of := r.Enclosing(s.region.Load()); of != nil {
			regionOf(of).add(s)
		}
	}
	return uploaded, nil
}

// A wrapped is a block of host data. It keeps the file of the data.
type wrapped struct {
	memory.Block
	file *mapped.File
}

// upload copies host data, which may be of a mapped file, to the device. The caller holds d.Queue.
func (d *Device) upload(data []byte, file *mapped.File) (deviceCopy, error) {
	if w, ok := d.Driver.(driver.Wrapper); ok {
		if b := w.Wrap(data); b != nil {
			k := &wrapped{file: file}
			k.Buffer = b
			return deviceCopy{d, &k.Block, nil}, nil
		}
	}
	buffer, err := d.Pool.AcquireOne(len(data))
	if err != nil {
		return deviceCopy{}, err
	}
	b := d.Pool.SetBlock(new(memory.Block), buffer)
	if err := d.fill(b.Buffer, data, file); err != nil {
		return deviceCopy{}, err
	}
	return deviceCopy{d, b, d.epoch}, nil
}

// fill uploads host data to the start of a buffer. Bytes of a mapped file go by way of Go's memory: a driver's
// own code could not return from a fault.
func (d *Device) fill(b driver.Buffer, data []byte, file *mapped.File) error {
	if file == nil {
		return d.Driver.Upload(b, 0, data)
	}
	const most = 16 << 20
	piece, err := hostmem.Make(min(len(data), most), 1)
	for at := 0; at < len(data) && err == nil; at += len(piece) {
		piece = piece[:min(len(piece), len(data)-at)]
		err = file.Guard(func() error {
			copy(piece, data[at:])
			return nil
		})
		if err == nil {
			err = d.Driver.Upload(b, at, piece)
		}
	}
	return err
}

// Ready makes the elements available to d. It fails if they are invalid. It waits until that is
// known of another device's elements or, if certain is set, of any.
func (s *Storage) Ready(d *Device, certain bool) error {
	foreign := s.device != nil && s.device != d
	if s.pending() && (foreign || certain) {
		if err := s.device.lockAndReadReports(); err != nil {
			return err
		}
	}
	if err := s.failed(); err != nil {
		return err
	}
	if foreign {
		return d.fetch(s)
	}
	return nil
}

// Use returns the block of d that has the elements, in use. The caller holds d.Queue.
func (s *Storage) Use(d *Device) (*memory.Block, error) {
	for {
		on, err := s.on(d)
		if err != nil {
			return nil, err
		}
		used := on.block.Use()
		if err := cmp.Or(s.failed(), s.changed()); err != nil { // since Ready
			if used {
				on.block.Done()
			}
			return nil, err
		}
		if used {
			return on.block, nil
		}
		runtime.Gosched() // a Scope freed the copy, or another plan takes the buffer and then says why it is gone
	}
}

// changed returns an error if the elements are in a file that was written since it was opened.
func (s *Storage) changed() error {
	if s.file == nil {
		return nil
	}
	return s.file.Check()
}

// On returns a storage of the elements that a result on d may have: another device's copy outlives
// that device. The caller holds d.Queue.
func (s *Storage) On(d *Device) (*Storage, error) {
	if s.device == nil || s.device == d {
		return s, nil
	}
	on, err := s.on(d)
	if err != nil {
		return nil, err
	}
	on.block.MarkShared()
	return on.storage(s.file), nil
}

// CopyTo returns a copy of the bytes first:end in a new buffer of d. The caller holds d.Queue.
func (s *Storage) CopyTo(d *Device, r memory.Request, first, end int) (b memory.Pooled, err error) {
	var host []byte
	file := s.file
	if s.device == nil {
		host = s.host[first:end]
	} else {
		on, err := s.on(d)
		if err != nil {
			return b, err
		}
		if host, err = hostmem.Make(end-first, 1); err != nil {
			return b, err
		}
		if err := file.Guard(func() error { return d.download(host, on.block.Buffer, first) }); err != nil {
			return b, err
		}
		file = nil
	}
	buffers, err := d.Pool.Acquire(nil, r)
	if err != nil {
		return b, err
	}
	if err := d.fill(buffers[0].Buffer, host, file); err != nil {
		d.Pool.Release(buffers...)
		return b, err
	}
	return buffers[0], nil
}

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
	if err := s.use(); err != nil {
		return false, err
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

package exec

import (
	"runtime"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
)

// A store is elements: in a block of a device, or on the host, from where
// they are uploaded once to each device they meet.
type store struct {
	device *Device
	block  *block
	origin

	mu     sync.Mutex
	host   []byte // of a device's store only once another device needs it
	copies map[*Device]*block
}

// Device returns the device the elements are committed to, nil for host data.
func (s *store) Device() graph.Device {
	if s.device == nil {
		return nil
	}
	return s.device
}

// FromHost returns elements on the host, committed to no device. It takes
// data over.
func FromHost(data []byte) graph.Store { return &store{host: data} }

// A wrapper is a driver whose buffers may be host memory.
type wrapper interface {
	// Wrap returns a buffer that is data, or nil if it cannot be one.
	Wrap(data []byte) driver.Buffer
}

// bring copies the elements to the host, from where another device may have
// them. No device's lock is held.
func (s *store) bring() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host != nil || s.device == nil {
		return nil
	}
	host, err := Allocate(s.block.buffer.Size(), 1)
	if err != nil {
		return err
	}
	if err = s.download(host, 0); err == nil {
		s.host = host
	}
	return err
}

// download fills data with what the device has from a byte offset on. It fails
// if what computed it failed or met a bad index.
func (s *store) download(data []byte, offset int) error {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	defer runtime.KeepAlive(s)
	if err := s.fail(); err != nil {
		return err
	}
	if err := d.download(data, s.block.buffer, offset); err != nil {
		return err
	}
	if s.pending() || d.status.transactions > 0 {
		if err := d.resolve(); err != nil {
			return err
		}
	}
	return s.fail()
}

// to returns the elements as a store of device d, so that they outlive the
// device that they come from. The caller holds d.mu.
func (s *store) to(d *Device) (*store, error) {
	if s.device == nil || s.device == d {
		return s, nil
	}
	b, err := s.on(d)
	if err != nil {
		return nil, err
	}
	return &store{device: d, block: b, origin: origin{stretch: b.stretch}}, nil
}

// on returns the elements as a block of device d. The caller holds d.mu.
func (s *store) on(d *Device) (*block, error) {
	if s.device == d {
		return s.block, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.copies[d]; b != nil && b.stretch.fail() == nil {
		return b, nil
	}
	var b *block
	if w, ok := d.drv.(wrapper); ok {
		if buffer := w.Wrap(s.host); buffer != nil {
			b = &block{buffer: buffer}
		}
	}
	if b == nil {
		c := class(len(s.host), d.limits.Bytes)
		buffer, err := d.take(c)
		if err != nil {
			return nil, err
		}
		b = d.own(buffer, c)
		if err := d.drv.Upload(buffer, 0, s.host); err != nil {
			return nil, err
		}
	}
	if s.copies == nil {
		s.copies = map[*Device]*block{}
	}
	s.copies[d] = b
	return b, nil
}

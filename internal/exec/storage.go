package exec

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/memory"
)

// A storage holds elements in a block of a device, or on the host, from where they
// are uploaded once to each device that reads them.
type storage struct {
	device *Device // nil for host data
	block  *memory.Block
	own    memory.Block // the block, unless it is a copy that another storage made
	origin

	mu     sync.Mutex
	host   []byte // a device's storage has it only once a device that is no peer reads it
	copies []deviceCopy

	region  atomic.Uint32             // the number of the region that host data was given in; 0 for none
	ofStep  bool                      // a transaction has made the elements, and a later one may have their memory
	stays   atomic.Bool               // a region that the elements were made in does not free them
	gone    atomic.Pointer[GoneError] // why the elements are no more; nil while they are
	donated atomic.Pointer[GoneError] // what gone becomes when a plan has read the elements; nil if they stay

	first graph.Value // of the first node that has the elements; saves an allocation
}

// A deviceCopy is elements in a block of a device. A storage has one for each device that has a copy.
type deviceCopy struct {
	device *Device
	block  *memory.Block
	epoch  *syncEpoch // that writes the block; nil if that cannot fail
}

// storage returns a storage of the elements.
func (c deviceCopy) storage() *storage {
	return &storage{device: c.device, block: c.block, origin: origin{epoch: c.epoch}}
}

// Device returns the device the elements are committed to, nil for host data.
func (s *storage) Device() graph.Device {
	if s.device == nil {
		return nil
	}
	return s.device
}

// FromHost returns elements on the host, committed to no device. It takes
// ownership of data.
func FromHost(data []byte) graph.Store {
	s := &storage{host: data}
	s.region.Store(graph.CurrentRegion().Number())
	return s
}

// newStorage returns the elements of an acquired buffer.
func (d *Device) newStorage(b memory.Pooled) *storage {
	s := &storage{device: d, origin: origin{epoch: d.stream.epoch}}
	s.block = d.pool.SetBlock(&s.own, b)
	return s
}

// newValue returns a zero Value for elements of the storage.
func (s *storage) newValue() *graph.Value {
	if s.first.Store == nil {
		return &s.first
	}
	return new(graph.Value)
}

// toHost copies the elements to the host for other devices. The caller holds no
// device's lock.
func (s *storage) toHost() error {
	if s.isOnHost() {
		return nil
	}
	if !s.block.Use() {
		return s.failed()
	}
	defer s.block.Done()
	host, err := Allocate(s.block.Size(), 1)
	if err != nil {
		return err
	}
	err = s.read(func(d *Device, b *memory.Block) error {
		if s.isOnHost() { // by another goroutine
			return nil
		}
		return d.stream.download(host, b.Buffer, 0)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == nil {
		s.host = host
	}
	return nil
}

// isOnHost reports whether the host has the elements.
func (s *storage) isOnHost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host != nil
}

// isOn reports whether there is a valid copy on d.
func (s *storage) isOn(d *Device) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copyOn(d).isValid()
}

// download fills data with the elements on the device from a byte offset on. It
// fails if they are invalid.
func (s *storage) download(data []byte, offset int) error {
	return s.read(func(d *Device, b *memory.Block) error { return d.stream.download(data, b.Buffer, offset) })
}

// view returns the elements on the device without a copy, nil if the device cannot.
func (s *storage) view() (data []byte, err error) {
	err = s.read(func(d *Device, b *memory.Block) (err error) {
		if v, ok := d.drv.(driver.Viewer); ok {
			data, err = v.View(b.Buffer)
			b.MarkViewed()
		}
		return err
	})
	return data, err
}

// read calls f, which gets the elements of a block. It fails if they are invalid.
func (s *storage) read(f func(*Device, *memory.Block) error) error {
	d := s.device
	d.queue.Lock()
	defer d.queue.Unlock()
	defer runtime.KeepAlive(s)
	if !s.block.Use() {
		return s.failed()
	}
	defer s.block.Done()
	if err := s.failed(); err != nil {
		return err
	}
	if err := f(d, s.block); err != nil {
		return err
	}
	if s.pending() || d.stream.reports.transactions > 0 {
		if err := d.stream.readReports(); err != nil {
			return err
		}
	}
	return s.failed()
}

// copyOn returns the copy on d, one without a block if there is none yet. The caller holds s.mu.
func (s *storage) copyOn(d *Device) *deviceCopy {
	i := slices.IndexFunc(s.copies, func(c deviceCopy) bool { return c.device == d })
	if i < 0 {
		i = len(s.copies)
		s.copies = append(s.copies, deviceCopy{device: d})
	}
	return &s.copies[i]
}

// isValid reports whether the copy has the elements, as far as is known.
func (c *deviceCopy) isValid() bool { return c.block != nil && c.epoch.failed() == nil }

// on returns the elements on d, for which they are ready. The caller holds d.queue.
func (s *storage) on(d *Device) (deviceCopy, error) {
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
	uploaded, err := d.upload(s.host)
	if err != nil {
		return deviceCopy{}, err
	}
	*c = uploaded
	if r := graph.CurrentRegion(); r != nil {
		if of := r.Numbered(s.region.Load()); of != nil {
			regionOf(of).add(s)
		}
	}
	return uploaded, nil
}

// upload copies host data to the device. The caller holds d.queue.
func (d *Device) upload(data []byte) (deviceCopy, error) {
	if w, ok := d.drv.(driver.Wrapper); ok {
		if b := w.Wrap(data); b != nil {
			return deviceCopy{d, &memory.Block{Pooled: memory.Pooled{Buffer: b}}, nil}, nil
		}
	}
	buffer, err := d.pool.AcquireOne(len(data))
	if err != nil {
		return deviceCopy{}, err
	}
	b := d.pool.SetBlock(new(memory.Block), buffer)
	if err := d.drv.Upload(b.Buffer, 0, data); err != nil {
		return deviceCopy{}, err
	}
	return deviceCopy{d, b, d.stream.epoch}, nil
}

// Allocate returns count·size zeroed bytes of the host's memory. Before it fails it
// frees what dead tensors and pools hold. The caller holds no device's lock.
func Allocate(count, size int) ([]byte, error) {
	data, err := hostmem.Make(count, size)
	if err == nil {
		return data, nil
	}
	memory.ForceGC()
	devicesMu.Lock()
	all := slices.Clone(devices)
	devicesMu.Unlock()
	for _, d := range all {
		d.Trim() // readers of the values that failed get the error
	}
	return hostmem.Make(count, size)
}

package storage

import (
	"bytes"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/internal/memory"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Storage holds elements in a block of a device, or on the host, from where they
// are uploaded once to each device that reads them.
type Storage struct {
	device *Device // nil for host data
	block  *memory.Block
	own    memory.Block // the block, unless it is a copy that another storage made
	origin

	mu     sync.Mutex
	host   []byte       // a device's storage has it only once a device that is no peer reads it
	format ir.DType     // of host; 0 if the elements are of the nodes' type
	file   *mapped.File // that has the bytes of the host or of the block; nil if Go's heap has them
	copies []deviceCopy

	region  atomic.Uint32             // the number of the region that host data was given in; 0 for none
	OfStep  bool                      // a transaction has made the elements, and a later one may have their memory
	stays   atomic.Bool               // a region that the elements were made in does not free them
	gone    atomic.Pointer[GoneError] // why the elements are no more; nil while they are
	donated atomic.Pointer[GoneError] // the next value of gone, once a plan has read the elements; nil if they stay

	first graph.Value // of the first node that has the elements; saves an allocation
}

// Device returns the device the elements are committed to, nil for host data.
func (s *Storage) Device() graph.Device {
	if s.device == nil {
		return nil
	}
	return s.device.Handle
}

// Home returns the device that has the elements, nil for host data and no storage.
func (s *Storage) Home() *Device {
	if s == nil {
		return nil
	}
	return s.device
}

// FromHost returns elements on the host, committed to no device. It takes
// ownership of data.
func FromHost(data []byte) graph.Store {
	s := &Storage{host: data}
	s.region.Store(graph.CurrentRegion().Number())
	return s
}

// HostNode returns a node of elements on the host, of which it takes ownership, in one allocation.
func HostNode(d ir.DType, dims []int, data []byte) *graph.Node {
	e := &SlabEntry{Storage: Storage{host: data}}
	e.region.Store(graph.CurrentRegion().Number())
	e.Node.SetBuffer(d, dims, e.NewValue(0, shape.RowMajor(dims)))
	return &e.Node
}

// FromFile is FromHost of bytes of a mapped file, which Slice returned; 0 is the format of nodes' types.
func FromFile(format ir.DType, file *mapped.File, data []byte) graph.Store {
	s := FromBlocks(format, data).(*Storage)
	s.file = file
	return s
}

// Store returns the elements of an acquired buffer.
func (d *Device) Store(b memory.Pooled) *Storage {
	s := new(Storage)
	s.set(d, b)
	return s
}

// StoreNode is Store with a node, in one allocation.
func (d *Device) StoreNode(b memory.Pooled) *SlabEntry {
	e := new(SlabEntry)
	e.set(d, b)
	return e
}

// set makes s the elements of an acquired buffer.
func (s *Storage) set(d *Device, b memory.Pooled) {
	s.device, s.epoch = d, d.epoch
	s.block = d.Pool.SetBlock(&s.own, b)
}

// FromBlocks is FromHost of float32 elements in a format: see format.go.
func FromBlocks(format ir.DType, data []byte) graph.Store {
	s := FromHost(data).(*Storage)
	s.format = format
	return s
}

// Placeholder returns a storage without elements on a device, nil for the host, where nodes of some
// type are stored as elements of the type, or in a format.
func Placeholder(d *Device, stored ir.DType) *Storage {
	s := &Storage{device: d}
	if stored.Format() != nil {
		s.format = stored
	}
	return s
}

// NewValue returns a view of the elements of a new storage, or their failure. Equal views have a
// storage each.
func (s *Storage) NewValue(offset int, strides []int) *graph.Value {
	if err := s.failed(); err != nil {
		return &graph.Value{Err: err}
	}
	v := &s.first
	if v.Store != nil {
		if v.Offset == offset && slices.Equal(v.Strides, strides) {
			return s.Shared().NewValue(offset, strides)
		}
		v = new(graph.Value)
	}
	v.Store, v.Offset, v.Strides = s, offset, strides
	return v
}

// Same reports whether two storages are one, or on the host with equal elements.
func Same(s, t *Storage) bool {
	if s == t {
		return true
	}
	if s == nil || t == nil || s.device != nil || t.device != nil || s.format != t.format || len(s.host) != len(t.host) {
		return false
	}
	same := false
	err := s.file.Guard(func() error {
		return t.file.Guard(func() error {
			same = bytes.Equal(s.host, t.host)
			return nil
		})
	})
	return same && err == nil // else a plan that reads them fails
}

// A Bundle is the Store of a Recur: the values of its results.
type Bundle struct {
	On     *Device
	Values []*graph.Value
}

// Device returns the device that the Recur is computed on.
func (b *Bundle) Device() graph.Device { return b.On.Handle }

// toHost copies the elements to the host for other devices. The caller holds no
// device's lock.
func (s *Storage) toHost() error {
	if s.isOnHost() {
		return nil
	}
	if err := s.use(); err != nil {
		return err
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
		return d.download(host, b.Buffer, 0)
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
func (s *Storage) isOnHost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host != nil
}

// download fills data with the elements on the device from a byte offset on. It
// fails if they are invalid.
func (s *Storage) download(data []byte, offset int) error {
	return s.read(func(d *Device, b *memory.Block) error { return d.download(data, b.Buffer, offset) })
}

// view returns the elements on the device without a copy, nil if the device cannot.
func (s *Storage) view() (data []byte, err error) {
	err = s.read(func(d *Device, b *memory.Block) (err error) {
		if v, ok := d.Driver.(driver.Viewer); ok {
			data, err = v.View(b.Buffer)
			b.MarkViewed()
		}
		return err
	})
	return data, err
}

// use notes that a read uses the block. It fails if the elements are gone.
func (s *Storage) use() error {
	for !s.block.Use() {
		if err := s.failed(); err != nil {
			return err
		}
		runtime.Gosched() // a plan takes the buffer: it then says why the elements are gone, or puts it back
	}
	return nil
}

// read calls f, which gets the elements of a block. It fails if they are invalid.
func (s *Storage) read(f func(*Device, *memory.Block) error) error {
	return s.hold(func(d *Device, b *memory.Block) error {
		if err := f(d, b); err != nil {
			return err
		}
		if s.pending() || d.reports.transactions > 0 {
			if err := d.readReports(); err != nil {
				return err
			}
		}
		return s.failed()
	})
}

// hold calls f, which uses the elements of a block. It fails if they are known to be invalid.
func (s *Storage) hold(f func(*Device, *memory.Block) error) error {
	d := s.device
	d.Queue.Lock()
	defer d.Queue.Unlock()
	defer runtime.KeepAlive(s)
	if err := s.use(); err != nil {
		return err
	}
	defer s.block.Done()
	if err := s.failed(); err != nil {
		return err
	}
	return s.file.Guard(func() error { return f(d, s.block) })
}

// Allocate returns count·size zeroed bytes of the host's memory. Before it fails it frees
// the memory of dead tensors and pools. The caller holds no device's lock.
func Allocate(count, size int) ([]byte, error) {
	data, err := hostmem.Make(count, size)
	if err == nil {
		return data, nil
	}
	hostmem.Collect()
	for _, d := range Devices() {
		d.Trim() // readers of the values that failed get the error
	}
	return hostmem.Make(count, size)
}

// A Slab has the storages of results that a recording frees together, in one allocation and
// with one cleanup.
type Slab struct {
	all     []SlabEntry
	used    int
	buffers memory.Owner // of the storages; zero while all buffers are left to Go's collector
}

// A SlabEntry is a storage and its node.
type SlabEntry struct {
	Storage
	Node graph.Node
}

// NewSlab returns a slab of n storages.
func NewSlab(n int) Slab {
	return Slab{all: make([]SlabEntry, n)}
}

// Next makes the next storage of the slab the elements of an acquired buffer of the device.
func (s *Slab) Next(d *Device, b memory.Pooled) *SlabEntry {
	e := &s.all[s.used]
	s.used++
	switch {
	case !b.IsPooled():
		e.set(d, b)
		return e
	case s.buffers.IsZero():
		s.buffers = memory.NewOwner(d.Pool, &s.all[0], len(s.all))
	}
	e.device, e.epoch, e.block = d, d.epoch, &e.own
	s.buffers.SetBlock(&e.own, b)
	return e
}

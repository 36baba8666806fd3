package dist

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
)

// A FakeDevice is a CPU that computes collectives as a GPU does: while the host goes on, and for ever if a rank
// does not come. Rank 0 of its communicators adds.
type FakeDevice struct {
	driver.Device
	Place   string
	Missing error        // why it has no collectives
	Runs    atomic.Int64 // collectives

	Snapshots atomic.Int64

	// Order has a letter for each Run: k of kernels, c of collectives.
	Order []byte

	running chan struct{} // closed when the last collective is done
	joined  *fakeCommunicator
	failed  error // until Sync returns it
}

// NewFakeDevice returns a device of a place.
func NewFakeDevice(place string) *FakeDevice {
	return &FakeDevice{Device: cpu.New(cpu.Options{Threads: 1}), Place: place}
}

func (d *FakeDevice) Name() string { return "fake " + d.Place }

func (d *FakeDevice) Limits() driver.Limits {
	l := d.Device.Limits()
	l.Concurrent, l.Async = false, true
	return l
}

// wait waits for collectives, before other work.
func (d *FakeDevice) wait() {
	if d.running == nil {
		return
	}
	<-d.running
	d.running = nil
	if cause := d.joined.cause.Load(); cause != nil && d.failed == nil {
		d.failed = *cause
	}
}

func (d *FakeDevice) Upload(dst driver.Buffer, offset int, src []byte) error {
	d.wait()
	return d.Device.Upload(dst, offset, src)
}

func (d *FakeDevice) Download(dst []byte, src driver.Buffer, offset int) error {
	d.wait()
	return errors.Join(d.failed, d.Device.Download(dst, src, offset))
}

// Snapshot is for the work so far, as there is no later work yet.
func (d *FakeDevice) Snapshot(pieces ...driver.Piece) (wait func() ([]byte, error), err error) {
	var all []byte
	d.wait()
	for _, p := range pieces {
		data := make([]byte, p.Bytes)
		err = errors.Join(err, d.Device.Download(data, p.Buffer, p.Offset))
		all = append(all, data...)
	}
	d.Snapshots.Add(1)
	return func() ([]byte, error) { return all, d.failed }, err
}

func (d *FakeDevice) Run(calls []driver.Call) error {
	d.Order = append(d.Order, 'k')
	d.wait()
	return d.Device.Run(calls)
}

func (d *FakeDevice) Sync() error {
	d.wait()
	err := errors.Join(d.failed, d.Device.Sync())
	d.failed = nil
	return err
}

func (d *FakeDevice) Collectives() (system, place string, err error) {
	return "fake 1.0", d.Place, d.Missing
}

// fakeRoots has the listeners of communicators, by id.
var fakeRoots sync.Map

func (d *FakeDevice) CommunicatorID() ([]byte, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	fakeRoots.Store(l.Addr().String(), l)
	return []byte(l.Addr().String()), nil
}

// A fakeCommunicator has a connection to rank 0, or to all others.
type fakeCommunicator struct {
	device     *FakeDevice
	rank, size int
	conns      []net.Conn
	cause      atomic.Pointer[error]
}

func (d *FakeDevice) Join(ctx context.Context, id []byte, rank, size int) (driver.Communicator, error) {
	c := &fakeCommunicator{device: d, rank: rank, size: size, conns: make([]net.Conn, size)}
	err := c.connect(ctx, string(id))
	if err != nil {
		c.close()
		return nil, errors.Join(context.Cause(ctx), err)
	}
	d.joined = c
	return c, nil
}

func (c *fakeCommunicator) connect(ctx context.Context, address string) (err error) {
	if c.rank > 0 {
		if os.Getenv("TENSORKEN_TEST_RANK") == "join" && os.Getenv("TENSORKEN_TEST_ODD") == fmt.Sprint(c.rank) {
			os.Exit(3)
		}
		if c.conns[0], err = net.Dial("tcp", address); err == nil {
			_, err = c.conns[0].Write([]byte{byte(c.rank)})
		}
		return err
	}
	root, ok := fakeRoots.LoadAndDelete(address)
	if !ok {
		return errors.New("rank 0 has not made the id")
	}
	l := root.(net.Listener)
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer l.Close()
	for range c.size - 1 {
		x, err := l.Accept()
		if err != nil {
			return err
		}
		var rank [1]byte
		if _, err := io.ReadFull(x, rank[:]); err != nil {
			return err
		}
		c.conns[rank[0]] = x
	}
	return nil
}

func (c *fakeCommunicator) close() {
	for _, x := range c.conns {
		if x != nil {
			x.Close()
		}
	}
}

func (c *fakeCommunicator) Err() error { return nil }

func (c *fakeCommunicator) Abort(cause error) {
	c.cause.CompareAndSwap(nil, &cause)
	c.close()
}

func (c *fakeCommunicator) Close() error {
	if running := c.device.running; running != nil {
		<-running
	}
	c.close()
	return nil
}

func (c *fakeCommunicator) Run(calls []driver.CollectiveCall) error {
	if cause := c.cause.Load(); cause != nil {
		return *cause
	}
	d := c.device
	d.Runs.Add(int64(len(calls)))
	d.Order = append(d.Order, 'c')
	before, done := d.running, make(chan struct{})
	d.running = done
	calls = append([]driver.CollectiveCall(nil), calls...)
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		for _, x := range calls {
			if err := c.one(x); err != nil {
				for c.cause.Load() == nil { // as NCCL waits for a rank that is gone
					time.Sleep(time.Millisecond)
				}
				return
			}
		}
	}()
	return nil
}

// one computes a collective.
func (c *fakeCommunicator) one(x driver.CollectiveCall) error {
	size := x.DType.Size()
	from, to := x.Lens(c.size)
	in, out := make([]byte, from*size), make([]byte, to*size)
	if err := c.device.Device.Download(in, x.From.Buffer, x.From.Offset*size); err != nil {
		return err
	}
	err := c.exchange(x, in, out)
	if err == nil {
		err = c.device.Device.Upload(x.To.Buffer, x.To.Offset*size, out)
	}
	return err
}

func (c *fakeCommunicator) exchange(x driver.CollectiveCall, in, out []byte) error {
	if c.rank > 0 {
		if _, err := c.conns[0].Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(in))), in...)); err != nil {
			return err
		}
		_, err := io.ReadFull(c.conns[0], out)
		return err
	}
	all := [][]byte{in}
	for _, conn := range c.conns[1:] {
		var n [8]byte
		if _, err := io.ReadFull(conn, n[:]); err != nil {
			return err
		}
		data := make([]byte, binary.LittleEndian.Uint64(n[:]))
		if _, err := io.ReadFull(conn, data); err != nil {
			return err
		}
		all = append(all, data)
	}
	results := all // a part of each rank
	switch x.Op {
	case driver.AllReduce, driver.ReduceScatter:
		sum := append([]byte(nil), in...)
		for _, data := range all[1:] {
			combination{x.Combine, x.DType}.add(sum, data[:len(sum)])
		}
		for i := range results {
			results[i] = sum[:len(out)]
			if x.Op == driver.ReduceScatter {
				results[i] = sum[i*len(out):][:len(out)]
			}
		}
	case driver.AllGather:
		var joined []byte
		for _, data := range all {
			joined = append(joined, data...)
		}
		for i := range results {
			results[i] = joined
		}
	case driver.Broadcast:
		root := all[x.Root]
		for i := range results {
			results[i] = root
		}
	}
	copy(out, results[0])
	for i, conn := range c.conns[1:] {
		if _, err := conn.Write(results[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// A WatchedCPU is a CPU that notes the collectives of a group begun before each Run, if Watches. Before the second
// one it waits for another to begin.
type WatchedCPU struct {
	driver.Viewer
	Group   *Group
	Watches bool
	Begun   []int64
}

// NewWatchedCPU returns a device of a rank.
func NewWatchedCPU(g *Group) *WatchedCPU {
	return &WatchedCPU{Viewer: cpu.New(cpu.Options{Threads: 1}).(driver.Viewer), Group: g}
}

func (d *WatchedCPU) Run(calls []driver.Call) error {
	if !d.Watches {
		return d.Viewer.Run(calls)
	}
	n := d.Group.collectives.Load()
	for start := time.Now(); len(d.Begun) == 1 && n == d.Begun[0] && time.Since(start) < 2*time.Second; n = d.Group.collectives.Load() {
		time.Sleep(100 * time.Microsecond)
	}
	d.Begun = append(d.Begun, n)
	return d.Viewer.Run(calls)
}

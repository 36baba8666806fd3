//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/dynlib"
	"github.com/tensorken/tensorken/ir"
)

// idBytes is the size of NCCL's ids.
const idBytes = 128

// A communicator is NCCL's, for a device. Collectives run in the device's second stream.
type communicator struct {
	device *device
	nccl   *nccl
	size   int
	used   bool // collectives were started since the last wait

	mu     sync.Mutex // around NCCL's functions, which Abort must not run beside
	handle uintptr    // 0 if it is closed or aborted
	done   uintptr    // event behind the last collectives
	cause  atomic.Pointer[error]
}

// Collectives implements driver.Collective.
func (d *device) Collectives() (system, place string, err error) {
	n, err := d.lib.nccl()
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", d.Name(), err)
	}
	place = hostID() + " " + d.gpu.bus
	if os.Getenv("NCCL_MULTI_RANK_GPU_ENABLE") == "1" { // NCCL lets ranks have one GPU, for tests
		place += fmt.Sprint(" of process ", os.Getpid())
	}
	return "NCCL " + n.versionText(), place, nil
}

// CommunicatorID implements driver.Collective.
func (d *device) CommunicatorID() ([]byte, error) {
	n, err := d.lib.nccl()
	if err != nil {
		return nil, err
	}
	id := make([]byte, idBytes)
	return id, n.call("ncclGetUniqueId", n.GetUniqueId, uintptr(unsafe.Pointer(&id[0])))
}

// Join implements driver.Collective. NCCL waits for all ranks for ever, so that it waits in a goroutine of its
// own; if ctx ends before, the goroutine aborts the communicator once NCCL returns it.
func (d *device) Join(ctx context.Context, id []byte, rank, size int) (driver.Communicator, error) {
	n, err := d.lib.nccl()
	if err != nil {
		return nil, err
	}
	if len(id) != idBytes {
		return nil, fmt.Errorf("%s: the id of a communicator has %d bytes, want %d", d.Name(), len(id), idBytes)
	}
	c := &communicator{device: d, nccl: n, size: size}
	joined := make(chan error)
	go func() {
		runtime.LockOSThread() // and ends the thread, whose context is the device's
		err := d.lib.call("cuCtxSetCurrent", d.lib.CtxSetCurrent, d.context)
		if err == nil {
			ids := append([]byte(nil), id...)
			var handle uintptr
			err = n.call("ncclCommInitRankScalable", n.CommInitRankScalable, uintptr(unsafe.Pointer(&handle)), uintptr(size), uintptr(rank), 1, uintptr(unsafe.Pointer(&ids[0])), 0)
			c.mu.Lock()
			c.handle = handle
			c.mu.Unlock()
		}
		select {
		case joined <- err:
		case <-ctx.Done():
			c.Abort(context.Cause(ctx))
		}
	}()
	select {
	case err := <-joined:
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name(), err)
		}
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ncclTypes has NCCL's numbers of types.
var ncclTypes = map[ir.DType]uintptr{
	ir.Int8: 0, ir.Uint8: 1, ir.Bool: 1, ir.Int32: 2, ir.Uint32: 3, ir.Int64: 4, ir.Uint64: 5, ir.Float16: 6, ir.Float32: 7, ir.Float64: 8, ir.BFloat16: 9,
}

// ncclOps has NCCL's numbers of combinations.
var ncclOps = map[ir.Op]uintptr{ir.Add: 0, ir.Max: 2}

// Run implements driver.Communicator: NCCL starts calls of one group together.
func (c *communicator) Run(calls []driver.CollectiveCall) error {
	d := c.device
	leave, err := d.Enter()
	if err != nil {
		return err
	}
	defer leave()
	for i := range calls {
		if err := c.check(&calls[i]); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.unlock()
	if err := c.aborted(); err != nil {
		return err
	}
	if err := d.note(c); err != nil {
		return err
	}
	if err := d.beside.begin(d); err != nil {
		return d.fail(err)
	}
	err = c.nccl.call("ncclGroupStart", c.nccl.GroupStart)
	for i := range calls {
		if err == nil {
			err = c.start(&calls[i])
		}
	}
	if end := c.nccl.call("ncclGroupEnd", c.nccl.GroupEnd); err == nil {
		err = end
	}
	if end := d.beside.end(d, calls); err == nil {
		err = end
	}
	if err == nil {
		err = d.lib.call("cuEventRecord", d.lib.EventRecord, c.done, d.beside.stream)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Name(), err)
	}
	return nil
}

// check returns an error for a call with wrong buffers.
func (c *communicator) check(x *driver.CollectiveCall) error {
	from, to := x.Lens(c.size)
	size := x.DType.Size()
	if err := c.device.CheckBuffer(x.From.Buffer, x.From.Offset*size, from*size); err != nil {
		return err
	}
	return c.device.CheckBuffer(x.To.Buffer, x.To.Offset*size, to*size)
}

// start adds a call to NCCL's group.
func (c *communicator) start(x *driver.CollectiveCall) error {
	n, stream := c.nccl, c.device.beside.stream
	at := func(a driver.Arg) uintptr {
		return a.Buffer.(*buffer).address + uintptr(a.Offset*x.DType.Size())
	}
	from, to, length, dtype := at(x.From), at(x.To), uintptr(x.Len), ncclTypes[x.DType]
	switch x.Op {
	case driver.AllReduce:
		return n.call("ncclAllReduce", n.AllReduce, from, to, length, dtype, ncclOps[x.Combine], c.handle, stream)
	case driver.ReduceScatter:
		return n.call("ncclReduceScatter", n.ReduceScatter, from, to, length, dtype, ncclOps[x.Combine], c.handle, stream)
	case driver.AllGather:
		return n.call("ncclAllGather", n.AllGather, from, to, length, dtype, c.handle, stream)
	}
	return n.call("ncclBroadcast", n.Broadcast, from, to, length, dtype, uintptr(x.Root), c.handle, stream)
}

// aborted returns why no collective runs any more.
func (c *communicator) aborted() error {
	if cause := c.cause.Load(); cause != nil {
		return *cause
	}
	if c.handle == 0 {
		return fmt.Errorf("%s: a collective of a communicator that was closed", c.device.Name())
	}
	return nil
}

// Err implements driver.Communicator.
func (c *communicator) Err() error {
	if !c.mu.TryLock() { // a call that waits for other ranks, or for room in the stream
		return nil
	}
	defer c.unlock()
	if c.handle == 0 {
		return nil
	}
	var code int32
	if err := c.nccl.call("ncclCommGetAsyncError", c.nccl.CommGetAsyncError, c.handle, uintptr(unsafe.Pointer(&code))); err != nil {
		return err
	}
	if code == ncclInProgress {
		return nil
	}
	return c.nccl.result("a collective", int(code))
}

// abortWait is how long Abort waits for a call of Run to return.
const abortWait = time.Second

// Abort implements driver.Communicator. It leaves NCCL alone while a call of Run does not return, since to abort beside
// it is not safe: the call aborts once it returns. If it never does, the process must end.
func (c *communicator) Abort(cause error) {
	if !c.cause.CompareAndSwap(nil, &cause) {
		return
	}
	for waited := time.Duration(0); !c.mu.TryLock(); waited += time.Millisecond {
		if waited >= abortWait {
			return
		}
		time.Sleep(time.Millisecond)
	}
	c.unlock()
}

// unlock unlocks c.mu, and aborts before if Abort has been called.
func (c *communicator) unlock() {
	defer c.mu.Unlock()
	if c.cause.Load() != nil && c.handle != 0 {
		dynlib.Call(c.nccl.CommAbort, c.handle)
		c.handle = 0
	}
}

// closeWait is how long Close waits for the other ranks.
const closeWait = 2 * time.Second

// Close implements driver.Communicator. NCCL's own end waits for the other ranks of the host, so that it
// gets some time only.
func (c *communicator) Close() error {
	l := c.device.lib
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := l.call("cuCtxSetCurrent", l.CtxSetCurrent, c.device.context)
	if err == nil && c.done != 0 {
		err = l.call("cuEventSynchronize", l.EventSynchronize, c.done)
		l.call("cuEventDestroy", l.EventDestroy_v2, c.done)
	}
	c.mu.Lock()
	handle := c.handle
	c.handle, c.done = 0, 0
	c.mu.Unlock()
	if handle == 0 {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		dynlib.Call(c.nccl.CommDestroy, handle)
	}()
	select {
	case <-ended:
	case <-time.After(closeWait):
	}
	return err
}

// note notes that a communicator has work in the stream.
func (d *device) note(c *communicator) error {
	c.used = true
	if slices.Contains(d.joined, c) {
		return nil
	}
	if err := d.beside.make(d); err != nil {
		return err
	}
	d.joined = append(d.joined, c)
	return d.lib.call("cuEventCreate", d.lib.EventCreate, uintptr(unsafe.Pointer(&c.done)), noTiming)
}

// checkCommunicators notes the cause of an abort, after a wait for all or some work: collectives that it has ended gave other
// results than they should.
func (d *device) checkCommunicators(all bool) {
	for _, c := range d.joined {
		if cause := c.cause.Load(); cause != nil && c.used && d.Failed == nil {
			d.Failed = *cause
		}
		c.used = c.used && !all
	}
}

package driver_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/ir"
)

// double is the kernel y[i] = 2·x[i] of four elements.
func double() *ir.Kernel {
	row := &ir.View{Coef: []int{1}}
	k := &ir.Kernel{
		Template: ir.Pointwise,
		Axes:     []ir.Axis{{Len: 4, Role: ir.Parallel}},
		Args:     []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: 4}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Float32, Arg: 0, View: row},
			{Op: ir.Add, Type: ir.Float32, Src: []int{0, 0}},
			{Op: ir.Store, Type: ir.Float32, Src: []int{1}, Arg: 1, View: row},
		},
	}
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	return k
}

// All that a device does: buffers, a program, a call, and the copies of data to and from it.
func ExampleDevice() {
	var d driver.Device = drivertest.Oracle()
	defer d.Close()
	x, y := must(d.Alloc(16)), must(d.Alloc(16))
	data := []byte{}
	for _, v := range []float32{1, 2, 3, 4} {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	check(d.Upload(x, 0, data))

	var p driver.Program = must(d.Compile(double()))
	check(d.Run([]driver.Call{{Program: p, Args: []driver.Arg{{Buffer: x}, {Buffer: y}}}}))
	check(d.Sync()) // returns the first failure
	check(d.Download(data, y, 0))
	for i := range 4 {
		fmt.Print(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])), "\n")
	}
	for _, b := range []driver.Buffer{x, y} {
		b.Free()
	}
	// Output:
	// 2
	// 4
	// 6
	// 8
}

// Limits are the device's types and sizes. An allocation for which memory lacks is ErrMemory.
func ExampleLimits() {
	d := drivertest.Oracle()
	defer d.Close()
	d.Memory = 100
	var l driver.Limits = d.Limits()
	l.Blocks = driver.GroupedBlocks
	fmt.Println(len(l.Types), "types,", l.Has(ir.Float64))
	_, err := d.Alloc(101)
	fmt.Println(errors.Is(err, driver.ErrMemory))
	// Output:
	// 13 types, true
	// true
}

// Abilities that not every device has are interfaces.
func ExampleLooper() {
	d := driver.Device(drivertest.Oracle())
	defer d.Close()
	_, loops := d.(driver.Looper)       // runs loops over blocks of attention
	_, holds := d.(driver.Flusher)      // holds calls until there are more
	_, times := d.(driver.Profiler)     // knows when calls ran
	_, peers := d.(driver.PeerCopier)   // copies from other devices
	_, wraps := d.(driver.Wrapper)      // computes in the host's memory
	_, views := d.(driver.Viewer)       // shows its memory to the host
	_, heap := d.(driver.HostAllocator) // has buffers that Go's collector frees
	_, texts := d.(driver.RawCompiler)  // compiles kernels of users
	fmt.Println(loops, holds, times, peers, wraps, views, heap, texts)
	// Output: true false false false false false false false
}

// A device that knows the times of calls at once returns them as Timed.
func ExampleTimed() {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var t driver.Timing = driver.Timed{{Start: start, Duration: time.Millisecond}}
	spans, err := t.Spans()
	var first driver.Span = spans[0]
	fmt.Println(first.Duration, err)
	// Output: 1ms <nil>
}

func must[T any](x T, err error) T {
	check(err)
	return x
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// sums adds the elements of all ranks, on devices whose ranks have sent each other an id.
func sums(d driver.Collective, id []byte, rank, size int, b driver.Buffer, n int) error {
	c, err := d.Join(context.Background(), id, rank, size)
	if err != nil {
		return err
	}
	at := driver.Arg{Buffer: b}
	var op driver.CollectiveOp = driver.AllReduce
	if err := c.Run([]driver.CollectiveCall{{Op: op, Combine: ir.Add, DType: ir.Float32, Len: n, From: at, To: at}}); err != nil {
		return err
	}
	return c.Close()
}

// A GPU has collectives of its own if its driver does; the CPU has none.
func ExampleCollective() {
	var d driver.Device = drivertest.Oracle()
	defer d.Close()
	gpu, ok := d.(driver.Collective)
	fmt.Println(ok)
	if ok {
		id := must(gpu.CommunicatorID())
		check(sums(gpu, id, 0, 1, must(d.Alloc(16)), 4))
	}
	// Output: false
}

// A gather reads the rank's elements and writes the elements of all ranks.
func ExampleCommunicator() {
	var op driver.CollectiveOp = driver.AllGather
	var c driver.Communicator // of driver.Collective's Join
	if c != nil {
		defer c.Abort(errors.New("another rank failed"))
	}
	from, to := driver.CollectiveCall{Op: op, Len: 3}.Lens(4)
	fmt.Println(from, to)
	// Output: 3 12
}

// A GPU copies bytes to the host while it goes on; the CPU need not.
func ExampleSnapshotter() {
	var d driver.Device = drivertest.Oracle()
	defer d.Close()
	gpu, ok := d.(driver.Snapshotter)
	fmt.Println(ok)
	if ok {
		wait := must(gpu.Snapshot(driver.Piece{Buffer: must(d.Alloc(16)), Bytes: 16}))
		fmt.Println(wait())
	}
	// Output: false
}

package exec_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
)

// allocating is a device that counts buffers of a size.
type allocating struct {
	idle
	size  int
	count *int
}

func (d allocating) Alloc(n int) (driver.Buffer, error) {
	if n == d.size {
		*d.count++
	}
	return d.Device.Alloc(n)
}

// late is a device that frees memory only when submitted work is done, and whose runs need
// scratch memory.
type late struct {
	driver.Device
	limit, held, freed int
	scratch            int
	out                bool // a run has been out of memory
}

type lateBuffer struct {
	driver.Buffer
	device *late
}

func (b lateBuffer) Free() { b.device.freed += b.Size() }

func (d *late) Alloc(n int) (driver.Buffer, error) {
	if d.held+n > d.limit {
		return nil, driver.ErrMemory
	}
	b, err := d.Device.Alloc(n)
	d.held += n
	return lateBuffer{b, d}, err
}

func (d *late) Run([]driver.Call) error {
	if d.held+d.scratch > d.limit {
		d.out = true
		return driver.ErrMemory
	}
	return nil
}

func (d *late) Sync() error {
	d.held -= d.freed
	d.freed = 0
	return nil
}

// An evaluation that runs out of memory is tried again once the device has freed buffers.
func TestMemoryComesBackLate(t *testing.T) {
	const mb = 1 << 18 // elements, and a unit of the device
	for _, scratch := range []int{0, 40 * mb} {
		drv := &late{Device: cpu.New(cpu.Options{}), limit: 100 * mb, scratch: scratch}
		dev := exec.New(drv)
		for i := range 40 { // of different sizes: no pooled buffer fits the next
			n := scalar(1, []int{(8 + i%4) * mb})
			if err := exec.Eval(dev, []*graph.Node{n}); err != nil {
				t.Fatalf("with %d bytes of scratch, result %d of %d bytes: %v; %d of %d bytes are held", scratch, i, 4*n.Len(), err, drv.held, drv.limit)
			}
		}
		if drv.out != (scratch > 0) {
			t.Errorf("with %d bytes of scratch, a run was out of memory: %v", scratch, drv.out)
		}
		dev.Close()
	}
}

// The pool frees buffers of sizes that are no longer used, and keeps the others.
func TestPoolKeepsWhatIsUsed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const mb = 1 << 20
	count := 0
	dev := exec.New(allocating{idle{cpu.New(cpu.Options{})}, 64 * mb, &count})
	defer dev.Close()
	for _, c := range []struct{ size, times int }{{16 * mb, 40}, {64 * mb, 40}} {
		for range c.times {
			if err := exec.Eval(dev, []*graph.Node{scalar(1, []int{c.size / 4})}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count > 10 {
		t.Errorf("40 results of 64 MB, each dropped, take %d buffers, want about 5", count)
	}
}

// ordered is a device whose buffers are numbered, with the numbers of those that calls write.
type ordered struct {
	idle
	allocated int
	written   []int
}

type numbered struct {
	driver.Buffer
	number int
}

func (d *ordered) Alloc(bytes int) (driver.Buffer, error) {
	b, err := d.Device.Alloc(bytes)
	d.allocated++
	return numbered{b, d.allocated}, err
}

func (d *ordered) Run(calls []driver.Call) error {
	for _, c := range calls {
		d.written = append(d.written, c.Args[0].Buffer.(numbered).number)
	}
	return nil
}

// After results were collected in some order, others get the buffers that they had, in the same
// order, and no buffer is allocated again.
func TestPoolOrder(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	drv := &ordered{idle: idle{cpu.New(cpu.Options{})}}
	dev := exec.New(drv)
	defer dev.Close()
	held := exec.Info().Held
	const results = 20 // of 1 MiB, so that no collection is due
	var first []int
	for round := range 5 {
		drv.written = nil
		live := make([]*graph.Node, results)
		for i := range live {
			live[i] = scalar(1, []int{1 << 18})
			if err := exec.Eval(dev, live[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if round == 0 {
			first = drv.written
		}
		if !slices.Equal(drv.written, first) || drv.allocated != results {
			t.Errorf("round %d writes buffers %v of %d, want %v", round, drv.written, drv.allocated, first)
		}
		for i := range live {
			live[i*7%results] = nil
			if i%5 == 4 {
				runtime.GC()
			}
		}
		for start := time.Now(); exec.Info().Held > held && time.Since(start) < 10*time.Second; { // cleanups follow a collection
			time.Sleep(time.Millisecond)
		}
	}
}

// A step gets the memory that the pool holds in idle buffers of other sizes, and the
// memory that dead tensors hold.
func TestIdleMemoryMakesRoom(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const mb = 1 << 20
	d := exec.New(cpu.New(cpu.Options{Memory: 64 * mb}))
	defer d.Close()
	for i := range 40 {
		n := (3 + i*7%11) * mb // 12 to 52 MB in float32
		if err := exec.Eval(d, []*graph.Node{scalar(1, []int{n})}); err != nil {
			t.Fatalf("%d bytes: %v", 4*n, err)
		}
	}
}

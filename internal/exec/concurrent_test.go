package exec_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// meeting is a device whose runs wait for another run to be under way, for a bounded
// time unless limit is nil.
type meeting struct {
	driver.Device
	limits  driver.Limits
	running *atomic.Int32
	met     chan struct{} // closed once two runs are under way
	limit   <-chan time.Time
}

func (d meeting) Run(calls []driver.Call) error {
	if d.running.Add(1) == 2 {
		close(d.met)
	}
	select {
	case <-d.met:
	case <-d.limit:
	}
	defer d.running.Add(-1)
	return d.Device.Run(calls)
}

func (d meeting) Limits() driver.Limits { return d.limits }

// Plans of several goroutines run side by side on a concurrent device, and one at a
// time on others.
func TestRunsMeet(t *testing.T) {
	for _, concurrent := range []bool{false, true} {
		m := meeting{Device: cpu.New(cpu.Options{Threads: 4}), running: new(atomic.Int32), met: make(chan struct{})}
		m.limits = m.Device.Limits()
		if m.limits.Concurrent = concurrent; !concurrent {
			m.limit = time.Tick(50 * time.Millisecond)
		}
		d := exec.New(m)
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() {
				if got := read(t, d, graph.Binary(ir.Add, floats(1, 2), scalar(float64(i), []int{2}))); !equal(got, []float32{float32(1 + i), float32(2 + i)}) {
					t.Errorf("[1 2] + %d = %v", i, got)
				}
			})
		}
		all.Wait()
		select {
		case <-m.met:
			if !concurrent {
				t.Error("two runs were under way at once on a device that is not concurrent")
			}
		default: // both runs were limited
		}
		d.Close()
	}
}

// Each of several goroutines gets the error of its own bad index.
func TestConcurrentIndexErrors(t *testing.T) {
	d := newDevice()
	defer d.Close()
	var all sync.WaitGroup
	for g := range int32(8) {
		all.Go(func() {
			for round := range 50 {
				at, bad := ints(0, 2), round%2 == 0
				if bad {
					at = ints(0, 10+g)
				}
				var index *storage.IndexError
				_, err := exec.Read(d, graph.Gather(graph.Unary(ir.Neg, floats(1, 2, 3)), at, 0))
				if bad && (!errors.As(err, &index) || index.Index != int64(10+g)) || !bad && err != nil {
					t.Errorf("goroutine %d, bad index: %v, got error %v", g, bad, err)
				}
			}
		})
	}
	all.Wait()
}

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
	"github.com/tensorken/tensorken/ir"
)

// meeting is a device whose runs wait for another run to be under way, for a bounded
// time.
type meeting struct {
	driver.Device
	running *atomic.Int32
	met     *atomic.Bool
}

func (d meeting) Run(calls []driver.Call) error {
	if d.running.Add(1) > 1 {
		d.met.Store(true)
	}
	for start := time.Now(); !d.met.Load() && time.Since(start) < 100*time.Millisecond; {
		time.Sleep(time.Millisecond)
	}
	defer d.running.Add(-1)
	return d.Device.Run(calls)
}

type concurrentMeeting struct{ meeting }

func (concurrentMeeting) Concurrent() {}

// Plans of several goroutines run side by side on a concurrent device, and one at a
// time on others.
func TestRunsMeet(t *testing.T) {
	for _, concurrent := range []bool{false, true} {
		m := meeting{cpu.New(cpu.Options{Threads: 4}), new(atomic.Int32), new(atomic.Bool)}
		var drv driver.Device = m
		if concurrent {
			drv = concurrentMeeting{m}
		}
		d := exec.New(drv)
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() {
				if got := read(t, d, graph.Binary(ir.Add, floats(1, 2), scalar(float64(i), []int{2}))); !equal(got, []float32{float32(1 + i), float32(2 + i)}) {
					t.Errorf("[1 2] + %d = %v", i, got)
				}
			})
		}
		all.Wait()
		if met := m.met.Load(); met != concurrent {
			t.Errorf("on a device that is concurrent: %v, two runs were under way at once: %v", concurrent, met)
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
				var index *exec.IndexError
				_, err := exec.Read(d, graph.Gather(graph.Unary(ir.Neg, floats(1, 2, 3)), at, 0))
				if bad && (!errors.As(err, &index) || index.Index != int64(10+g)) || !bad && err != nil {
					t.Errorf("goroutine %d, bad index: %v, got error %v", g, bad, err)
				}
			}
		})
	}
	all.Wait()
}

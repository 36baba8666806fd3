package exec_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
)

// holding is a device that holds all calls until it is flushed.
type holding struct {
	driver.Device
	held, flushes atomic.Int32
}

func (d *holding) Run(calls []driver.Call) error {
	d.held.Add(int32(len(calls)))
	return nil
}

func (d *holding) Holds() bool { return d.held.Load() > 0 }

func (d *holding) Flush() {
	d.held.Store(0)
	d.flushes.Add(1)
}

// Calls that a device holds run soon, although nothing reads their results.
func TestFlush(t *testing.T) {
	drv := &holding{Device: struct{ driver.Device }{cpu.New(cpu.Options{})}}
	dev := exec.New(drv)
	defer dev.Close()
	for want := int32(1); want <= 3; want++ {
		if err := exec.Eval(dev, []*graph.Node{scalar(1, []int{100})}); err != nil {
			t.Fatal(err)
		}
		for start := time.Now(); drv.Holds(); time.Sleep(time.Millisecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatal("calls are held for ten seconds")
			}
		}
		if n := drv.flushes.Load(); n != want {
			t.Errorf("after %d evaluations there were %d flushes", want, n)
		}
	}
}

//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// A context that ends after Join leaves the communicator as it is.
func TestJoinThenCancel(t *testing.T) {
	f := newFake(t, 1<<30)
	f.withNCCL()
	d, err := f.openGPU(0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c := driver.Device(d).(driver.Collective)
	times := 5000
	if testing.Short() {
		times = 500
	}
	for range times {
		id, err := c.CommunicatorID()
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		comm, err := c.Join(ctx, id, 0, 1)
		end()
		if err != nil {
			t.Fatal(err)
		}
		comm.Close()
		if cause := comm.(*communicator).cause.Load(); cause != nil {
			t.Fatal(*cause)
		}
	}
}

// An Abort that gives up because NCCL does not return from a call aborts once it does.
func TestAbortDuringRun(t *testing.T) {
	f := newFake(t, 1<<30)
	n := f.withNCCL()
	d, err := f.openGPU(0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c := driver.Device(d).(driver.Collective)
	id, err := c.CommunicatorID()
	if err != nil {
		t.Fatal(err)
	}
	comm, err := c.Join(t.Context(), id, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	entered, returns := make(chan bool), make(chan bool)
	n.during = map[string]func(){"GroupEnd": func() { entered <- true; <-returns }}
	ran := make(chan error)
	go func() {
		x := driver.Arg{Buffer: b}
		ran <- comm.Run([]driver.CollectiveCall{{Op: driver.AllReduce, Combine: ir.Add, DType: ir.Float32, Len: 1, From: x, To: x}})
	}()
	<-entered
	comm.Abort(errors.New("a rank is gone"))
	if aborts := f.count("ncclCommAbort"); aborts > 0 {
		t.Error("Abort ran beside another call of NCCL")
	}
	returns <- true
	<-ran
	if aborts := f.count("ncclCommAbort"); aborts != 1 {
		t.Errorf("the communicator was aborted %d times, want once", aborts)
	}
}

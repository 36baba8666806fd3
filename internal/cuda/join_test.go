//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"testing"

	"github.com/tensorken/tensorken/driver"
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

package gpu

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// first picks the first adapter, software or not.
func first(as []wgpu.Adapter) (int, error) {
	if len(as) == 0 {
		return 0, wgpu.ErrNoAdapter
	}
	return 0, nil
}

// open opens an adapter of this machine, with all checks on.
func open() (driver.Device, error) {
	lib, err := wgpu.Load("")
	if err != nil {
		return nil, err
	}
	d, err := wgpu.Check(lib, io.Discard).Open(first, wgpu.Options{Validate: true, Timeout: time.Minute})
	if err != nil {
		return nil, err
	}
	return New(d, "webgpu"), nil
}

// need skips a test where there is no GPU.
func need(t testing.TB) {
	t.Helper()
	d, err := open()
	if err == nil {
		d.Close()
		return
	}
	if os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" {
		t.Fatal(err)
	}
	t.Skip("no GPU: ", err)
}

func TestDevice(t *testing.T) {
	need(t)
	drivertest.Test(t, open)
}

func TestRandom(t *testing.T) {
	need(t)
	n := 300
	if testing.Short() {
		n = 30
	}
	drivertest.Random(t, open, n, 1)
}

package wgputest

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/wgpu"
)

// First picks the first adapter, software or not.
func First(as []wgpu.Adapter) (int, error) {
	if len(as) == 0 {
		return 0, wgpu.ErrNoAdapter
	}
	return 0, nil
}

// Open opens an adapter of this machine, with all checks on.
func Open() (wgpu.Device, error) {
	lib, err := wgpu.Load("")
	if err != nil {
		return nil, err
	}
	// A GPU in software takes long to compile some shaders.
	return Check(lib, io.Discard).Open(First, wgpu.Options{Validate: true, Timeout: 3 * time.Minute})
}

// Need skips a test where there is no GPU.
func Need(t testing.TB) {
	t.Helper()
	d, err := Open()
	if err == nil {
		d.Close()
		return
	}
	if required() {
		t.Fatal(err)
	}
	t.Skip("no GPU: ", err)
}

// NeedForMinutes skips a test of minutes where there is no GPU, or only a software one
// that nobody asked for.
func NeedForMinutes(t testing.TB) {
	t.Helper()
	Need(t)
	if required() {
		return
	}
	lib, err := wgpu.Load("")
	if err != nil {
		t.Fatal(err)
	}
	as, err := lib.Adapters()
	if err != nil {
		t.Fatal(err)
	}
	if as[0].Kind == wgpu.Software {
		t.Skip("takes minutes on a software GPU: TENSORKEN_REQUIRE_GPU=1 runs it all the same")
	}
}

func required() bool { return os.Getenv("TENSORKEN_REQUIRE_GPU") == "1" }

//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/tensor"
)

// After a failure each call returns it. Where kernels run one by one, it has the kernel.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name         string
		code         int
		sync         bool
		want, beside string
	}{
		{"lost", 999, false, "the GPU is lost to this process", "fault of the library"},
		{"a kernel", 700, false, "TENSORKEN_CUDA_SYNC=1", "pointwise"},
		{"a kernel, known", 700, true, "pointwise i0:3", "TENSORKEN_CUDA_SYNC"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			if c.sync {
				t.Setenv("TENSORKEN_CUDA_SYNC", "1")
			}
			f := newFake(t, 1<<20)
			drv, err := f.open(Options{Graphs: true})
			if err != nil {
				t.Fatal(err)
			}
			d := tensor.NewDevice(drv)
			x := tensor.New([]float32{1, 2, 3}).To(d)
			f.fails["StreamSynchronize"] = c.code
			first := ""
			for i := range 3 {
				_, err := tensor.Data[float32](x.Exp())
				var failure *tensor.DeviceError
				var cause *Error
				if !errors.As(err, &failure) || !errors.As(err, &cause) || cause.Code != c.code {
					t.Fatalf("computation %d: error %v, want a DeviceError with the driver's code %d", i, err, c.code)
				}
				text := err.Error()
				if !strings.Contains(text, c.want) || strings.Contains(text, c.beside) {
					t.Errorf("computation %d: error %q, want one with %q, without %q", i, text, c.want, c.beside)
				}
				if i == 0 {
					first = text
				} else if text != first {
					t.Errorf("computation %d: error %q, want the first one, %q", i, text, first)
				}
			}
			delete(f.fails, "StreamSynchronize")
			if err := d.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// A snapshot for which there is no pinned memory leaves nothing.
func TestSnapshotWithoutMemory(t *testing.T) {
	f := newFake(t, 1<<20)
	d, err := f.open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	f.fails["MemHostAlloc"] = outOfMemory
	for range 3 {
		if _, err := d.Snapshot(driver.Piece{Buffer: b, Bytes: 4}); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("got error %v, want one of memory", err)
		}
	}
	delete(f.fails, "MemHostAlloc")
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	f.drained(t)
}

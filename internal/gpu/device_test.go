package gpu

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// open makes a device of an adapter of this machine.
func open() (driver.Device, error) {
	d, err := wgputest.Open()
	if err != nil {
		return nil, err
	}
	return New(d, Options{Name: "webgpu"}), nil
}

// real opens an adapter of this machine; the test is skipped without one.
func real(t testing.TB, o wgpu.Options) *device {
	wgputest.Need(t)
	lib, err := wgpu.Load("")
	if err != nil {
		t.Fatal(err)
	}
	if o.Validate {
		lib = wgputest.Check(lib, io.Discard)
	}
	w, err := lib.Open(wgputest.First, o)
	if err != nil {
		t.Fatal(err)
	}
	d := newDevice(w, Options{Name: "webgpu"})
	t.Cleanup(func() { d.Close() })
	return d
}

// deviceOf returns the device of a driver. It is closed before the driver, which its timer may call.
func deviceOf(t testing.TB, d driver.Device) *tensor.Device {
	dev := tensor.NewDevice(d)
	t.Cleanup(func() { dev.Close() })
	return dev
}

func TestChains(t *testing.T) {
	for _, validate := range []bool{true, false} {
		if testing.Short() && !validate {
			continue
		}
		t.Run(fmt.Sprintf("validate=%v", validate), func(t *testing.T) {
			d := real(t, wgpu.Options{Validate: validate})
			for _, n := range []int{1, 2, 127, 128, 129, 1000} {
				testChain(t, d, prepare(t, d, &increment), n)
				testChain(t, d, prepare(t, d, &twice), n)
			}
			testBytes(t, d)
			if err := d.Sync(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Buffers larger than a piece go up and down whole.
func TestLargeTransfer(t *testing.T) {
	d := real(t, wgpu.Options{Validate: true})
	const size = 2*piece + 1234567
	b := alloc(t, d, size)
	src := make([]byte, size)
	for i := range src {
		src[i] = byte(i * 7 >> 3)
	}
	if err := d.Upload(b, 0, src); err != nil {
		t.Fatal(err)
	}
	offsets := []int{0, 1, 6, piece - 1}
	if testing.Short() {
		offsets = offsets[2:]
	}
	for _, offset := range offsets {
		got := make([]byte, size-offset)
		if err := d.Download(got, b, offset); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, src[offset:]) {
			t.Errorf("Download of %d bytes at %d gives others than were uploaded", len(got), offset)
		}
	}
}

// A device that is closed and opened again leaves nothing behind.
func TestOpenOften(t *testing.T) {
	times := 20
	if testing.Short() {
		times = 5
	}
	for range times {
		d := real(t, wgpu.Options{})
		testChain(t, d, prepare(t, d, &increment), 3)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := d.Sync(); err == nil {
			t.Error("Sync after Close succeeds")
		}
	}
}

// BenchmarkDispatch measures dispatches that depend on each other: recording,
// submitting and waiting, with the same parameters and with new ones each time.
func BenchmarkDispatch(b *testing.B) {
	const n = 1000
	for _, fresh := range []ir.Number{0, n} {
		b.Run([]string{"same", "new"}[fresh/n], func(b *testing.B) {
			d := real(b, wgpu.Options{})
			calls := chain(prepare(b, d, &increment), n, alloc(b, d, 4), alloc(b, d, 4))
			run := func() {
				for i := range calls {
					calls[i].Args[2].Num += fresh
				}
				if err := d.Run(calls); err != nil {
					b.Fatal(err)
				}
			}
			run()
			b.ReportAllocs()
			for b.Loop() {
				run()
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/dispatch")
		})
	}
}

// BenchmarkRun measures one dispatch at a time, each waited for.
func BenchmarkRun(b *testing.B) {
	d := real(b, wgpu.Options{})
	calls := chain(prepare(b, d, &increment), 1, alloc(b, d, 4), alloc(b, d, 4))
	for b.Loop() {
		if err := d.Run(calls); err != nil {
			b.Fatal(err)
		}
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRecord measures the host's time of a dispatch without the library's.
func BenchmarkRecord(b *testing.B) {
	d, _ := fake(b, 0)
	p := prepare(b, d, &increment)
	calls := chain(p, 100, alloc(b, d, 4), alloc(b, d, 4))
	if err := d.Run(calls); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		d.commands, d.params = d.commands[:0], d.params[:0]
		for i := range calls {
			if err := d.record(&calls[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(calls)), "ns/dispatch")
}

func BenchmarkTransfer(b *testing.B) {
	d := real(b, wgpu.Options{})
	data := make([]byte, 64<<20)
	buf := alloc(b, d, len(data))
	b.Run("Upload", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := d.Upload(buf, 0, data); err != nil {
				b.Fatal(err)
			}
			if err := d.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Download", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := d.Download(data, buf, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}

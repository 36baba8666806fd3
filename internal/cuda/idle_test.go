//go:build linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/tensorken/tensorken/internal/dynlib"
	"github.com/tensorken/tensorken/tensor"
)

// idle makes the functions of a fake that a step calls do nothing.
func (f *fake) idle(t testing.TB) {
	libm, err := dynlib.OpenSystem("libm.so.6")
	if err != nil {
		t.Skip(err)
	}
	zero := dynlib.Symbol(libm, "fegetround") // returns 0
	if zero == 0 || dynlib.Call(zero) != 0 {
		t.Skip("the C library has no function that returns 0")
	}
	l := f.lib
	for _, fn := range []*uintptr{&l.CtxSetCurrent, &l.LaunchKernel, &l.MemcpyHtoDAsync_v2, &l.StreamSynchronize, &l.GraphLaunch, &l.GraphExecKernelNodeSetParams_v2} {
		*fn = zero
	}
	f.isIdle = true
}

// BenchmarkHost measures the host's time for works on a driver that does nothing.
func BenchmarkHost(b *testing.B) {
	b.Setenv("XDG_CACHE_HOME", b.TempDir())
	for _, name := range []string{"exp/1M", "mlp/64", "transformer", "gpt2"} {
		b.Run(name, func(b *testing.B) {
			f := newFake(b, 1<<40)
			f.idle(b)
			list, err := f.lib.list()
			if err != nil {
				b.Fatal(err)
			}
			drv, err := f.lib.open(list[0], Options{Graphs: true})
			if err != nil {
				b.Fatal(err)
			}
			d := tensor.NewDevice(drv)
			defer d.Close()
			run := start(b, name, d)
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

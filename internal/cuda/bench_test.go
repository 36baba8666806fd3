//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/tune"
	"github.com/tensorken/tensorken/tensor"
)

// openBench opens the first GPU, without graphs if the driver shall launch each kernel.
func openBench(b *testing.B, graphs bool) *device {
	need(b)
	l, err := load()
	if err != nil {
		b.Fatal(err)
	}
	if !graphs {
		l = &library{functions: l.functions, version: l.version}
	}
	list, err := l.list()
	if err != nil {
		b.Fatal(err)
	}
	d, err := l.open(list[0], Options{Graphs: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	return d
}

var modes = []struct {
	name   string
	graphs bool
}{{"launches", false}, {"graphs", true}}

// timed runs f, which submits work: the time of f alone, and until the work is done.
func timed(b *testing.B, d driver.Device, f func() error) (host, all time.Duration) {
	start := clock.Now()
	err := f()
	host = clock.Since(start)
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		b.Fatal(err)
	}
	return host, clock.Since(start)
}

// report runs f often, and reports the medians of its times for each of n parts, in µs.
func report(b *testing.B, d driver.Device, n int, f func() error) {
	var hosts, alls []float64
	for b.Loop() {
		host, all := timed(b, d, f)
		hosts, alls = append(hosts, host.Seconds()), append(alls, all.Seconds())
	}
	slices.Sort(hosts)
	slices.Sort(alls)
	b.ReportMetric(1e6*hosts[len(hosts)/2]/float64(n), "µs-host")
	b.ReportMetric(1e6*alls[len(alls)/2]/float64(n), "µs-all")
}

// counting is n numbers from 1 on.
func counting(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

// BenchmarkTinyKernel runs chains of dependent kernels of 64 elements: the time of one.
func BenchmarkTinyKernel(b *testing.B) {
	for _, m := range modes {
		for _, n := range []int{1, 4, 16, 64, 256, 1000, 2000} {
			b.Run(fmt.Sprintf("%s/%d", m.name, n), func(b *testing.B) {
				d := openBench(b, m.graphs)
				r := rig{b, d}
				calls := chain(r.compile(shifted(64)), r.alloc(256), r.alloc(256), counting(n)...)
				for range 3 {
					timed(b, d, func() error { return d.Run(calls) })
				}
				report(b, d, n, func() error { return d.Run(calls) })
			})
		}
	}
}

// BenchmarkGraphUpdate runs graphs of 1000 kernels, of which some have other parameters each
// time: the time of a run. Several runs are under way at once if they are ahead.
func BenchmarkGraphUpdate(b *testing.B) {
	const n = 1000
	for _, ahead := range []int{1, 10} {
		for _, k := range []int{0, 1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("ahead=%d/%d", ahead, k), func(b *testing.B) {
				d := openBench(b, true)
				r := rig{b, d}
				calls := chain(r.compile(shifted(64)), r.alloc(256), r.alloc(256), counting(n)...)
				run := func() error {
					for range ahead {
						for i := range k {
							calls[i*(n/k)].Args[2].Num++
						}
						if err := d.Run(calls); err != nil {
							return err
						}
					}
					return nil
				}
				for range 3 {
					timed(b, d, run)
				}
				report(b, d, ahead, run)
			})
		}
	}
}

// BenchmarkMakeGraph makes graphs: the time of a kernel in them, and the memory that it takes.
func BenchmarkMakeGraph(b *testing.B) {
	const n, lists = 500, 20
	d := openBench(b, true)
	r := rig{b, d}
	p, x, y := r.compile(shifted(64)), r.alloc(256), r.alloc(256)
	free := func() (bytes int) {
		leave, err := d.Enter()
		if err != nil {
			b.Fatal(err)
		}
		defer leave()
		var all uintptr
		if err := d.lib.call("cuMemGetInfo", d.lib.MemGetInfo_v2, uintptr(unsafe.Pointer(&bytes)), uintptr(unsafe.Pointer(&all))); err != nil {
			b.Fatal(err)
		}
		return bytes
	}
	var took []float64
	before := free()
	for i := range lists {
		calls := chain(p, x, y, counting(n+i)...)
		first, _ := timed(b, d, func() error { return d.Run(calls) })
		second, _ := timed(b, d, func() error { return d.Run(calls) })
		third, _ := timed(b, d, func() error { return d.Run(calls) })
		took = append(took, (second - third).Seconds())
		if i == lists-1 {
			b.ReportMetric(1e6*first.Seconds()/float64(n+i), "µs-launch")
		}
	}
	slices.Sort(took)
	b.ReportMetric(1e6*took[lists/2]/n, "µs/node")
	b.ReportMetric(float64(before-free())/n/lists, "bytes/node")
	start := clock.Now()
	leave, err := d.Enter()
	if err != nil {
		b.Fatal(err)
	}
	d.freeAllGraphs()
	leave()
	b.ReportMetric(1e6*clock.Since(start).Seconds()/n/lists, "µs-free/node")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkDriver calls functions of the driver: the host's time of one.
func BenchmarkDriver(b *testing.B) {
	const reps = 200
	d := openBench(b, true)
	leave, err := d.Enter()
	if err != nil {
		b.Fatal(err)
	}
	defer leave()
	l := d.lib
	var event, address uintptr
	if err := l.call("cuEventCreate", l.EventCreate, uintptr(unsafe.Pointer(&event)), 2); err != nil {
		b.Fatal(err)
	}
	addresses := make([]uintptr, reps)
	alloc := func(bytes uintptr) func() error {
		return func() error {
			err := l.call("cuMemAllocAsync", l.MemAllocAsync, uintptr(unsafe.Pointer(&address)), bytes, d.stream)
			if err == nil {
				err = l.call("cuMemFreeAsync", l.MemFreeAsync, address, d.stream)
			}
			return err
		}
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"CtxSetCurrent", func() error { return l.call("cuCtxSetCurrent", l.CtxSetCurrent, d.context) }},
		{"EventRecord", func() error { return l.call("cuEventRecord", l.EventRecord, event, d.stream) }},
		{"EventSynchronize", func() error { return l.call("cuEventSynchronize", l.EventSynchronize, event) }},
		{"StreamSynchronize", func() error { return l.call("cuStreamSynchronize", l.StreamSynchronize, d.stream) }},
		{"AllocFree/1KB", alloc(1 << 10)}, {"AllocFree/1MB", alloc(1 << 20)}, {"AllocFree/64MB", alloc(64 << 20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			report(b, d, reps, func() error {
				for range reps {
					if err := c.f(); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	for _, bytes := range []uintptr{1 << 20, 4 << 20} { // of memory that the pool does not have
		b.Run(fmt.Sprintf("AllocFresh/%dMB", bytes>>20), func(b *testing.B) {
			var took []float64
			for b.Loop() {
				host, _ := timed(b, d, func() error {
					for i := range addresses {
						if err := l.call("cuMemAllocAsync", l.MemAllocAsync, uintptr(unsafe.Pointer(&addresses[i])), bytes, d.stream); err != nil {
							return err
						}
					}
					return nil
				})
				took = append(took, host.Seconds())
				for _, a := range addresses {
					l.call("cuMemFreeAsync", l.MemFreeAsync, a, d.stream)
				}
				d.MakeRoom()
			}
			slices.Sort(took)
			b.ReportMetric(1e6*took[len(took)/2]/reps, "µs-host")
		})
	}
	l.call("cuEventDestroy", l.EventDestroy_v2, event)
}

// BenchmarkTransfer copies bytes between Go's memory and the GPU, by way of pinned memory and by
// the driver alone: the time of the call, and until the copy is done.
func BenchmarkTransfer(b *testing.B) {
	d := openBench(b, true)
	r := rig{b, d}
	data := make([]byte, 256<<20)
	x := r.alloc(len(data)).(*buffer)
	direct := func(upload bool, n int) error {
		leave, err := d.Enter()
		if err != nil {
			return err
		}
		defer leave()
		if upload {
			return d.lib.call("cuMemcpyHtoDAsync", d.lib.MemcpyHtoDAsync_v2, x.address, uintptr(unsafe.Pointer(&data[0])), uintptr(n), d.stream)
		}
		return d.lib.call("cuMemcpyDtoHAsync", d.lib.MemcpyDtoHAsync_v2, uintptr(unsafe.Pointer(&data[0])), x.address, uintptr(n), d.stream)
	}
	busy := chain(r.compile(shifted(64)), r.alloc(256), r.alloc(256), counting(2000)...)
	for _, n := range []int{4, 64 << 10, 1 << 20, 16 << 20, 256 << 20} {
		for _, c := range []struct {
			name string
			f    func() error
		}{
			{"upload/pinned", func() error { return d.Upload(x, 0, data[:n]) }},
			{"upload/pageable", func() error { return direct(true, n) }},
			{"download/pinned", func() error { return d.Download(data[:n], x, 0) }},
			{"download/pageable", func() error { return direct(false, n) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				for range 20 {
					timed(b, d, c.f)
				}
				b.SetBytes(int64(n))
				report(b, d, 1, c.f)
			})
			if n > 1<<20 || c.name[0] == 'd' {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d/behind", c.name, n), func(b *testing.B) { // behind kernels that take 2 ms
				var took []float64
				for b.Loop() {
					if err := d.Run(busy); err != nil {
						b.Fatal(err)
					}
					host, _ := timed(b, d, c.f)
					took = append(took, host.Seconds())
				}
				slices.Sort(took)
				b.ReportMetric(1e6*took[len(took)/2], "µs-host")
			})
		}
	}
	for _, workers := range []int{1, 2, 4} { // copies of the host to a chunk of pinned memory
		b.Run(fmt.Sprintf("memory/%d", workers), func(b *testing.B) {
			leave, err := d.Enter()
			if err != nil {
				b.Fatal(err)
			}
			defer leave()
			p, err := d.staging.take(d, chunkBytes)
			for err == nil && len(p.bytes) < chunkBytes {
				p, err = d.staging.take(d, chunkBytes)
			}
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(chunkBytes)
			at := 0
			for b.Loop() {
				var wait sync.WaitGroup
				for w := range workers {
					n := chunkBytes / workers
					wait.Go(func() { copy(p.bytes[w*n:][:n], data[at+w*n:]) })
				}
				wait.Wait()
				at = (at + chunkBytes) % len(data)
			}
		})
	}
}

// BenchmarkWarps multiplies square matrices by the instructions of GPUs before Hopper: by the tiles that are
// estimated to be the fastest, and by those that a search finds.
func BenchmarkWarps(b *testing.B) {
	for _, mode := range []tune.Mode{tune.Off, tune.Search} {
		for _, dtype := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
			for _, n := range []int{1024, 4096, 8192} {
				b.Run(fmt.Sprintf("search=%v/%v/%d", mode == tune.Search, dtype, n), func(b *testing.B) {
					b.Setenv("XDG_CACHE_HOME", b.TempDir())
					drv := openBench(b, true)
					drv.Target.SharedMatrices, drv.Tuner = false, tune.New(mode, "warps")
					d := tensor.NewDevice(drv)
					defer d.Close()
					rng := tensor.NewRNG(1)
					x, y := rng.Normal(n, n).Cast(dtype).To(d), rng.Normal(n, n).Cast(dtype).To(d)
					multiply := func() error { return tensor.Eval(x.MatMul(y)) }
					repeat(b, d, 3, multiply)
					b.ResetTimer()
					repeat(b, d, b.N, multiply)
					b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e12, "TFLOP/s")
				})
			}
		}
	}
}

// repeat runs a function n times, and waits for the device at the end.
func repeat(b *testing.B, d *tensor.Device, n int, run func() error) {
	for range n {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	if err := d.Sync(); err != nil {
		b.Fatal(err)
	}
}

// start starts a work on a device: a function that runs it once.
func start(b *testing.B, name string, d *tensor.Device) (run func() error) {
	works := bench.SuiteOf("cuda").Works
	i := slices.IndexFunc(works, func(w bench.Work) bool { return w.Name == name })
	step := works[i].Start(d)
	run = func() error {
		result, err := step()
		if err != nil {
			return err
		}
		return tensor.Eval(result)
	}
	repeat(b, d, 8, run) // records the step
	return run
}

// BenchmarkWork runs works: the time of one of many, the host's time for one alone, and the
// time until that is done.
func BenchmarkWork(b *testing.B) {
	for _, name := range []string{"exp/1M", "mlp/64", "mlp/256", "mlp/1024", "transformer", "transformer/bf16", "gpt2", "gpt2/bf16"} {
		for _, m := range modes {
			b.Run(name+"/"+m.name, func(b *testing.B) {
				drv := openBench(b, m.graphs)
				d := tensor.NewDevice(drv)
				defer d.Close()
				run := start(b, name, d)
				var hosts, alls []float64
				for begin := clock.Now(); len(hosts) < 5 || len(hosts) < 500 && clock.Since(begin) < time.Second; {
					host, all := timed(b, drv, run)
					hosts, alls = append(hosts, host.Seconds()), append(alls, all.Seconds())
				}
				slices.Sort(hosts)
				slices.Sort(alls)
				b.ReportAllocs()
				b.ResetTimer()
				repeat(b, d, b.N, run)
				b.StopTimer()
				b.ReportMetric(1e6*hosts[len(hosts)/2], "µs-host")
				b.ReportMetric(1e6*alls[len(alls)/2], "µs-all")
			})
		}
	}
}

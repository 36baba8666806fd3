package cpu

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

func TestAlloc(t *testing.T) {
	d := New(Options{Memory: 1000})
	a, err := d.Alloc(600)
	if err != nil || a.Size() != 600 {
		t.Fatalf("Alloc(600) = %v, %v", a, err)
	}
	if p := uintptr(unsafe.Pointer(&a.(*buffer).data[0])); p%64 != 0 {
		t.Errorf("Alloc(600) is at %#x, want a multiple of 64", p)
	}
	for _, n := range []int{401, math.MaxInt / 2, math.MaxInt, -1} {
		b, err := d.Alloc(n)
		if b != nil || !errors.Is(err, driver.ErrMemory) {
			t.Errorf("Alloc(%d) = %v, %v, want %v", n, b, err, driver.ErrMemory)
		}
	}
	_, err = d.Alloc(1 << 30)
	if want := "out of memory: 1 GiB asked for, 600 B of 1000 B held"; err == nil || err.Error() != want {
		t.Errorf("Alloc(1<<30): error %q, want %q", err, want)
	}
	if _, err := d.Alloc(400); err != nil {
		t.Errorf("Alloc(400) = %v", err)
	}
	a.Free()
	a.Free() // the second does nothing
	if _, err := d.Alloc(600); err != nil {
		t.Errorf("Alloc(600) after Free = %v", err)
	}
	if b, err := d.Alloc(0); err != nil || b.Size() != 0 {
		t.Errorf("Alloc(0) = %v, %v", b, err)
	}
}

func TestCopies(t *testing.T) {
	d := New(Options{Memory: 1000})
	b, err := d.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Upload(b, 1, []byte{1, 2, 3}); err != nil {
		t.Error(err)
	}
	got := make([]byte, 2)
	if err := d.Download(got, b, 2); err != nil || got[0] != 2 || got[1] != 3 {
		t.Errorf("Download = %v, %v, want [2 3]", got, err)
	}
	other, err := New(Options{}).Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Upload past the end":     d.Upload(b, 2, []byte{1, 2, 3}),
		"Upload before the start": d.Upload(b, -1, []byte{1}),
		"Download past the end":   d.Download(got, b, 3),
		"Download elsewhere":      d.Download(got, other, 0),
	} {
		if err == nil {
			t.Errorf("%s gave no error", name)
		}
	}
}

// Wrong calls give errors.
func TestBadCalls(t *testing.T) {
	d := New(Options{Memory: 1 << 20, Threads: 1})
	k := chain(8)
	c := newCall(t, d, k, 8, 8, 8, 8, 8)
	c.run(t)
	good := c.calls[0].Args
	change := func(i int, a driver.Arg) []driver.Arg {
		args := append([]driver.Arg(nil), good...)
		args[i] = a
		return args
	}
	foreign, _ := New(Options{}).Alloc(32)
	for name, args := range map[string][]driver.Arg{
		"too few":                 good[1:],
		"an input too far":        change(1, driver.Arg{Buffer: good[1].Buffer, Offset: 1}),
		"an output too far":       change(4, driver.Arg{Buffer: good[4].Buffer, Offset: 1}),
		"before the start":        change(1, driver.Arg{Buffer: good[1].Buffer, Offset: -1}),
		"no buffer":               change(1, driver.Arg{}),
		"another device's buffer": change(1, driver.Arg{Buffer: foreign}),
		"a wrapped output":        change(4, driver.Arg{Buffer: d.(driver.Wrapper).Wrap(make([]byte, 32))}),
	} {
		if err := d.Run([]driver.Call{{Program: c.calls[0].Program, Args: args}}); err == nil {
			t.Errorf("Run with arguments %s gave no error", name)
		}
	}
	if err := d.Run([]driver.Call{{Args: good}}); err == nil {
		t.Error("Run of no program gave no error")
	}
	good[0].Buffer.Free()
	if err := d.Run(c.calls); err == nil {
		t.Error("Run on a freed buffer gave no error")
	}
}

func TestClose(t *testing.T) {
	d := New(Options{Memory: 1 << 20})
	c := newCall(t, d, chain(8), 8, 8, 8, 8, 8)
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	_, alloc := d.Alloc(1)
	_, compile := d.Compile(chain(8))
	for name, err := range map[string]error{
		"Alloc": alloc, "Compile": compile, "Run": d.Run(c.calls), "Sync": d.Sync(), "Upload": d.Upload(c.calls[0].Args[0].Buffer, 0, []byte{1}),
	} {
		if err == nil {
			t.Errorf("%s on a closed device gave no error", name)
		}
	}
}

// A panic of a worker is an error of the run, and the device stays sound.
func TestPanic(t *testing.T) {
	for _, n := range []int{8, 1 << 20} {
		d := New(Options{Threads: 4})
		c := newCall(t, d, chain(n), n, n, n, n, n)
		steps := c.calls[0].Program.(*executable).runner.(*vector.PointwiseRunner).Program.Ops
		do := steps[len(steps)-1].Do
		steps[len(steps)-1].Do = func(*vector.Activation, *vector.Op) { panic("oh") }
		if err := d.Run(c.calls); err == nil || !strings.Contains(err.Error(), "oh") {
			t.Errorf("Run of a step that panics: error %v", err)
		}
		steps[len(steps)-1].Do = do
		c.run(t)
	}
}

// The bits of results depend neither on the number of threads nor on the size of caches.
func TestThreads(t *testing.T) {
	const n = 1 << 17
	for name, k := range map[string]*ir.Kernel{
		"map":     chain(n),
		"sum":     kernel(ir.Reduce, []ir.Axis{{Len: n, Role: ir.Reduced}}, []ir.Arg{in(f32), out(f32, 1)}, read(f32, 0, 1), sumOver(ir.Sum, f32, 0, 1), write(f32, 1, 1, 0)),
		"columns": kernel(ir.Reduce, []ir.Axis{{Len: n / 4, Role: ir.Reduced}, {Len: 4, Role: ir.Parallel}}, []ir.Arg{in(f32), out(f32, 4)}, read(f32, 0, 4, 1), sumOver(ir.Sum, f32, 0, 1), write(f32, 1, 1, 0, 1)),
		"softmax": softmax(4, n/4),
		"rows":    softmax(n/16, 16),
		"product": matmul(100, 100, 300),
		"wide":    matmul(40, 600, 200),
		"positions": kernel(ir.Contraction, []ir.Axis{{Len: 8, Role: ir.M}, {Len: 15, Role: ir.M}, {Len: 96, Role: ir.N}, {Len: 1024, Role: ir.K}}, // plus a row for each position
			[]ir.Arg{in(f32), in(f32), in(f32), out(f32, 8*15*96)}, read(f32, 0, 15*1024, 1024, 0, 1), read(f32, 1, 0, 0, 1, 96), apply(ir.Mul, f32, 0, 1), sumOver(ir.Sum, f32, 2, 8),
			read(f32, 2, 0, 96, 1, 0), apply(ir.Add, f32, 3, 4), write(f32, 5, 3, 15*96, 96, 1, 0)),
		"few":     matmulT(3, 60, 2000),
		"deep":    matmul(20, 20, n/32),
		"conv":    conv3x3(3, 5, 7, 20),
		"windows": windowed{lens: [5]int{3, 9, 7, 40, 80}, c: 42, h: 88, at: [2][5]int{{1, 0, 0, 1}, {0, 1, 0, 0, 1}}, off: -1}.kernel(true), // in parts of the depth
	} {
		var want []interp.Arg
		var first [][]ir.Number
		for threads, panel := range map[int]int{1: 1 << 10, 2: 1 << 19, 8: 1 << 16} {
			d := New(Options{Threads: threads}).(*device)
			d.Tune.Panel = panel
			if want == nil {
				for _, a := range k.Args {
					want = append(want, interp.Arg{Data: make([]ir.Number, n)})
					for j := range n {
						want[len(want)-1].Data[j] = ir.Float(a.DType, math.Sin(float64(j)))
					}
				}
			}
			got, err := runOn(d, k, want)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if first == nil {
				first = got
			}
			for i := range got {
				for j := range got[i] {
					if got[i][j] != first[i][j] {
						t.Fatalf("%s on %d threads: argument %d, element %d = %v, want %v", name, threads, i, j, got[i][j].Float64(f32), first[i][j].Float64(f32))
					}
				}
			}
		}
	}
}

// The size of the cache does not decide which side of a product is the rows, although a
// right factor is read in place in narrow panels and not in wide ones.
func TestPanels(t *testing.T) {
	const m, a, b, depth = 300, 9, 100, 2500
	k := kernel(ir.Contraction, []ir.Axis{{Len: m, Role: ir.M}, {Len: a, Role: ir.N}, {Len: b, Role: ir.N}, {Len: depth, Role: ir.K}},
		[]ir.Arg{in(f32), in(f32), out(f32, m*a*b)},
		read(f32, 0, 1, 0, 0, m), read(f32, 1, 0, depth*b, 1, b), apply(ir.Mul, f32, 0, 1), sumOver(ir.Sum, f32, 2, 8), write(f32, 3, 2, a*b, b, 1, 0))
	var first []float32
	for _, panel := range []int{1 << 16, 1 << 18} {
		d := New(Options{}).(*device)
		d.Tune.Panel = panel
		c := newCall(t, d, k, m*depth, a*b*depth, m*a*b)
		for i, x := range c.floats(0) {
			c.floats(0)[i] = 0.1 * x // so that sums are rounded
		}
		c.run(t)
		if got := c.floats(2); first == nil {
			first = got
		} else if !slices.Equal(got, first) {
			t.Errorf("a product in panels of %d KiB has other bits", panel>>10)
		}
	}
}

func TestSumOfOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("sums many numbers")
	}
	const n = 1 << 24
	for name, c := range map[string]struct {
		k   *ir.Kernel
		len int
	}{
		"all": {kernel(ir.Reduce, []ir.Axis{{Len: n, Role: ir.Reduced}}, []ir.Arg{in(f32), out(f32, 1)}, read(f32, 0, 1), sumOver(ir.Sum, f32, 0, 1), write(f32, 1, 1, 0)), 1},
		"columns": {kernel(ir.Reduce, []ir.Axis{{Len: n / 2, Role: ir.Reduced}, {Len: 2, Role: ir.Parallel}}, []ir.Arg{in(f32), out(f32, 2)},
			read(f32, 0, 2, 1), sumOver(ir.Sum, f32, 0, 1), write(f32, 1, 1, 0, 1)), 2},
	} {
		call := newCall(t, New(Options{}), c.k, n, c.len)
		x := call.floats(0)
		for i := range x {
			x[i] = 0.1
		}
		call.run(t)
		want := float64(float32(0.1)) * n / float64(c.len)
		for i, got := range call.floats(1) {
			if math.Abs(float64(got)-want) > 1e-6*want {
				t.Errorf("sum %s of %d: element %d = %v, want %v", name, n, i, got, want)
			}
		}
	}
}

// A tiny kernel costs next to nothing to run.
func TestAllocs(t *testing.T) {
	for name, c := range map[string]*call{
		"map":     newCall(t, New(Options{}), chain(10), 10, 10, 10, 10, 10),
		"row":     newCall(t, New(Options{}), softmax(8, 10), 80, 80),
		"product": newCall(t, New(Options{}), matmul(8, 10, 12), 96, 120, 10, 80),
	} {
		if n := testing.AllocsPerRun(100, func() { c.run(t) }); n > 2 {
			t.Errorf("running a tiny %s allocates %v times, want at most 2", name, n)
		}
	}
}

// After a burst of concurrent calls the number that is remembered falls, even while calls
// go on.
func TestConcurrencyShrinks(t *testing.T) {
	var c vector.Concurrency
	c.Enter(8)
	for end := clock.Now().Add(3 * vector.ConcurrencyTime); clock.Now().Before(end); {
		c.Enter(2)
	}
	c.Enter(2)
	if n := c.Calls.Load(); n != 2 {
		t.Errorf("%d calls are remembered, want 2", n)
	}
}

package exec_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// view is other elements of a stored node, in other shapes and strides.
func view(n *graph.Node, offset int, dims, strides []int) *graph.Node {
	return graph.Buffer(n.DType, dims, &graph.Value{Store: n.Value().Store, Offset: offset, Strides: strides})
}

func TestLayoutIsOf(t *testing.T) {
	d, other := newDevice(), newDevice()
	defer d.Close()
	defer other.Close()
	on := func(d *exec.Device) *graph.Node {
		n := graph.Unary(ir.Neg, graph.ToDevice(floats(make([]float32, 32)...), d))
		if err := exec.Eval(d, []*graph.Node{n}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	host, here, there := floats(make([]float32, 32)...), on(d), on(other)
	rows := func(n *graph.Node, offset int) *graph.Node { return view(n, offset, []int{2, 3}, []int{3, 1}) }
	uncommitted := rows(here, 0)
	uncommitted.Device = nil
	base := capture.LayoutOf(rows(here, 0))
	for _, c := range []struct {
		name   string
		layout capture.Layout
		n      *graph.Node
		want   bool
	}{
		{"itself", base, rows(here, 0), true},
		{"other elements", base, rows(on(d), 0), true},
		{"16 bytes further", base, rows(here, 4), true},
		{"4 bytes further", base, rows(here, 1), false},
		{"20 bytes, of one at 4", capture.LayoutOf(rows(here, 1)), rows(here, 5), true},
		{"another shape", base, view(here, 0, []int{3, 2}, []int{2, 1}), false},
		{"another rank", base, view(here, 0, []int{6}, []int{1}), false},
		{"columns", base, view(here, 0, []int{2, 3}, []int{1, 2}), false},
		{"another type", capture.LayoutOf(view(host, 0, []int{2}, []int{1})), ints(1, 2), false},
		{"an untyped constant", capture.LayoutOf(floats(1, 2)), floats(1, 2).AsUntyped(), false},
		{"another device", base, rows(there, 0), false},
		{"the host", base, rows(host, 0), false},
		{"computed there by default", base, uncommitted, false},
		{"committed to where it was computed", capture.LayoutOf(uncommitted), rows(here, 0), false},
		{"computed by default", capture.LayoutOf(uncommitted), uncommitted, true},
		{"none", base, nil, false},
		{"none of none", capture.Layout{}, nil, true},
		{"something of none", capture.Layout{}, rows(here, 0), false},
	} {
		if got := c.layout.IsOf(c.n); got != c.want {
			t.Errorf("%s: IsOf = %v, want %v", c.name, got, c.want)
		}
	}
}

// A trace has the arguments of [exec.Record]: a graph of placeholders for x and y, of two
// elements, and of a number k.
type trace struct{ args, numbers, roots []*graph.Node }

func newTrace(f func(x, y, k *graph.Node) []*graph.Node) trace {
	l := capture.LayoutOf(floats(0, 0))
	x, y, k := l.Placeholder(), l.Placeholder(), scalar(7, []int{2})
	return trace{[]*graph.Node{x, y}, []*graph.Node{k}, f(x, y, k)}
}

func (tr trace) record(t *testing.T, d *exec.Device, groups ...int) *exec.Recording {
	t.Helper()
	r, err := exec.Record(d, tr.args, tr.numbers, tr.roots, nil, groups)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// scaled is x + k·y, and minus that.
func scaled(x, y, k *graph.Node) []*graph.Node {
	sum := graph.Binary(ir.Add, x, graph.Binary(ir.Mul, k, y))
	return []*graph.Node{sum, graph.Unary(ir.Neg, sum)}
}

// numbers of float32.
func numbers(v float64) []ir.Number { return []ir.Number{ir.Float(ir.Float32, v)} }

// Goroutines run one recording with arguments and numbers of their own.
func TestRecordingRun(t *testing.T) {
	d := newDevice()
	defer d.Close()
	r := newTrace(scaled).record(t, d)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			v := float32(i)
			x, y := floats(9, 9, 9, 9, v, v+1), floats(10, 20)
			for k := range 20 {
				out, err := r.Run(nil, []*graph.Node{view(x, 4, []int{2}, []int{1}), y}, numbers(float64(k)))
				if err != nil {
					t.Error(err)
					return
				}
				a, b := v+10*float32(k), v+1+20*float32(k)
				for n, want := range [][]float32{{a, b}, {-a, -b}} {
					if got := read(t, d, out[n]); !equal(got, want) {
						t.Errorf("result %d of %v, %v: %v, want %v", n, v, k, got, want)
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestRecordingRepeats(t *testing.T) {
	d, other := newDevice(), newDevice()
	defer d.Close()
	defer other.Close()
	add := func(c *graph.Node) func(x, y, k *graph.Node) []*graph.Node {
		return func(x, y, k *graph.Node) []*graph.Node { return []*graph.Node{graph.Binary(ir.Add, x, c)} }
	}
	stored := graph.Unary(ir.Neg, graph.ToDevice(floats(1, 2), d))
	again := graph.Unary(ir.Neg, graph.ToDevice(floats(1, 2), d))
	if err := exec.Eval(d, []*graph.Node{stored, again}); err != nil {
		t.Fatal(err)
	}
	table := floats(1, 2, 3, 4, 1, 2)
	for _, c := range []struct {
		name          string
		first, second func(x, y, k *graph.Node) []*graph.Node
		want          bool
	}{
		{"the same", scaled, scaled, true},
		{"the number", scaled, func(x, y, k *graph.Node) []*graph.Node {
			k.Num = numbers(8)[0]
			return scaled(x, y, k)
		}, true},
		{"another operation", scaled, func(x, y, k *graph.Node) []*graph.Node {
			sum := scaled(x, y, k)[0]
			return []*graph.Node{sum, graph.Unary(ir.Exp, sum)}
		}, false},
		{"exchanged arguments", scaled, func(x, y, k *graph.Node) []*graph.Node { return scaled(y, x, k) }, false},
		{"an argument twice", scaled, func(x, y, k *graph.Node) []*graph.Node { return scaled(x, x, k) }, false},
		{"a root less", scaled, func(x, y, k *graph.Node) []*graph.Node { return scaled(x, y, k)[:1] }, false},
		{"another number of its own", add(scalar(1, []int{2})), add(scalar(2, []int{2})), false},
		{"the same number of its own", add(scalar(1, []int{2})), add(scalar(1, []int{2})), true},
		{"a number of its own for k", func(x, y, k *graph.Node) []*graph.Node { return scaled(x, y, k) },
			func(x, y, k *graph.Node) []*graph.Node { return scaled(x, y, scalar(7, []int{2})) }, false},
		{"equal elements on the host", add(floats(1, 2)), add(floats(1, 2)), true},
		{"other elements on the host", add(floats(1, 2)), add(floats(1, 3)), false},
		{"one tensor of a device", add(stored), add(stored), true},
		{"two tensors of a device", add(stored), add(again), false},
		{"another part of a table", add(view(table, 0, []int{2}, []int{1})), add(view(table, 4, []int{2}, []int{1})), false},
		{"an argument for a tensor", add(floats(1, 2)), func(x, y, k *graph.Node) []*graph.Node { return add(y)(x, y, k) }, false},
		{"another device", add(floats(1, 2)), func(x, y, k *graph.Node) []*graph.Node {
			return add(graph.ToDevice(graph.ToDevice(stored, other), d))(x, y, k)
		}, false},
	} {
		r, again := newTrace(c.first).record(t, d), newTrace(c.second)
		if got := r.Repeats(again.args, again.numbers, again.roots, nil); got != c.want {
			t.Errorf("%s: Repeats = %v, want %v", c.name, got, c.want)
		}
	}
}

// A transaction that may fail later repeats if it replaces the same arguments.
func TestTransactionRepeats(t *testing.T) {
	d := exec.New(ahead{cpu.New(cpu.Options{})})
	defer d.Close()
	at := ints(1, 0)
	taken := func(old int) (tr trace, replaced []*graph.Node) {
		tr = newTrace(func(x, y, k *graph.Node) []*graph.Node { return []*graph.Node{graph.Gather(x, at, 0)} })
		return tr, []*graph.Node{tr.args[old]}
	}
	tr, old := taken(0)
	r, err := exec.Record(d, tr.args, tr.numbers, tr.roots, old, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		tr, old := taken(i)
		if got := r.Repeats(tr.args, tr.numbers, tr.roots, old); got != want {
			t.Errorf("Repeats of a step that replaces argument %d = %v, want %v", i, got, want)
		}
	}
	if tr, _ := taken(0); r.Repeats(tr.args, tr.numbers, tr.roots, nil) {
		t.Error("Repeats of a step that replaces nothing = true, want false")
	}
}

// The error of a plan that does not compile names the device.
func TestRecordFails(t *testing.T) {
	d := exec.New(lacking{cpu.New(cpu.Options{}), ir.Float32})
	defer d.Close()
	tr := newTrace(scaled)
	_, err := exec.Record(d, tr.args, tr.numbers, tr.roots, nil, nil)
	if f := (*storage.Failure)(nil); !errors.As(err, &f) || f.Device != d {
		t.Errorf("Record fails with %v, want a failure of the device", err)
	}
}

// counted counts the buffers that are allocated.
type counted struct {
	driver.Device
	buffers *int
}

func (c counted) Alloc(n int) (driver.Buffer, error) {
	*c.buffers++
	return c.Device.Alloc(n)
}

// The storages of a group are freed together, once the last of their results is dead, and
// their buffers serve the next run.
func TestSlabs(t *testing.T) {
	const size, n = 64 << 10, 5 // in two groups of two, and one alone
	var buffers int
	d := exec.New(counted{cpu.New(cpu.Options{}), &buffers})
	defer d.Close()
	dims := []int{size / 4}
	arg := graph.Unary(ir.Neg, graph.Fill(ir.Float32, 0, dims))
	if err := exec.Eval(d, []*graph.Node{arg}); err != nil {
		t.Fatal(err)
	}
	x := capture.LayoutOf(arg).Placeholder()
	tr := trace{args: []*graph.Node{x}}
	for i := range n {
		tr.roots = append(tr.roots, graph.Binary(ir.Add, x, scalar(float64(i), dims)))
	}
	r := tr.record(t, d, 2, 2)
	before := exec.Info()
	out, err := r.Run(nil, []*graph.Node{arg}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		dead []int // results
		held int   // buffers
	}{
		{"all alive", nil, 5},
		{"one of the first group dead", []int{0}, 5},
		{"the one alone dead", []int{4}, 4},
		{"both of the first group dead", []int{1}, 2},
		{"one of the second dead", []int{3}, 2},
		{"all dead", []int{2}, 0},
	} {
		for _, i := range c.dead {
			out[i] = nil
		}
		var held, pooled int64
		for range 10 { // cleanups run some time after a collection
			runtime.GC()
			time.Sleep(2 * time.Millisecond)
			now := exec.Info()
			held, pooled = now.Held-before.Held, now.Pooled-before.Pooled
		}
		if want := int64(c.held * size); held != want || pooled != n*size-want {
			t.Errorf("%s: %d KiB held and %d KiB pooled, want %d and %d", c.name, held>>10, pooled>>10, want>>10, (n*size-want)>>10)
		}
	}
	allocated := buffers
	if out, err = r.Run(nil, []*graph.Node{arg}, nil); err != nil {
		t.Fatal(err)
	}
	if got := read(t, d, out[3]); got[0] != 3 {
		t.Errorf("result 3 of another run is %v…, want 3", got[0])
	}
	if buffers != allocated {
		t.Errorf("another run allocated %d buffers, want none", buffers-allocated)
	}
}

// Elements that a Recording computes in a region, in one plan or around a call, are freed with it, but
// for results.
func TestRecordingInRegion(t *testing.T) {
	d := newDevice()
	defer d.Close()
	calls, fails, gone := 0, error(nil), &storage.GoneError{Op: "a region"}
	for name, f := range map[string]func(x, y, k *graph.Node) []*graph.Node{
		"one plan": scaled,
		"a call": func(x, y, k *graph.Node) []*graph.Node {
			sums := scaled(x, y, k)
			return []*graph.Node{sums[0], graph.Unary(ir.Neg, reversed(sums[0], &calls, &fails))}
		},
	} {
		r := newTrace(f).record(t, d)
		x, y := floats(1, 2), floats(10, 20)
		region := graph.EnterRegion()
		out, err := r.Run(nil, []*graph.Node{x, y}, numbers(1))
		if err != nil {
			t.Fatal(err)
		}
		region.Leave()
		storage.EndRegion(region, out[1:], gone)
		region.Release()
		if _, err := exec.Read(d, out[0]); !errors.Is(err, gone) {
			t.Errorf("%s: got error %v, want %v", name, err, gone)
		}
		if got := read(t, d, out[1]); got[0]+got[1] != -33 {
			t.Errorf("%s: got %v of the region's result, want -11 and -22 in some order", name, got)
		}
		if got := read(t, d, x); !equal(got, []float32{1, 2}) {
			t.Errorf("%s: the argument is %v", name, got)
		}
	}
}

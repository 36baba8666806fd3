package exec_test

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/profile"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

func floats(x ...float32) *graph.Node {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return graph.Buffer(ir.Float32, []int{len(x)}, &graph.Value{Store: storage.FromHost(b), Strides: []int{1}})
}

func ints(x ...int32) *graph.Node {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return graph.Buffer(ir.Int32, []int{len(x)}, &graph.Value{Store: storage.FromHost(b), Strides: []int{1}})
}

func scalar(v float64, shape []int) *graph.Node {
	return graph.Scalar(ir.Float32, ir.Float(ir.Float32, v), shape)
}

func read(t *testing.T, d *exec.Device, n *graph.Node) []float32 {
	t.Helper()
	b, err := exec.Read(d, n)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func equal(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func newDevice() *exec.Device { return exec.New(cpu.New(cpu.Options{})) }

// Other numbers, other starts of a slice and other data of the same shape
// compile nothing.
func TestPlansAreReused(t *testing.T) {
	d := newDevice()
	defer d.Close()
	data := floats(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
	before := exec.Info().Plans
	for start := 0; start <= 12; start += 4 { // each a multiple of 16 bytes
		part := graph.Crop(data, []graph.Span{{Start: start, Step: 1, Len: 4}})
		sum := graph.Binary(ir.Add, part, scalar(float64(start), part.Shape))
		want := []float32{float32(2 * start), float32(2*start + 1), float32(2*start + 2), float32(2*start + 3)}
		if got := read(t, d, sum); !equal(got, want) {
			t.Errorf("from %d: got %v, want %v", start, got, want)
		}
	}
	if n := exec.Info().Plans - before; n != 1 {
		t.Errorf("got %d plans, want 1", n)
	}
}

// A view of stored elements runs nothing and shares them.
func TestViewsCopyNothing(t *testing.T) {
	d := newDevice()
	defer d.Close()
	x := graph.Binary(ir.Add, floats(1, 2, 3, 4, 5, 6), scalar(0, []int{6}))
	read(t, d, x)
	held := exec.Info().Held
	v := graph.Flip(graph.Crop(graph.Permute(graph.Reshape(x, []int{2, 3}), []int{1, 0}), []graph.Span{{Start: 1, Step: 1, Len: 2}, {Step: 1, Len: 2}}), []int{0})
	if got, want := read(t, d, v), []float32{3, 6, 2, 5}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if now := exec.Info().Held; now > held {
		t.Errorf("a view took %d bytes", now-held)
	}
}

// An intermediate value of one plan is stored by the next plan that needs it.
func TestComputedTwiceIsStored(t *testing.T) {
	d := newDevice()
	defer d.Close()
	y := graph.Unary(ir.Exp, floats(0, 0))
	for i := range 3 {
		read(t, d, graph.Binary(ir.Add, y, scalar(float64(i), y.Shape)))
		if stored, want := y.Value() != nil, i > 0; stored != want {
			t.Errorf("after %d uses: stored is %v, want %v", i+1, stored, want)
		}
	}
}

// The steps of a loop that reads each of them are stored, even if they are larger than the
// elements that they are computed from.
func TestLoopIsStored(t *testing.T) {
	d := newDevice()
	defer d.Close()
	const rows = 100
	y := graph.Expand(graph.Reshape(floats(1, 2, 3), []int{3, 1}), []int{3, rows})
	var steps []*graph.Node
	for range 10 {
		y = graph.Unary(ir.Sin, y)
		steps = append(steps, y)
		read(t, d, graph.Reduce(ir.ReduceMax, graph.Unary(ir.Neg, y), []int{0, 1}))
	}
	waiting := 0
	for _, n := range steps {
		if n.Value() == nil && n.Src().Len() > 0 && n.Operand(0).Value() == nil {
			waiting++
		}
	}
	if waiting > 3 {
		t.Errorf("%d of %d steps are still to be computed from steps that are not stored", waiting, len(steps))
	}
}

// If a chain is used twice, its end is stored.
func TestOnlyTheEndIsStored(t *testing.T) {
	d := newDevice()
	defer d.Close()
	links := []*graph.Node{floats(1, 2, 3)}
	for range 5 {
		links = append(links, graph.Unary(ir.Neg, links[len(links)-1]))
	}
	end := links[5]
	read(t, d, graph.Binary(ir.Add, end, end))
	read(t, d, graph.Reshape(graph.Binary(ir.Mul, graph.Reshape(end, []int{3, 1}), scalar(2, []int{3, 1})), []int{3}))
	for i, n := range links[1:] {
		if stored, want := n.Value() != nil, n == end; stored != want {
			t.Errorf("link %d of 5 is stored: %v, want %v", i+1, stored, want)
		}
	}
}

// The products within a product of matrices are never stored, though they are
// computed again.
func TestProductsAreNotStored(t *testing.T) {
	d := newDevice()
	defer d.Close()
	shape := []int{8, 8, 8}
	a := graph.Reshape(floats(make([]float32, 64)...), []int{8, 8, 1})
	b := graph.Reshape(floats(make([]float32, 64)...), []int{1, 8, 8})
	difference := graph.Binary(ir.Sub, graph.Expand(a, shape), graph.Expand(b, shape))
	square := graph.Binary(ir.Mul, difference, difference)
	sum := graph.Reduce(ir.Sum, square, []int{1})
	for i := range 3 {
		read(t, d, graph.Binary(ir.Add, sum, scalar(float64(i), sum.Shape)))
		if stored, want := sum.Value() != nil, i > 0; stored != want {
			t.Errorf("after %d uses: stored is %v, want %v", i+1, stored, want)
		}
		if difference.Value() != nil || square.Value() != nil {
			t.Errorf("after %d uses: what is summed up is stored", i+1)
		}
	}
}

func TestKeepIsStoredAtOnce(t *testing.T) {
	d := newDevice()
	defer d.Close()
	y := graph.Unary(ir.Exp, floats(0, 0))
	y.Keep()
	read(t, d, graph.Unary(ir.Neg, y))
	if y.Value() == nil {
		t.Error("a kept node was not stored")
	}
}

func TestIndexError(t *testing.T) {
	d := newDevice()
	defer d.Close()
	x := graph.Gather(floats(1, 2, 3), ints(0, 7, 1, 9), 0)
	_, err := exec.Read(d, x)
	var bad *storage.IndexError
	if !errors.As(err, &bad) || bad.Index != 7 || bad.Len != 3 {
		t.Fatalf("got %v, want index 7 of 3", err)
	}
	if _, again := exec.Read(d, graph.Unary(ir.Neg, x)); !errors.Is(again, err) {
		t.Errorf("what is computed from it gives %v, want %v", again, err)
	}
}

// A bad index fails the tensors that depend on it and no others, even in one plan. A
// movement of a failed tensor fails with the same error.
func TestFailuresAreContained(t *testing.T) {
	d := newDevice()
	defer d.Close()
	w := graph.Unary(ir.Exp, floats(0, 0, 0))
	read(t, d, graph.Binary(ir.Add, w, scalar(1, w.Shape)))
	bad := graph.Reshape(graph.Gather(w, ints(9, 0), 0), []int{2, 1})
	good := graph.Unary(ir.Neg, floats(1, 2))
	if err := exec.Eval(d, []*graph.Node{good, bad}); err == nil {
		t.Error("a bad index gave no error")
	}
	if got, want := read(t, d, good), []float32{-1, -2}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := read(t, d, w), []float32{1, 1, 1}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, n := range []*graph.Node{
		graph.Permute(bad, []int{1, 0}), graph.Reshape(bad, []int{2}), graph.Expand(bad, []int{2, 3}),
		graph.Flip(bad, []int{0}), graph.Crop(bad, []graph.Span{{Len: 1, Step: 1}, {Len: 1, Step: 1}}),
	} {
		if _, err := exec.Read(d, n); err == nil {
			t.Errorf("%v of a failed tensor gave no error", n.Op)
		}
		exec.Explain(d, []*graph.Node{n})
	}
}

// A device without memory fails the tensors it was to fill, and goes on.
func TestOutOfMemory(t *testing.T) {
	d := exec.New(cpu.New(cpu.Options{Memory: 1 << 20}))
	defer d.Close()
	large := graph.Fill(ir.Float32, 1, []int{1 << 20})
	if err := exec.Eval(d, []*graph.Node{large}); !errors.Is(err, driver.ErrMemory) {
		t.Fatalf("got %v, want out of memory", err)
	}
	// These fit only if the memory of dead tensors is reclaimed.
	for range 20 {
		x := graph.Fill(ir.Float32, 1, []int{100_000})
		if err := exec.Eval(d, []*graph.Node{x}); err != nil {
			t.Fatal(err)
		}
	}
}

// Many goroutines may compute nodes that depend on each other.
func TestConcurrent(t *testing.T) {
	d := newDevice()
	defer d.Close()
	x := graph.Unary(ir.Exp, floats(0, 0, 0))
	y := graph.Binary(ir.Add, x, scalar(1, x.Shape))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			n := []*graph.Node{x, y, graph.Unary(ir.Neg, y)}[i%3]
			want := []float32{1, 2, -2}[i%3]
			b, err := exec.Read(d, n)
			if err != nil {
				t.Error(err)
				return
			}
			if got := math.Float32frombits(binary.LittleEndian.Uint32(b)); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	wg.Wait()
}

// Elements that one device computed are copied to another that reads them.
func TestTwoDevices(t *testing.T) {
	one, two := newDevice(), newDevice()
	defer one.Close()
	defer two.Close()
	x := graph.Unary(ir.Neg, graph.ToDevice(floats(1, 2), one))
	read(t, one, x)
	y := graph.Binary(ir.Add, graph.ToDevice(x, two), graph.ToDevice(floats(10, 20), two))
	if got, want := read(t, one, y), []float32{9, 18}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if y.Value().Store.Device() != graph.Device(two) {
		t.Errorf("computed on %v, want the second device", y.Value().Store.Device())
	}
}

// A node committed to a device is computed there, whichever device reads it.
func TestComputedWhereCommitted(t *testing.T) {
	floatless := cpu.New(cpu.Options{})
	one, two := newDevice(), exec.New(lacking{floatless, ir.Float64})
	defer one.Close()
	defer two.Close()
	x := graph.Cast(graph.ToDevice(floats(1, 2), one), ir.Float64)
	x = graph.Cast(graph.Unary(ir.Neg, x), ir.Float32)
	y := graph.Binary(ir.Add, graph.ToDevice(x, two), graph.ToDevice(floats(10, 20), two))
	if got, want := read(t, two, y), []float32{9, 18}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if d := x.Value().Store.Device(); d != graph.Device(one) {
		t.Errorf("computed on %v, want %v", d, one)
	}
	lost := graph.Cast(graph.ToDevice(x, two), ir.Float64)
	if _, err := exec.Read(two, lost); !errors.Is(err, driver.ErrType) {
		t.Errorf("float64 on a device that lacks it: got error %v, want %v", err, driver.ErrType)
	}
}

// Nodes of the same CoOutputs may belong to different devices.
func TestCoOutputsOnTwoDevices(t *testing.T) {
	one, two := newDevice(), newDevice()
	defer one.Close()
	defer two.Close()
	x := graph.Unary(ir.Neg, graph.ToDevice(floats(1, 2, 3), one))
	y := graph.Unary(ir.Neg, graph.ToDevice(x, two))
	b := &graph.CoOutputs{Nodes: []*graph.Node{x, y}}
	x.SetCoOutputs(b)
	y.SetCoOutputs(b)
	if got := read(t, one, x); !equal(got, []float32{-1, -2, -3}) {
		t.Errorf("got %v, want the negatives", got)
	}
	if got := read(t, one, y); !equal(got, []float32{1, 2, 3}) {
		t.Errorf("got %v, want the originals", got)
	}
}

// A copy on another device outlives the device of the original.
func TestCopiesOutliveDevices(t *testing.T) {
	one, two := newDevice(), newDevice()
	defer two.Close()
	x := graph.Unary(ir.Neg, graph.ToDevice(floats(1, 2, 3), one))
	read(t, one, x)
	y := graph.ToDevice(x, two)
	if err := exec.Eval(two, []*graph.Node{y}); err != nil {
		t.Fatal(err)
	}
	if d := y.Value().Store.Device(); d != two {
		t.Errorf("the copy is on device %p, want %p", d, two)
	}
	one.Close()
	if got := read(t, two, y); !equal(got, []float32{-1, -2, -3}) {
		t.Errorf("got %v, want the negatives", got)
	}
}

// Host data of a type that a device lacks is cast before it goes there.
func TestCastOnHost(t *testing.T) {
	d := exec.New(lacking{cpu.New(cpu.Options{}), ir.Float64})
	defer d.Close()
	data := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1.5))
	data = binary.LittleEndian.AppendUint64(data, math.Float64bits(1e300))
	x := graph.Buffer(ir.Float64, []int{2}, &graph.Value{Store: storage.FromHost(data), Strides: []int{1}})
	if got, want := read(t, d, graph.Unary(ir.Neg, graph.Cast(x, ir.Float32))), []float32{-1.5, float32(math.Inf(-1))}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	b, err := exec.Read(d, graph.Cast(x, ir.Int32))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := binary.LittleEndian.Uint32(b[4:]), uint32(math.MaxInt32); got != want {
		t.Errorf("1e300 as int32 = %d, want %d", got, want)
	}
}

// lacking is a device without an element type.
type lacking struct {
	driver.Device
	d ir.DType
}

func (l lacking) Limits() driver.Limits {
	limits := l.Device.Limits()
	limits.Types = slices.DeleteFunc(slices.Clone(limits.Types), func(d ir.DType) bool { return d == l.d })
	return limits
}

// A long chain is compiled without recursion, in pieces.
func TestLongChain(t *testing.T) {
	d := newDevice()
	defer d.Close()
	n := floats(0)
	length := 20_000
	if testing.Short() {
		length = 5000
	}
	for range length {
		n = graph.Binary(ir.Add, n, graph.Fill(ir.Float32, 1, n.Shape))
	}
	if got := read(t, d, n)[0]; got != float32(length) {
		t.Errorf("got %v, want %d", got, length)
	}
}

// ahead is a device that calls itself asynchronous.
type ahead struct{ driver.Device }

func (a ahead) Limits() driver.Limits {
	l := a.Device.Limits()
	l.Async, l.Concurrent = true, false
	return l
}

// The bad indices of an asynchronous device are read only when a value is read. Then the
// tensors computed from them fail, and no others.
func TestIndexErrorLater(t *testing.T) {
	d := exec.New(ahead{cpu.New(cpu.Options{})})
	defer d.Close()
	eval := func(n *graph.Node) *graph.Node {
		if err := exec.Eval(d, []*graph.Node{n}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	bad := eval(graph.Gather(floats(1, 2, 3), ints(0, 7), 0))
	from := eval(graph.Unary(ir.Neg, bad))
	good := eval(graph.Gather(floats(1, 2, 3), ints(0, 2), 0))
	if got, want := read(t, d, good), []float32{1, 3}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, n := range []*graph.Node{bad, from, graph.Unary(ir.Exp, from)} {
		var index *storage.IndexError
		if _, err := exec.Read(d, n); !errors.As(err, &index) || index.Index != 7 {
			t.Errorf("got %v, want index 7", err)
		}
	}
	for range 10_000 { // more than the device notes at once
		good = eval(graph.Gather(graph.Unary(ir.Neg, good), ints(0, 1), 0))
	}
	if got, want := read(t, d, good), []float32{1, 3}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// One plan may check more indices than a device at first has room to note.
func TestManyChecks(t *testing.T) {
	for name, drv := range map[string]driver.Device{
		"looks at once": cpu.New(cpu.Options{}),
		"looks later":   ahead{cpu.New(cpu.Options{})},
	} {
		if testing.Short() && name == "looks at once" {
			continue
		}
		d := exec.New(drv)
		for _, c := range []struct{ steps, bad int }{{10, -1}, {5000, -1}, {6000, 4500}, {10, -1}, {10, 9}} {
			count := floats(0)
			for i := range c.steps {
				at := ints(0)
				if i == c.bad {
					at = ints(-3)
				}
				count = graph.Scatter(ir.Add, count, at, floats(1), 0)
			}
			got, err := exec.Read(d, count)
			var index *storage.IndexError
			switch {
			case c.bad >= 0:
				if !errors.As(err, &index) || index.Index != -3 {
					t.Errorf("%s, %d steps of which %d is bad: got %v, want index -3", name, c.steps, c.bad, err)
				}
			case err != nil:
				t.Errorf("%s, %d steps: %v", name, c.steps, err)
			case math.Float32frombits(binary.LittleEndian.Uint32(got)) != float32(c.steps):
				t.Errorf("%s, %d steps: got % x", name, c.steps, got)
			}
		}
		d.Close()
	}
}

// A run whose reports are unread does not keep the memory that it read.
func TestPendingKeepsNothing(t *testing.T) {
	d := exec.New(ahead{cpu.New(cpu.Options{})})
	defer d.Close()
	const size = 1 << 18
	x := graph.Unary(ir.Neg, graph.Fill(ir.Float32, 1, []int{size}))
	for range 200 {
		x = graph.Scatter(ir.Add, graph.Unary(ir.Neg, x), ints(0), floats(1), 0)
		if err := exec.Eval(d, []*graph.Node{x}); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	if held := exec.Info().Held; held > 100*4*size {
		t.Errorf("200 steps nobody looked at hold %d MiB, want at most those since a collection", held>>20)
	}
	runtime.KeepAlive(x)
}

// The kernels of a plan are packed.
func TestPlansArePacked(t *testing.T) {
	dev := exec.New(&hollow{memory: 141 << 30})
	defer dev.Close()
	x := stored(t, dev, 64)
	p := profile.Start()
	evalAll(t, dev, graph.Binary(ir.Add, x, graph.Unary(ir.Exp, x)))
	steps := p.Stop()
	if len(steps) != 1 {
		t.Fatalf("%d kernels, want 1", len(steps))
	}
	body := steps[0].Step.Kernel.Body
	load, store := body[0].View, body[len(body)-1].View
	if uintptr(unsafe.Pointer(store)) != uintptr(unsafe.Pointer(load))+unsafe.Sizeof(*load) {
		t.Errorf("the views of a kernel are apart:\n%v", steps[0].Step.Kernel)
	}
}

//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// shifted is a kernel that adds a number to n numbers.
func shifted(n int) *ir.Kernel {
	one := &ir.View{Coef: []int{1}}
	k := &ir.Kernel{
		Template: ir.Pointwise,
		Axes:     []ir.Axis{{Len: n, Role: ir.Parallel}},
		Args:     []ir.Arg{{Kind: ir.Out, DType: ir.Int32, Len: n}, {Kind: ir.In, DType: ir.Int32}, {Kind: ir.Value, DType: ir.Int32}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Int32, Arg: 1, View: one},
			{Op: ir.Scalar, Type: ir.Int32, Arg: 2},
			{Op: ir.Add, Type: ir.Int32, Src: []int{0, 1}},
			{Op: ir.Store, Type: ir.Int32, Src: []int{2}, View: one},
		},
	}
	return completed(k)
}

// summed is a kernel that adds up n numbers.
func summed(n int) *ir.Kernel {
	return completed(&ir.Kernel{
		Template: ir.Reduce,
		Axes:     []ir.Axis{{Len: n, Role: ir.Reduced}},
		Args:     []ir.Arg{{Kind: ir.Out, DType: ir.Int32, Len: 1}, {Kind: ir.In, DType: ir.Int32}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Int32, Arg: 1, View: &ir.View{Coef: []int{1}}},
			{Op: ir.Sum, Type: ir.Int32, Src: []int{0}, Axes: ir.Axes(0)},
			{Op: ir.Store, Type: ir.Int32, Src: []int{1}, View: &ir.View{Coef: []int{0}}},
		},
	})
}

// completed sets the axes over which the instructions of a kernel vary.
func completed(k *ir.Kernel) *ir.Kernel {
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	return k
}

// A rig has a device and shorter names of its methods.
type rig struct {
	testing.TB
	driver.Device
}

func (r rig) alloc(n int) driver.Buffer {
	r.Helper()
	b, err := r.Alloc(n)
	if err != nil {
		r.Fatal(err)
	}
	return b
}

func (r rig) compile(k *ir.Kernel) driver.Program {
	r.Helper()
	p, err := r.Compile(k)
	if err != nil {
		r.Fatal(err)
	}
	return p
}

// chain is n calls that add numbers, from the first one to the last, to a's elements, in
// turns from a to b and from b to a.
func chain(p driver.Program, a, b driver.Buffer, numbers ...int) (calls []driver.Call) {
	for _, x := range numbers {
		calls = append(calls, driver.Call{Program: p, Args: []driver.Arg{{Buffer: b}, {Buffer: a}, {Num: ir.Int(ir.Int32, int64(x))}}})
		a, b = b, a
	}
	return calls
}

// check runs a chain of an even number of calls and looks at its result.
func (r rig) check(p driver.Program, a, b driver.Buffer, n int, numbers ...int) {
	r.Helper()
	data := make([]byte, 4*n)
	want := int32(0)
	for i := range n {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(i))
	}
	for _, x := range numbers {
		want += int32(x)
	}
	err := r.Upload(a, 0, data)
	clear(data)
	if err == nil {
		err = r.Run(chain(p, a, b, numbers...))
	}
	if err == nil {
		err = r.Download(data, a, 0)
	}
	if err != nil {
		r.Fatal(err)
	}
	for i := range n {
		if got := int32(binary.LittleEndian.Uint32(data[4*i:])); got != want+int32(i) {
			r.Fatalf("a chain of %v gives %d at %d, want %d", numbers, got, i, want+int32(i))
		}
	}
}

// testGraphs runs lists of calls again, with equal and with other arguments.
func testGraphs(t *testing.T, d driver.Device) {
	const n = 100
	r := rig{t, d}
	p := r.compile(shifted(n))
	a, b := r.alloc(4*n), r.alloc(4*n)
	for i := range 4 {
		r.check(p, a, b, n, 1, 2, 3, 4, 5, 6)
		r.check(p, a, b, n, 1, 2, 3, 4, 5, 6+i)
	}
	r.check(p, a, b, n, 1, 2, 3, 4, 5, 6)
	b.Free()
	if err := d.Run(chain(p, a, b, 1, 2, 3, 4, 5, 6)); err == nil || !strings.Contains(err.Error(), "is not a buffer of this device") {
		t.Errorf("a freed buffer: error %v", err)
	}
	b = r.alloc(8 * n) // maybe at the same address
	r.check(p, a, b, n, 1, 2, 3, 4, 5, 6)
	r.check(p, b, a, n, 1, 2, 3, 4, 5, 6)
	for range 3 { // more than one graph
		r.check(p, a, b, n, slices.Repeat([]int{1, -2, 3}, graphNodes)...)
	}
	calls := chain(p, a, b, 1, 2, 3, 4, 5, 6)
	calls[4].Args = calls[4].Args[:2]
	if err := d.Run(calls); err == nil || !strings.Contains(err.Error(), "2 arguments for a kernel of 3") {
		t.Errorf("an argument that lacks: error %v", err)
	}
	r.check(p, a, b, n, 1, 2, 3, 4, 5, 7)
	q := r.compile(shifted(n - 1)) // the same first and last program
	calls = chain(p, a, b, 1, 2, 3, 4, 5, 6)
	calls[2].Program = q
	for range 3 {
		if err := d.Run(calls); err != nil {
			t.Fatal(err)
		}
	}
	r.check(p, a, b, n, 1, 2, 3, 4, 5, 6)
	r.check(p, a, b, n, 1, 2, 3, 4, 5, 6)
}

func TestGraphs(t *testing.T) {
	f := eachDriver(t, testGraphs)
	if n := f.count("GraphLaunch"); n < 10 {
		t.Errorf("%d graphs were launched", n)
	}
}

// eachDriver runs a test on a fake, which it returns, and on a GPU if there is one.
func eachDriver(t *testing.T, test func(t *testing.T, d driver.Device)) *fake {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake(t, 1<<30)
	t.Run("fake", func(t *testing.T) {
		d, err := f.open(Options{Graphs: true})
		if err != nil {
			t.Fatal(err)
		}
		test(t, d)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		f.drained(t)
	})
	t.Run("GPU", func(t *testing.T) {
		need(t)
		d, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		test(t, d)
	})
	return f
}

// A graph whose kernels use scratch gets its address when there is a larger one.
func TestGraphScratch(t *testing.T) {
	const small, large = 1 << 16, 1 << 18
	eachDriver(t, func(t *testing.T, d driver.Device) {
		r := rig{t, d}
		p, q := r.compile(summed(small)), r.compile(summed(large))
		if len(p.(*program).scratch) == 0 || q.(*program).scratch[0] <= p.(*program).scratch[0] {
			t.Skip("the kernels do not have more and more scratch on this GPU")
		}
		x, y := r.alloc(4*large), r.alloc(4)
		if err := d.Upload(x, 0, bytes.Repeat([]byte{1, 0, 0, 0}, large)); err != nil {
			t.Fatal(err)
		}
		run := func(p driver.Program, want uint32) {
			t.Helper()
			err := d.Upload(y, 0, make([]byte, 4))
			if err == nil {
				err = d.Run(slices.Repeat([]driver.Call{{Program: p, Args: []driver.Arg{{Buffer: y}, {Buffer: x}}}}, fewestNodes))
			}
			got := make([]byte, 4)
			if err == nil {
				err = d.Download(got, y, 0)
			}
			if err != nil || binary.LittleEndian.Uint32(got) != want {
				t.Fatalf("a sum is %v, %v, want %d", got, err, want)
			}
		}
		for range 3 {
			run(p, small)
		}
		run(q, large)
		for range 3 {
			run(p, small)
			run(q, large)
		}
	})
}

// openFake returns a fake and a device of it with graphs, which the test's end closes.
func openFake(t *testing.T) (*fake, *simulated) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake(t, 1<<20)
	d, err := f.open(Options{Graphs: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return f, d
}

// ran runs a chain and returns how often each function of the driver was called.
func (f *fake) ran(t *testing.T, d driver.Device, calls []driver.Call) map[string]int {
	t.Helper()
	f.mu.Lock()
	f.calls = nil
	f.mu.Unlock()
	if err := d.Run(calls); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := map[string]int{}
	for _, c := range f.calls {
		n[c]++
	}
	return n
}

// A list that runs again is one call of the driver, and one for each node that changes.
func TestGraphCalls(t *testing.T) {
	f, d := openFake(t)
	r := rig{t, d}
	p, a, b := r.compile(shifted(8)), r.alloc(32), r.alloc(32)
	numbers := []int{1, 2, 3, 4, 5, 6}
	for i, c := range []struct {
		calls                           []driver.Call
		launches, adds, updates, graphs int
	}{
		{chain(p, a, b, numbers...), 6, 0, 0, 0},
		{chain(p, a, b, numbers...), 0, 6, 0, 1},
		{chain(p, a, b, numbers...), 0, 0, 0, 1},
		{chain(p, a, b, 1, 2, 0, 4, 0, 6), 0, 0, 2, 1},
		{chain(p, a, b, 1, 2, 0, 4, 5, 6), 0, 0, 1, 1},
		{chain(p, b, a, 1, 2, 0, 4, 5, 6), 0, 0, 6, 1},
		{chain(p, a, b, 1, 2, 3), 0, 0, 0, 0}, // held
		{chain(p, a, b, 1, 2, 3), 0, 0, 0, 0},
		{chain(p, b, a, 1, 2, 0, 4, 5, 6), 6, 0, 0, 1},
	} {
		n := f.ran(t, d, c.calls)
		if n["LaunchKernel"] != c.launches || n["GraphAddKernelNode_v2"] != c.adds || n["GraphExecKernelNodeSetParams_v2"] != c.updates || n["GraphLaunch"] != c.graphs {
			t.Errorf("run %d calls %v", i, n)
		}
	}
	longer := chain(p, a, b, append(numbers, 7)...)
	f.ran(t, d, longer)
	wrong := chain(p, a, b, append(numbers, 7)...)
	wrong[3].Args[0].Offset = 1
	if err := d.Run(wrong); err == nil {
		t.Error("a wrong argument is no error")
	}
	if n := f.ran(t, d, longer); n["GraphAddKernelNode_v2"] != 7 {
		t.Errorf("a list that once had a wrong argument gets no graph: %v", n)
	}
	leave, err := d.Enter()
	if err != nil {
		t.Fatal(err)
	}
	d.modules.Trim(0, d.unload) // an unloaded module is loaded again
	leave()
	if len(f.graphs) != 0 {
		t.Errorf("%d graphs are left after the modules were unloaded", len(f.graphs))
	}
	for range 2 {
		r.check(p, a, b, 8, numbers...)
	}
	if len(f.graphs) != 1 {
		t.Errorf("there are %d graphs after a module was loaded again, want 1", len(f.graphs))
	}
}

// Where the driver makes no graph, kernels are launched.
func TestNoGraphs(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		name  string
		fails string
	}{
		{"without the functions", ""}, {"without memory for a graph", "GraphCreate"}, {"without memory for a node", "GraphAddKernelNode_v2"},
		{"without memory for the executable", "GraphInstantiateWithFlags"},
	} {
		f := newFake(t, 1<<20)
		if c.fails == "" {
			f.lib.graphFunctions = graphFunctions{}
		} else {
			f.fails[c.fails] = outOfMemory
		}
		d, err := f.open(Options{Graphs: true})
		if err != nil {
			t.Fatal(err)
		}
		r := rig{t, d}
		p, a, b := r.compile(shifted(9)), r.alloc(36), r.alloc(36)
		for range 3 {
			r.check(p, a, b, 9, 1, 2, 3, 4)
		}
		if n := f.count("LaunchKernel"); n != 12 {
			t.Errorf("%s: %d kernels are launched, want 12", c.name, n)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		f.drained(t)
	}
}

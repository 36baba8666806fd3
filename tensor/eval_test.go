package tensor_test

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

func TestItem(t *testing.T) {
	for _, c := range []struct {
		x    tensor.Tensor
		want float64
	}{
		{tensor.Scalar(0.5), 0.5},
		{tensor.Ones(1, 1), 1},
		{bools(true), 1},
		{tensor.New([]uint8{255}), 255},
		{ints(-3), -3},
		{tensor.New([]uint32{maxU}), maxU},
		{tensor.New([]int64{1 << 40}), 1 << 40},
		{tensor.New([]float64{0.1}), 0.1},
		{tensor.New([]tensor.F16{tensor.ToF16(0.5)}), 0.5},
		{tensor.New([]tensor.BF16{tensor.ToBF16(-2)}), -2},
	} {
		if got := c.x.Item(); got != c.want {
			t.Errorf("Item of %+v = %v, want %v", c.x, got, c.want)
		}
	}
}

func TestData(t *testing.T) {
	x := iota(2, 2).T()
	first, err := tensor.Data[float32](x)
	if want := []float32{0, 2, 1, 3}; err != nil || !slices.Equal(first, want) {
		t.Errorf("Data = %v, %v, want %v", first, err, want)
	}
	first[0] = 9 // a copy
	if again, _ := tensor.Data[float32](x); again[0] != 0 {
		t.Errorf("after a change of what Data gave, it gives %v", again)
	}
	if empty, err := tensor.Data[float32](tensor.Zeros(0, 3)); err != nil || empty == nil || len(empty) != 0 {
		t.Errorf("Data of nothing = %#v, %v", empty, err)
	}
}

func TestEval(t *testing.T) {
	type pair struct{ A, B tensor.Tensor }
	x := pair{A: tensor.Ones(2).Add(1)}
	list := []tensor.Tensor{tensor.Ones(1).Mul(3), {}}
	if err := tensor.Eval(x, &x, list, map[string]any{"y": x.A.Exp()}, tensor.Tensor{}, x.A.Sum()); err != nil {
		t.Errorf("Eval: %v", err)
	}
	for _, nothing := range [][]any{nil, {pair{}}, {(*pair)(nil), []pair{}, map[string]any{}}, {struct{ P float64 }{}}, {nil}} {
		if err := tensor.Eval(nothing...); err != nil {
			t.Errorf("Eval of %#v: %v", nothing, err)
		}
	}
	if got := x.A.Sum().Item(); got != 4 {
		t.Errorf("a sum after Eval is %v, want 4", got)
	}
	if got := tensor.Ones(3).Add(1).Keep().Sum().Item(); got != 6 {
		t.Errorf("a sum of what is kept is %v, want 6", got)
	}
}

// A gpuTypes device lacks the element types that WebGPU lacks.
type gpuTypes struct{ driver.Device }

func (d gpuTypes) Limits() driver.Limits {
	limits := d.Device.Limits()
	limits.Types = slices.DeleteFunc(slices.Clone(limits.Types), func(d ir.DType) bool { return d == ir.Float64 })
	return limits
}

func TestAllClose(t *testing.T) {
	gpu := tensor.NewDevice(gpuTypes{cpu.New(cpu.Options{})})
	defer gpu.Close()
	for _, c := range []struct {
		a, b       tensor.Tensor
		rtol, atol float64
		want       bool
	}{
		{floats(1, 2), floats(1, 2), 0, 0, true},
		{floats(1, 2), floats(1, 2.1), 0, 0.05, false},
		{floats(1, 2), floats(1, 2.1), 0, 0.2, true},
		{floats(1, 2), floats(1, 2.1), 0.1, 0, true},
		{floats(1, 1), tensor.Scalar(1), 0, 0, true},
		{floats(inf, -inf), floats(inf, -inf), 0, 0, true},
		{floats(inf), floats(-inf), 1, 1, false},
		{floats(1), floats(inf), 1, 1, false},
		{floats(nan), floats(nan), 1, 1, false},
		{ints(5, math.MaxInt32), ints(6, math.MaxInt32), 0, 1, true},
		{ints(5), ints(7), 0, 1, false},
		{tensor.New([]int64{1 << 62}), tensor.New([]int64{1<<62 + 1}), 0, 0, false},
		{tensor.New([]int64{1 << 62}), tensor.New([]int64{1<<62 + 1}), 1e-9, 0, true},
		{tensor.New([]int64{math.MaxInt64}), tensor.New([]int64{math.MinInt64}), 1, 0, false},
		{bools(true), bools(true), 0, 0, true},
		{bools(true), bools(false), 9, 9, false},
		{tensor.Zeros(0), tensor.Zeros(0), 0, 0, true},
	} {
		if got, err := tensor.AllClose(c.a, c.b, c.rtol, c.atol); got != c.want || err != nil {
			t.Errorf("AllClose(%v, %v, %v, %v) = %v, %v, want %v", c.a, c.b, c.rtol, c.atol, got, err, c.want)
		}
		if c.a.DType() == tensor.Int64 {
			continue
		}
		if got, err := tensor.AllClose(c.a.To(gpu), c.b, c.rtol, c.atol); got != c.want || err != nil {
			t.Errorf("on a device without float64: AllClose(%v, %v, %v, %v) = %v, %v, want %v", c.a, c.b, c.rtol, c.atol, got, err, c.want)
		}
	}
}

// Many goroutines use tensors of one graph concurrently.
func TestConcurrency(t *testing.T) {
	shared := iota(8, 8).Add(1)
	sum := shared.MatMul(shared.T()).Sum()
	want := iota(8, 8).Add(1).MatMul(iota(8, 8).Add(1).T()).Sum().Item()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				if got := sum.Item(); got != want {
					t.Errorf("a shared sum is %v, want %v", got, want)
				}
				if got, want := shared.Mul(i).Sum().Item(), 2080*float64(i); got != want {
					t.Errorf("Mul(%d).Sum() = %v, want %v", i, got, want)
				}
			}
		})
	}
	group.Wait()
}

// chain applies ten small operations to x.
func chain(x tensor.Tensor) tensor.Tensor {
	return x.Add(1).Mul(x).Sub(x).Mul(0.5).Exp().Add(x).Neg().Mul(x).ReLU().Sum()
}

func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	x := iota(8)
	for range 1000 { // until pools have grown
		chain(x).Item()
	}
	if n := testing.AllocsPerRun(100, func() { chain(x) }); n > 24 {
		t.Errorf("building ten operations takes %v allocations, want at most 24", n)
	}
	if n := testing.AllocsPerRun(100, func() { chain(x).Item() }); n > 30 {
		t.Errorf("building and evaluating ten operations takes %v allocations, want at most 30", n)
	}
	shape := testing.AllocsPerRun(100, func() { _, _, _ = x.Len(), x.Dim(0), x.Rank() })
	if shape != 0 {
		t.Errorf("Len, Dim and Rank take %v allocations", shape)
	}
}

// A graph whose steps each use the one before twice, so that the number of paths
// doubles, compiles in time proportional to its nodes.
func TestUsedTwice(t *testing.T) {
	steps := 100
	if testing.Short() {
		steps = 40
	}
	for name, step := range map[string]func(tensor.Tensor) tensor.Tensor{
		"Tanh":      func(x tensor.Tensor) tensor.Tensor { return x.Tanh().Mul(x) },
		"Sum":       func(x tensor.Tensor) tensor.Tensor { return x.Sum().Tanh().Add(x) },
		"Max":       func(x tensor.Tensor) tensor.Tensor { return x.Max(-1).Tanh().Add(x) },
		"Prod":      func(x tensor.Tensor) tensor.Tensor { return x.Prod(-1).Tanh().Add(x) },
		"Var":       func(x tensor.Tensor) tensor.Tensor { return x.Div(x.Var(-1).Add(1)) },
		"LogSumExp": func(x tensor.Tensor) tensor.Tensor { return x.LogSumExp(-1).Tanh().Add(x) },
		"Softmax":   func(x tensor.Tensor) tensor.Tensor { return x.Softmax(-1).Add(x) },
		"Roll":      func(x tensor.Tensor) tensor.Tensor { return x.Roll(0, 1).Mul(x).Add(x.Roll(0, 2)).Tanh() },
		"Pad":       func(x tensor.Tensor) tensor.Tensor { return x.Add(x.Pad(0, 1, 0).Slice(0, 0, 3)).Tanh() },
		"Take": func(x tensor.Tensor) tensor.Tensor {
			return x.Take(0, x.ArgMax(0).Unsqueeze(0)).Mul(0.5).Add(x.Mul(0.5))
		},
	} {
		x, at := floats(-1, 0, 2), floats(-1, 0, 2)
		for range steps {
			x, at = step(x), step(at)
			if err := tensor.Eval(at); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := values(t, x), values(t, at); !slices.EqualFunc(got, want, near) {
			t.Errorf("%d steps of %s: got %v at once, %v step by step", steps, name, got, want)
		}
	}
}

func BenchmarkTinyChain(b *testing.B) {
	x := iota(8)
	b.ReportAllocs()
	for b.Loop() {
		chain(x).Item()
	}
}

func BenchmarkBuildChain(b *testing.B) {
	x := iota(8)
	b.ReportAllocs()
	for b.Loop() {
		chain(x)
	}
}

// renamed is a device of another name.
type renamed struct{ driver.Device }

func (renamed) Name() string { return "gpu" }

func TestDevices(t *testing.T) {
	one, two := tensor.NewDevice(cpu.New(cpu.Options{})), tensor.NewDevice(cpu.New(cpu.Options{Threads: 1}))
	defer one.Close()
	defer two.Close()
	gpu := tensor.NewDevice(renamed{cpu.New(cpu.Options{})})
	defer gpu.Close()
	a, b, c := floats(1, 2).To(one), floats(10, 20).To(two), floats(5, 6).To(gpu)
	const twice, different = "both are on cpu, which was opened twice: share one Device, or move one with To", "one is on cpu, the other on gpu: move one with To"
	for _, mix := range []struct {
		f    func()
		want string
	}{
		{func() { a.Add(b) }, twice},
		{func() { tensor.Where(a.Gt(1), 0, b) }, twice},
		{func() { tensor.Cat(0, a, b) }, twice},
		{func() { a.MatMul(b) }, twice},
		{func() { a.Take(0, b.Cast(tensor.Int32)) }, twice},
		{func() { a.Add(c) }, different},
	} {
		err := tensor.Try(mix.f)
		if err == nil || !strings.HasSuffix(err.Error(), mix.want) {
			t.Errorf("two devices in one operation: %v, want an error that ends in %q", err, mix.want)
		}
	}
	run(t, []check{
		same("moved", a.Add(b.To(one)), 11, 22),
		same("there and back", a.Mul(3).To(two).To(one), 3, 6),
		same("with uncommitted", b.Add(floats(1, 2)).Mul(tensor.Ones(2)), 11, 22),
	})
	if got := b.To(one).Add(1).Device(); got != one {
		t.Errorf("what is computed from a tensor moved to a device is on %v", got)
	}
	tensor.SetDefault(two)
	defer tensor.SetDefault(nil)
	if tensor.Default() != two || tensor.Ones(2).Add(1).Device() != nil {
		t.Error("SetDefault commits, or does not set the default")
	}
	run(t, []check{same("on another default", tensor.Ones(2).Add(1), 2, 2)})
	if err := one.Sync(); err != nil {
		t.Errorf("Sync: %v", err)
	}
	if got := one.String(); got != "cpu" {
		t.Errorf("String() = %q", got)
	}
}

// Close of the CPU device, which is shared, only frees memory.
func TestCloseCPU(t *testing.T) {
	const most = 1 << 18
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would fill the pool
	kept := iota(3).Add(1).Keep()
	if err := tensor.Eval(kept); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		x := tensor.New(make([]float32, 512*512), 512, 512)
		x.MatMul(x).MatMul(x).Sum().Item() // leaves products in the pool
		if s := tensor.Info(); s.Pooled < most {
			t.Errorf("before Close of the CPU %d bytes wait for their next use, want at least %d", s.Pooled, most)
		}
		if err := tensor.CPU().Close(); err != nil {
			t.Errorf("Close of the CPU: %v", err)
		}
		if s := tensor.Info(); s.Pooled >= most {
			t.Errorf("after Close of the CPU %d bytes wait for their next use, want fewer than %d", s.Pooled, most)
		}
		if got := kept.Add(tensor.Ones(3)).Sum().Item(); got != 9 {
			t.Errorf("after Close of the CPU a sum is %v, want 9", got)
		}
	}

	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := tensor.Data[float32](kept.Sub(1).To(d).Add(1)); err == nil {
		t.Error("a closed device computes")
	}
}

func TestOutOfMemory(t *testing.T) {
	huge := tensor.Zeros(1<<20, 1<<20)
	_, err := tensor.Data[float32](huge.Add(floats(1)))
	for _, err := range []error{err, tensor.Eval(huge), tensor.Eval(huge.Add(1).Exp())} {
		var e *tensor.DeviceError
		if !errors.As(err, &e) || !errors.Is(err, driver.ErrMemory) {
			t.Errorf("4 TiB of numbers: %v, want a *DeviceError that is driver.ErrMemory", err)
		}
	}
	if got := tensor.Zeros(1<<20, 1<<20).Slice(0, 0, 1).Sum().Item(); got != 0 {
		t.Errorf("a sum over a part of them is %v", got)
	}
}

func TestInfo(t *testing.T) {
	x := tensor.Ones(1 << 12).Add(1)
	if err := tensor.Eval(x); err != nil {
		t.Fatal(err)
	}
	if s := tensor.Info(); s.Plans < 1 || s.Programs < 1 || s.Held < 16<<10 || s.Peak < s.Held {
		t.Errorf("Info() = %+v with 16 KiB held", s)
	}
	runtime.KeepAlive(x)
	if text := tensor.Explain(iota(2, 3).Softmax(1)); !strings.Contains(text, "1 kernel") {
		t.Errorf("Explain of a softmax: %s", text)
	}
}

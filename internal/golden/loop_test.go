package golden

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A looper is a CPU with limits of its own. It counts the loops by their blocks.
type looper struct {
	driver.Device
	limits                  ir.LoopLimits
	parts, matrices, groups int // of blocks that are parts of matrices, matrices and several matrices
}

func (l *looper) LoopLimits() ir.LoopLimits { return l.limits }

func (l *looper) CompileLoop(x *ir.Loop) (driver.Program, error) {
	inner := x.Rows // rows of a matrix
	for _, s := range x.Body {
		if k := s.Kernel; k.Template == ir.Contraction {
			inner = min(inner, k.Axes[slices.IndexFunc(k.Axes, func(a ir.Axis) bool { return a.Role == ir.M })].Len)
		}
	}
	switch {
	case x.Block < x.Matrix:
		l.parts++
	case x.Block > inner:
		l.groups++
	default:
		l.matrices++
	}
	return l.Device.(driver.Looper).CompileLoop(x)
}

// newLooper returns a device that makes loops of rows of any length, in blocks of a few.
func newLooper(threads int) *tensor.Device {
	return tensor.NewDevice(&looper{Device: cpu.New(cpu.Options{Threads: threads}), limits: ir.LoopLimits{Bytes: 1 << 10, Rows: 4, Columns: 2, Conflict: 20}})
}

// An attention is softmax(q·kᵀ·s + mask)·v, for factors of those shapes.
type attention struct {
	name    string
	q, k, v []int
	mask    []int // of an additive mask, nil for none
	causal  bool
	dtype   ir.DType
	drop    bool // dropout of the probabilities, under Checkpoint, twice one after the other
	loops   int  // in the plan of the value and the gradient together
	shape   func(q, k, v tensor.Tensor) (tensor.Tensor, tensor.Tensor, tensor.Tensor)
}

func (a attention) apply(q, k, v, mask tensor.Tensor) tensor.Tensor {
	if a.drop {
		type args struct{ Q, K, V tensor.Tensor }
		once := grad.Checkpoint(func(x args) tensor.Tensor { return a.attend(x.Q, x.K, x.V, mask) })
		return once(args{once(args{q, k, v}), k, v})
	}
	return a.attend(q, k, v, mask)
}

func (a attention) attend(q, k, v, mask tensor.Tensor) tensor.Tensor {
	if a.shape != nil {
		q, k, v = a.shape(q, k, v)
	}
	s := q.MatMul(k.T()).Mul(1 / math.Sqrt(float64(q.Dim(-1))))
	if a.mask != nil {
		s = s.Add(mask)
	}
	if a.causal {
		past := tensor.Ones(s.Dim(-2), s.Dim(-1)).Tril(s.Dim(-1) - s.Dim(-2)).Eq(1)
		s = tensor.Where(past, s, math.Inf(-1))
	}
	p := s.Softmax(-1)
	if a.drop {
		p = nn.Dropout{P: 0.1}.Drop(p, tensor.NewRNG(5))
	}
	return p.MatMul(v)
}

var attentions = []attention{
	{name: "one matrix", q: []int{40, 8}, k: []int{40, 8}, v: []int{40, 8}, loops: 1},
	{name: "heads", q: []int{2, 3, 37, 5}, k: []int{2, 3, 37, 5}, v: []int{2, 3, 37, 5}, loops: 1},
	{name: "causal", q: []int{2, 33, 4}, k: []int{2, 33, 4}, v: []int{2, 33, 6}, causal: true, loops: 1},
	{name: "lengths differ", q: []int{2, 24, 4}, k: []int{2, 51, 4}, v: []int{2, 51, 7}, causal: true, loops: 1},
	{name: "a mask for all heads", q: []int{2, 3, 20, 5}, k: []int{2, 3, 29, 5}, v: []int{2, 3, 29, 5}, mask: []int{2, 1, 20, 29}, loops: 1},
	{name: "a mask for all", q: []int{2, 3, 20, 5}, k: []int{2, 3, 29, 5}, v: []int{2, 3, 29, 5}, mask: []int{20, 29}, causal: true, loops: 1},
	{name: "a mask of keys", q: []int{2, 3, 20, 5}, k: []int{2, 3, 29, 5}, v: []int{2, 3, 29, 5}, mask: []int{2, 1, 1, 29}, loops: 1},
	{name: "heads share keys", q: []int{2, 3, 20, 5}, k: []int{2, 1, 29, 5}, v: []int{2, 1, 29, 5}, loops: 1},
	{name: "all share keys", q: []int{2, 3, 20, 5}, k: []int{29, 5}, v: []int{29, 5}, loops: 1},
	{name: "head size 1", q: []int{3, 20, 1}, k: []int{3, 29, 1}, v: []int{3, 29, 1}},
	{name: "head size 128", q: []int{300, 128}, k: []int{290, 128}, v: []int{290, 128}, loops: 1},
	{name: "transposed heads", q: []int{2, 20, 12}, k: []int{2, 29, 12}, v: []int{2, 29, 12}, causal: true, loops: 1,
		shape: func(q, k, v tensor.Tensor) (tensor.Tensor, tensor.Tensor, tensor.Tensor) {
			heads := func(x tensor.Tensor) tensor.Tensor { return x.Reshape(2, -1, 3, 4).Transpose(1, 2) }
			return heads(q), heads(k), heads(v)
		}},
	{name: "dropout", q: []int{2, 33, 5}, k: []int{2, 33, 5}, v: []int{2, 33, 5}, causal: true, drop: true, loops: 2},
	{name: "self-attention", q: []int{2, 33, 5}, k: []int{2, 33, 5}, v: []int{2, 33, 5}, loops: 2,
		shape: func(q, _, _ tensor.Tensor) (tensor.Tensor, tensor.Tensor, tensor.Tensor) { return q, q, q }},
	{name: "dropout of self-attention", q: []int{2, 33, 5}, k: []int{2, 33, 5}, v: []int{2, 33, 5}, causal: true, drop: true, loops: 3,
		shape: func(q, _, _ tensor.Tensor) (tensor.Tensor, tensor.Tensor, tensor.Tensor) { return q, q, q }},
	{name: "float64", q: []int{2, 20, 5}, k: []int{2, 29, 5}, v: []int{2, 29, 5}, dtype: ir.Float64, loops: 1},
	{name: "float16", q: []int{2, 20, 5}, k: []int{2, 29, 5}, v: []int{2, 29, 5}, dtype: ir.Float16, loops: 1},
	{name: "bfloat16", q: []int{2, 20, 5}, k: []int{2, 29, 5}, v: []int{2, 29, 5}, dtype: ir.BFloat16, loops: 1},
}

// results returns the value and the gradient of an attention, and a second derivative.
func (a attention) results(t *testing.T, d *tensor.Device) (results [][]float64, loops int) {
	t.Helper()
	compile.Verify()
	rng := tensor.NewRNG(1)
	dtype := ir.Float32
	if a.dtype != 0 {
		dtype = a.dtype
	}
	random := func(shape []int) tensor.Tensor { return rng.Normal(shape...).Cast(dtype).To(d) }
	args := []tensor.Tensor{random(a.q), random(a.k), random(a.v)}
	mask := tensor.Zeros(1).Cast(dtype).To(d)
	if a.mask != nil {
		mask = random(a.mask)
	}
	weight := rng.Normal(a.apply(args[0], args[1], args[2], mask).Shape()...).Cast(dtype).To(d)
	if err := tensor.Eval(args, mask, weight); err != nil {
		t.Fatal(err)
	}
	loss := func(x []tensor.Tensor) tensor.Tensor {
		return a.apply(x[0], x[1], x[2], mask).Tanh().Mul(weight).Sum()
	}
	value := a.apply(args[0], args[1], args[2], mask)
	lossValue, g := grad.ValueAndGrad(loss)(args)
	loops = strings.Count(tensor.Explain(lossValue, g), " loop ")
	second := grad.Of(func(x []tensor.Tensor) tensor.Tensor {
		sum := tensor.Zeros().Cast(dtype).To(d)
		for _, h := range grad.Of(loss)(x) {
			sum = sum.Add(h.Mul(h).Sum())
		}
		return sum
	})(args)
	for _, plan := range [][]tensor.Tensor{{value}, append(g, lossValue), second} {
		if err := tensor.Eval(plan); err != nil {
			t.Fatal(err)
		}
		for _, x := range plan {
			results = append(results, flat(t, x))
		}
	}
	return results, loops
}

// TestLoops compares attention in loops with attention in whole matrices, and on one
// thread with three.
func TestLoops(t *testing.T) {
	plain, one, three := tensor.NewDevice(struct{ driver.Device }{cpu.New(cpu.Options{})}), newLooper(1), newLooper(3)
	for _, a := range attentions {
		t.Run(a.name, func(t *testing.T) {
			want, none := a.results(t, plain)
			got, loops := a.results(t, one)
			same, _ := a.results(t, three)
			if none != 0 || loops < a.loops {
				t.Errorf("%d loops, want at least %d", loops, a.loops)
			}
			a.compare(t, want, got)
			for i := range got {
				for j, y := range got[i] {
					if z := same[i][j]; math.Float64bits(y) != math.Float64bits(z) {
						t.Fatalf("result %d, element %d: %v on one thread, %v on three", i, j, y, z)
					}
				}
			}
		})
	}
}

// compare compares results in loops with results without.
func (a attention) compare(t *testing.T, want, got [][]float64) {
	t.Helper()
	tolerance := 1e-4
	if a.dtype.IsHalf() {
		tolerance = 0.05
	}
	for i := range want {
		for j, x := range want[i] {
			if y := got[i][j]; math.Abs(x-y) > tolerance*(1+math.Abs(x)) || math.IsNaN(x) != math.IsNaN(y) {
				t.Fatalf("result %d, element %d: %v in loops, %v without", i, j, y, x)
			}
		}
	}
}

// TestSerialLoops compares attention in blocks as GPUs have them, parts of a matrix or
// several matrices, with attention in whole matrices.
func TestSerialLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("as TestLoops, in order")
	}
	plain := tensor.NewDevice(struct{ driver.Device }{cpu.New(cpu.Options{})})
	newLooper := func(bytes, enough int) *looper {
		return &looper{Device: cpu.New(cpu.Options{}), limits: ir.LoopLimits{Bytes: bytes, Rows: 4, Columns: 2, Serial: true, Enough: enough}}
	}
	small, large, single := newLooper(1<<10, 0), newLooper(1<<15, 0), newLooper(1<<15, 1)
	loopers := []*looper{small, large, single}
	devices := []*tensor.Device{tensor.NewDevice(small), tensor.NewDevice(large), tensor.NewDevice(single)}
	for _, a := range attentions {
		want, _ := a.results(t, plain)
		for i, l := range loopers {
			t.Run(fmt.Sprint(a.name, " in blocks of ", l.limits.Bytes, ", at least ", l.limits.Enough), func(t *testing.T) {
				got, loops := a.results(t, devices[i])
				if loops < a.loops {
					t.Errorf("%d loops, want at least %d", loops, a.loops)
				}
				a.compare(t, want, got)
			})
		}
	}
	if single.groups >= large.groups || single.matrices <= large.matrices {
		t.Errorf("where a row is enough: %d loops over several matrices, %d over one; else %d and %d", single.groups, single.matrices, large.groups, large.matrices)
	}
	if small.parts == 0 || large.groups == 0 || large.matrices == 0 {
		t.Errorf("%d loops over parts of a matrix; %d over several matrices, %d over one", small.parts, large.groups, large.matrices)
	}
}

func flat(t *testing.T, x tensor.Tensor) []float64 {
	t.Helper()
	data, err := tensor.Data[float64](x.Cast(tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A meter counts the bytes that it allocates.
type meter struct {
	driver.Looper
	bytes int
}

func (m *meter) Alloc(n int) (driver.Buffer, error) {
	m.bytes += n
	return m.Looper.Alloc(n)
}

// allocated returns the bytes that a CPU allocates to evaluate a function.
func allocated(t *testing.T, args []tensor.Tensor, mask tensor.Tensor, f func(args []tensor.Tensor, mask tensor.Tensor) any) int {
	t.Helper()
	m := &meter{Looper: cpu.New(cpu.Options{}).(driver.Looper)}
	d := tensor.NewDevice(m)
	defer d.Close()
	args, mask = tree.To(args, d), mask.To(d)
	if err := tensor.Eval(args, mask); err != nil {
		t.Fatal(err)
	}
	m.bytes = 0
	if err := tensor.Eval(f(args, mask)); err != nil {
		t.Fatal(err)
	}
	return m.bytes
}

// The memory of attention and of its gradient is in proportion to the length, without
// masks and with masks that are broadcast.
func TestAttentionMemory(t *testing.T) {
	const heads, width = 4, 64
	for _, causal := range []bool{false, true} {
		for _, masked := range []bool{false, true} {
			lengths := []int{512, 1024, 2048} // scores of 2048 take 32 times as much as q
			if testing.Short() {
				if causal != masked {
					continue
				}
				lengths = lengths[1:2]
			}
			if causal && masked && !testing.Short() {
				lengths = append(lengths, 4096)
			}
			for _, n := range lengths {
				a := attention{causal: causal}
				rng := tensor.NewRNG(1)
				args, mask := make([]tensor.Tensor, 3), tensor.Zeros(1)
				for i := range args {
					args[i] = rng.Normal(1, heads, n, width)
				}
				if masked {
					a.mask = []int{n, n}
					mask = rng.Normal(n, n)
				}
				if err := tensor.Eval(args, mask); err != nil {
					t.Fatal(err)
				}
				q := 4 * heads * n * width // bytes
				forward := allocated(t, args, mask, func(x []tensor.Tensor, mask tensor.Tensor) any { return a.apply(x[0], x[1], x[2], mask) })
				both := allocated(t, args, mask, func(x []tensor.Tensor, mask tensor.Tensor) any {
					value, g := grad.ValueAndGrad(func(x []tensor.Tensor) tensor.Tensor {
						return a.apply(x[0], x[1], x[2], mask).Tanh().Sum()
					})(x)
					return []any{value, g}
				})
				t.Logf("causal %v, masked %v, length %d: %.2f times the bytes of q forward, %.2f with the gradient", causal, masked, n, float64(forward)/float64(q), float64(both)/float64(q))
				if forward > 4*q || both > 16*q {
					t.Errorf("causal %v, masked %v, length %d: %d bytes forward and %d with the gradient, q has %d", causal, masked, n, forward, both, q)
				}
			}
		}
	}
}

// A GPU holds no scores of all heads in a training step of attention, and little more than its
// arguments and results: in kernels of attention, and in loops.
func TestAttentionMemoryOnGPU(t *testing.T) {
	const batch, heads, length, width = 8, 12, 1024, 64
	target := schedule.Target{Family: schedule.Discrete, MaxThreads: 1024, SharedBytes: 48 << 10, SubgroupMin: 32, SubgroupMax: 32}
	for _, kernels := range []bool{true, false} {
		loops := target.LoopLimits()
		if !kernels {
			loops.Attention = 0
		}
		d := &dryLooper{dry: &dry{
			Device: cpu.New(cpu.Options{}), limits: driver.Limits{Types: shader.DTypes, Bindings: 14, Async: true}, budget: 64 << 30,
			compile: func(k *ir.Kernel) error { _, err := schedule.Compile(k, target); return err },
		}, loops: loops}
		dev := tensor.NewDevice(d)
		rng := tensor.NewRNG(1)
		random := func() tensor.Tensor { return rng.Normal(batch, heads, length, width).To(dev) }
		args, weight := []tensor.Tensor{random(), random(), random()}, rng.Normal(width, width).To(dev)
		if err := tensor.Eval(args, weight); err != nil {
			t.Fatal(err)
		}
		value, g := grad.ValueAndGrad(func(x []tensor.Tensor) tensor.Tensor {
			a := attention{causal: true, drop: true}
			return a.apply(x[0], x[1], x[2], tensor.Zeros(1)).MatMul(weight).Square().Sum()
		})(args)
		if err := tensor.Eval(value, g); err != nil {
			t.Fatal(err)
		}
		q, scores := 4*batch*heads*length*width, 4*batch*heads*length*length
		t.Logf("%d MiB, %.1f times the bytes of q; the largest buffer has %d MiB, temporaries %d", d.peak>>20, float64(d.peak)/float64(q), d.largest>>20, d.temps>>20)
		if d.largest >= scores || d.peak > 16*q || kernels == (d.temps > 0) || d.temps > d.loops.Bytes {
			t.Errorf("%d bytes in buffers of at most %d, and temporaries of %d; q has %d bytes, all scores have %d", d.peak, d.largest, d.temps, q, scores)
		}
	}
}

// So is the memory of attention of rows to themselves under Checkpoint, where the gradient is a
// sum of three. With dropout the backward pass reads the forward pass's mask.
func TestSelfAttentionMemory(t *testing.T) {
	const heads, length, width = 4, 1024, 64
	for i := range 4 {
		drop, tanh := i&1 != 0, i&2 != 0
		if testing.Short() && drop != tanh {
			continue
		}
		attend := grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor {
			y := attention{drop: drop}.attend(x, x, x, tensor.Zeros(1))
			if tanh {
				y = y.Tanh()
			}
			return y
		})
		args := []tensor.Tensor{tensor.NewRNG(1).Normal(heads, length, width)}
		got := allocated(t, args, tensor.Zeros(1), func(x []tensor.Tensor, _ tensor.Tensor) any {
			value, g := grad.ValueAndGrad(func(x tensor.Tensor) tensor.Tensor { return attend(x).Square().Sum() })(x[0])
			return []any{value, g}
		})
		if q := 4 * heads * length * width; got > 16*q {
			t.Errorf("dropout %v, tanh %v: %d bytes, q has %d", drop, tanh, got, q)
		}
	}
}

// A bad index fails results that depend on it through a loop, and nothing else.
func TestLoopErrors(t *testing.T) {
	d := newLooper(2)
	table := tensor.NewRNG(1).Normal(10, 4).To(d)
	for _, bad := range []bool{false, true} {
		ids := make([]int32, 40)
		if bad {
			ids[7] = 10
		}
		q, k := table.Take(0, tensor.New(ids).To(d)), tensor.NewRNG(2).Normal(30, 4).To(d)
		v := k.Mul(2)
		out := q.MatMul(k.T()).Softmax(-1).MatMul(v)
		if err := tensor.Eval(out, v); (err != nil) != bad {
			t.Errorf("bad %v: %v", bad, err)
		}
		if _, err := tensor.Data[float32](v); err != nil {
			t.Errorf("bad %v: what does not depend on the index: %v", bad, err)
		}
	}
}

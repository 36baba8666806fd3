package golden

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A gpt is GPT-2, written as users write it.
type gpt struct {
	Wte, Wpe nn.Embedding
	H        []gptBlock
	LnF      nn.LayerNorm
	heads    int
}

type gptBlock struct {
	Ln1, Ln2     nn.LayerNorm
	Q, K, V, Out nn.Linear
	Up, Down     nn.Linear
}

func newGPT(rng *tensor.RNG, layers, width, heads, vocabulary, length int) gpt {
	m := gpt{Wte: nn.NewEmbedding(rng, vocabulary, width), Wpe: nn.NewEmbedding(rng, length, width), LnF: nn.NewLayerNorm(width), heads: heads}
	small := func(e nn.Embedding) nn.Embedding { return nn.Embedding{Weight: e.Weight.Mul(0.02).Keep()} }
	m.Wte, m.Wpe = small(m.Wte), small(m.Wpe)
	linear := func(in, out int) nn.Linear { return nn.NewLinear(rng, in, out) }
	for range layers {
		m.H = append(m.H, gptBlock{
			Ln1: nn.NewLayerNorm(width), Ln2: nn.NewLayerNorm(width),
			Q: linear(width, width), K: linear(width, width), V: linear(width, width), Out: linear(width, width),
			Up: linear(width, 4*width), Down: linear(4*width, width),
		})
	}
	return m
}

func (m gpt) Apply(ids tensor.Tensor) tensor.Tensor {
	b, t := ids.Dim(0), ids.Dim(1)
	x := m.Wte.Apply(ids).Add(m.Wpe.Apply(tensor.Arange(t)))
	past := tensor.Ones(t, t).Tril(0).Eq(1)
	for _, l := range m.H {
		y := l.Ln1.Apply(x)
		heads := func(l nn.Linear) tensor.Tensor { return l.Apply(y).Reshape(b, t, m.heads, -1).Transpose(1, 2) }
		q, k, v := heads(l.Q), heads(l.K), heads(l.V)
		scores := q.MatMul(k.T()).Div(math.Sqrt(float64(q.Dim(-1))))
		p := tensor.Where(past, scores, math.Inf(-1)).Softmax(-1)
		x = x.Add(l.Out.Apply(p.MatMul(v).Transpose(1, 2).Reshape(b, t, -1)))
		x = x.Add(l.Down.Apply(l.Up.Apply(l.Ln2.Apply(x)).GELU()))
	}
	return m.LnF.Apply(x).MatMul(m.Wte.Weight.T())
}

// trainGPT2 trains GPT-2 small, 12 layers of width 768 and a vocabulary of 50,304, on a
// batch of 8 rows of 1,024 tokens, and returns the losses.
func trainGPT2(d *tensor.Device, steps int, read bool) (losses []float64, err error) {
	defer tensor.Catch(&err)
	const vocabulary, batch, length = 50304, 8, 1024
	rng := tensor.NewRNG(1)
	m := tree.To(newGPT(rng, 12, 768, 12, vocabulary, length), d)
	ids := rng.Ints(1000, batch, length+1).To(d)
	x, y := ids.Slice(1, 0, length), ids.Slice(1, 1, length+1)
	opt := optim.New(optim.AdamW{WeightDecay: 0.1}, 3e-4)
	opt.ClipNorm = 1
	for range steps {
		loss, g := grad.ValueAndGrad(func(m gpt) tensor.Tensor { return nn.CrossEntropy(m.Apply(x), y).Mean() })(m)
		if err := opt.Step(&m, g); err != nil {
			return nil, err
		}
		if read {
			losses = append(losses, loss.Item())
		}
	}
	return losses, nil
}

// dry is a device that compiles kernels and runs none. It counts memory but allocates
// none.
type dry struct {
	driver.Device
	limits     driver.Limits
	compile    func(*ir.Kernel) error
	held, peak int
	largest    int // buffer
	budget     int
}

type dryBuffer struct {
	device *dry
	size   int
}

func (b *dryBuffer) Size() int { return b.size }
func (b *dryBuffer) Free()     { b.device.held -= b.size }

func (d *dry) Limits() driver.Limits { return d.limits }

func (d *dry) Alloc(n int) (driver.Buffer, error) {
	if d.held+n > d.budget {
		return nil, fmt.Errorf("%w: %d bytes beside %d", driver.ErrMemory, n, d.held)
	}
	d.held += n
	d.largest = max(d.largest, n)
	d.peak = max(d.peak, d.held)
	return &dryBuffer{d, n}, nil
}

func (d *dry) Upload(driver.Buffer, int, []byte) error   { return nil }
func (d *dry) Download([]byte, driver.Buffer, int) error { return nil }
func (d *dry) Run([]driver.Call) error                   { return nil }
func (d *dry) Sync() error                               { return nil }

func (d *dry) Compile(k *ir.Kernel) (driver.Program, error) {
	if err := ir.Verify(k); err != nil {
		return nil, err
	}
	if k.Template == ir.Contraction && factorsGather(k) {
		return nil, fmt.Errorf("a product that takes its factors by index:\n%v", k)
	}
	return nil, d.compile(k)
}

// Training a small GPT-2 in loops, over parts of a matrix and over several matrices, gives the
// losses of whole matrices.
func TestGPT2Loops(t *testing.T) {
	losses := func(d *tensor.Device) (list []float64) {
		rng := tensor.NewRNG(1)
		m := tree.To(newGPT(rng, 2, 24, 3, 40, 32), d)
		ids := rng.Ints(40, 4, 33).To(d)
		x, y := ids.Slice(1, 0, 32), ids.Slice(1, 1, 33)
		opt := optim.New(optim.AdamW{WeightDecay: 0.1}, 3e-3)
		for range 5 {
			loss, g := grad.ValueAndGrad(func(m gpt) tensor.Tensor { return nn.CrossEntropy(m.Apply(x), y).Mean() })(m)
			if err := opt.Step(&m, g); err != nil {
				t.Fatal(err)
			}
			list = append(list, loss.Item())
		}
		return list
	}
	want := losses(tensor.NewDevice(struct{ driver.Device }{cpu.New(cpu.Options{})}))
	for _, bytes := range []int{1 << 12, 1 << 16} {
		l := &looper{Device: cpu.New(cpu.Options{}), limits: ir.LoopLimits{Bytes: bytes, Rows: 4, Columns: 2, Serial: true}}
		got := losses(tensor.NewDevice(l))
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-4 {
				t.Errorf("blocks of %d bytes: losses %v, want %v", bytes, got, want)
				break
			}
		}
		if small := bytes == 1<<12; small != (l.parts > 0) || small != (l.groups == 0) {
			t.Errorf("blocks of %d bytes: %d loops over parts, %d over several matrices", bytes, l.parts, l.groups)
		}
	}
}

// A dryLooper is a dry device that makes loops.
type dryLooper struct {
	*dry
	loops ir.LoopLimits
	temps int // bytes of temporaries, at most
}

func (d *dryLooper) LoopLimits() ir.LoopLimits { return d.loops }

func (d *dryLooper) CompileLoop(l *ir.Loop) (driver.Program, error) {
	bytes := 0
	for _, t := range l.Temps {
		bytes += t.Len * t.DType.Size()
	}
	d.temps = max(d.temps, bytes)
	for _, s := range slices.Concat(l.Body, l.Last) {
		if err := d.compile(s.Kernel); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// factorsGather reports whether a contraction's factors are gathered.
func factorsGather(k *ir.Kernel) bool {
	below := make([]bool, len(k.Body))
	for i := len(k.Body) - 1; i >= 0; i-- {
		in := &k.Body[i]
		if !below[i] && in.Op != ir.Sum {
			continue
		}
		if in.UsesIndex() {
			return true
		}
		for _, s := range in.Src {
			below[s] = true
		}
	}
	return false
}

// Training steps of GPT-2 small compile for the CPU and for WebGPU, and fit the memory of
// a large GPU.
func TestGPT2Small(t *testing.T) {
	if testing.Short() {
		t.Skip("plans of a whole model take a second")
	}
	host := cpu.New(cpu.Options{})
	h200 := schedule.Target{Family: schedule.Discrete, MaxThreads: 1024, SharedBytes: 48 << 10, SubgroupMin: 32, SubgroupMax: 32}
	small := schedule.Target{}
	onGPU := func(target schedule.Target) func(*ir.Kernel) error {
		return func(k *ir.Kernel) error { _, err := schedule.Compile(k, target); return err }
	}
	gpuLimits := driver.Limits{
		Types:    shader.DTypes,
		Bindings: 14, Bytes: 1<<32 - 1, Async: true,
	}
	few := gpuLimits
	few.Bindings = 6
	onHost := func(k *ir.Kernel) error { _, err := host.Compile(k); return err }
	for _, c := range []struct {
		name    string
		limits  driver.Limits
		loops   ir.LoopLimits
		compile func(*ir.Kernel) error
		budget  int
	}{
		{"the CPU without loops", host.Limits(), ir.LoopLimits{}, onHost, 13700 << 20},
		{"the CPU", host.Limits(), host.(driver.Looper).LoopLimits(), onHost, 9365 << 20},
		{"an H200", gpuLimits, h200.LoopLimits(), onGPU(h200), 8150 << 20},
		{"the least that WebGPU has", few, small.LoopLimits(), onGPU(small), 8630 << 20},
	} {
		if testing.Short() {
			break // recorded steps compile much the same
		}
		d := &dryLooper{&dry{Device: host, limits: c.limits, compile: c.compile, budget: c.budget}, c.loops, 0}
		start := time.Now()
		if _, err := trainGPT2(tensor.NewDevice(d), 2, false); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Logf("%s: %d MiB, temporaries of %d MiB, %v", c.name, d.peak>>20, d.temps>>20, time.Since(start))
	}
	// Recorded steps hold as much, the first ones too, and less in bfloat16.
	nvidia := h200
	nvidia.Machine = ir.Machine{Bandwidth: 4.8e12, Adds: 33.5e12, Halves: 535e12, Launch: 3.5e-6}
	nvidia.TileBytes, nvidia.Matrices, nvidia.SharedMatrices, nvidia.Wide, nvidia.Units = 227<<10, true, true, true, 132
	driven := gpuLimits
	driven.Bindings, driven.Machine = 64, nvidia.Machine
	for i, c := range []struct {
		name      string
		limits    driver.Limits
		loops     ir.LoopLimits
		compile   func(*ir.Kernel) error
		precision tensor.DType
		budget    int
	}{
		{"an H200", gpuLimits, h200.LoopLimits(), onGPU(h200), 0, 8150 << 20},
		{"an H200 by its driver, in bfloat16", driven, nvidia.LoopLimits(), onGPU(nvidia), tensor.BFloat16, 5_600_000_000},
	} {
		if testing.Short() && i > 0 {
			continue
		}
		d := &dryLooper{&dry{Device: host, limits: c.limits, compile: c.compile, budget: c.budget}, c.loops, 0}
		rng, dev := tensor.NewRNG(1), tensor.NewDevice(d)
		m := tree.To(newGPT(rng, 12, 768, 12, 50304, 1024), dev)
		tree.Donate(m)
		ids := rng.Ints(1000, 8, 1025).To(dev)
		opt := optim.New(optim.AdamW{WeightDecay: 0.1}, 3e-4)
		opt.Precision = c.precision
		step := optim.Jit(opt, func(m gpt, b [2]tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, gpt) {
			return nn.CrossEntropy(m.Apply(b[0]).Cast(tensor.Float32), b[1]).Mean(), m
		})
		for i := range 4 {
			if _, err := step(&m, [2]tensor.Tensor{ids.Slice(1, 0, 1024), ids.Slice(1, 1, 1025)}, nil); err != nil {
				t.Fatalf("%s, step %d, recorded: %v", c.name, i, err)
			}
		}
		t.Logf("%s, steps that are recorded: %d MiB", c.name, d.peak>>20)
	}
}

// Where a kernel of the gradient of attention does not fit in a workgroup's memory, the forward pass
// saves nothing for it.
func TestGPT2LittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("plans of a whole model take a second")
	}
	gpu := schedule.Target{Family: schedule.Discrete, MaxThreads: 1024, SharedBytes: 48 << 10, SubgroupMin: 32, SubgroupMax: 32, Matrices: true}
	limits := driver.Limits{Types: shader.DTypes, Bindings: 64, Async: true, Machine: ir.Machine{Halves: 535e12}}
	for i, bytes := range []int{1, 40 << 10, 48 << 10, 56 << 10} {
		if testing.Short() && i != 1 {
			continue
		}
		loops := gpu.LoopLimits()
		loops.AttentionBytes = bytes
		d := &dryLooper{&dry{Device: cpu.New(cpu.Options{}), limits: limits, compile: func(k *ir.Kernel) error { return ir.Verify(k) }, budget: 40 << 30}, loops, 0}
		if _, err := trainGPT2(tensor.NewDevice(d), 1, false); err != nil {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
}

// TENSORKEN_GPT2 names a device on which to train GPT-2 small.
func TestGPT2SmallOnDevice(t *testing.T) {
	name := os.Getenv("TENSORKEN_GPT2")
	if name == "" {
		t.Skip("TENSORKEN_GPT2 names no device")
	}
	d, _, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	losses, err := trainGPT2(d, 6, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("losses %.4f, %v", losses, time.Since(start))
	if last := losses[len(losses)-1]; !(math.Abs(losses[0]-math.Log(50304)) < 1) || !(last < losses[0]) {
		t.Errorf("losses %v: want about %.2f at first, and less at last", losses, math.Log(50304))
	}
}

// BenchmarkHostTime measures the host's time of a later training step of GPT-2, on a device
// that computes nothing and has the memory of a GPU: made anew, and replayed. The wide one
// has the size of GPT-2 small, whose steps leave many dead tensors to Go's collector. Its
// steps are apart, but closer than a GPU's would be.
func BenchmarkHostTime(b *testing.B) {
	host := cpu.New(cpu.Options{})
	limits := host.Limits()
	limits.Memory = 80 << 30
	loss := func(m gpt, b [2]tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, gpt) {
		return nn.CrossEntropy(m.Apply(b[0]), b[1]).Mean(), m
	}
	for _, size := range []struct {
		name                              string
		width, heads, vocabulary, lengths int
		pause                             time.Duration
	}{{"narrow", 64, 4, 1000, 64, 0}, {"wide", 768, 12, 50304, 1024, 10 * time.Millisecond}} {
		d := tensor.NewDevice(&dry{Device: host, limits: limits, compile: func(*ir.Kernel) error { return nil }, budget: 1 << 50})
		defer d.Close()
		rng := tensor.NewRNG(1)
		model := tree.To(newGPT(rng, 12, size.width, size.heads, size.vocabulary, size.lengths), d)
		ids := rng.Ints(1000, 8, size.lengths+1).To(d)
		batch := [2]tensor.Tensor{ids.Slice(1, 0, size.lengths), ids.Slice(1, 1, size.lengths+1)}
		newOptimizer := func() *optim.Optimizer {
			o := optim.New(optim.AdamW{WeightDecay: 0.1}, 3e-4)
			o.ClipNorm, o.Schedule = 1, optim.Warmup(100, optim.Cosine(1000, 0.1))
			return o
		}
		o := newOptimizer()
		anew := func(m *gpt) error {
			_, g := grad.ValueAndGrad(func(m gpt) tensor.Tensor { t, _ := loss(m, batch, nil); return t })(*m)
			return o.Step(m, g)
		}
		step := optim.Jit(newOptimizer(), loss)
		replayed := func(m *gpt) error { _, err := step(m, batch, nil); return err }
		for _, c := range []struct {
			name string
			step func(*gpt) error
		}{{"anew", anew}, {"replayed", replayed}} {
			b.Run(size.name+"/"+c.name, func(b *testing.B) {
				m := model
				for range 4 {
					if err := c.step(&m); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				var spent time.Duration // b.StopTimer would stop the world in each step
				for b.Loop() {
					start := time.Now()
					if err := c.step(&m); err != nil {
						b.Fatal(err)
					}
					spent += time.Since(start)
					time.Sleep(size.pause)
				}
				b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/op")
			})
		}
	}
}

// BenchmarkFirstStep is the first training step of a transformer of 4 layers, on a
// device that has compiled nothing and computes nothing.
func BenchmarkFirstStep(b *testing.B) {
	host := cpu.New(cpu.Options{})
	rng := tensor.NewRNG(1)
	model := newGPT(rng, 4, 64, 4, 256, 32)
	ids := rng.Ints(256, 8, 33)
	for b.Loop() {
		b.StopTimer()
		d := tensor.NewDevice(&dry{Device: host, limits: host.Limits(), compile: func(*ir.Kernel) error { return nil }, budget: 1 << 40})
		m := tree.To(model, d)
		x := ids.Slice(1, 0, 32).To(d)
		y := ids.Slice(1, 1, 33).To(d)
		b.StartTimer()
		loss, g := grad.ValueAndGrad(func(m gpt) tensor.Tensor { return nn.CrossEntropy(m.Apply(x), y).Mean() })(m)
		if err := optim.New(optim.AdamW{}, 3e-4).Step(&m, g); err != nil {
			b.Fatal(err)
		}
		loss.Item()
	}
}

// A GELU of bfloat16 and its derivative compute Erfc to the digits of bfloat16, other GELUs to all digits.
func TestGELUDigits(t *testing.T) {
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16, tensor.Float32} {
		seen := 0
		compile := func(k *ir.Kernel) error {
			for i := range k.Body {
				if in := &k.Body[i]; in.Op == ir.Erfc {
					if seen++; (in.Kind == ir.Cast) != (d == tensor.BFloat16) {
						t.Errorf("%v: a kernel with an Erfc of kind %v:\n%v", d, in.Kind, k)
					}
				}
			}
			return nil
		}
		dev := tensor.NewDevice(&dry{Device: cpu.New(cpu.Options{}), limits: driver.Limits{Types: shader.DTypes, Bindings: 14, Bytes: 1 << 32}, compile: compile, budget: 1 << 20})
		x := tensor.New([]float32{-2, 0.5}).Cast(d).To(dev)
		y, g := grad.ValueAndGrad(func(x tensor.Tensor) tensor.Tensor { return x.GELU().Sum() })(x)
		if err := tensor.Eval(y, g); err != nil || seen == 0 {
			t.Errorf("%v: %d kernels have an Erfc; %v", d, seen, err)
		}
	}
}

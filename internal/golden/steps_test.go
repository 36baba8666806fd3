package golden

import (
	"runtime"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// counter is a CPU device that counts kernels run.
type counter struct {
	driver.Device
	ran map[string]int // by text
}

type countedProgram struct {
	driver.Program
	text string
}

func (c *counter) Compile(k *ir.Kernel) (driver.Program, error) {
	p, err := c.Device.Compile(k)
	return countedProgram{p, k.String()}, err
}

func (c *counter) Run(calls []driver.Call) error {
	calls = slices.Clone(calls)
	for i := range calls {
		p := calls[i].Program.(countedProgram)
		c.ran[p.text]++
		calls[i].Program = p.Program
	}
	return c.Device.Run(calls)
}

func (c *counter) total() (n int) {
	for _, k := range c.ran {
		n += k
	}
	return n
}

type mlp struct{ Hidden, Out nn.Linear }

func (m mlp) loss(x, y tensor.Tensor) tensor.Tensor {
	return nn.CrossEntropy(m.Out.Apply(m.Hidden.Apply(x).ReLU()), y).Mean()
}

// trainer trains a small network.
type trainer struct {
	model mlp
	opt   *optim.Optimizer
	x, y  tensor.Tensor
}

func newTrainer() *trainer {
	rng := tensor.NewRNG(1)
	return &trainer{
		model: mlp{nn.NewLinear(rng, 64, 32), nn.NewLinear(rng, 32, 10)},
		opt:   optim.New(optim.AdamW{WeightDecay: 0.01}, 1e-3),
		x:     counted(40, 64),
		y:     labels(40),
	}
}

// step trains one step and returns its loss, unread.
func (tr *trainer) step(t testing.TB) tensor.Tensor {
	t.Helper()
	loss, g := grad.ValueAndGrad(func(m mlp) tensor.Tensor { return m.loss(tr.x, tr.y) })(tr.model)
	if err := tr.opt.Step(&tr.model, g); err != nil {
		t.Fatal(err)
	}
	return loss
}

// A step that reads its loss runs each kernel of the forward pass once: the step's plan
// stores the loss.
func TestStepRunsForwardOnce(t *testing.T) {
	c := &counter{Device: cpu.New(cpu.Options{}), ran: map[string]int{}}
	dev := tensor.NewDevice(c)
	tensor.SetDefault(dev)
	defer tensor.SetDefault(nil)
	tr := newTrainer()
	for range 5 {
		tr.step(t).Item()
	}
	clear(c.ran)
	loss := tr.step(t)
	without := c.total()
	loss.Item()
	if c.total() != without {
		t.Errorf("reading the loss ran %d kernels, want none", c.total()-without)
	}
	for text, n := range c.ran {
		if n != 1 {
			t.Errorf("ran %d times, want once:\n%s", n, text)
		}
	}
	if without < 4 || without > 16 {
		t.Errorf("a step ran %d kernels, want 4 to 16", without)
	}
}

// Step 1,000 costs as much as step 10: no chain grows from step to step.
func TestStepsCostTheSame(t *testing.T) {
	tr := newTrainer()
	for range 10 {
		tr.step(t).Item()
	}
	allocs := func() float64 { return testing.AllocsPerRun(50, func() { tr.step(t).Item() }) }
	early, plans := allocs(), tensor.Info().Plans
	for range 900 {
		tr.step(t)
	}
	late := allocs()
	if late > 1.1*early { // the runtime allocates too
		t.Errorf("a step made %v allocations at first and %v after 1,000", early, late)
	}
	if now := tensor.Info().Plans; now != plans {
		t.Errorf("there were %d plans at first and %d after 1,000 steps", plans, now)
	}
}

// Memory does not grow over 20,000 steps, even if the process holds a gigabyte of other
// data and so Go's garbage collector runs rarely.
func TestStepsHoldFlatMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a gigabyte and some seconds")
	}
	other := make([]byte, 1<<30)
	for i := 0; i < len(other); i += 4096 {
		other[i] = 1
	}
	tr := newTrainer()
	memory := func() (host uint64, device int64) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		s := tensor.Info()
		return m.Sys, s.Held + s.Pooled
	}
	const steps = 10_000
	for range steps { // the collector first runs when the heap has doubled
		tr.step(t)
	}
	host, device := memory()
	for range steps {
		tr.step(t)
	}
	host2, device2 := memory()
	runtime.KeepAlive(other)
	const slack = 256 << 20
	if device2 > device+slack || host2 > host+2*slack {
		t.Errorf("after %d steps the host held %d MiB and the device %d MiB, after twice as many %d and %d",
			steps, host>>20, device>>20, host2>>20, device2>>20)
	}
	t.Logf("host %d MiB then %d, device %d MiB then %d", host>>20, host2>>20, device>>20, device2>>20)
}

// A product needs memory only for its inputs and output: a device with no more computes
// it.
func TestProductMemory(t *testing.T) {
	const n = 1024
	dev := tensor.NewDevice(cpu.New(cpu.Options{Memory: 3*4*n*n + 1<<16}))
	a, b := counted(n, n).To(dev), counted(n, n).To(dev)
	if err := tensor.Eval(a.MatMul(b)); err != nil {
		t.Error(err)
	}
}

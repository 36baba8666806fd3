package optim_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// copying is a device that counts copies from and to the host, and buffers.
type copying struct {
	ahead
	copies, buffers *atomic.Int32
}

func (d copying) Upload(dst driver.Buffer, offset int, src []byte) error {
	d.copies.Add(1)
	return d.ahead.Upload(dst, offset, src)
}

func (d copying) Download(dst []byte, src driver.Buffer, offset int) error {
	d.copies.Add(1)
	return d.ahead.Download(dst, src, offset)
}

func (d copying) Alloc(bytes int) (driver.Buffer, error) {
	d.buffers.Add(1)
	return d.ahead.Alloc(bytes)
}

// A recorded step updates parameters and slots in place: it copies nothing, and takes no new memory.
func TestJitInPlace(t *testing.T) {
	drv := copying{ahead{cpu.New(cpu.Options{})}, new(atomic.Int32), new(atomic.Int32)}
	d := tensor.NewDevice(drv)
	type batch struct{ X, Y tensor.Tensor }
	rng := tensor.NewRNG(1)
	b := tree.To(batch{rng.Normal(8, 30), rng.Ints(10, 8)}, d)
	net := tree.To([]nn.Linear{nn.NewLinear(rng, 30, 20), nn.NewLinear(rng, 20, 10)}, d)
	if err := tensor.Eval(b, net); err != nil {
		t.Fatal(err)
	}
	step := optim.Jit(optim.New(optim.Adam{}, 1e-3), func(net []nn.Linear, b batch, _ *tensor.RNG) (tensor.Tensor, []nn.Linear) {
		return nn.CrossEntropy(net[1].Apply(net[0].Apply(b.X).ReLU()), b.Y).Mean(), net
	})
	var copies, buffers int32
	var held int64
	for i := range 12 {
		tensor.Scope(func() struct{} {
			if _, err := step(&net, b, nil); err != nil {
				t.Fatal(err)
			}
			return struct{}{}
		})
		if i < 5 { // two steps run, two record, and one has the memory of the last that ran
			copies, buffers, held = drv.copies.Load(), drv.buffers.Load(), tensor.Info().Held
		}
	}
	if n := drv.copies.Load() - copies; n != 0 {
		t.Errorf("seven recorded steps made %d copies", n)
	}
	if n := drv.buffers.Load() - buffers; n != 0 {
		t.Errorf("seven recorded steps took %d new buffers", n)
	}
	if more := tensor.Info().Held - held; more != 0 {
		t.Errorf("after seven recorded steps %d bytes more are held", more)
	}
	allocs := testing.AllocsPerRun(20, func() { tensor.Scope(func() error { _, err := step(&net, b, nil); return err }) })
	t.Logf("a recorded step makes %v objects of the host", allocs)
	if allocs >= 50 {
		t.Errorf("a recorded step makes %v objects of the host, want less than 50", allocs)
	}
}

// large is a device that counts buffers and copies to the device of a MiB or more.
type large struct {
	ahead
	buffers, uploads *atomic.Int32
}

func (d large) Alloc(bytes int) (driver.Buffer, error) {
	d.buffers.Add(int32(bytes >> 20))
	return d.ahead.Alloc(bytes)
}

func (d large) Upload(dst driver.Buffer, offset int, src []byte) error {
	d.uploads.Add(int32(len(src) >> 20))
	return d.ahead.Upload(dst, offset, src)
}

// The first step too updates donated parameters in place, and uploads each once. After a step that fails they are
// as they were.
func TestFirstStepInPlace(t *testing.T) {
	type batch struct{ X, Y tensor.Tensor }
	for _, fails := range []bool{false, true} {
		drv := large{ahead{cpu.New(cpu.Options{})}, new(atomic.Int32), new(atomic.Int32)}
		d := tensor.NewDevice(drv)
		rng := tensor.NewRNG(1)
		b := tree.To(batch{rng.Normal(8, 300), rng.Ints(10, 8)}, d)
		weight, err := tensor.Data[float32](rng.Normal(1000, 300))
		if err == nil {
			err = tensor.Eval(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		net := []nn.Linear{{Weight: tensor.New(weight, 1000, 300).To(d)}, {Weight: tensor.Ones(10, 1000).To(d).Keep()}}
		tree.Donate(net)
		step := optim.Jit(optim.New(optim.SGD{}, 1e-3), func(net []nn.Linear, b batch, _ *tensor.RNG) (tensor.Tensor, []nn.Linear) {
			return nn.CrossEntropy(net[1].Apply(net[0].Apply(b.X).ReLU()), b.Y).Mean(), net
		})
		if fails {
			bad := batch{b.X, tensor.New([]int32{9, 10, 0, 0, 0, 0, 0, 0}).To(d)}
			loss, err := step(&net, bad, nil)
			if err == nil {
				_, err = tensor.Data[float32](loss)
			}
			if err == nil || !strings.Contains(err.Error(), "label 10 at [1] is out of range") {
				t.Errorf("a label out of range: %v", err)
			}
			if got, err := tensor.Data[float32](net[0].Weight); err != nil || !slices.Equal(got, weight) {
				t.Errorf("after a step that failed the weight is another: %v", err)
			}
		}
		for range 4 {
			if _, err := step(&net, b, nil); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := tensor.Data[float32](net[0].Weight); err != nil || slices.Equal(got, weight) {
			t.Errorf("the weight is as it was: %v", err)
		}
		if buffers, uploads := drv.buffers.Load(), drv.uploads.Load(); !fails && buffers != 1 || uploads != 1 { // a read of the weight is another use
			t.Errorf("fails %v: buffers of %d MiB, uploads of %d MiB, want the weight alone", fails, buffers, uploads)
		}
	}
}

// A donated model of 16 bits, whose parameters the first step reads for State too, is stepped, and stays after a step
// that fails. A recorded step keeps its state too.
func TestFirstStepDonatesMasters(t *testing.T) {
	type batch struct{ X, Y tensor.Tensor }
	type model struct {
		Linear nn.Linear
		Mean   tensor.Tensor `tensor:",state"`
	}
	for _, recorded := range []bool{false, true} {
		rng := tensor.NewRNG(1)
		m := model{Linear: nn.Linear{Weight: rng.Normal(10, 30).Cast(tensor.BFloat16).Keep()}}
		if recorded {
			m.Mean = tensor.New([]float32{1, 2, 3}).Add(1).Keep()
		}
		if err := tensor.Eval(m); err != nil {
			t.Fatal(err)
		}
		tree.Donate(m)
		o := &optim.Optimizer{Rule: optim.Adam{}, LR: 1e-3, MasterWeights: true}
		loss := func(m model, b batch, _ *tensor.RNG) (tensor.Tensor, model) {
			if recorded {
				m.Mean = m.Mean.Mul(0.9)
			}
			return nn.CrossEntropy(m.Linear.Apply(b.X).Cast(tensor.Float32), b.Y).Mean(), m
		}
		step := optim.Jit(o, loss)
		for i := range 4 {
			b := batch{rng.Normal(2, 30).Cast(tensor.BFloat16), tensor.New([]int32{int32(10 - i), 3})} // the first is bad
			var err error
			if recorded {
				_, err = step(&m, b, nil)
			} else {
				_, next, g := optim.ValueAndGradAux(o, func(m model) (tensor.Tensor, model) { return loss(m, b, nil) })(m)
				if err = o.Step(&next, g); err == nil {
					m = next
				}
			}
			if i > 0 && err != nil || i == 0 && (err == nil || !strings.Contains(err.Error(), "label 10 at [0] is out of range")) {
				t.Fatalf("recorded %v, step %d: %v", recorded, i, err)
			}
		}
	}
}

// The first step frees donated parameters, but not one that it leaves as it is, nor a model of which a
// program keeps a copy.
func TestFirstStepFreesDonated(t *testing.T) {
	for _, replayed := range []bool{false, true} {
		d := tensor.NewDevice(cpu.New(cpu.Options{}))
		rng := tensor.NewRNG(1)
		first := tree.To(nn.NewLinear(rng, 300, 200), d)
		m, x, copied := first, rng.Normal(4, 300).To(d), tree.Copy(first)
		if err := tensor.Eval(x, copied); err != nil {
			t.Fatal(err)
		}
		tree.Donate(m)
		o := optim.New(optim.SGD{}, 0.1)
		o.Groups = optim.Groups{{Names: "bias", Frozen: true}}
		f := func(m nn.Linear) tensor.Tensor { return m.Apply(x).Square().Mean() }
		step := func() error { _, g := grad.ValueAndGrad(f)(m); return o.Step(&m, g) }
		if replayed {
			recorded := optim.Jit(o, func(m nn.Linear, _ struct{}, _ *tensor.RNG) (tensor.Tensor, nn.Linear) { return f(m), m })
			step = func() error { _, err := recorded(&m, struct{}{}, nil); return err }
		}
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if _, err := tensor.Data[float32](first.Weight); err == nil || !strings.Contains(err.Error(), "given away by tensor.Donate") {
			t.Errorf("replayed %v: a read of the donated weight: %v", replayed, err)
		}
		for name, y := range tree.All([]any{m, copied}) {
			if _, err := tensor.Data[float32](y); err != nil {
				t.Errorf("replayed %v: %s: %v", replayed, name, err)
			}
		}
		if err := step(); err != nil {
			t.Error(err)
		}
	}
}

// Tensors that an optimizer makes in a Scope stay, with Step and with Jit.
func TestStepInScope(t *testing.T) {
	for _, replayed := range []bool{false, true} {
		for name, d := range devices(t) {
			x := newTraining(d, optim.Adam{}, replayed)
			for range 5 {
				loss := tensor.Scope(func() float64 {
					if err := x.step([]int32{0, 1}, []int32{1, 2}); err != nil {
						t.Fatal(err)
					}
					return x.loss.Item()
				})
				if !(loss > 0) {
					t.Errorf("%s: the loss is %v", name, loss)
				}
			}
			x.numbers(t)
		}
	}
}

// The parameters of a model that a step does not change stay, and so does an average of models.
func TestJitKeeps(t *testing.T) {
	type two struct{ A, B nn.Linear }
	loss := func(m two, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, two) {
		return m.B.Apply(m.A.Apply(x)).Square().Mean(), m
	}
	rng := tensor.NewRNG(1)
	m, x := two{nn.NewLinear(rng, 3, 4), nn.NewLinear(rng, 4, 2)}, rng.Normal(5, 3)
	if err := tensor.Eval(x); err != nil {
		t.Fatal(err)
	}
	var average optim.Averaged[two]
	step := optim.Jit(optim.New(optim.SGD{}, 0.1), loss)
	for range 5 {
		if _, err := step(&m, x, nil); err != nil {
			t.Fatal(err)
		}
		if err := average.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	frozen := m.A
	o := optim.New(optim.SGD{}, 0.1)
	o.Groups = optim.Groups{{Names: "a*", Frozen: true}}
	step = optim.Jit(o, loss)
	for range 5 {
		if _, err := step(&m, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, y := range tree.All([]any{frozen, average.Model}) {
		if _, err := y.Bytes(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

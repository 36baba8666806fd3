package optim_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// ahead is a CPU device that runs asynchronously, as GPUs do.
type ahead struct{ driver.Device }

func (a ahead) Limits() driver.Limits {
	l := a.Device.Limits()
	l.Async, l.Concurrent = true, false
	return l
}

// devices are the CPU, an asynchronous CPU, and the device that TENSORKEN_DEVICE names.
func devices(t *testing.T) map[string]*tensor.Device {
	all := map[string]*tensor.Device{
		"cpu":   tensor.NewDevice(cpu.New(cpu.Options{})),
		"ahead": tensor.NewDevice(ahead{cpu.New(cpu.Options{})}),
	}
	if name := os.Getenv("TENSORKEN_DEVICE"); name != "" && name != "cpu" {
		d, _, err := device.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = d
	}
	for _, d := range all {
		t.Cleanup(func() { d.Close() })
	}
	return all
}

// A classifier has an embedding: its inputs are indices, as its labels are.
type classifier struct {
	Rows nn.Embedding
	Out  nn.Linear
}

// A training is a model trained step by step.
type training struct {
	net  classifier
	opt  *optim.Optimizer
	loss tensor.Tensor
	// replay, unless nil, is optim.Jit of the loss.
	replay func(m *classifier, b [2]tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, error)
}

func newTraining(d *tensor.Device, rule optim.Rule, replayed bool) *training {
	rng := tensor.NewRNG(1)
	net := classifier{nn.NewEmbedding(rng, 5, 4), nn.NewLinear(rng, 4, 3)}
	t := &training{net: tree.To(net, d), opt: optim.New(rule, 0.1)}
	if replayed {
		t.replay = optim.Jit(t.opt, classify)
	}
	return t
}

func (t *training) step(rows, labels []int32) error {
	batch := [2]tensor.Tensor{tensor.New(rows), tensor.New(labels)}
	if t.replay != nil {
		loss, err := t.replay(&t.net, batch, nil)
		if err == nil {
			t.loss = loss
		}
		return err
	}
	loss, g := grad.ValueAndGrad(func(c classifier) tensor.Tensor {
		loss, _ := classify(c, batch, nil)
		return loss
	})(t.net)
	t.loss = loss
	return t.opt.Step(&t.net, g)
}

func classify(c classifier, b [2]tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, classifier) {
	return nn.CrossEntropy(c.Out.Apply(c.Rows.Apply(b[0])), b[1]).Mean(), c
}

// numbers reads the model's parameters and the optimizer's slots.
func (t *training) numbers(test *testing.T) []float32 {
	test.Helper()
	var all []float32
	for name, x := range tree.All(map[string]any{"net": t.net, "slots": t.opt.State.Slots}) {
		data, err := tensor.Data[float32](x)
		if err != nil {
			test.Fatalf("%s: %v", name, err)
		}
		all = append(all, data...)
	}
	return all
}

// A rule may compute parts of a parameter in different ways. A kernel stores each.
type partsRule struct{}

func (partsRule) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	const first = 2
	n := p.Dim(0)
	return tensor.Cat(0,
		p.Slice(0, 0, first).Sub(g.Slice(0, 0, first).Mul(lr)),
		p.Slice(0, first, n).Mul(1-lr).Sub(g.Slice(0, first, n).Sin().Mul(lr)),
	), nil
}

// A bad index in any step leaves the model and the optimizer's state as they
// were, and the next good step works. On an asynchronous device the error is returned
// when the loss is read, or by a later step.
func TestFailedStep(t *testing.T) {
	good := []int32{0, 1, 2}
	batches := []struct {
		name         string
		rows, labels []int32
		want         string
	}{
		{"a label", good, []int32{0, 3, 1}, "nn.CrossEntropy: label 3 at [1] is out of range for 3 classes"},
		{"a negative label", good, []int32{0, 1, -1}, "nn.CrossEntropy: label -1 at [2] is out of range for 3 classes"},
		{"a row", []int32{0, 4, 5}, good, "nn.Embedding: index 5 at [2] is out of range for an axis of length 5"},
	}
	for name, d := range devices(t) {
		for _, rule := range []optim.Rule{optim.SGD{}, optim.SGD{Momentum: 0.9}, optim.Adam{}, partsRule{}} {
			for _, b := range batches {
				for before, replayed := range []bool{false, false, false, true, true, true} { // the third is recorded
					x := newTraining(d, rule, replayed)
					for range before {
						if err := x.step(good, good); err != nil {
							t.Fatal(err)
						}
					}
					held := tree.Copy(x.net.Out.Weight) // as steps donate it
					was := newTraining(d, rule, false)
					for range before {
						if err := was.step(good, good); err != nil {
							t.Fatal(err)
						}
					}
					err := x.step(b.rows, b.labels)
					if err == nil { // it runs ahead
						if name == "cpu" {
							t.Errorf("%s, %T, step %d with %s: no error", name, rule, before, b.name)
						}
						_, err = tensor.Data[float32](x.loss)
					}
					var e *tensor.Error
					if !errors.As(err, &e) || e.Msg != b.want || !strings.HasPrefix(e.Pos, "failure_test.go:") {
						t.Errorf("%s, %T, step %d with %s: error %v, want %s", name, rule, before, b.name, err, b.want)
					}
					got, want := x.numbers(t), was.numbers(t)
					if before == 0 { // slots of zeros are as good as none
						want = append(want, make([]float32, max(0, len(got)-len(want)))...)
					}
					if !slices.Equal(got, want) {
						t.Errorf("%s, %T, step %d with %s: the model is %v, want %v", name, rule, before, b.name, got, want)
					}
					if _, err := tensor.Data[float32](held); err != nil {
						t.Errorf("%s, %T, step %d with %s: the weights before it: %v", name, rule, before, b.name, err)
					}
					if err := x.step(good, good); err != nil {
						t.Errorf("%s, %T, a good step after step %d with %s: %v", name, rule, before, b.name, err)
					}
					x.numbers(t)
				}
			}
		}
	}
}

// If nobody reads the loss of a failed step, a later step or Sync returns its error.
func TestFailedStepIsTold(t *testing.T) {
	d := tensor.NewDevice(ahead{cpu.New(cpu.Options{})})
	defer d.Close()
	good := []int32{0, 1, 2}
	const want = "nn.CrossEntropy: label 3 at [1] is out of range for 3 classes"
	for name, tell := range map[string]func(*training) error{
		"Sync": func(*training) error { return d.Sync() },
		"a step after a read": func(x *training) error {
			x.numbers(t)
			return x.step(good, good)
		},
	} {
		for _, replayed := range []bool{false, true} {
			x := newTraining(d, optim.Adam{}, replayed)
			for i, labels := range [][]int32{good, good, good, {0, 3, 1}, good} {
				if err := x.step(good, labels); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
			if err := tell(x); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, replayed %v: error %v, want %s", name, replayed, err, want)
			}
			if err := tell(x); err != nil {
				t.Errorf("%s again, replayed %v: %v", name, replayed, err)
			}
			x.numbers(t)
		}
	}
}

// The same step fails on all devices if a kernel uses only some of the indices: the
// backward pass then reads indices that the forward pass does not.
func TestFailedStepOfParts(t *testing.T) {
	type model struct{ Rows, Scale tensor.Tensor }
	for name, loss := range map[string]func(m model, i tensor.Tensor) tensor.Tensor{
		"a part": func(m model, i tensor.Tensor) tensor.Tensor {
			return m.Rows.Take(0, i).Slice(0, 0, 3).Exp().Sum().Add(m.Scale.Sum())
		},
		"two parts": func(m model, i tensor.Tensor) tensor.Tensor {
			x := m.Rows.Take(0, i)
			return tensor.Cat(0, x.Slice(0, 0, 2), x.Slice(0, 1, 3)).Exp().Mul(m.Scale).Sum()
		},
		"all": func(m model, i tensor.Tensor) tensor.Tensor { return m.Rows.Take(0, i).Mul(m.Scale).Exp().Sum() },
	} {
		for bad := range 6 {
			failed := map[string]bool{}
			for on, d := range devices(t) {
				m := tree.To(model{tensor.NewRNG(1).Normal(5, 4), tensor.Ones(4)}, d)
				opt := optim.New(optim.SGD{}, 0.1)
				step := func(index ...int32) error {
					_, g := grad.ValueAndGrad(func(m model) tensor.Tensor { return loss(m, tensor.New(index)) })(m)
					return opt.Step(&m, g)
				}
				numbers := func() []float32 {
					x, err := tensor.Data[float32](tensor.Cat(0, m.Rows, m.Scale.Unsqueeze(0)).Reshape(-1))
					if err != nil {
						t.Fatalf("%s, %s, index %d is bad: %v", name, on, bad, err)
					}
					return x
				}
				if err := step(0, 1, 2, 3, 4, 0); err != nil {
					t.Fatal(err)
				}
				before := numbers()
				index := []int32{0, 1, 2, 3, 4, 0}
				index[bad] = 9
				err := step(index...)
				if err == nil {
					err = d.Sync()
				}
				failed[on] = err != nil
				if same := slices.Equal(before, numbers()); same != (err != nil) {
					t.Errorf("%s, %s, index %d is bad: error %v, and the model is the same: %v", name, on, bad, err, same)
				}
			}
			for on, f := range failed {
				if f != failed["cpu"] {
					t.Errorf("%s, index %d is bad: it fails on %s: %v, on the CPU: %v", name, bad, on, f, failed["cpu"])
				}
			}
		}
	}
}

// A failure is reported once, to a reader of a failed value, and not by another
// model's optimizer. The step is not counted.
func TestFailedStepIsToldOnce(t *testing.T) {
	d := tensor.NewDevice(ahead{cpu.New(cpu.Options{})})
	defer d.Close()
	good, bad := []int32{0, 1, 2}, []int32{0, 3, 1}
	x, other := newTraining(d, optim.Adam{}, false), newTraining(d, optim.Adam{}, false)
	sum := tensor.Scalar(0)
	for i, labels := range [][]int32{good, bad, good} {
		for _, m := range []*training{x, other} {
			if m == other {
				labels = good
			}
			if err := m.step(good, labels); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		sum = sum.Add(x.loss)
	}
	other.numbers(t) // which learns of the failure
	if err := other.step(good, good); err != nil {
		t.Errorf("a step of another model: %v", err)
	}
	if _, err := tensor.Data[float32](sum); err == nil {
		t.Error("the sum of the losses is no error")
	}
	if err := x.step(good, good); err != nil {
		t.Errorf("a step after the error was read: %v", err)
	}
	if got := x.opt.State.Step.Item(); got != 3 {
		t.Errorf("%v steps are counted, want 3", got)
	}
}

// A rule may index its slots.
type takingRule struct{}

func (takingRule) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	if slots != nil {
		g = slots[0].Mul(0.9).Add(g)
	}
	index := tensor.Arange(p.Dim(0)).Flip(0)
	return p.Sub(g.Take(0, index).Sin().Mul(lr)), []tensor.Tensor{g}
}

func TestRuleTakesByIndex(t *testing.T) {
	for name, d := range devices(t) {
		x := newTraining(d, takingRule{}, false)
		for i := range 4 {
			if err := x.step([]int32{0, 1, 2}, []int32{0, 1, 2}); err != nil {
				t.Errorf("%s, step %d: %v", name, i, err)
			}
		}
		x.numbers(t)
	}
}

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

// ahead is the CPU as a device that runs ahead of its caller, as GPUs do.
type ahead struct{ driver.Device }

func (a ahead) Limits() driver.Limits {
	l := a.Device.Limits()
	l.Async = true
	return l
}

// devices are the CPU, the CPU that runs ahead, and what TENSORKEN_DEVICE names.
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

// A classifier has a table of rows, which takes indices too.
type classifier struct {
	Rows nn.Embedding
	Out  nn.Linear
}

// A training is a model that is stepped by hand.
type training struct {
	net  classifier
	opt  *optim.Optimizer
	loss tensor.Tensor
}

func newTraining(d *tensor.Device, rule optim.Rule) *training {
	rng := tensor.NewRNG(1)
	net := classifier{nn.NewEmbedding(rng, 5, 4), nn.NewLinear(rng, 4, 3)}
	return &training{net: tree.To(net, d), opt: optim.New(rule, 0.1)}
}

func (t *training) step(rows, labels []int32) error {
	loss, g := grad.ValueAndGrad(func(c classifier) tensor.Tensor {
		return nn.CrossEntropy(c.Out.Apply(c.Rows.Apply(tensor.New(rows))), tensor.New(labels)).Mean()
	})(t.net)
	t.loss = loss
	return t.opt.Step(&t.net, g)
}

// numbers reads all of the model and the optimizer's slots.
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

// A bad index in any step leaves the model and the optimizer's state as they
// were, and the next good step works. On a device that runs ahead the error of
// the bad step comes when its loss is read, or with a later step.
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
		for _, rule := range []optim.Rule{optim.SGD{}, optim.SGD{Momentum: 0.9}, optim.Adam{}} {
			for _, b := range batches {
				for _, before := range []int{0, 1, 2} {
					x := newTraining(d, rule)
					for range before {
						if err := x.step(good, good); err != nil {
							t.Fatal(err)
						}
					}
					held := x.net.Out.Weight
					was := newTraining(d, rule)
					for range before {
						if err := was.step(good, good); err != nil {
							t.Fatal(err)
						}
					}
					err := x.step(b.rows, b.labels)
					if err == nil { // it runs ahead
						if name == "cpu" || before == 0 && rule != (optim.SGD{}) {
							t.Errorf("%s, %T, step %d with %s: no error", name, rule, before, b.name)
						}
						_, err = tensor.Data[float32](x.loss)
					}
					var e *tensor.Error
					if !errors.As(err, &e) || e.Msg != b.want || !strings.HasPrefix(e.Pos, "failure_test.go:") {
						t.Errorf("%s, %T, step %d with %s: error %v, want %s", name, rule, before, b.name, err, b.want)
					}
					if got, want := x.numbers(t), was.numbers(t); !slices.Equal(got, want) {
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

// Where nobody reads the loss of a failed step, the next one that is told of it
// fails, and so does Sync.
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
		x := newTraining(d, optim.Adam{})
		for i, labels := range [][]int32{good, good, {0, 3, 1}, good} {
			if err := x.step(good, labels); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		if err := tell(x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
		if err := tell(x); err != nil {
			t.Errorf("%s again: %v", name, err)
		}
		x.numbers(t)
	}
}

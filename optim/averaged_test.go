package optim_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

func TestAveraged(t *testing.T) {
	for _, c := range []struct {
		decay float64
		want  []float64
	}{
		{0, []float64{1, 1.5, 2, 2.5}},
		{0.5, []float64{1, 1.5, 2.25, 3.125}},
	} {
		one := tensor.Ones(1)
		a := optim.Averaged[pair]{Decay: c.decay}
		for i, want := range c.want {
			if err := a.Add(pair{tensor.New([]float32{float32(i + 1)}), one}); err != nil {
				t.Fatal(err)
			}
			if got := a.Model.A.Item(); got != want {
				t.Errorf("decay %v: the average of %d models is %v, want %v", c.decay, i+1, got, want)
			}
		}
		var names []string
		for name := range tree.All(a) {
			names = append(names, name)
		}
		if want := []string{"module.a", "module.b", "n_averaged"}; !slices.Equal(names, want) {
			t.Errorf("its tensors are %v, want %v", names, want)
		}
		path := filepath.Join(t.TempDir(), "a.safetensors")
		if err := safetensors.Save(path, a); err != nil {
			t.Fatal(err)
		}
		b := optim.Averaged[pair]{Decay: c.decay}
		if err := safetensors.Load(path, &b); err != nil {
			t.Fatal(err)
		}
		for _, x := range []*optim.Averaged[pair]{&a, &b} {
			if err := x.Add(pair{tensor.New([]float32{9}), one}); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := b.Model.A.Item(), a.Model.A.Item(); got != want {
			t.Errorf("decay %v: after a restart the average is %v, want %v", c.decay, got, want)
		}
	}
	a := optim.Averaged[pair]{Count: tensor.New([]float32{1})}
	if err := a.Add(pair{}); err == nil || !strings.Contains(err.Error(), "optim: the Count of Averaged is float32 [1], want one int64") {
		t.Errorf("Add gave error %v", err)
	}
}

// Averaging and accumulating compile nothing after the second model, and the averages
// hold no models.
func TestAveragedPlans(t *testing.T) {
	freshDevice(t)
	var plans []int
	a, sum := optim.Averaged[pair]{}, optim.Accumulator[pair]{}
	for i := range 5 {
		m := pair{tensor.New([]float32{float32(i), 1}), tensor.New([]float32{2})}
		if err := a.Add(m); err != nil {
			t.Fatal(err)
		}
		if err := sum.Add(m); err != nil {
			t.Fatal(err)
		}
		plans = append(plans, tensor.Info().Plans)
	}
	if plans[2] != plans[4] {
		t.Errorf("after each model there are %v plans, want no more after the third", plans)
	}
}

// A step of the mean gradient of batches of one size equals a step of all examples.
func TestAccumulator(t *testing.T) {
	rng := tensor.NewRNG(1)
	net := nn.NewLinear(rng, 3, 2)
	x, y := rng.Normal(6, 3), rng.Normal(6, 2)
	loss := func(from, to int) func(nn.Linear) tensor.Tensor {
		return func(l nn.Linear) tensor.Tensor {
			return nn.MSE(l.Apply(x.Slice(0, from, to)), y.Slice(0, from, to)).Mean()
		}
	}
	var sum optim.Accumulator[nn.Linear]
	for range 2 { // Mean starts over
		for i := range 3 {
			if err := sum.Add(grad.Of(loss(2*i, 2*i+2))(net)); err != nil {
				t.Fatal(err)
			}
		}
		got, want := sum.Mean(), grad.Of(loss(0, 6))(net)
		if ok, err := tensor.AllClose(got.Weight, want.Weight, 1e-5, 1e-6); err != nil || !ok {
			t.Errorf("the mean of three gradients = %v, want %v (%v)", got.Weight, want.Weight, err)
		}
	}
	var parts optim.Accumulator[pair]
	if m := parts.Mean(); m.A.IsValid() {
		t.Errorf("the mean of no gradients is %v", m)
	}
	one := tensor.New([]float32{1})
	for _, g := range []pair{{A: one}, {B: one}, {A: one, B: one}, {}} {
		if err := parts.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	if m := parts.Mean(); m.A.Item() != 0.5 || m.B.Item() != 0.5 {
		t.Errorf("the mean of gradients of which half are absent = %v, want 0.5", m)
	}
	if err := parts.Add(pair{A: one}); err != nil {
		t.Fatal(err)
	}
	if err := parts.Add(pair{A: tensor.Ones(2, 3).Cast(tensor.Float16)}); err == nil || parts.Count != 1 {
		t.Errorf("Add of a gradient of another type gave error %v and %d gradients, want an error and 1", err, parts.Count)
	}
}

// The rates of PyTorch's ReduceLROnPlateau, by its rules.
func TestPlateau(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       optim.Plateau
		metrics []float64
		want    []float64
	}{
		{"patience", optim.Plateau{Patience: 2, Factor: 0.5}, []float64{1, 1, 1, 1, 1, 1, 1}, []float64{1, 1, 1, 0.5, 0.5, 0.5, 0.25}},
		{"no patience", optim.Plateau{Patience: -1}, []float64{1, 0.5, 0.5, 0.4}, []float64{1, 1, 0.1, 0.1}},
		{"threshold", optim.Plateau{Patience: -1, Threshold: 0.1, Factor: 0.5}, []float64{1, 0.95, 0.8}, []float64{1, 0.5, 0.5}},
		{"maximize", optim.Plateau{Patience: 1, Maximize: true, Factor: 0.5}, []float64{1, 2, 1.5, 1.9, 3}, []float64{1, 1, 1, 0.5, 0.5}},
		{"cooldown", optim.Plateau{Patience: -1, Cooldown: 2, Factor: 0.5}, []float64{1, 1, 1, 1, 1}, []float64{1, 0.5, 0.5, 0.5, 0.25}},
		{"floor", optim.Plateau{Patience: -1, Floor: 0.3, Factor: 0.5}, []float64{1, 1, 1}, []float64{1, 0.5, 0.3}},
		{"NaN", optim.Plateau{Patience: -1, Factor: 0.5}, []float64{math.NaN(), 1, math.NaN()}, []float64{0.5, 0.5, 0.25}},
	} {
		p := c.p
		if got := p.Schedule(0); got != 1 {
			t.Errorf("%s: at first the rate is %v, want 1", c.name, got)
		}
		for i, m := range c.metrics {
			p.Observe(m)
			if got := p.Schedule(99); got != c.want[i] {
				t.Errorf("%s: after %v the rate is %v, want %v", c.name, c.metrics[:i+1], got, c.want[i])
			}
			path := filepath.Join(t.TempDir(), "p.safetensors") // each time by a restart
			if err := safetensors.Save(path, p); err != nil {
				t.Fatal(err)
			}
			p = c.p
			if err := safetensors.Load(path, &p); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := optim.Plateau{State: tensor.Ones(3)}
	if err := tensor.Try(func() { p.Observe(1) }); err == nil || !strings.Contains(err.Error(), "optim.Plateau: its State is float32 [3], want four float64") {
		t.Errorf("Observe gave error %v", err)
	}
}

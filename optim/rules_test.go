package optim_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// sign returns -1, 0 or 1.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// Rules that PyTorch lacks, in float64, against their formulas on the host.
func TestRulesOnHost(t *testing.T) {
	const lr, decay = 0.1, 0.02
	norm := func(x []float64) (s float64) {
		for _, v := range x {
			s += v * v
		}
		return math.Sqrt(s)
	}
	for name, c := range map[string]struct {
		rule optim.Rule
		host func(p, g, m, v []float64, step int)
	}{
		"Lion": {optim.Lion{WeightDecay: decay}, func(p, g, m, _ []float64, _ int) {
			for i := range p {
				p[i] = p[i]*(1-lr*decay) - lr*sign(0.9*m[i]+0.1*g[i])
				m[i] = 0.99*m[i] + 0.01*g[i]
			}
		}},
		"LAMB": {optim.LAMB{WeightDecay: decay}, func(p, g, m, v []float64, step int) {
			u, k := make([]float64, len(p)), float64(step+1)
			for i := range p {
				m[i], v[i] = 0.9*m[i]+0.1*g[i], 0.999*v[i]+0.001*g[i]*g[i]
				u[i] = m[i]/(1-math.Pow(0.9, k))/(math.Sqrt(v[i]/(1-math.Pow(0.999, k)))+1e-6) + decay*p[i]
			}
			trust := norm(p) / norm(u)
			for i := range p {
				p[i] -= lr * trust * u[i]
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			rng := tensor.NewRNG(1)
			w := rng.Normal(3, 5).Cast(tensor.Float64)
			p, err := tensor.Data[float64](w)
			if err != nil {
				t.Fatal(err)
			}
			m, v, o := make([]float64, 15), make([]float64, 15), optim.New(c.rule, lr)
			for step := range 5 {
				g := rng.Normal(3, 5).Cast(tensor.Float64)
				onHost, err := tensor.Data[float64](g)
				if err != nil {
					t.Fatal(err)
				}
				c.host(p, onHost, m, v, step)
				if err := o.Step(&w, g); err != nil {
					t.Fatal(err)
				}
				ok, err := tensor.AllClose(w, tensor.New(p, 3, 5), 1e-12, 1e-12)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					t.Fatalf("step %d: %v, want %v", step, w, tensor.New(p, 3, 5))
				}
			}
		})
	}
}

// The average of ASGD is p until T0, then the mean of all later p.
func TestASGDAverage(t *testing.T) {
	p, o := tensor.New([]float64{0}), optim.New(optim.ASGD{Lambda: 1e-12, T0: 2}, 1)
	for step, want := range []float64{-1, -2, -3, -4, -4.5, -5} { // p is -1, -2, …
		if err := o.Step(&p, tensor.New([]float64{1})); err != nil {
			t.Fatal(err)
		}
		if got := o.State.Slots[".0"].Item(); math.Abs(got-want) > 1e-9 {
			t.Errorf("after step %d the average is %v, want %v", step, got, want)
		}
	}
}

// A parameter of zeros and a gradient of zeros leave LAMB's factor at 1.
func TestLAMBZeros(t *testing.T) {
	p := tensor.Zeros(3)
	for _, g := range []tensor.Tensor{tensor.Zeros(3), tensor.Ones(3)} {
		next, _ := optim.LAMB{}.Update(p, g, nil, 0.1, 0)
		if got, want := floats(t, next)[0], -0.1*float32(g.At(0).Item()); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("LAMB of zeros and gradients %v = %v, want %v", g, got, want)
		}
	}
}

// Muon's steps of a matrix have singular values near 1, whatever the gradient's; a
// convolution's kernel is a matrix of its output channels.
func TestMuonOrthogonalizes(t *testing.T) {
	rng := tensor.NewRNG(3)
	for _, shape := range [][]int{{4, 9}, {9, 4}, {7, 7}, {5, 2, 3, 3}} {
		g := rng.Normal(shape...).Mul(1e-3)
		next, _ := optim.Muon{MatchAdamW: true}.Update(tensor.Zeros(shape...), g, nil, 1, 0)
		rows, columns := g.Dim(0), g.Len()/g.Dim(0)
		o := next.Reshape(rows, columns).Div(-0.2 * math.Sqrt(float64(max(rows, columns))))
		if rows > columns {
			o = o.T()
		}
		trace := o.MatMul(o.T()).Diag(0).Mean().Item() // the mean of the squared singular values
		if trace < 0.5 || trace > 1.3 {
			t.Errorf("the step of shape %v has squared singular values of mean %v, want about 1", shape, trace)
		}
	}
	p, g := tensor.Ones(3), tensor.New([]float32{1, -2, 3})
	got, _ := optim.Muon{WeightDecay: 0.1}.Update(p, g, nil, 0.1, 0)
	want, _ := optim.AdamW{WeightDecay: 0.1}.Update(p, g, nil, 0.1, 0)
	if !near(floats(t, got), floats(t, want)) {
		t.Errorf("Muon of a vector = %v, want AdamW's %v", got, want)
	}
}

// Steps have derivatives, as learning to learn needs them.
func TestRulesDifferentiate(t *testing.T) {
	for _, name := range []string{"NAdam", "RAdam", "LAMB", "centred", "Adadelta", "AMSGrad"} {
		slots := []tensor.Tensor(nil)
		gradtest.Check(t, func(g tensor.Tensor) tensor.Tensor {
			p, _ := rules[name].Update(tensor.New([]float64{1, -2, 0.5}), g, slots, 0.1, 7)
			return p.Square().Sum()
		}, tensor.New([]float64{0.3, 1, -0.7}), 1)
	}
	x := tensor.New([]float32{1, 2, 3, 5}, 2, 2)
	d := grad.Of(func(g tensor.Tensor) tensor.Tensor {
		p, _ := optim.Muon{}.Update(x, g, nil, 0.1, 0)
		return p.Square().Sum()
	})(x)
	if got := d.Abs().Sum().Item(); !(got > 0) {
		t.Errorf("the derivative of a step of Muon by the gradient = %v, want other than 0", d)
	}
}

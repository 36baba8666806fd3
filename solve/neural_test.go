package solve_test

import (
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/solve"
	"github.com/tensorken/tensorken/tensor"
)

// A network is the right-hand side: trained by the adjoint equation, it learns to turn.
func TestNeuralODE(t *testing.T) {
	if testing.Short() {
		t.Skip("trains")
	}
	type Net struct{ In, Out nn.Linear }
	rng := tensor.NewRNG(1)
	net := Net{nn.NewLinear(rng, 2, 16), nn.NewLinear(rng, 16, 2)}
	field := func(n Net, _, y tensor.Tensor) tensor.Tensor { return n.Out.Apply(n.In.Apply(y).Tanh()) }
	ts := []float64{0, 0.5, 1}
	start := rng.Normal(8, 2)
	want := solve.ODE(func(_ struct{}, _, y tensor.Tensor) tensor.Tensor {
		return tensor.Cat(1, y.Slice(1, 1, 2).Neg(), y.Slice(1, 0, 1))
	}, struct{}{}, start, ts, nil)
	loss := func(n Net) tensor.Tensor {
		out := solve.ODE(field, n, start, ts, &solve.Options{RTol: 1e-3, ATol: 1e-4})
		return nn.MSE(out[1], want[1]).Mean().Add(nn.MSE(out[2], want[2]).Mean())
	}
	opt := optim.New(optim.Adam{}, 0.02)
	var first, last, plans float64
	for step := range 60 {
		l, g := grad.ValueAndGrad(loss)(net)
		if err := opt.Step(&net, g); err != nil {
			t.Fatal(err)
		}
		last = l.Item()
		switch step {
		case 0:
			first = last
		case 5:
			plans = float64(tensor.Info().Plans)
		}
	}
	if !(last < first/20) {
		t.Errorf("the loss went from %v to %v, want a twentieth", first, last)
	}
	if more := float64(tensor.Info().Plans) - plans; more > 3 {
		t.Errorf("steps 6 to 60 compiled %v plans, want none", more)
	}
}

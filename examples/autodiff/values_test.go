package main

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// near fails the test unless got equals want within the relative tolerance rtol and the
// absolute tolerance rtol/50.
func near(t *testing.T, call string, got tensor.Tensor, rtol float64, want ...float32) {
	t.Helper()
	if got.Len() != len(want) {
		t.Errorf("%s = %v, want %v", call, got, want)
		return
	}
	ok, err := tensor.AllClose(got, tensor.New(want, got.Shape()...), rtol, rtol/50)
	if err != nil || !ok {
		t.Errorf("%s = %v, want %v, error %v", call, got, want, err)
	}
}

const rtol = 1e-5

func TestTanh(t *testing.T) {
	tanh, x := tensor.Tensor.Tanh, tensor.Scalar(2)
	near(t, "the first derivative of tanh", grad.Of(tanh)(x), rtol, 0.07065082)
	near(t, "the second derivative of tanh", grad.Of(grad.Of(tanh))(x), rtol, -0.13621868)
	near(t, "the third derivative of tanh", grad.Of(grad.Of(grad.Of(tanh)))(x), rtol, 0.25265408)
	near(t, "the first derivative of tanh, forwards", grad.Diff(tanh)(x), rtol, 0.07065082)
	near(t, "the second derivative of tanh, forwards", grad.Diff(grad.Diff(tanh))(x), rtol, -0.13621868)
	near(t, "the third derivative of tanh, forwards", grad.Diff(grad.Diff(grad.Diff(tanh)))(x), rtol, 0.25265405)
}

// TestPoints compares values at two points with those printed by the Rust library from
// which this one derives, and by JAX.
func TestPoints(t *testing.T) {
	setup()
	for _, c := range []struct {
		name      string
		m         Model
		loss      float32
		w, b      []float32 // its gradient
		jacobian  []float32 // of the predictions, by W
		jacobianB []float32 // by B; nil: not printed
		hessian   []float32 // as much as was printed
	}{
		{
			name: "own",
			m:    model,
			loss: 10.4931755,
			w:    []float32{-1.0830948, 2.5363755, -3.2000453},
			b:    []float32{-1.2319121},
			jacobian: []float32{
				0.12540427, 0.27010152, 0.18569478,
				0.20671119, -0.25369102, 0.03523486,
				0.01164451, 0.0013435973, -0.029111274,
				0.005800748, -0.019518731, 0.010895998,
			},
			hessian: []float32{0.012260871, 0.026408032, 0.01815552, 0.026408046, 0.056878872, 0.039104223},
		},
		{
			name: "JAX's",
			m:    jaxModel,
			loss: 3.051939,
			w:    []float32{-0.16965576, -0.8774645, -1.4901344},
			b:    []float32{-0.29227236},
			jacobian: []float32{
				0.05981756, 0.12883782, 0.088576,
				0.04015914, -0.04928622, 0.00684531,
				0.12188289, 0.01406341, -0.3047072,
				0.00140428, -0.00472522, 0.00263777,
			},
			jacobianB: []float32{0.11503378, 0.04563539, 0.23439017, 0.00189768},
			hessian: []float32{
				0.02285465, 0.0492254, 0.03384246, 0.0492254, 0.10602394, 0.07289147, 0.03384246, 0.07289146, 0.05011288,
				-0.03195214, 0.03921399, -0.00544639, 0.03921399, -0.04812626, 0.0066842, -0.00544639, 0.0066842, -0.00092836,
				-0.01583708, -0.00182736, 0.03959271, -0.00182736, -0.00021085, 0.00456839, 0.03959271, 0.00456839, -0.09898177,
				-0.00103522, 0.00348336, -0.00194453, 0.00348336, -0.01172105, 0.00654308, -0.00194453, 0.00654308, -0.00365256,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			value, g := grad.ValueAndGrad(loss)(c.m)
			near(t, "the loss", value, rtol, c.loss)
			near(t, "the gradient by W", g.W, rtol, c.w...)
			near(t, "the gradient by B", g.B, rtol, c.b...)

			all := func(m Model) tensor.Tensor { return m.predict(inputs) }
			for name, j := range map[string]Model{"JacRev": grad.JacRev(all)(c.m), "JacFwd": grad.JacFwd(all)(c.m)} {
				near(t, name+" by W", j.W, rtol, c.jacobian...)
				if c.jacobianB != nil {
					near(t, name+" by B", j.B, rtol, c.jacobianB...)
				}
			}

			byW := func(w tensor.Tensor) tensor.Tensor { return Model{w, c.m.B}.predict(inputs) }
			rev, fwd := grad.JacRev[tensor.Tensor], grad.JacFwd[tensor.Tensor]
			for name, h := range map[string]tensor.Tensor{
				"JacFwd(JacRev)": fwd(rev(byW))(c.m.W),
				"JacRev(JacFwd)": rev(fwd(byW))(c.m.W),
				"JacFwd(JacFwd)": fwd(fwd(byW))(c.m.W),
				"JacRev(JacRev)": rev(rev(byW))(c.m.W),
			} {
				if h.Rank() != 3 || h.Dim(0) != 4 || h.Dim(1) != 3 || h.Dim(2) != 3 {
					t.Fatalf("%s has shape %v, want [4 3 3]", name, h.Shape())
				}
				near(t, name, h.Flatten(0).Slice(0, 0, len(c.hessian)), rtol, c.hessian...)
			}
		})
	}
}

func TestStep(t *testing.T) {
	setup()
	near(t, "the prediction", model.predict(inputs), rtol, 0.4059896, 0.37711427, 0.9770815, 0.007901279)
	g := grad.Of(loss)(model)
	next := Model{model.W.Sub(g.W), model.B.Sub(g.B)}
	near(t, "the prediction after a step", next.predict(inputs), rtol, 0.7384342, 0.99262685, 0.7747804, 0.9996524)
	near(t, "the loss after a step", loss(next), rtol, 1.8016509)
}

func TestDifferences(t *testing.T) {
	setup()
	// The loss is about 10, so its last bit changes this slope by 1e-2.
	near(t, "the slope by b over 1e-4", slope(byB, model.B, tensor.Scalar(1), 1e-4), 2e-2, -1.2207031)
	near(t, "the slope by b over 2e-2", slope(byB, model.B, tensor.Scalar(1), 2e-2), 2e-4, -1.2319121)
	near(t, "JAX's slope along a direction", grad.Of(loss)(jaxModel).W.Dot(direction), rtol, -0.19909099)
	for _, m := range []Model{model, jaxModel} {
		gradtest.Check(t, loss, m, 2)
	}
}

func TestProducts(t *testing.T) {
	setup()
	_, u := grad.JVP(predictions, model.W, tangent)
	near(t, "JVP", u, rtol, -0.08731453, -0.6422997, 0.030008234, -0.048661374)
	_, push := grad.Linearize(predictions, model.W)
	near(t, "Linearize", push(tangent), rtol, -0.08731453, -0.6422997, 0.030008234, -0.048661374)
	_, pull := grad.VJP(predictions, model.W)
	near(t, "VJP", pull(cotangent), rtol, 0.23369679, -0.01894408, 0.10165723)
	near(t, "VJP of ones", pull(tensor.Ones(4)), rtol, 0.34956074, -0.0017646346, 0.20271438)
}

// TestHessianProducts uses JAX's function with JAX's size.
func TestHessianProducts(t *testing.T) {
	rng := tensor.NewRNG(1)
	x, v := rng.Normal(30, 40), rng.Normal(30, 40)
	want := byHessian(energy, x, v)
	for _, way := range products {
		got := way.product(energy, x, v)
		if ok, err := tensor.AllClose(got, want, 1e-4, 1e-4); err != nil || !ok {
			t.Errorf("%s is not the product with the Hessian, by %v, error %v", way.name, got.Sub(want).Abs().Max(), err)
		}
	}
}

func TestNewton(t *testing.T) {
	setup()
	m := Model{tensor.Zeros(3), tensor.Scalar(0)}
	for range 7 {
		m = newton(penalized, m)
	}
	g, _ := tree.Ravel(grad.Of(penalized)(m))
	if length := g.Norm().Item(); length > 1e-5 {
		t.Errorf("after 7 steps the gradient's length is %g, want 0", length)
	}
}

func TestSolve(t *testing.T) {
	a := tensor.From([][]float32{{4, 1, 0}, {1, 3, 1}, {0, 1, 2}})
	x := tensor.New([]float32{1, -2, 3})
	near(t, "solve", solve(a.MatMul, a.MatMul(x)), rtol, 1, -2, 3)
}

func TestBatches(t *testing.T) {
	setup()
	each := exampleGradients(model, Example{inputs, targets})
	for i := range inputs.Dim(0) {
		x, y := inputs.At(i), targets.At(i)
		want := grad.Of(func(m Model) tensor.Tensor { return m.loss(x, y) })(model)
		w, err := tensor.Data[float32](want.W)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "an example's gradient by W", each.W.At(i), rtol, w...)
		near(t, "an example's gradient by B", each.B.At(i), rtol, float32(want.B.Item()))
	}
}

// TestJAXPages compares with other numbers that JAX's pages print.
func TestJAXPages(t *testing.T) {
	near(t, "the derivative of bent at 4", grad.Of(bent)(tensor.Scalar(4)), rtol, 3.1415927)

	theta := tensor.New([]float32{0.1, -0.1, 0})
	near(t, "the step of temporal differences", grad.Of(newMove().stopped)(theta), rtol, 1.2, 2.4, -1.2)
	near(t, "roundThrough(3.2)", roundThrough(tensor.Scalar(3.2)), rtol, 3)
	near(t, "the derivative of roundThrough", grad.Of(roundThrough)(tensor.Scalar(3.2)), rtol, 1)

	near(t, "log1pexp(3)", log1pexp(tensor.Scalar(3)), rtol, 3.0485873)
	for name, f := range map[string]function{"naive": naive, "log1pexp": log1pexp} {
		near(t, "the derivative of "+name, grad.Of(f)(tensor.Scalar(3)), rtol, 0.9525741)
		near(t, "the derivatives of "+name, grad.Vmap(grad.Of(f))(tensor.Linspace(0, 2, 3)), rtol, 0.5, 0.7310586, 0.8807971)
	}
	great := tensor.Scalar(100)
	if g := grad.Of(naive)(great); !math.IsNaN(g.Item()) {
		t.Errorf("the derivative of naive at 100 is %v, want NaN", g)
	}
	near(t, "the derivative of log1pexp at 100", grad.Of(log1pexp)(great), rtol, 1)
	near(t, "the derivative of log1pexp at 100, forwards", grad.Diff(log1pexp)(great), rtol, 1)
	near(t, "the second derivative of log1pexp at 100", grad.Of(grad.Of(log1pexp))(great), rtol, 0)
}

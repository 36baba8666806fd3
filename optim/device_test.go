package optim_test

import (
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// same fails unless a device's model is about the CPU's.
func same[M any](t *testing.T, what string, got, want M) {
	t.Helper()
	tree.Zip(got, want, func(name string, x, y tensor.Tensor) tensor.Tensor {
		if ok, err := tensor.AllClose(tree.To(x, tensor.CPU()), y, 1e-4, 1e-5); err != nil || !ok {
			t.Errorf("%s: %s = %v, on the CPU %v (%v)", what, name, x, y, err)
		}
		return x
	})
}

// Every rule gives the same on all devices, with a loss scale and without.
func TestRulesOnDevices(t *testing.T) {
	tr := readTraces(t, "training_traces")
	m, f := tr.problem()
	for device, d := range devices(t) {
		for name, rule := range rules {
			run := func(m model, half bool) model {
				o := optim.New(rule, 0.01)
				if half {
					o.Precision, o.Scaling.Initial = tensor.Float16, 1<<24
				}
				for range 6 {
					g := grad.Of(f)(m)
					if half {
						optim.ValueAndGrad(o, func(m model) tensor.Tensor { return m.W1.Sum() })(m) // makes the scale
					}
					if err := o.Step(&m, g); err != nil {
						t.Fatalf("%s on %s: %v", name, device, err)
					}
				}
				return m
			}
			want := run(m, false)
			same(t, name+" on "+device, run(tree.To(m, d), false), want)
			if name == "Adam" {
				same(t, name+" with a loss scale on "+device, run(tree.To(m, d), true), want)
			}
		}
	}
}

// Float16 overflows and recovers on all devices, and L-BFGS finds the same minimum.
func TestPrecisionOnDevices(t *testing.T) {
	m, f := mixedProblem(t)
	for device, d := range devices(t) {
		run := func(m model) (model, float64) {
			o := optim.New(optim.SGD{}, 0.1)
			o.Precision, o.Scaling.Initial = tensor.Float16, 1<<24
			for range 12 {
				_, g := optim.ValueAndGrad(o, f)(m)
				if err := o.Step(&m, g); err != nil {
					t.Fatal(err)
				}
			}
			return m, o.State.Scale.Item()
		}
		got, scale := run(tree.To(m, d))
		if last, first := f(tree.To(got, tensor.CPU())).Item(), f(m).Item(); !(last < first-0.05) || scale >= 1<<24 {
			t.Errorf("on %s the loss went from %v to %v, with a scale of %v at the end", device, first, last, scale)
		}
		x := rosenbrockStart().To(d)
		if loss, err := optim.Minimize(&optim.LBFGS{MaxIter: 60, MaxEval: 200}, &x, rosenbrock); err != nil || loss > 1e-6 {
			t.Errorf("on %s the minimum is %v at %v, %v", device, loss, x, err)
		}
	}
}

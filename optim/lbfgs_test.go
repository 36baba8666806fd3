package optim_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

func TestLBFGSTrace(t *testing.T) {
	tr := readTraces(t, "optimizer_traces")
	for _, run := range tr.Runs {
		if run.Optimizer != "lbfgs" {
			continue
		}
		m, f := tr.problemIn(tensor.Float64) // in float32, 150 iterations end 0.02 away
		o := optim.LBFGS{MaxIter: 5}
		for step, want := range run.Losses {
			if got := f(m).Item(); math.Abs(got-want) > 1e-5 {
				t.Errorf("step %d: loss %v, want %v", step, got, want)
			}
			if _, err := optim.Minimize(&o, &m, f); err != nil {
				t.Fatal(err)
			}
		}
		run.checkFinal(t, tree.Cast(m, tensor.Float32))
		return
	}
	t.Error("there is no trace of lbfgs")
}

// rosenbrock is least, 0, where all elements are 1.
func rosenbrock(x tensor.Tensor) tensor.Tensor {
	a, b := x.Slice(0, 0, -1), x.Slice(0, 1, tensor.End)
	return b.Sub(a.Square()).Square().Mul(100).Add(a.Neg().Add(1).Square()).Sum()
}

func TestMinimize(t *testing.T) {
	for _, history := range []int{0, 3, 20} { // the rows wrap around, grow, or stay as they are
		x := tensor.New([]float64{-1.2, 1, -0.5, 0.8, 2})
		o := optim.LBFGS{MaxIter: 100, MaxEval: 1000, TolChange: 1e-15, History: history}
		loss, err := optim.Minimize(&o, &x, rosenbrock)
		if err != nil {
			t.Fatal(err)
		}
		if off := x.Sub(1).Abs().Max().Item(); off > 1e-6 || loss > 1e-12 {
			t.Errorf("History %d: the minimum is %v at %v, want 0 at ones", history, loss, x)
		}
	}
}

// A quadratic function of n elements is solved in about n iterations, by any length to
// try first, and in several calls, with a restart between, as in one.
func TestMinimizeResumes(t *testing.T) {
	rng := tensor.NewRNG(2)
	a := rng.Normal(6, 6).Cast(tensor.Float64)
	f := func(m pair) tensor.Tensor {
		r := a.MatMul(m.A.Reshape(6, 1)).Sub(1)
		return r.Square().Sum().Add(m.B.Cast(tensor.Float64).Sub(2).Square().Sum())
	}
	start := pair{tensor.Zeros(2, 3).Cast(tensor.Float64), tensor.Zeros(1)} // of two types
	at := start
	once := optim.LBFGS{LR: 0.3, MaxIter: 20, MaxEval: 1000, TolChange: 1e-14}
	want, err := optim.Minimize(&once, &at, f)
	if err != nil {
		t.Fatal(err)
	}
	m, o := start, optim.LBFGS{LR: 0.3, MaxIter: 4, MaxEval: 1000, TolChange: 1e-14}
	var got float64
	for range 5 {
		if got, err = optim.Minimize(&o, &m, f); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "state.safetensors")
		if err := safetensors.Save(path, o.State); err != nil {
			t.Fatal(err)
		}
		o.State = optim.LBFGSState{}
		if err := safetensors.Load(path, &o.State); err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(got-want) > 1e-8 || m.B.DType() != tensor.Float32 {
		t.Errorf("five calls of four iterations gave %v, one of twenty %v, want the same", got, want)
	}
}

// Iterations compile nothing new once the rows have their number.
func TestMinimizePlans(t *testing.T) {
	freshDevice(t)
	x := rosenbrockStart()
	o := optim.LBFGS{MaxIter: 4, History: 4, MaxEval: 100}
	plans := []int{}
	for range 5 {
		if _, err := optim.Minimize(&o, &x, rosenbrock); err != nil {
			t.Fatal(err)
		}
		plans = append(plans, tensor.Info().Plans)
	}
	if plans[1] != plans[4] {
		t.Errorf("after calls of 4 iterations there are %v plans, want no more after the second", plans)
	}
}

func rosenbrockStart() tensor.Tensor { return tensor.New([]float32{-1.2, 1, -0.5}) }

// Where the loss is not a number, the line search takes a shorter step.
func TestMinimizeOutside(t *testing.T) {
	x := tensor.New([]float64{0.01})
	loss, err := optim.Minimize(&optim.LBFGS{LR: 100}, &x, func(x tensor.Tensor) tensor.Tensor {
		return x.Sub(x.Log()).Sum() // NaN for x < 0
	})
	if err != nil || math.Abs(x.Item()-1) > 1e-4 {
		t.Errorf("the minimum of x - log x is %v at %v, want 1 at 1 (%v)", loss, x, err)
	}
}

func TestMinimizeMisuse(t *testing.T) {
	small := optim.LBFGS{}
	x := rosenbrockStart()
	if _, err := optim.Minimize(&small, &x, rosenbrock); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    optim.LBFGS
		x    tensor.Tensor
		f    func(tensor.Tensor) tensor.Tensor
		want string
	}{
		{optim.LBFGS{}, tensor.New([]int32{1}), rosenbrock, "optim: Minimize: the model has no floating-point parameter"},
		{optim.LBFGS{}, tensor.New([]float32{-1}), func(x tensor.Tensor) tensor.Tensor { return x.Log().Sum() }, "want finite ones at the start"},
		{optim.LBFGS{}, tensor.New([]float64{1}), func(x tensor.Tensor) tensor.Tensor { return x.Log().Sum() }, "the loss falls to -Inf"},
		{optim.LBFGS{}, tensor.New([]float64{1}), func(x tensor.Tensor) tensor.Tensor { return x.Exp().Neg().Sum() }, "the loss falls to -Inf"},
		{optim.LBFGS{}, x, func(x tensor.Tensor) tensor.Tensor { return rosenbrock(x).Mul(1e25) }, "float32 lacks its square: divide the loss"},
		{optim.LBFGS{History: -1}, x, rosenbrock, "optim: Minimize: History is -1, want at least 1"},
		{optim.LBFGS{}, x, func(x tensor.Tensor) tensor.Tensor { return x }, "must have one element"},
		{small, tensor.Ones(4), rosenbrock, "the State has rows float32 [32 3], which do not fit a model of float32 [4]"},
		{optim.LBFGS{History: 5, State: small.State}, x, rosenbrock, "and a History of 5: LBFGSState{} starts over"},
	} {
		before := c.x
		_, err := optim.Minimize(&c.o, &c.x, c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want …%s…", err, c.want)
		}
		if before.Ne(c.x).Any().Item() != 0 {
			t.Errorf("after %v the model is %v, want %v", err, c.x, before)
		}
	}
}

package grad_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// TestTreesMayChange changes trees after a transformation has had them, as
// programs do that use one slice or map again and again.
func TestTreesMayChange(t *testing.T) {
	type list = []tensor.Tensor
	product := grad.Custom(func(p list) tensor.Tensor { return p[0].Mul(p[1]) },
		func(p list, _, ct tensor.Tensor) list { return list{ct.Mul(p[1]), ct.Mul(p[0])} })
	g := grad.Of(func(p list) tensor.Tensor {
		y := product(p).Sum()
		p[0] = tensor.Tensor{}
		return y
	})(list{f64(3), f64(5)})
	check(t, "Custom's first gradient", g[0], 5)
	check(t, "Custom's second gradient", g[1], 3)

	results := map[string]tensor.Tensor{}
	_, push := grad.Linearize(func(x tensor.Tensor) map[string]tensor.Tensor {
		results["square"] = x.Square()
		return results
	}, f64(3))
	results["more"] = f64(1)
	check(t, "Linearize's derivative", push(f64(1))["square"], 6)
}

// TestStateOfResults pulls on running statistics, which have no part in
// derivatives in either mode.
func TestStateOfResults(t *testing.T) {
	type result struct {
		Y    tensor.Tensor
		Mean tensor.Tensor `tensor:",state"`
	}
	_, pull := grad.VJP(func(x tensor.Tensor) result { return result{x.Square(), x.Mul(10)} }, f64(1, 2))
	check(t, "pull", pull(result{f64(1, 1), f64(1, 1)}), 2, 4)
	_, tangent := grad.JVP(func(x tensor.Tensor) result { return result{x.Square(), x.Mul(10)} }, f64(1, 2), f64(1, 1))
	if tangent.Mean.IsValid() {
		t.Error("JVP: the tangent of what is tagged state is there")
	}
}

// TestRunningMean computes something from turn to turn inside of a differentiated function:
// the graphs of earlier turns are collected.
func TestRunningMean(t *testing.T) {
	mean := tensor.Zeros(1000)
	held := func() int64 {
		runtime.GC()
		runtime.GC()
		return tensor.Info().Held
	}
	var before int64
	for i := range 60 {
		grad.Of(func(x tensor.Tensor) tensor.Tensor {
			y := x.Square()
			mean = mean.Mul(0.9).Add(y.Mul(0.1))
			if err := tensor.Eval(mean); err != nil {
				t.Fatal(err)
			}
			return y.Sum()
		})(tensor.Ones(1000))
		if i == 9 {
			before = held()
		}
	}
	deadline := time.Now().Add(10 * time.Second) // for cleanups to run
	for held() > before+8000 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if after := held(); after > before+8000 {
		t.Errorf("after 10 turns %d bytes are held, after 60 %d", before, after)
	}
}

// TestHalfMaximum stores a maximum of float16 numbers that the gradient computes
// again, with more digits than were stored.
func TestHalfMaximum(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		x := tensor.NewRNG(1).Normal(4, 9).Cast(d)
		zero := tensor.New([]int32{0}, 1, 1).Expand(4, 9)
		for name, f := range map[string]function{
			"Max":        func(x tensor.Tensor) tensor.Tensor { return x.Mul(1.1).Max(1) },
			"Max of all": func(x tensor.Tensor) tensor.Tensor { return x.Mul(1.1).Max() },
			"ScatterMax": func(x tensor.Tensor) tensor.Tensor {
				return tensor.Full(-9, 4, 1).Cast(d).ScatterMax(1, zero, x.Mul(1.1))
			},
		} {
			g := grad.Of(func(x tensor.Tensor) tensor.Tensor {
				y := f(x)
				if err := tensor.Eval(y); err != nil {
					t.Fatal(err)
				}
				return y.Sum()
			})(x)
			want := 1.1 * float64(f(x).Len())
			if got := g.Cast(tensor.Float64).Sum().Item(); !(math.Abs(got-want) < 0.01*want) {
				t.Errorf("%v: the gradient of %s adds up to %v, want %v", d, name, got, want)
			}
		}
	}
}

// TestZeroPush has rules that give zero in ways that do not depend on v.
func TestZeroPush(t *testing.T) {
	for name, zero := range map[string]func(v tensor.Tensor) tensor.Tensor{
		"absent": func(v tensor.Tensor) tensor.Tensor { return tensor.Tensor{} },
		"like v": func(v tensor.Tensor) tensor.Tensor { return tensor.ZerosLike(v) },
		"shaped": func(v tensor.Tensor) tensor.Tensor { return tensor.Zeros(2, 1).Cast(tensor.Float64).Reshape(2) },
		"0·v":    func(v tensor.Tensor) tensor.Tensor { return v.Mul(0) },
	} {
		f := grad.CustomJVP(tensor.Tensor.Floor, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) { return x.Floor(), zero(v) })
		check(t, name+", by reverse mode", pullOnes(f)(f64(1.5, 2.5)), 0, 0)
		check(t, name+", by forward mode", pushOnes(f)(f64(1.5, 2.5)), 0, 0)
	}
}

// TestBadIndexForward has an index out of range whose check forward mode would
// leave out with the value.
func TestBadIndexForward(t *testing.T) {
	bad := tensor.New([]int32{7})
	for name, d := range map[string]tensor.Tensor{
		"ScatterAdd":           pushOnes(func(x tensor.Tensor) tensor.Tensor { return f64(1, 2, 3).ScatterAdd(0, bad, x) })(f64(1)),
		"the gradient of Take": pushOnes(grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Take(0, bad).Square().Sum() }))(f64(1, 2, 3)),
		"Checkpoint of it": pushOnes(grad.Checkpoint(grad.Of(func(x tensor.Tensor) tensor.Tensor {
			return x.Take(0, bad).Square().Sum()
		})))(f64(1, 2, 3)),
	} {
		if err := tensor.Eval(d); err == nil {
			t.Errorf("the derivative of %s along ones, index 7 of 3: no error", name)
		}
	}
}

package grad_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func TestJVP(t *testing.T) {
	y, dy := grad.JVP(func(x tensor.Tensor) tensor.Tensor { return x.Mul(x).Sin().Sum() }, f64(1, 2), f64(1, 0.5))
	check(t, "value", y, math.Sin(1)+math.Sin(4))
	check(t, "tangent", dy, 2*math.Cos(1)+2*math.Cos(4))

	a, b := tensor.New([]float64{1, 2, 3, 4, 5, 6}).Reshape(2, 3), tensor.New([]float64{7, 8, 9, 10, 11, 12}).Reshape(3, 2)
	_, d := grad.JVP(func(p [2]tensor.Tensor) tensor.Tensor { return p[0].MatMul(p[1]) }, [2]tensor.Tensor{a, b}, [2]tensor.Tensor{tensor.OnesLike(a), {}})
	check(t, "matmul", d, 27, 30, 27, 30)
	check(t, "Diff", grad.Diff(tensor.Tensor.Tanh)(f64(2)), 1-math.Pow(math.Tanh(2), 2))
	check(t, "Diff of Diff", grad.Diff(grad.Diff(func(x tensor.Tensor) tensor.Tensor { return x.Pow(3) }))(f64(2)), 12)
	f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() }
	x := f64(1, 2)
	check(t, "Hessian", grad.Hessian(f)(x), 6, 0, 0, 12)
	check(t, "JacRev of Of", grad.JacRev(grad.Of(f))(x), 6, 0, 0, 12)
	check(t, "JacRev of JacFwd", grad.JacRev(grad.JacFwd(f))(x), 6, 0, 0, 12)
	check(t, "JacFwd of JacFwd", grad.JacFwd(grad.JacFwd(f))(x), 6, 0, 0, 12)
	check(t, "HVP", grad.HVP(f, x, f64(1, 1)), 6, 12)
}

func TestVmap(t *testing.T) {
	x := tensor.New([]float64{1, 2, 3, 4, 5, 6}).Reshape(2, 3)
	check(t, "row sums", grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Sum() })(x), 6, 15)
	check(t, "column sums", grad.VmapAxes(func(x tensor.Tensor) tensor.Tensor { return x.Sum() }, 1, 0)(x), 5, 7, 9)
	w := f64(1, 10, 100)
	check(t, "shared", grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Mul(w).Sum() })(x), 321, 654)
	per := grad.Vmap(grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Square().Sum() }))(x)
	check(t, "gradients of each", per, 2, 4, 6, 8, 10, 12)
	outer := grad.Of(func(w tensor.Tensor) tensor.Tensor {
		return grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Mul(w).Sum().Square() })(x).Sum()
	})
	// Σ over rows of 2·(x·w)·x
	check(t, "gradient of Vmap", outer(w), 2*(321*1+654*4), 2*(321*2+654*5), 2*(321*3+654*6))
	mm := grad.Vmap(grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return x.Mul(2) }))(x)
	check(t, "nested", mm, 2, 4, 6, 8, 10, 12)
	err := tensor.Try(func() { grad.Vmap(func(x tensor.Tensor) tensor.Tensor { x.Sum().Item(); return x })(x) })
	if err == nil {
		t.Error("a value was looked at inside of Vmap")
	} else {
		t.Log(err)
	}
}

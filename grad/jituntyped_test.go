package grad_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// Untyped constants in the argument of Jit, and in its result, take the type of the tensors
// that they meet, with the digits and errors of the function without Jit.
func TestJitUntyped(t *testing.T) {
	type pair = [2]tensor.Tensor
	of := func(d tensor.DType) tensor.Tensor { return tensor.New([]float64{1, 3}).Cast(d) }
	mul := func(p pair) tensor.Tensor { return p[0].Mul(p[1]).Sum() }
	tenth := func() tensor.Tensor { return tensor.Full(0.1, 2) }
	composed := func() tensor.Tensor { return tensor.Full(0.1).Add(tensor.Linspace(0, 0.7, 2)) }
	type function = func(pair) tensor.Tensor
	scan := func(p pair) tensor.Tensor {
		last, ys := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) { c = c.Mul(0.3).Add(x); return c, c.Mul(p[0]) }, p[0], p[1].Reshape(2, 1).Expand(2, 2), nil)
		return last.Add(ys)
	}
	custom := grad.Custom(mul, func(p pair, _, ct tensor.Tensor) pair { return pair{ct.Mul(p[1]), ct.Mul(p[0])} })
	first := func(f func(pair) pair) function { return func(p pair) tensor.Tensor { return f(p)[0] } }
	second := func(f func(pair) pair) function { return func(p pair) tensor.Tensor { return f(p)[1] } }
	functions := []struct {
		name string
		f    function
	}{
		{"a product", mul},
		{"itself", func(p pair) tensor.Tensor { return p[0] }},
		{"a product of the result", func(p pair) tensor.Tensor { return p[0].Mul(0.3).Exp() }},
		{"two types", func(p pair) tensor.Tensor {
			return p[0].Mul(p[1]).Add(p[0].Mul(of(tensor.BFloat16)).Cast(p[1].DType())).Add(p[0].Mul(of(tensor.Float64)).Cast(p[1].DType()))
		}},
		{"Sort", func(p pair) tensor.Tensor { return p[0].Sort(0).Mul(p[1]) }},
		{"Cast", func(p pair) tensor.Tensor { return p[0].Cast(tensor.Float64) }},
		{"Of", first(grad.Of(mul))},
		{"Of, the other", second(grad.Of(mul))},
		{"Checkpoint", first(grad.Of(grad.Checkpoint(mul)))},
		{"Custom", second(grad.Of(custom))},
		{"JVP", func(p pair) tensor.Tensor { _, d := grad.JVP(mul, p, p); return d }},
		{"Vmap", func(p pair) tensor.Tensor {
			return grad.Vmap(func(p pair) tensor.Tensor { return p[0].Mul(p[1]).Add(0.3) })(p)
		}},
		{"Scan", scan},
		{"Jit", grad.Jit(mul)},
	}
	for _, f := range functions {
		jitted := grad.Jit(f.f)
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Int32} {
			for name, constant := range map[string]func() tensor.Tensor{"a number": tenth, "an expression": composed} {
				call := func(f function, c tensor.Tensor) (text string) {
					if err := tensor.Try(func() {
						y := f(pair{c, of(d)})
						digits, err := tensor.Data[float64](y.Cast(y.DType()).Cast(tensor.Float64))
						text = fmt.Sprint(y.DType(), digits, err, y.Mul(of(tensor.Float64)).DType())
					}); err != nil {
						return fmt.Sprint(err)
					}
					return text
				}
				c := constant()
				for i := range 3 {
					if got, want := call(jitted, c), call(f.f, constant()); got != want {
						t.Errorf("%s of %s and %v, call %d:\n%s, want\n%s", f.name, name, d, i, got, want)
					}
				}
			}
		}
	}
}

// The value of an untyped constant is no part of the form, and its digits are those that it was
// made with.
func TestJitUntypedValues(t *testing.T) {
	runs := 0
	step := grad.Jit(func(p [2]tensor.Tensor) tensor.Tensor { runs++; return p[1].Sub(p[0].Mul(p[1])) })
	for i := range 20 {
		rate := 0.1 / float64(i+1)
		for _, c := range []struct {
			x    tensor.Tensor
			want float64
		}{
			{tensor.New([]float64{3}), 3 - rate*3},
			{tensor.New([]float32{3}), float64(3 - float32(rate)*3)},
		} {
			if got := step([2]tensor.Tensor{tensor.Full(rate, 1), c.x}).Item(); got != c.want {
				t.Errorf("a step of rate %v of %v: %v, want %v", rate, c.x.DType(), got, c.want)
			}
		}
	}
	if runs != 4 {
		t.Errorf("two forms: the function ran %d times, want 4", runs)
	}
}

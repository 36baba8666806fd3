package tensor_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// A function is an elementwise function of one tensor.
type function struct {
	name string
	of   func(x tensor.Tensor) tensor.Tensor
}

// functions returns the methods of a tensor that keep its shape and type: without arguments,
// or with numbers.
func functions() []function {
	var fs []function
	model := floats(0.5, 0.25)
	for i := range reflect.TypeFor[tensor.Tensor]().NumMethod() {
		m := reflect.TypeFor[tensor.Tensor]().Method(i)
		f, ok := m.Func.Interface().(func(tensor.Tensor) tensor.Tensor)
		if !ok {
			continue
		}
		var y tensor.Tensor
		if err := tensor.Try(func() { y = f(model) }); err != nil { // not of floats
			continue
		}
		if y.DType() == model.DType() && slices.Equal(y.Shape(), model.Shape()) {
			fs = append(fs, function{m.Name, f})
		}
	}
	type T = tensor.Tensor
	return append(fs, []function{
		{"Add(1e-7)", func(x T) T { return x.Add(1e-7) }},
		{"Sub(0.3)", func(x T) T { return x.Sub(0.3) }},
		{"Mul(0.999)", func(x T) T { return x.Mul(0.999) }},
		{"Div(3.3)", func(x T) T { return x.Div(3.3) }},
		{"Pow(1.1)", func(x T) T { return x.Abs().Pow(1.1) }},
		{"Atan2(0.1)", func(x T) T { return x.Atan2(0.1) }},
		{"Rem(0.3)", func(x T) T { return x.Rem(0.3) }},
		{"Mod(-0.3)", func(x T) T { return x.Mod(-0.3) }},
		{"FloorDiv(0.3)", func(x T) T { return x.FloorDiv(0.3) }},
		{"Hypot(0.3)", func(x T) T { return x.Hypot(0.3) }},
		{"LogAddExp(0.3)", func(x T) T { return x.LogAddExp(0.3) }},
		{"Lerp(0.3, 0.7)", func(x T) T { return x.Lerp(0.3, 0.7) }},
		{"Clamp(-0.3, 0.3)", func(x T) T { return x.Clamp(-0.3, 0.3) }},
		{"Maximum(0.3)", func(x T) T { return x.Maximum(0.3) }},
		{"LeakyReLU(0.01)", func(x T) T { return x.LeakyReLU(0.01) }},
		{"ELU(1.1)", func(x T) T { return x.ELU(1.1) }},
		{"CELU(1.1)", func(x T) T { return x.CELU(1.1) }},
	}...)
}

// TestHalves compares functions of all 16-bit numbers, and derivatives of some, with the same in float32,
// rounded once.
func TestHalves(t *testing.T) {
	half, brain := make([]tensor.F16, 1<<16), make([]tensor.BF16, 1<<16)
	for i := range half {
		half[i], brain[i] = tensor.F16(i), tensor.BF16(i)
	}
	for _, x := range []tensor.Tensor{tensor.New(half), tensor.New(brain)} {
		d := x.DType()
		for _, f := range functions() {
			if f.name == "NanToNum" { // depends on the type
				continue
			}
			got, want := f.of(x), f.of(x.Cast(tensor.Float32)).Cast(d)
			g, w, at := values(t, got), values(t, want), values(t, x)
			wrong := 0
			for i := range g {
				if g[i] != w[i] && !(g[i] != g[i] && w[i] != w[i]) {
					if wrong++; wrong <= 2 {
						t.Errorf("%v: %s(%v) is %v, want %v", d, f.name, at[i], g[i], w[i])
					}
				}
			}
			if wrong > 2 {
				t.Errorf("%v: %s differs from float32's, rounded, at %d of %d numbers", d, f.name, wrong, len(g))
			}
			some := x.Slice(0, 0, tensor.End, 97)
			slope := grad.Of(func(x tensor.Tensor) tensor.Tensor { return f.of(x).Sum() })
			g, w, at = values(t, slope(some)), values(t, slope(some.Cast(tensor.Float32)).Cast(d)), values(t, some)
			for i := range g {
				if g[i] != w[i] && !(g[i] != g[i] && w[i] != w[i]) {
					t.Errorf("%v: the derivative of %s at %v is %v, want %v", d, f.name, at[i], g[i], w[i])
					break
				}
			}
		}
	}
}

package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// Losses of great logits and of sure ones have their limits, as do first and second derivatives.
func TestLossesOfGreatLogits(t *testing.T) {
	type T = tensor.Tensor
	focal := func(y, gamma float64) func(T) T {
		return func(x T) T {
			return nn.Focal(x, tensor.FullLike(x, y), &nn.FocalOptions{Alpha: -1, Gamma: gamma})
		}
	}
	classes := func(gamma float64) func(T) T {
		return func(x T) T {
			loss, _ := nn.CrossEntropyWith(tensor.Stack(1, x, tensor.ZerosLike(x)), tensor.ZerosOf(tensor.Int32, 1), &nn.CrossEntropyOptions{Gamma: gamma})
			return loss
		}
	}
	inf, most := math.Inf(1), 3e38
	for _, c := range []struct {
		name                     string
		loss                     func(T) T
		at, value, slope, second float64
	}{
		{"Focal(1.5) of a sure 1", focal(1, 1.5), 120, 0, 0, 0},
		{"Focal(1.5) of a sure 0", focal(0, 1.5), -inf, 0, 0, 0},
		{"Focal(1.5) of a wrong 0", focal(0, 1.5), most, most, 1, 0},
		{"Focal of a wrong 1", focal(1, 2), -most, most, -1, 0},
		{"Focal of a wrong 1", focal(1, 2), -inf, inf, -1, 0},
		{"CrossEntropyWith Gamma 1.5, sure", classes(1.5), 120, 0, 0, 0},
		{"CrossEntropyWith Gamma, wrong", classes(2), -most, most, -1, 0},
		{"PoissonNLL", func(x T) T { return nn.PoissonNLL(x, tensor.FullLike(x, 2)) }, most, inf, inf, inf},
	} {
		x := tensor.New([]float32{float32(c.at)})
		total := func(x T) T { return c.loss(x).Sum() }
		check(t, c.name, c.loss(x), []int{1}, float32(c.value))
		check(t, "derivative of "+c.name, grad.Of(total)(x), []int{1}, float32(c.slope))
		check(t, "second derivative of "+c.name, grad.Of(func(x T) T { return grad.Of(total)(x).Sum() })(x), []int{1}, float32(c.second))
	}
}

// The sum over time of CTC in 16 bits is rounded once.
func TestCTCOfHalves(t *testing.T) {
	logp := tensor.NewRNG(1).Normal(150, 1, 5).LogSoftmax(-1)
	loss := func(x tensor.Tensor) tensor.Tensor {
		return nn.CTC(x, tensor.From([][]int32{{1, 2, 2, 4, 3, 1}}), tensor.New([]int32{150}), tensor.New([]int32{6}), 0)
	}
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		x := logp.Cast(d)
		if err := tensor.Eval(x); err != nil {
			t.Fatal(err)
		}
		want := loss(x.Cast(tensor.Float32)).Cast(d)
		near(t, fmt.Sprintf("CTC of %v", d), loss(x), want, 0)
	}
}

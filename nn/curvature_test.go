package nn_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// Many activations and losses are piecewise, with pieces that meet at 0. Where the
// function is smooth, its second derivative must be right there.
func TestSecondDerivativesAtZero(t *testing.T) {
	against := func(loss func(p, t tensor.Tensor) tensor.Tensor, y float64) func(tensor.Tensor) tensor.Tensor {
		return func(x tensor.Tensor) tensor.Tensor { return loss(x, tensor.Scalar(y)) }
	}
	// The second logit is 0, the label the first.
	crossEntropy := func(x tensor.Tensor) tensor.Tensor {
		return nn.CrossEntropy(tensor.Stack(0, x, tensor.Scalar(0)), tensor.Scalar(0).Cast(tensor.Int32))
	}
	kl := func(x tensor.Tensor) tensor.Tensor {
		return nn.KLDiv(tensor.Stack(0, x, tensor.Scalar(0)).LogSoftmax(-1), tensor.New([]float32{0.25, 0.75}))
	}
	// The vectors are (x 1) and (0 1), so it is 1 - 1/√(1+x²).
	cosine := func(x tensor.Tensor) tensor.Tensor {
		return nn.CosineDistance(tensor.Stack(0, x, tensor.Scalar(1)), tensor.New([]float32{0, 1}))
	}
	for _, c := range []struct {
		name string
		f    func(tensor.Tensor) tensor.Tensor
		want float64
	}{
		{"Tanh", tensor.Tensor.Tanh, 0},
		{"Sigmoid", tensor.Tensor.Sigmoid, 0},
		{"the derivative of Sigmoid", grad.Of(tensor.Tensor.Sigmoid), -1. / 8},
		{"Softplus", tensor.Tensor.Softplus, 1. / 4},
		{"SiLU", tensor.Tensor.SiLU, 1. / 2},
		{"Mish", tensor.Tensor.Mish, 16. / 25},
		{"GELU", tensor.Tensor.GELU, math.Sqrt(2 / math.Pi)},
		{"GELUTanh", tensor.Tensor.GELUTanh, math.Sqrt(2 / math.Pi)},
		{"HardSwish", tensor.Tensor.HardSwish, 1. / 3},
		{"BCEWithLogits of 0", against(nn.BCEWithLogits, 0), 1. / 4},
		{"BCEWithLogits of 1", against(nn.BCEWithLogits, 1), 1. / 4},
		{"BCEWithLogits of 0.3", against(nn.BCEWithLogits, 0.3), 1. / 4},
		{"MSE", against(nn.MSE, 1), 2},
		{"L1", against(nn.L1, 1), 0},
		{"Huber, near", against(nn.Huber, 0), 1},
		{"Huber, far", against(nn.Huber, 3), 0},
		{"Hinge", against(nn.Hinge, -1), 0},
		{"CrossEntropy", crossEntropy, 1. / 4},
		{"KL", kl, 1. / 4},
		{"Cosine", cosine, 1},
	} {
		for mode, second := range map[string]func(tensor.Tensor) tensor.Tensor{
			"reverse over reverse": grad.Of(grad.Of(c.f)),
			"reverse over forward": grad.Of(grad.Diff(c.f)),
			"forward over reverse": grad.Diff(grad.Of(c.f)),
			"forward over forward": grad.Diff(grad.Diff(c.f)),
		} {
			if got := second(tensor.Scalar(0)).Item(); math.Abs(got-c.want) > 1e-6 {
				t.Errorf("second derivative of %s at 0, %s: got %v, want %v", c.name, mode, got, c.want)
			}
		}
	}
}

// The loss of a logit has a positive second derivative at 0, so Newton's method can
// start there.
func TestHessianOfBCE(t *testing.T) {
	x := tensor.From([][]float32{{1, 2}, {2, 1}, {-1, 0}, {0.5, -2}})
	y := tensor.New([]float32{1, 0, 1, 0})
	loss := func(w tensor.Tensor) tensor.Tensor { return nn.BCEWithLogits(x.MatMul(w), y).Sum() }
	check(t, "Hessian of BCE", grad.Hessian(loss)(tensor.Zeros(2)), []int{2, 2}, 1.5625, 0.75, 0.75, 2.25)
}

// The small loss of a large correct logit is not rounded to 0, and the loss of a
// large wrong one does not overflow.
func TestBCEOfGreatLogits(t *testing.T) {
	for _, x := range []float64{-1e30, -200, -30, -20, 20, 30, 200, 1e30} {
		for _, y := range []float64{0, 1} {
			loss := func(p tensor.Tensor) tensor.Tensor { return nn.BCEWithLogits(p, tensor.Scalar(y)) }
			wrong := (1 - 2*y) * x // how far on the wrong side the logit is
			small := math.Log1p(math.Exp(-math.Abs(x)))
			got := loss(tensor.Scalar(x)).Item()
			if want := max(wrong, 0) + small; math.Abs(got-want) > 1e-5*want+1e-38 {
				t.Errorf("BCE(%v, %v) = %v, want %v", x, y, got, want)
			}
			got = grad.Of(loss)(tensor.Scalar(x)).Item()
			if want := (1 - 2*y) / (1 + math.Exp(-wrong)); math.Abs(got-want) > 1e-5*math.Abs(want)+1e-38 {
				t.Errorf("the gradient of BCE(%v, %v) is %v, want %v", x, y, got, want)
			}
		}
	}
}

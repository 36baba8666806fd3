package nn_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func TestLosses(t *testing.T) {
	logits := tensor.From([][]float32{{0, 0}, {1000, 0}, {0, float32(math.Log(3))}})
	labels := tensor.New([]int32{0, 1, 1})
	check(t, "CrossEntropy", nn.CrossEntropy(logits, labels), []int{3}, float32(math.Ln2), 1000, float32(math.Log(4.0/3)))
	check(t, "NLL", nn.NLL(logits, labels), []int{3}, 0, 0, -float32(math.Log(3)))
	check(t, "CrossEntropy of int64 labels", nn.CrossEntropy(logits, labels.Cast(tensor.Int64)), []int{3},
		float32(math.Ln2), 1000, float32(math.Log(4.0/3)))
	check(t, "CrossEntropy of rank 3", nn.CrossEntropy(tensor.Zeros(2, 3, 4), tensor.Zeros(2, 3).Cast(tensor.Int32)), []int{2, 3},
		1.3862944, 1.3862944, 1.3862944, 1.3862944, 1.3862944, 1.3862944)

	x, y := tensor.New([]float32{0, 100, -100, 2}), tensor.New([]float32{1, 0, 1, 1})
	check(t, "BCEWithLogits", nn.BCEWithLogits(x, y), []int{4}, float32(math.Ln2), 100, 100, 0.126928)
	a, b := tensor.New([]float32{1, 2, -4}), tensor.New([]float32{1, 1.5, -1})
	check(t, "MSE", nn.MSE(a, b), []int{3}, 0, 0.25, 9)
	check(t, "L1", nn.L1(a, b), []int{3}, 0, 0.5, 3)
	check(t, "Huber", nn.Huber(a, b), []int{3}, 0, 0.125, 2.5)
	check(t, "Hinge", nn.Hinge(tensor.New([]float32{2, 0.5, 0.5}), tensor.New([]float32{1, 1, -1})), []int{3}, 0, 0.5, 1.5)

	p := tensor.From([][]float32{{0.5, 0.5, 0}, {0.25, 0.25, 0.5}})
	q := tensor.From([][]float32{{0.25, 0.25, 0.5}, {0.25, 0.25, 0.5}})
	check(t, "KLDiv", nn.KLDiv(q.Log(), p), []int{2}, float32(math.Ln2), 0)
	u := tensor.From([][]float32{{1, 0}, {1, 1}, {0, 0}, {3, 0}})
	v := tensor.From([][]float32{{0, 2}, {2, 2}, {1, 0}, {-1, 0}})
	check(t, "CosineDistance", nn.CosineDistance(u, v), []int{4}, 1, 0, 1, 2)
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		half := nn.CosineDistance(u.Cast(d), v.Cast(d))
		if half.DType() != d {
			t.Errorf("CosineDistance of %v is %v", d, half.DType())
		}
		check(t, "CosineDistance of "+d.String(), half.Cast(tensor.Float32), []int{4}, 1, 0, 1, 2)
	}
}

// A label out of range is found when the loss is computed.
func TestBadLabels(t *testing.T) {
	logits := tensor.Zeros(2, 3)
	for _, label := range []int64{-1, -3, 3} {
		for _, d := range []tensor.DType{tensor.Int32, tensor.Int64} {
			labels := tensor.New([]int64{0, label}).Cast(d)
			for name, loss := range map[string]func(p, t tensor.Tensor) tensor.Tensor{"CrossEntropy": nn.CrossEntropy, "NLL": nn.NLL} {
				err := tensor.Eval(loss(logits, labels))
				var e *tensor.Error
				want := fmt.Sprintf("nn.%s: label %d at [1] is out of range for 3 classes", name, label)
				if !errors.As(err, &e) || e.Msg != want {
					t.Errorf("Eval of %s of %v label %d: error %v, want %s", name, d, label, err, want)
				}
			}
		}
	}
}

// Derivatives at the points where pieces of a loss meet.
func TestLossGradients(t *testing.T) {
	at := func(loss func(p, t tensor.Tensor) tensor.Tensor, x, y []float32) tensor.Tensor {
		target := tensor.New(y)
		return grad.Of(func(p tensor.Tensor) tensor.Tensor { return loss(p, target).Sum() })(tensor.New(x))
	}
	check(t, "gradient of BCEWithLogits", at(nn.BCEWithLogits, []float32{0, 0, 200, -200}, []float32{0, 1, 0, 1}), []int{4}, 0.5, -0.5, 1, -1)
	check(t, "gradient of Huber", at(nn.Huber, []float32{0, 0.5, 1, 3, -3}, make([]float32, 5)), []int{5}, 0, 0.5, 1, 1, -1)
	check(t, "gradient of CosineDistance at 0", at(nn.CosineDistance, []float32{0, 0}, []float32{0, 0}), []int{2}, 0, 0)
}

package golden

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// counted returns deterministic data.
func counted(shape ...int) tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%7)/4 - 0.5
	}
	return tensor.New(x, shape...)
}

// plans has common code, whose number of kernels is guaranteed.
var plans = []struct {
	name    string
	kernels int
	roots   func() any
}{
	{"softmax", 1, func() any { return counted(64, 100).Softmax(1) }},
	{"log-softmax", 1, func() any { return counted(64, 100).LogSoftmax(1) }},
	{"softmax over the first axis", 1, func() any { return counted(64, 100).Softmax(0) }},
	{"layer norm", 1, func() any {
		return nn.LayerNorm{Weight: counted(100), Bias: counted(100)}.Apply(counted(64, 100))
	}},
	{"mean and variance", 1, func() any {
		x := counted(64, 100)
		return []tensor.Tensor{x.Mean(1), x.Var(1)}
	}},
	{"a gelu chain", 1, func() any { return counted(64, 100).Mul(2).Add(1).GELU().Mul(counted(100)) }},
	{"a gelu and its derivative, one Erfc", 1, func() any {
		_, y, g := grad.ValueAndGradAux(func(x tensor.Tensor) (loss, y tensor.Tensor) {
			y = x.GELU()
			return y.Sum(), y
		})(counted(64, 100))
		return []tensor.Tensor{y, g}
	}},
	{"relu(x·Wᵀ + b)", 1, func() any {
		return counted(64, 100).MatMul(counted(32, 100).T()).Add(counted(32)).ReLU()
	}},
	{"attention", 3, func() any {
		q, k, v := counted(2, 4, 16, 8), counted(2, 4, 16, 8), counted(2, 4, 16, 8)
		return q.MatMul(k.T()).Div(math.Sqrt(8)).Add(counted(16, 16)).Softmax(-1).MatMul(v)
	}},
	{"attention to 512 keys", 2, func() any {
		q, k, v := counted(2, 256, 8), counted(2, 512, 8), counted(2, 512, 8)
		return q.MatMul(k.T()).Div(math.Sqrt(8)).Softmax(-1).MatMul(v)
	}},
	{"attention to 512 keys with all options", 2, func() any {
		q, k, v := counted(4, 256, 8), counted(2, 512, 8), counted(2, 512, 8)
		return tensor.Attention(q, k, v, &tensor.AttentionOptions{
			Mask: nn.ALiBi(4, 256, 512, 256), Causal: true, Window: 100, Offset: 256, SoftCap: 50,
		})
	}},
	{"gradient of attention to 512 keys", 5, func() any {
		return grad.Of(func(x []tensor.Tensor) tensor.Tensor {
			return x[0].MatMul(x[1].T()).Div(math.Sqrt(8)).Softmax(-1).MatMul(x[2]).Tanh().Sum()
		})([]tensor.Tensor{counted(2, 256, 8), counted(2, 512, 8), counted(2, 512, 8)})
	}},
	{"cross-entropy of logits", 1, func() any { return nn.CrossEntropy(counted(64, 10), labels(64)) }},
	{"gradient of cross-entropy", 1, func() any {
		return grad.Of(func(x tensor.Tensor) tensor.Tensor {
			return nn.CrossEntropy(x, labels(64)).Mean()
		})(counted(64, 10))
	}},
	{"gradient of an embedding", 1, func() any {
		return grad.Of(func(table tensor.Tensor) tensor.Tensor {
			return table.Take(0, labels(64)).Mul(counted(64, 8)).Sum()
		})(counted(10, 8))
	}},
	{"conv2d + bias + relu", 1, func() any {
		return convolve(counted(2, 3, 8, 8), counted(5, 3, 3, 3)).Add(counted(5, 1, 1)).ReLU()
	}},
	{"gradient of conv2d by its input", 1, func() any {
		_, pull := grad.VJP(func(x tensor.Tensor) tensor.Tensor { return convolve(x, counted(5, 3, 3, 3)) }, counted(2, 3, 8, 8))
		return pull(counted(2, 5, 8, 8))
	}},
	{"gradient of conv2d by its kernel", 1, func() any {
		_, pull := grad.VJP(func(k tensor.Tensor) tensor.Tensor { return convolve(counted(2, 3, 8, 8), k) }, counted(5, 3, 3, 3))
		return pull(counted(2, 5, 8, 8))
	}},
	{"one Adam step of a parameter", 1, func() any {
		p, s := optim.Adam{}.Update(counted(100), counted(100), []tensor.Tensor{counted(100), counted(100)}, 1e-3, 7)
		return append(s, p)
	}},
}

func labels(n int) tensor.Tensor {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i % 10)
	}
	return tensor.New(x)
}

func convolve(x, kernel tensor.Tensor) tensor.Tensor {
	return x.Conv(kernel, &tensor.ConvOptions{Padding: []int{1}})
}

func TestPlans(t *testing.T) {
	var text strings.Builder
	for _, p := range plans {
		plan := tensor.Explain(p.roots())
		if got := strings.Count(plan, "\n") - 1; got != p.kernels {
			t.Errorf("%s: got %d kernels, want %d:\n%s", p.name, got, p.kernels, plan)
		}
		text.WriteString(p.name + ": " + plan)
	}
	goldentext.Check(t, "testdata/plans.txt", text.String())
}

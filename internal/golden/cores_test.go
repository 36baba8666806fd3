package golden

import (
	"math"
	"runtime"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// waves returns float32 data whose sums depend on the order of summation.
func waves(shape ...int) tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return tensor.Arange(n).Cast(tensor.Float32).Sin().Reshape(shape...)
}

// graphs are large enough for the CPU to run each on several cores.
var graphs = map[string]func() any{
	"elementwise":     func() any { return waves(1 << 16).Exp().Tanh() },
	"sum of all":      func() any { return waves(1 << 17).Sum() },
	"sum of columns":  func() any { return waves(2048, 64).Sum(0) },
	"variance":        func() any { return waves(256, 512).Var(1) },
	"norm":            func() any { return waves(300, 300).Norm() },
	"product":         func() any { return waves(150, 170).MatMul(waves(170, 130)) },
	"deep product":    func() any { return waves(9, 1<<13).MatMul(waves(1<<13, 7)) },
	"batched product": func() any { return waves(16, 40, 50).MatMul(waves(16, 50, 30)).GELU() },
	"attention": func() any {
		q, k, v := waves(2, 4, 64, 16), waves(2, 4, 64, 16), waves(2, 4, 64, 16)
		return q.MatMul(k.T()).Div(4).Softmax(-1).MatMul(v)
	},
	"softmax":     func() any { return waves(300, 400).Softmax(1) },
	"layer norm":  func() any { return nn.LayerNorm{Weight: waves(300), Bias: waves(300)}.Apply(waves(300, 300)) },
	"convolution": func() any { return convolve(waves(4, 6, 24, 24), waves(8, 6, 3, 3)).ReLU() },
	"scatter": func() any {
		return tensor.Zeros(1000).ScatterAdd(0, tensor.Arange(1<<16).Mul(7919).Rem(1000), waves(1<<16))
	},
	"random": func() any { return tensor.NewRNG(3).Normal(1 << 16) },
	"gradient of a network": func() any {
		m := mlp{nn.Linear{Weight: waves(96, 128), Bias: waves(96)}, nn.Linear{Weight: waves(10, 96), Bias: waves(10)}}
		return grad.Of(func(m mlp) tensor.Tensor { return m.loss(waves(256, 128), labels(256)) })(m)
	},
}

// The bits of a result do not depend on GOMAXPROCS.
func TestBitsDoNotDependOnCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer tensor.SetDefault(nil)
	first := map[string][]float64{}
	for _, cores := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(cores)
		tensor.SetDefault(tensor.NewDevice(cpu.New(cpu.Options{})))
		for name, f := range graphs {
			got, err := leaves(f())
			if err != nil {
				t.Fatal(err)
			}
			if cores == 1 {
				first[name] = got
			}
			for i, want := range first[name] {
				if math.Float64bits(got[i]) != math.Float64bits(want) {
					t.Errorf("%s, element %d: got %v with GOMAXPROCS=%d, want %v as with 1", name, i, got[i], cores, want)
					break
				}
			}
		}
	}
}

// leaves evaluates a tree in one plan and returns the elements of its tensors.
func leaves(v any) ([]float64, error) {
	if err := tensor.Eval(v); err != nil {
		return nil, err
	}
	var all []float64
	for _, t := range tree.All(v) {
		x, err := values(t)
		if err != nil {
			return nil, err
		}
		all = append(all, x...)
	}
	return all, nil
}

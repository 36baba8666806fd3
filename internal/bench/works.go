package bench

import (
	"strconv"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

const (
	mega       = 1 << 20
	convAmount = 2 * 32 * 64 * 56 * 56 * 64 * 3 * 3
)

var (
	numpy   = []string{"numpy"}
	pytorch = []string{"pytorch"}
	either  = []string{"numpy", "pytorch"}
)

// Works has all works, each with the speed that the project wants of it.
var Works = []Work{
	{"matmul/64", GFLOPs, 2 * 64 * 64 * 64, atLeast(0.5, numpy), matmul(64)},
	{"matmul/256", GFLOPs, 2 * 256 * 256 * 256, atLeast(0.9, numpy), matmul(256)},
	{"matmul/512", GFLOPs, 2 * 512 * 512 * 512, atLeast(0.95, numpy), matmul(512)},
	{"matmul/1024", GFLOPs, 2 * 1024 * 1024 * 1024, atLeast(0.95, numpy), matmul(1024)},
	{"matmul/2048", GFLOPs, 2 * 2048 * 2048 * 2048, atLeast(0.95, numpy), matmul(2048)},
	{"exp/1M", GElems, mega, atLeast(1.3, either), unary(tensor.Tensor.Exp, 4, mega)},
	{"exp/16M", GElems, 16 * mega, atLeast(1, either), unary(tensor.Tensor.Exp, 4, 16*mega)},
	{"mul/1M", GElems, mega, atLeast(1, either), binary(product, mega)},
	{"mul/16M", GElems, 16 * mega, atLeast(1, either), binary(product, 16*mega)},
	{"sum/1M", GElems, mega, atLeast(1, either), unary(total, 1, mega)},
	{"sum/16M", GElems, 16 * mega, atLeast(1, either), unary(total, 1, 16*mega)},
	{"tanh/16M", GElems, 16 * mega, atLeast(3, pytorch), unary(tensor.Tensor.Tanh, 4, 16*mega)},
	{"gelu/16M", GElems, 16 * mega, atLeast(2, pytorch), unary(tensor.Tensor.GELU, 4, 16*mega)},
	{"chain/16M", GElems, 16 * mega, atLeast(3.5, numpy), binary(chain, 16*mega)},
	{"softmax/4096", GElems, 16 * mega, atLeast(2, pytorch), unary(softmax, 4, 4096, 4096)},
	{"layernorm/4096", GElems, 16 * mega, atLeast(2, pytorch), layerNorm(4096)},
	{"transpose/4096", GElems, 16 * mega, atLeast(4, either), unary(transposed, 1, 4096, 4096)},
	{"conv/32x64x56x56", GFLOPs, convAmount, atLeast(1.5, pytorch), conv(32, 64, 56)},
	{"mlp/64", Millis, 0, atLeast(1.1, pytorch), mlp(64)},
	{"mlp/256", Millis, 0, atLeast(1.1, pytorch), mlp(256)},
	{"mlp/1024", Millis, 0, atLeast(1.1, pytorch), mlp(1024)},
	{"transformer", Millis, 0, atLeast(1.3, pytorch), trainTransformer(smallTransformer)},
	{"lstm/1000", Millis, 0, atLeast(1, pytorch), lstm(8, 1000, 32, 64, 1, false)},
	{"bilstm/100", Millis, 0, atLeast(1, pytorch), lstm(64, 100, 256, 256, 2, true)},
}

// unary returns the setup of a function of a tensor, uniform in ±scale.
func unary(f func(x tensor.Tensor) tensor.Tensor, scale float64, lengths ...int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		x := in.floats(scale, lengths...)
		return func() (tensor.Tensor, error) { return f(x), nil }
	}
}

// binary returns the setup of a function of two tensors, uniform in ±1.
func binary(f func(a, b tensor.Tensor) tensor.Tensor, lengths ...int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		a, b := in.floats(1, lengths...), in.floats(1, lengths...)
		return func() (tensor.Tensor, error) { return f(a, b), nil }
	}
}

func matmul(n int) setup { return binary(tensor.Tensor.MatMul, n, n) }

func product(a, b tensor.Tensor) tensor.Tensor { return a.Mul(b) }

func total(x tensor.Tensor) tensor.Tensor { return x.Sum() }

func chain(a, c tensor.Tensor) tensor.Tensor { return a.Mul(c).Add(a).Mul(0.5).Sub(c).ReLU() }

func softmax(x tensor.Tensor) tensor.Tensor { return x.Softmax(-1) }

func transposed(x tensor.Tensor) tensor.Tensor { return x.T().Add(1) }

func layerNorm(n int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		x := in.floats(4, n, n)
		l := nn.LayerNorm{Weight: in.floats(1, n), Bias: in.floats(1, n)}
		return func() (tensor.Tensor, error) { return l.Apply(x), nil }
	}
}

// conv returns the setup of a convolution of side×side images by 3×3 kernels, with as
// many channels before and after.
func conv(batch, channels, side int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		x := in.floats(1, batch, channels, side, side)
		l := nn.Conv{Weight: in.floats(1, channels, channels, 3, 3), Options: tensor.ConvOptions{Padding: []int{1}}}
		return func() (tensor.Tensor, error) { return l.Apply(x), nil }
	}
}

// trimmed formats x without trailing zeros.
func trimmed(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

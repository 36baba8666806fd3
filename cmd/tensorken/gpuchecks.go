package main

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// A check is a computation whose results must agree on all devices. If gradients is set,
// the gradients by its float32 inputs are compared as well.
type check struct {
	name      string
	inputs    []input
	compute   func(x []tensor.Tensor) []tensor.Tensor
	gradients bool
}

// An input makes a tensor, which is the same on every device.
type input func(rng *tensor.RNG) tensor.Tensor

func normal(shape ...int) input {
	return func(rng *tensor.RNG) tensor.Tensor { return onHost(rng.Normal(shape...)) }
}

// positive returns numbers from 0.5 to 1.5.
func positive(shape ...int) input {
	return func(rng *tensor.RNG) tensor.Tensor { return onHost(rng.Uniform(shape...).Add(0.5)) }
}

// below returns integers from 0 to n-1.
func below(n int, shape ...int) input {
	return func(rng *tensor.RNG) tensor.Tensor { return onHost(rng.Ints(n, shape...)) }
}

// given returns a row of the numbers x.
func given(x ...float32) input {
	return func(*tensor.RNG) tensor.Tensor { return tensor.New(x, 1, len(x)) }
}

// onHost computes x on the CPU and returns the elements as a new tensor.
func onHost(x T) T {
	data, err := tensor.Internal.Bytes(graph.Token{}, "input", x)
	if err != nil {
		panic(err) // it becomes the result of the check
	}
	return tensor.FromBytes(x.DType(), x.Shape(), data)
}

// smallInts are the integer types that share words on a GPU.
var smallInts = slices.DeleteFunc(slices.Clone(shader.DTypes), func(d tensor.DType) bool { return !d.IsInt() || d.Size() >= 4 })

// one converts a computation of one result to one of several.
func one(f func(x []tensor.Tensor) tensor.Tensor) func([]tensor.Tensor) []tensor.Tensor {
	return func(x []tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{f(x)} }
}

// each applies functions of a tensor to the first input.
func each(fs ...func(tensor.Tensor) tensor.Tensor) func([]tensor.Tensor) []tensor.Tensor {
	return func(x []tensor.Tensor) (out []tensor.Tensor) {
		for _, f := range fs {
			out = append(out, f(x[0]))
		}
		return out
	}
}

// pairs applies functions of a tensor and an operand to the first two inputs.
func pairs(fs ...func(tensor.Tensor, tensor.Operand) tensor.Tensor) func([]tensor.Tensor) []tensor.Tensor {
	return func(x []tensor.Tensor) (out []tensor.Tensor) {
		for _, f := range fs {
			out = append(out, f(x[0], x[1]))
		}
		return out
	}
}

// T is short for the table below.
type T = tensor.Tensor

// wideTypes are the types that only some GPUs have.
var wideTypes = slices.DeleteFunc(slices.Clone(ir.DTypes), func(d tensor.DType) bool { return slices.Contains(shader.DTypes, d) })

// checksOf returns the checks of `tensorken gpu check` for a device.
func checksOf(d *tensor.Device) []check {
	list := slices.Concat(specialValues(shader.DTypes, shader.DTypes), checks)
	if tensor.Eval(tensor.New([]float64{1}).To(d).Add(1)) != nil {
		return list
	}
	return slices.Concat(list, specialValues(wideTypes, ir.DTypes), wideChecks)
}

// wideChecks are the checks for devices with the wide types, without special values.
var wideChecks = []check{
	{"floats of 64 bits", []input{positive(300, 70)}, func(x []T) []T {
		a := x[0].Cast(tensor.Float64)
		return []T{a.Exp(), a.Log(), a.Sum(1), a.Softmax(0), a.T().MatMul(a)}
	}, false},
}

// checks are the checks for all devices, without special values.
var checks = []check{
	{"arithmetic with broadcasting", []input{normal(64, 1, 33), positive(5, 33)}, pairs(T.Add, T.Sub, T.Mul, T.Div), true},
	{"exp, log, square roots", []input{positive(1000)}, each(T.Exp, T.Expm1, T.Log, T.Log1p, T.Sqrt, T.Rsqrt), true},
	{"sin, cos, tanh, atan, erf, erfc", []input{normal(1000)}, each(T.Sin, T.Cos, T.Tanh, T.Atan, T.Erf, T.Erfc), true},
	{"activations", []input{normal(77, 13)}, each(T.ReLU, T.GELU, T.SiLU, T.Sigmoid, T.Softplus, T.Mish), true},
	{"gradient of powers", []input{positive(100, 7), normal(7)}, pairs(T.Pow), true},
	{"rounding", []input{normal(1000)}, func(x []T) []T {
		return each(T.Floor, T.Ceil, T.Round, T.Trunc)([]T{x[0].Mul(2).Round().Mul(0.5)})
	}, false},
	{"choice and clamping", []input{normal(50, 40), normal(50, 40)}, one(func(x []T) T {
		return tensor.Where(x[0].Gt(x[1]), x[0].Clamp(-1, 1), x[1].Square())
	}), true},
	{"bool and small integers", []input{below(2, 40, 13), below(200, 40, 13)}, func(x []T) []T {
		a := x[0].Cast(tensor.Bool)
		out := []T{a.Not(), a.Sum(0), a.T()}
		for _, d := range smallInts {
			b := x[1].Cast(d)
			out = append(out, a.And(b.Gt(100)), a.Or(b.Lt(9)), b.Add(b), b.Sum(1), b.Flip(0, 1))
		}
		return out
	}, false},
	{"integers of 64 bits", []input{below(1<<30, 300, 70)}, func(x []T) []T {
		a := x[0].Cast(tensor.Int64)
		b := a.Mul(1 << 33).Sub(a)
		return []T{b, b.Sum(0), b.Max(1), b.Sort(1), a.Div(7), a.T().MatMul(b)}
	}, false},
	{"floats of 16 bits", []input{normal(33, 17)}, func(x []T) (out []T) {
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			h := x[0].Cast(d)
			out = append(out, h, h.Add(h), h.T().Cast(tensor.Float32).Sum(0))
		}
		return out
	}, false},
	{"random numbers", []input{normal(1)}, func(x []T) []T {
		rng := tensor.NewRNG(7)
		bits := rng.Uniform(3, 1001).To(x[0].Device()).Mul(1 << 23).Cast(tensor.Int32)
		return []T{bits, rng.Normal(1001).To(x[0].Device()), rng.Perm(100).To(x[0].Device())}
	}, false},
	{"transpose, flip, slice, pad", []input{normal(6, 7, 8)}, one(func(x []T) T {
		return x[0].Transpose(0, 2).Flip(1).Slice(0, 7, 0, -2).Pad(1, 2, 1).Square()
	}), true},
	{"reshape, concatenate, repeat, roll", []input{normal(6, 20), normal(5, 6)}, one(func(x []T) T {
		return tensor.Cat(1, x[0].T().Reshape(6, 20), x[1].T()).Repeat(0, 2).Roll(1, 3).Exp()
	}), true},
	{"triangles and windows", []input{normal(40, 40)}, func(x []T) []T {
		return []T{x[0].Tril(1), x[0].Unfold(0, 5, 3).Sum(1)}
	}, true},
	{"sums over rows and columns", []input{normal(300, 257)}, func(x []T) []T {
		return []T{x[0].Sum(0), x[0].Sum(1), x[0].Sum(), x[0].Mean(1), x[0].Var(0)}
	}, true},
	{"sum and maximum of 4 million", []input{positive(2049, 2049)}, each(sumAll, maxAll), false},
	{"a map of 20 million", []input{below(1000, 1, 1<<10)}, one(func(x []T) T { // more workgroups than one axis of a grid has
		return x[0].Expand(20<<10, 1<<10).Add(tensor.Arange(20 << 10).Unsqueeze(1)).Keep().Sum(0)
	}), false},
	{"maximum, product, argmax", []input{below(9, 40, 30)}, func(x []T) []T {
		y := x[0].Cast(tensor.Float32)
		return []T{x[0].Max(1), x[0].ArgMax(1), x[0].ArgMin(0), y.Div(5).Prod(1)}
	}, false},
	{"gradient of ties", []input{given(1, 3, 3, 2, 3)}, func(x []T) []T {
		return []T{x[0].Max(1), x[0].Maximum(3)}
	}, true},
	{"nothing at all", []input{normal(0, 3)}, func(x []T) []T {
		return []T{x[0].Exp(), x[0].Sum(0), x[0].Max(0), x[0].T().MatMul(x[0])}
	}, false},
	{"softmax and cross-entropy", []input{normal(64, 100), below(100, 64)}, func(x []T) []T {
		return []T{x[0].Softmax(-1), nn.CrossEntropy(x[0], x[1])}
	}, true},
	{"layer norm", []input{normal(50, 96), positive(96), normal(96)}, one(func(x []T) T {
		return nn.LayerNorm{Weight: x[1], Bias: x[2]}.Apply(x[0])
	}), true},
	{"matrix product 64", []input{normal(64, 64), normal(64, 64)}, one(product), true},
	{"matrix product 37×71×53", []input{normal(37, 71), normal(71, 53)}, one(product), true},
	{"matrix product 512", []input{normal(512, 512), normal(512, 512)}, one(product), false},
	{"matrix times vector", []input{normal(300, 1000), normal(1000)}, one(product), true},
	{"batched product, transposed", []input{normal(5, 33, 20), normal(5, 17, 20)}, one(func(x []T) T {
		return x[0].MatMul(x[1].T()).Add(1).ReLU()
	}), true},
	{"einsum", []input{normal(3, 8, 16), normal(16, 4, 8)}, one(func(x []T) T { return tensor.Einsum("bij,jki->bk", x[0], x[1]) }), true},
	{"attention", []input{normal(2, 4, 30, 16), normal(2, 4, 30, 16), normal(2, 4, 30, 16)}, one(func(x []T) T {
		scores := x[0].MatMul(x[1].T()).Div(4)
		past := tensor.Ones(30, 30).Tril(0).Eq(1)
		return tensor.Where(past, scores, math.Inf(-1)).Softmax(-1).MatMul(x[2])
	}), true},
	{"attention, causal, of 256", []input{normal(2, 256, 32), normal(2, 256, 32), normal(2, 256, 32)}, one(func(x []T) T {
		return tensor.Attention(x[0], x[1], x[2], &tensor.AttentionOptions{Causal: true})
	}), true},
	{"product of int8", []input{below(256, 130, 90), below(256, 90, 70)}, one(func(x []T) T {
		return x[0].Cast(tensor.Int8).MatMul(x[1].Cast(tensor.Int8))
	}), false},
	{"convolution", []input{normal(2, 3, 16, 15), normal(8, 3, 3, 3)}, one(func(x []T) T {
		return x[0].Conv(x[1], &tensor.ConvOptions{Padding: []int{1}})
	}), true},
	{"convolution, strided, grouped", []input{normal(2, 4, 17, 17), normal(6, 2, 3, 3)}, one(func(x []T) T {
		return x[0].Conv(x[1], &tensor.ConvOptions{Stride: []int{2}, Dilation: []int{2}, Groups: 2})
	}), true},
	{"pooling", []input{normal(2, 3, 12, 12)}, func(x []T) []T {
		return []T{x[0].MaxPool(2, nil), x[0].AvgPool(3, &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}})}
	}, true},
	{"rows of a table", []input{normal(50, 24), below(50, 8, 9)}, one(func(x []T) T { return x[0].Take(0, x[1]).Tanh() }), true},
	{"elements by index", []input{normal(30, 20), below(20, 30, 5)}, one(func(x []T) T { return x[0].TakeAlong(1, x[1]) }), true},
	{"scatter", []input{normal(20, 6), below(20, 40, 6), normal(40, 6)}, func(x []T) []T {
		return []T{x[0].ScatterAdd(0, x[1], x[2]), x[0].ScatterMax(0, x[1], x[2])}
	}, true},
	{"scatter of 600 rows", []input{normal(90, 130), below(90, 600), normal(600, 130)}, one(func(x []T) T {
		return x[0].AddAt(x[2], x[1])
	}), true},
	{"three steps of training", []input{normal(32, 10), below(3, 32)}, train3, false},
}

func sumAll(x T) T { return x.Sum() }

func maxAll(x T) T { return x.Max() }

func product(x []T) T { return x[0].MatMul(x[1]) }

// train3 returns the parameters of a network after three steps.
func train3(x []T) []T {
	rng := tensor.NewRNG(3)
	net := nn.Sequential{nn.NewLinear(rng, 10, 32), nn.NewBatchNorm(32), nn.Func(T.ReLU), nn.NewLinear(rng, 32, 3)}
	rule := optim.New(optim.SGD{Momentum: 0.9}, 0.1) // Adam would magnify rounding errors of gradients near 0
	for range 3 {
		_, next, g := grad.ValueAndGradAux(func(net nn.Sequential) (T, nn.Sequential) {
			y, next := nn.Train(net, x[0], rng)
			return nn.CrossEntropy(y, x[1]).Mean(), next
		})(net)
		net = next
		if err := rule.Step(&net, g); err != nil {
			panic(&tensor.DeviceError{Device: "training", Op: "Step", Err: err})
		}
	}
	return []T{net.Apply(x[0])}
}

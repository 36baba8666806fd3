// Package neural has the operators that are layers of networks. A table of each file lists its operators. Read activation.go first.
package neural

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// T is a tensor.
type T = tensor.Tensor

// Activations has the elementwise functions of networks.
var Activations = []op.Row{
	op.New("Celu", with("alpha", 1, T.CELU)),
	op.New("Elu", with("alpha", 1, T.ELU)),
	op.New("Gelu", op.One(gelu)),
	op.New("HardSigmoid", op.One(hardSigmoid)),
	op.New("HardSwish", op.Unary(T.HardSwish)),
	op.New("LeakyRelu", with("alpha", 0.01, T.LeakyReLU)),
	op.New("Mish", op.Unary(T.Mish)),
	op.New("PRelu", op.One(prelu)),
	op.New("Relu", op.Unary(T.ReLU)),
	op.New("Selu", op.One(selu)),
	op.New("Shrink", op.One(shrink)),
	op.New("Sigmoid", op.Unary(T.Sigmoid)),
	op.New("Softplus", op.Unary(T.Softplus)),
	op.New("Softsign", op.Unary(T.Softsign)),
	op.New("Swish", with("alpha", 1, func(x T, alpha float64) T { return x.Mul(x.Mul(alpha).Sigmoid()) })),
	op.New("ThresholdedRelu", with("alpha", 1, func(x T, alpha float64) T {
		return tensor.Where(x.Gt(alpha), x, tensor.ZerosLike(x))
	})),
}

// with makes a Func of a function of a tensor and a number attribute.
func with(name string, otherwise float64, f func(T, float64) T) op.Func {
	return op.One(func(c *op.Call) T { return f(c.Tensor(0), c.Float(name, otherwise)) })
}

func gelu(c *op.Call) T {
	if c.Choice("approximate", "none", "tanh") == "tanh" {
		return c.Tensor(0).GELUTanh()
	}
	return c.Tensor(0).GELU()
}

func hardSigmoid(c *op.Call) T {
	return c.Tensor(0).Mul(c.Float("alpha", 0.2)).Add(c.Float("beta", 0.5)).Clamp(0, 1)
}

func prelu(c *op.Call) T {
	x, slope := c.Tensor(0), c.Tensor(1)
	if c.Opset < 7 && slope.Len() > 1 { // by channel
		slope = channels(slope, x)
	}
	return tensor.Where(x.Lt(0), x.Mul(slope), x)
}

func selu(c *op.Call) T {
	alpha, gamma := c.Float("alpha", 1.6732632423543772), c.Float("gamma", 1.0507009873554805)
	return c.Tensor(0).ELU(alpha).Mul(gamma)
}

func shrink(c *op.Call) T {
	x, limit, bias := op.Floating(c.Tensor(0)), c.Float("lambd", 0.5), c.Float("bias", 0) // which may be no integers
	y := tensor.Where(x.Gt(limit), x.Sub(bias), tensor.ZerosLike(x))
	return tensor.Where(x.Lt(-limit), x.Add(bias), y).Cast(c.Tensor(0).DType())
}

package models

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// activations has the functions that config.json names.
var activations = map[string]nn.Func{
	"gelu":              tensor.Tensor.GELU,
	"gelu_python":       tensor.Tensor.GELU,
	"gelu_fast":         tensor.Tensor.GELUTanh,
	"gelu_new":          tensor.Tensor.GELUTanh,
	"gelu_pytorch_tanh": tensor.Tensor.GELUTanh,
	"linear":            func(x tensor.Tensor) tensor.Tensor { return x },
	"mish":              tensor.Tensor.Mish,
	"quick_gelu":        func(x tensor.Tensor) tensor.Tensor { return x.Mul(x.Mul(1.702).Sigmoid()) },
	"relu":              tensor.Tensor.ReLU,
	"relu2":             func(x tensor.Tensor) tensor.Tensor { return x.ReLU().Square() },
	"sigmoid":           tensor.Tensor.Sigmoid,
	"silu":              tensor.Tensor.SiLU,
	"swish":             tensor.Tensor.SiLU,
	"tanh":              tensor.Tensor.Tanh,
}

// activation returns the function that a setting names.
func (c config) activation(setting, name string) (nn.Func, error) {
	f := activations[name]
	if f == nil {
		return nil, c.errorf("%s is %q: there is no such activation", setting, name)
	}
	return f, nil
}

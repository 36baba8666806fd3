package golden

import "github.com/tensorken/tensorken/tensor"

// ordered has operations on the order of elements.
var ordered = map[string]opFunc{
	"cumsum": along(tensor.Tensor.CumSum), "cumprod": along(tensor.Tensor.CumProd),
	"cummax": along(tensor.Tensor.CumMax), "cummin": along(tensor.Tensor.CumMin),
	"logcumsumexp": along(tensor.Tensor.LogCumSumExp),
	"sort":         along(tensor.Tensor.Sort), "argsort": along(tensor.Tensor.ArgSort),
	"topk": func(in []tensor.Tensor, a args) tensor.Tensor {
		values, _ := in[0].TopK(arg(a, "axis", -1), arg(a, "k", 0))
		return values
	},
	"median": func(in []tensor.Tensor, a args) tensor.Tensor {
		axis := arg(a, "axis", -1)
		return in[0].Median(axis).Squeeze(axis)
	},
	"quantile": func(in []tensor.Tensor, a args) tensor.Tensor {
		axis := arg(a, "axis", -1)
		return in[0].Quantile(axis, arg(a, "q", 0.5)).Squeeze(axis)
	},
}

// second has the operations that have a second result, and give it.
var second = map[string]opFunc{
	"topk": func(in []tensor.Tensor, a args) tensor.Tensor {
		_, indices := in[0].TopK(arg(a, "axis", -1), arg(a, "k", 0))
		return indices
	},
}

// along is for functions of an axis.
func along(f func(tensor.Tensor, int) tensor.Tensor) opFunc {
	return func(in []tensor.Tensor, a args) tensor.Tensor { return f(in[0], arg(a, "axis", -1)) }
}

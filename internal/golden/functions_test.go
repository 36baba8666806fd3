package golden

import "github.com/tensorken/tensorken/tensor"

// functions has elementwise operations, norms, distances and attention.
var functions = map[string]opFunc{
	"asin": unary(tensor.Tensor.Asin), "acos": unary(tensor.Tensor.Acos), "asinh": unary(tensor.Tensor.Asinh),
	"acosh": unary(tensor.Tensor.Acosh), "atanh": unary(tensor.Tensor.Atanh), "log10": unary(tensor.Tensor.Log10),
	"erfc": unary(tensor.Tensor.Erfc), "erfinv": unary(tensor.Tensor.ErfInv), "sinc": unary(tensor.Tensor.Sinc),
	"lgamma": unary(tensor.Tensor.Lgamma), "digamma": unary(tensor.Tensor.Digamma),
	"logsigmoid": unary(tensor.Tensor.LogSigmoid), "softsign": unary(tensor.Tensor.Softsign),
	"selu": unary(tensor.Tensor.SELU), "hardsigmoid": unary(tensor.Tensor.HardSigmoid),
	"celu":       func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].CELU(arg(a, "alpha", 1.0)) },
	"hardtanh":   func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Clamp(-1, 1) },
	"tanhshrink": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Sub(in[0].Tanh()) },
	"hypot":      binary(tensor.Tensor.Hypot), "copysign": binary(tensor.Tensor.Copysign), "logaddexp": binary(tensor.Tensor.LogAddExp),
	"lerp":  func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Lerp(in[1], in[2]) },
	"cdist": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Cdist(in[1], arg(a, "p", 2.0)) },
	"norm_p3": func(in []tensor.Tensor, a args) tensor.Tensor {
		axis := arg(a, "axis", -1)
		return in[0].NormP(arg(a, "p", 2.0), axis).Squeeze(axis)
	},
	"sdpa": sdpa(false), "sdpa_gqa": sdpa(false), "sdpa_causal": sdpa(true),
}

func sdpa(causal bool) opFunc {
	return func(in []tensor.Tensor, a args) tensor.Tensor {
		return tensor.Attention(in[0], in[1], in[2], &tensor.AttentionOptions{Causal: arg(a, "causal", causal)})
	}
}

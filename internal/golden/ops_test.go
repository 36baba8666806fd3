package golden

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// An opFunc computes an operation's results.
type opFunc func(in []tensor.Tensor, a args) tensor.Tensor

// ops has the operations by their names in the file.
var ops = map[string]opFunc{
	"exp": unary(tensor.Tensor.Exp), "exp2": unary(tensor.Tensor.Exp2), "expm1": unary(tensor.Tensor.Expm1),
	"log": unary(tensor.Tensor.Log), "log2": unary(tensor.Tensor.Log2), "log1p": unary(tensor.Tensor.Log1p),
	"neg": unary(tensor.Tensor.Neg), "abs": unary(tensor.Tensor.Abs), "sign": unary(tensor.Tensor.Sign),
	"sin": unary(tensor.Tensor.Sin), "cos": unary(tensor.Tensor.Cos), "tan": unary(tensor.Tensor.Tan),
	"sinh": unary(tensor.Tensor.Sinh), "cosh": unary(tensor.Tensor.Cosh), "tanh": unary(tensor.Tensor.Tanh),
	"atan": unary(tensor.Tensor.Atan), "erf": unary(tensor.Tensor.Erf),
	"sqrt": unary(tensor.Tensor.Sqrt), "rsqrt": unary(tensor.Tensor.Rsqrt),
	"square": unary(tensor.Tensor.Square), "reciprocal": unary(tensor.Tensor.Reciprocal),
	"floor": unary(tensor.Tensor.Floor), "ceil": unary(tensor.Tensor.Ceil),
	"round": unary(tensor.Tensor.Round), "trunc": unary(tensor.Tensor.Trunc),
	"relu": unary(tensor.Tensor.ReLU), "sigmoid": unary(tensor.Tensor.Sigmoid), "silu": unary(tensor.Tensor.SiLU),
	"softplus": unary(tensor.Tensor.Softplus), "mish": unary(tensor.Tensor.Mish), "hardswish": unary(tensor.Tensor.HardSwish),
	"gelu": func(in []tensor.Tensor, a args) tensor.Tensor {
		if arg(a, "approximate", "none") == "tanh" {
			return in[0].GELUTanh()
		}
		return in[0].GELU()
	},
	"elu":        func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].ELU(arg(a, "alpha", 1.0)) },
	"leaky_relu": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].LeakyReLU(arg(a, "negative_slope", 0.01)) },

	"add": binary(tensor.Tensor.Add), "sub": binary(tensor.Tensor.Sub), "mul": binary(tensor.Tensor.Mul),
	"div": binary(tensor.Tensor.Div), "rem": binary(tensor.Tensor.Rem), "pow": binary(tensor.Tensor.Pow),
	"atan2":   binary(tensor.Tensor.Atan2),
	"maximum": binary(tensor.Tensor.Maximum), "minimum": binary(tensor.Tensor.Minimum),
	"eq": binary(tensor.Tensor.Eq), "ne": binary(tensor.Tensor.Ne), "lt": binary(tensor.Tensor.Lt),
	"le": binary(tensor.Tensor.Le), "gt": binary(tensor.Tensor.Gt), "ge": binary(tensor.Tensor.Ge),
	"and": binary(tensor.Tensor.And), "or": binary(tensor.Tensor.Or), "xor": binary(tensor.Tensor.Xor),
	"shl": binary(tensor.Tensor.Shl), "shr": binary(tensor.Tensor.Shr), "not": unary(tensor.Tensor.Not),
	"isnan": unary(tensor.Tensor.IsNaN), "isinf": unary(tensor.Tensor.IsInf),
	"cast":  func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Cast(dtypes[arg(a, "dtype", "")].dtype) },
	"where": func(in []tensor.Tensor, a args) tensor.Tensor { return tensor.Where(in[0], in[1], in[2]) },
	"clamp": clamp,

	"sum": reduce(narrowed(tensor.Tensor.Sum)), "mean": reduce(tensor.Tensor.Mean), "max": reduce(tensor.Tensor.Max),
	"min": reduce(tensor.Tensor.Min), "prod": reduce(narrowed(tensor.Tensor.Prod)), "logsumexp": reduce(tensor.Tensor.LogSumExp),
	"norm": reduce(tensor.Tensor.Norm), "any": reduce(tensor.Tensor.Any), "all": reduce(tensor.Tensor.All),
	"var": variance,
	"std": func(in []tensor.Tensor, a args) tensor.Tensor { return variance(in, a).Sqrt() },
	"softmax": func(in []tensor.Tensor, a args) tensor.Tensor {
		return in[0].Softmax(arg(a, "axis", -1))
	},
	"log_softmax": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].LogSoftmax(arg(a, "axis", -1)) },
	"argmax":      func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].ArgMax(arg(a, "axis", -1)) },
	"argmin":      func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].ArgMin(arg(a, "axis", -1)) },

	"flip":    func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Flip(ints(a, "axes")...) },
	"permute": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Permute(ints(a, "perm")...) },
	"reshape": func(in []tensor.Tensor, a args) tensor.Tensor {
		x := in[0]
		if axes := ints(a, "transpose_first"); axes != nil {
			x = x.Transpose(axes[0], axes[1])
		}
		return x.Reshape(ints(a, "shape")...)
	},
	"expand":    func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Expand(ints(a, "shape")...) },
	"unsqueeze": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Unsqueeze(arg(a, "axis", 0)) },
	"roll":      func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Roll(arg(a, "axis", 0), arg(a, "n", 0)) },
	"repeat":    func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Repeat(arg(a, "axis", 0), arg(a, "n", 0)) },
	"tile":      func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Tile(ints(a, "times")...) },
	"diag":      func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Diag(arg(a, "k", 0)) },
	"unfold": func(in []tensor.Tensor, a args) tensor.Tensor {
		return in[0].Unfold(arg(a, "axis", 0), arg(a, "size", 0), arg(a, "step", 0))
	},
	"pad":   pad,
	"slice": slice,
	"tril":  func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Tril(arg(a, "k", 0)) },
	"triu":  func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Triu(arg(a, "k", 0)) },
	"cat":   func(in []tensor.Tensor, a args) tensor.Tensor { return tensor.Cat(arg(a, "axis", 0), in...) },
	"stack": func(in []tensor.Tensor, a args) tensor.Tensor { return tensor.Stack(arg(a, "axis", 0), in...) },

	"matmul": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].MatMul(in[1]) },
	"einsum": func(in []tensor.Tensor, a args) tensor.Tensor { return tensor.Einsum(arg(a, "equation", ""), in...) },

	"index_select":    func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Take(arg(a, "axis", 0), in[1]) },
	"take_along_axis": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].TakeAlong(arg(a, "axis", 0), in[1]) },
	"embedding":       func(in []tensor.Tensor, a args) tensor.Tensor { return nn.Embedding{Weight: in[0]}.Apply(in[1]) },
	"scatter_add":     scatter(tensor.Tensor.ScatterAdd), "scatter_mul": scatter(tensor.Tensor.ScatterMul),
	"scatter_max": scatter(tensor.Tensor.ScatterMax), "scatter_min": scatter(tensor.Tensor.ScatterMin),
	"one_hot": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].OneHot(arg(a, "classes", 0)) },

	"conv1d": conv, "conv2d": conv,
	"max_pool1d": maxPool, "max_pool2d": maxPool,
	"avg_pool1d": avgPool, "avg_pool2d": avgPool,
	"layer_norm": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.LayerNorm{Weight: nth(in, 1), Bias: nth(in, 2), Eps: arg(a, "eps", 0.0)}.Apply(in[0])
	},
	"rms_norm": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.RMSNorm{Weight: nth(in, 1), Eps: arg(a, "eps", 0.0)}.Apply(in[0])
	},

	"group_norm": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.GroupNorm{Weight: nth(in, 1), Bias: nth(in, 2), Groups: arg(a, "groups", 1), Eps: arg(a, "eps", 0.0)}.Apply(in[0])
	},
	"batch_norm_train": batchNorm,

	"cross_entropy": loss(nn.CrossEntropy),
	"mse_loss":      loss(nn.MSE),
	"l1_loss":       loss(nn.L1),
	"huber_loss":    loss(nn.Huber),
	"nll_loss":      loss(nn.NLL),
	"kl_div":        loss(nn.KLDiv),

	"binary_cross_entropy_with_logits": loss(nn.BCEWithLogits),
}

func unary(f func(tensor.Tensor) tensor.Tensor) opFunc {
	return func(in []tensor.Tensor, a args) tensor.Tensor { return f(in[0]) }
}

// binary returns f of two tensors, or of one and the number other.
func binary(f func(tensor.Tensor, tensor.Operand) tensor.Tensor) opFunc {
	return func(in []tensor.Tensor, a args) tensor.Tensor {
		if len(in) == 1 {
			return f(in[0], arg(a, "other", 0.0))
		}
		return f(in[0], in[1])
	}
}

func scatter(f func(t tensor.Tensor, axis int, index, src tensor.Tensor) tensor.Tensor) opFunc {
	return func(in []tensor.Tensor, a args) tensor.Tensor { return f(in[0], arg(a, "axis", 0), in[1], in[2]) }
}

func reduce(f func(tensor.Tensor, ...int) tensor.Tensor) opFunc {
	return func(in []tensor.Tensor, a args) tensor.Tensor { return drop(f(in[0], ints(a, "axes")...), a) }
}

// narrowed gives f in the type that the programs of the references name, of which it has the
// lower bits.
func narrowed(f func(tensor.Tensor, ...int) tensor.Tensor) func(tensor.Tensor, ...int) tensor.Tensor {
	return func(x tensor.Tensor, axes ...int) tensor.Tensor { return f(x, axes...).Cast(x.DType().SumType()) }
}

// drop drops the reduced axes of y if the case does.
func drop(y tensor.Tensor, a args) tensor.Tensor {
	if arg(a, "keepdims", true) || y.Rank() == 0 {
		return y
	}
	return y.Squeeze(ints(a, "axes")...)
}

// variance divides by n - correction.
func variance(in []tensor.Tensor, a args) tensor.Tensor {
	y := in[0].Var(ints(a, "axes")...)
	n := float64(in[0].Len() / max(y.Len(), 1))
	if c := arg(a, "correction", 0.0); c != 0 {
		y = y.Mul(n / (n - c))
	}
	return drop(y, a)
}

func clamp(in []tensor.Tensor, a args) tensor.Tensor {
	lo, hi := arg[*float64](a, "min", nil), arg[*float64](a, "max", nil)
	switch {
	case lo == nil:
		return in[0].Minimum(*hi)
	case hi == nil:
		return in[0].Maximum(*lo)
	}
	return in[0].Clamp(*lo, *hi)
}

func pad(in []tensor.Tensor, a args) tensor.Tensor {
	x := in[0]
	for axis, p := range arg[[][2]int](a, "padding", nil) {
		x = x.Pad(axis, p[0], p[1])
	}
	return x
}

// slice applies NumPy's start:stop:step to each axis; null is an end.
func slice(in []tensor.Tensor, a args) tensor.Tensor {
	var specs []any
	for _, s := range arg[[][3]*int](a, "slices", nil) {
		specs = append(specs, span(s))
	}
	return in[0].Index(specs...)
}

func span(s [3]*int) tensor.Range {
	step := 1
	if s[2] != nil {
		step = *s[2]
	}
	start, stop := 0, tensor.End
	if step < 0 {
		start = -1
	}
	if s[0] != nil {
		start = *s[0]
	}
	if s[1] != nil {
		stop = *s[1]
	}
	return tensor.Span(start, int(stop), step)
}

func convOptions(a args) tensor.ConvOptions {
	return tensor.ConvOptions{
		Stride: ints(a, "stride"), Padding: ints(a, "padding"), Dilation: ints(a, "dilation"),
		Groups: arg(a, "groups", 1),
	}
}

func conv(in []tensor.Tensor, a args) tensor.Tensor {
	return nn.Conv{Weight: in[1], Bias: nth(in, 2), Options: convOptions(a)}.Apply(in[0])
}

func maxPool(in []tensor.Tensor, a args) tensor.Tensor {
	return nn.MaxPool{Size: kernel(a), Options: convOptions(a)}.Apply(in[0])
}

func avgPool(in []tensor.Tensor, a args) tensor.Tensor {
	return nn.AvgPool{Size: kernel(a), Options: convOptions(a)}.Apply(in[0])
}

// kernel returns the size of a pool's windows, equal along all axes.
func kernel(a args) int {
	k := ints(a, "kernel")
	if len(slices.Compact(slices.Clone(k))) != 1 {
		panic(fmt.Sprintf("kernel %v is not square", k))
	}
	return k[0]
}

// batchNorm normalizes by the batch's statistics.
func batchNorm(in []tensor.Tensor, a args) tensor.Tensor {
	l := nn.NewBatchNorm(in[0].Dim(1))
	l.Weight, l.Bias, l.Eps = nth(in, 1), nth(in, 2), arg(a, "eps", 0.0)
	y, _ := nn.Train(l, in[0], tensor.NewRNG(0))
	return y
}

// loss prepares predictions and targets as the case requires, and reduces the loss, by
// default to its mean.
func loss(f func(pred, target tensor.Tensor) tensor.Tensor) opFunc {
	return func(in []tensor.Tensor, a args) tensor.Tensor {
		l := f(prepare(in[0], arg(a, "input", "")), prepare(in[1], arg(a, "target", "")))
		switch r := arg(a, "reduction", "mean"); r {
		case "none":
			return l
		case "sum":
			return l.Sum()
		case "mean", "batchmean":
			return l.Mean()
		default:
			panic("reduction " + r)
		}
	}
}

// prepare applies the function that the case names.
func prepare(x tensor.Tensor, how string) tensor.Tensor {
	switch how {
	case "log_softmax(x)":
		return x.LogSoftmax(-1)
	case "softmax(y)":
		return x.Softmax(-1)
	case "":
		return x
	}
	panic("prepared by " + how)
}

// nth returns input i, absent if there are fewer.
func nth(in []tensor.Tensor, i int) (t tensor.Tensor) {
	if i < len(in) {
		t = in[i]
	}
	return t
}

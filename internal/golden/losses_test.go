package golden

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// losses has those whose targets are arguments of a case, or that have options.
var losses = map[string]opFunc{
	"ce_smoothing": func(in []tensor.Tensor, a args) tensor.Tensor {
		loss, _ := crossEntropy(in, a, &nn.CrossEntropyOptions{Smoothing: arg(a, "smoothing", 0.0)})
		return loss
	},
	"ce_ignore": func(in []tensor.Tensor, a args) tensor.Tensor {
		loss, weight := crossEntropy(in, a, &nn.CrossEntropyOptions{Ignore: ints(a, "ignore")})
		return loss.Sum().Div(weight.Sum())
	},
	"ce_weights": func(in []tensor.Tensor, a args) tensor.Tensor {
		weights := tensor.New(arg[[]float32](a, "weights", nil))
		loss, weight := crossEntropy(in, a, &nn.CrossEntropyOptions{Weight: weights})
		return loss.Sum().Div(weight.Sum())
	},
	"ctc": func(in []tensor.Tensor, a args) tensor.Tensor {
		lengths := func(name string) tensor.Tensor { return tensor.New(arg[[]int32](a, name, nil)) }
		targets := tensor.From(arg[[][]int32](a, "targets", nil))
		return nn.CTC(in[0].LogSoftmax(-1), targets, lengths("input_lengths"), lengths("target_lengths"), arg(a, "blank", 0))
	},
	"triplet":           func(in []tensor.Tensor, a args) tensor.Tensor { return nn.TripletMargin(in[0], in[1], in[2], 1) },
	"poisson_nll":       func(in []tensor.Tensor, a args) tensor.Tensor { return nn.PoissonNLL(in[0], targetOf(in, a)) },
	"bce_probabilities": func(in []tensor.Tensor, a args) tensor.Tensor { return nn.BCE(in[0], targetOf(in, a)) },
}

func crossEntropy(in []tensor.Tensor, a args, o *nn.CrossEntropyOptions) (loss, weight tensor.Tensor) {
	return nn.CrossEntropyWith(in[0], tensor.New(arg[[]int32](a, "labels", nil)), o)
}

// targetOf returns the target, a number for all elements.
func targetOf(in []tensor.Tensor, a args) tensor.Tensor {
	return tensor.FullLike(in[0], arg(a, "target", 0.0))
}

package golden

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// layers has layers and losses of package nn. Parameters are inputs.
var layers = map[string]opFunc{
	"nn.bilinear": func(in []tensor.Tensor, _ args) tensor.Tensor {
		return nn.Bilinear{Weight: in[2], Bias: in[3]}.Apply(in[0], in[1])
	},
	"nn.prelu": func(in []tensor.Tensor, _ args) tensor.Tensor { return nn.PReLU{Weight: in[1]}.Apply(in[0]) },
	"nn.upsample": layer(func(a args) nn.Layer {
		mode := map[string]tensor.Interpolation{"nearest": tensor.Nearest, "linear": tensor.Linear, "cubic": tensor.Cubic}[arg(a, "mode", "")]
		return nn.Upsample{Size: ints(a, "size"), Factor: arg(a, "factor", 0), Options: tensor.ResizeOptions{Mode: mode, AlignCorners: arg(a, "corners", false)}}
	}),
	"nn.adaptive_avg": layer(func(a args) nn.Layer { return nn.AdaptiveAvgPool{Size: ints(a, "size")} }),
	"nn.adaptive_max": layer(func(a args) nn.Layer { return nn.AdaptiveMaxPool{Size: ints(a, "size")} }),
	"nn.pad": layer(func(a args) nn.Layer {
		mode := map[string]tensor.PadMode{"reflect": tensor.Reflect, "replicate": tensor.Replicate, "circular": tensor.Circular}[arg(a, "mode", "")]
		return nn.Pad{Before: ints(a, "before"), After: ints(a, "after"), Mode: mode, Value: arg(a, "value", 0.0)}
	}),
	"nn.pixel_shuffle": layer(func(a args) nn.Layer { return nn.PixelShuffle{Factor: arg(a, "factor", 0)} }),
	"nn.unfold": layer(func(a args) nn.Layer {
		return nn.Unfold{Size: arg(a, "size", 0), Options: windowOptions(a)}
	}),
	"nn.fold": layer(func(a args) nn.Layer {
		return nn.Fold{Lengths: ints(a, "lengths"), Size: arg(a, "size", 0), Options: windowOptions(a)}
	}),
	"nn.response_norm": layer(func(a args) nn.Layer {
		return nn.LocalResponseNorm{Size: arg(a, "size", 0), Alpha: arg(a, "alpha", 0.0), Beta: arg(a, "beta", 0.0), K: arg(a, "k", 0.0)}
	}),
	"nn.conv_transpose": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.ConvTranspose{Weight: in[1], Bias: in[2], Options: windowOptions(a)}.Apply(in[0])
	},
	"nn.layer_norm": func(in []tensor.Tensor, _ args) tensor.Tensor {
		return nn.LayerNorm{Weight: in[1], Bias: in[2]}.Apply(in[0])
	},
	"nn.group_norm": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.GroupNorm{Weight: in[1], Bias: in[2], Groups: arg(a, "groups", 0), Eps: arg(a, "eps", 0.0)}.Apply(in[0])
	},
	"nn.instance_norm": func(in []tensor.Tensor, _ args) tensor.Tensor {
		return nn.InstanceNorm{Weight: in[1], Bias: in[2]}.Apply(in[0])
	},
	"nn.batch_norm": func(in []tensor.Tensor, _ args) tensor.Tensor {
		return nn.BatchNorm{Mean: in[1], Var: in[2], Weight: in[3], Bias: in[4]}.Apply(in[0])
	},
	"nn.weight_norm": func(in []tensor.Tensor, _ args) tensor.Tensor { return nn.WeightNorm{V: in[0], G: in[1]}.Weight() },
	"nn.normalize":   func(in []tensor.Tensor, _ args) tensor.Tensor { return nn.Normalize(in[0], -1) },

	"nn.recurrent": recurrent,

	"nn.focal": func(in []tensor.Tensor, _ args) tensor.Tensor { return nn.Focal(in[0], in[1], nil) },
	"nn.focal_classes": func(in []tensor.Tensor, a args) tensor.Tensor {
		loss, _ := nn.CrossEntropyWith(in[0], in[1], &nn.CrossEntropyOptions{Gamma: arg(a, "gamma", 0.0)})
		return loss
	},
	"nn.gaussian_nll": func(in []tensor.Tensor, _ args) tensor.Tensor { return nn.GaussianNLL(in[0], in[1], in[2]) },
	"nn.smooth_l1":    func(in []tensor.Tensor, a args) tensor.Tensor { return nn.SmoothL1(in[0], in[1], arg(a, "beta", 0.0)) },
	"nn.huber": func(in []tensor.Tensor, a args) tensor.Tensor {
		delta := arg(a, "delta", 0.0)
		return nn.SmoothL1(in[0], in[1], delta).Mul(delta)
	},
	"nn.margin_ranking": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.MarginRanking(in[0], in[1], in[2], arg(a, "margin", 0.0))
	},
	"nn.hinge_embedding": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.HingeEmbedding(in[0], in[1], arg(a, "margin", 0.0))
	},
	"nn.cosine_embedding": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.CosineEmbedding(in[0], in[1], in[2], arg(a, "margin", 0.0))
	},
	"nn.soft_margin":            loss(nn.SoftMargin),
	"nn.multilabel_soft_margin": loss(nn.MultiLabelSoftMargin),
	"nn.multilabel_margin": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.MultiLabelMargin(in[0], tensor.From(arg[[][]float32](a, "targets", nil)))
	},
	"nn.multi_margin": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.MultiMargin(in[0], in[1], arg(a, "margin", 0.0), arg(a, "p", 0.0))
	},
	"nn.soft_cross_entropy": loss(nn.SoftCrossEntropy),
	"nn.bce_pos_weight":     func(in []tensor.Tensor, _ args) tensor.Tensor { return nn.BCEWithPosWeight(in[0], in[1], in[2]) },
	"nn.info_nce": func(in []tensor.Tensor, a args) tensor.Tensor {
		return nn.InfoNCE(in[0], in[1], arg(a, "temperature", 0.0))
	},
}

// layer returns an operation that applies a layer without parameters.
func layer(f func(args) nn.Layer) opFunc {
	return func(in []tensor.Tensor, a args) tensor.Tensor { return f(a).Apply(in[0]) }
}

func windowOptions(a args) tensor.ConvOptions {
	return tensor.ConvOptions{
		Stride: ints(a, "stride"), Padding: ints(a, "padding"), Dilation: ints(a, "dilation"),
		OutputPadding: ints(a, "output_padding"), Groups: arg(a, "groups", 0),
	}
}

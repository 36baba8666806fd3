package golden

import "github.com/tensorken/tensorken/tensor"

// movements has operations that move, pad and resample elements.
var movements = map[string]opFunc{
	"conv_transpose2d": convTranspose, "conv_transpose1d_groups": convTranspose,
	"kron":  func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Kron(in[1]) },
	"rot90": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].Rot90(1, -2, -1) },
	"pad_mode": func(in []tensor.Tensor, a args) tensor.Tensor {
		mode := map[string]tensor.PadMode{"reflect": tensor.Reflect, "replicate": tensor.Replicate, "circular": tensor.Circular}
		return in[0].PadMode(-1, arg(a, "before", 0), arg(a, "after", 0), mode[arg(a, "mode", "")])
	},
	"resize": func(in []tensor.Tensor, a args) tensor.Tensor {
		mode := map[string]tensor.Interpolation{
			"nearest": tensor.Nearest, "bilinear": tensor.Linear, "bicubic": tensor.Cubic, "area": tensor.Area,
		}
		o := &tensor.ResizeOptions{Mode: mode[arg(a, "mode", "")], AlignCorners: arg(a, "align_corners", false)}
		return in[0].Resize(ints(a, "size"), o)
	},
	"adaptive_avg_pool2d": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].AdaptiveAvgPool(ints(a, "size")...) },
	"adaptive_max_pool2d": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].AdaptiveMaxPool(ints(a, "size")...) },
	"pixel_shuffle":       func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].PixelShuffle(arg(a, "factor", 0)) },
	"grid_sample":         func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].GridSample(in[1], nil) },
	"fold":                fold,
}

func convTranspose(in []tensor.Tensor, a args) tensor.Tensor {
	o := convOptions(a)
	o.OutputPadding = ints(a, "output_padding")
	y := in[0].ConvTranspose(in[1], &o)
	if bias := nth(in, 2); bias.IsValid() {
		shape := []int{bias.Len()}
		for range y.Rank() - 2 {
			shape = append(shape, 1)
		}
		y = y.Add(bias.Reshape(shape...))
	}
	return y
}

// fold is PyTorch's, over two axes: [batch, channels·kernel², windows].
func fold(in []tensor.Tensor, a args) tensor.Tensor {
	size, k, p := ints(a, "size"), arg(a, "kernel", 0), arg(a, "padding", 0)
	h, w := size[0]+2*p, size[1]+2*p
	x := in[0].Reshape(in[0].Dim(0), -1, k, k, h-k+1, w-k+1).Permute(0, 1, 4, 5, 2, 3)
	x = x.Fold(3, w, 1).Fold(2, h, 1)
	return x.Slice(2, p, h-p).Slice(3, p, w-p)
}

package golden

import "github.com/tensorken/tensorken/tensor"

// indexing has operations that select and assign elements.
var indexing = map[string]opFunc{
	"index_put_add": func(in []tensor.Tensor, a args) tensor.Tensor {
		return in[0].AddAt(in[1], indices(a, "i"), indices(a, "j"))
	},
	"index_two_tensors": func(in []tensor.Tensor, a args) tensor.Tensor {
		return in[0].Index(indices(a, "i"), indices(a, "j"))
	},
	"index_split_tensors": func(in []tensor.Tensor, a args) tensor.Tensor {
		return in[0].Index(indices(a, "i"), tensor.All, indices(a, "k"))
	},
	"masked_select": func(in []tensor.Tensor, a args) tensor.Tensor { return in[0].MaskedSelect(in[0].Gt(0)) },
	"masked_fill": func(in []tensor.Tensor, a args) tensor.Tensor {
		return in[0].MaskedFill(in[0].Gt(0), arg(a, "value", 0.0))
	},
}

// indices returns an argument of a case as a tensor.
func indices(a args, name string) tensor.Tensor {
	var i []int32
	for _, v := range ints(a, name) {
		i = append(i, int32(v))
	}
	return tensor.New(i)
}

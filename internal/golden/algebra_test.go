package golden

import (
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// algebra has the operations of package linalg.
var algebra = map[string]opFunc{
	"cholesky": unary(linalg.Cholesky), "inv": unary(linalg.Inv), "det": unary(linalg.Det),
	"svdvals": unary(linalg.SVDVals), "eigvalsh": unary(linalg.Eigvalsh), "matrix_exp": unary(linalg.Expm),
	"pinv":  unary(func(a tensor.Tensor) tensor.Tensor { return linalg.PInv(a) }),
	"solve": func(in []tensor.Tensor, _ args) tensor.Tensor { return linalg.Solve(in[0], in[1]) },
	"lstsq": func(in []tensor.Tensor, _ args) tensor.Tensor { return linalg.LstSq(in[0], in[1]) },
	"slogdet": unary(func(a tensor.Tensor) tensor.Tensor {
		_, logAbs := linalg.SlogDet(a)
		return logAbs
	}),
	"qr_r": unary(func(a tensor.Tensor) tensor.Tensor { // without the signs, which are not determined
		_, r := linalg.QR(a)
		return r.Abs()
	}),
}

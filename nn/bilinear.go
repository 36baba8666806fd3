package nn

import (
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// A Bilinear layer computes aᵀ·W·b + bias on the last axes of two inputs.
type Bilinear struct {
	Weight tensor.Tensor // [out in1 in2], as in PyTorch
	Bias   tensor.Tensor `tensor:",optional"` // [out], or absent
}

// NewBilinear returns a layer from widths in1 and in2 to width out. Weight and bias are
// uniform in ±1/√in1, as in PyTorch.
func NewBilinear(rng *tensor.RNG, in1, in2, out int) Bilinear {
	checkDraw("NewBilinear", rng, []int{out, in1, in2})
	b := bound(in1)
	return Bilinear{Weight: uniform(rng, b, out, in1, in2), Bias: uniform(rng, b, out)}
}

// Apply maps a of shape [... in1] and b of shape [... in2], whose other axes are equal, to
// [... out].
func (l Bilinear) Apply(a, b tensor.Tensor) tensor.Tensor {
	defer named("Bilinear")
	checkPresent("Bilinear", "Weight", l.Weight)
	out, in1, in2 := l.Weight.Dim(0), l.Weight.Dim(1), l.Weight.Dim(2)
	checkBias("Bilinear", l.Bias, out)
	n := a.Rank() - 1
	if n < 0 || b.Rank() != n+1 || a.Dim(-1) != in1 || b.Dim(-1) != in2 || !slices.Equal(a.Shape()[:n], b.Shape()[:n]) {
		fail("Bilinear", "the inputs %v and %v are not [... %d] and [... %d], which the weight [out in1 in2] = %v takes", a.Shape(), b.Shape(), in1, in2, l.Weight.Shape())
	}
	wb := b.MatMul(l.Weight.Reshape(out*in1, in2).T()) // [... out·in1]
	wb = wb.Reshape(append(slices.Clone(b.Shape()[:n]), out, in1)...)
	return affine(wb.Mul(a.Unsqueeze(-2)).Sum(-1).Squeeze(-1), tensor.Tensor{}, l.Bias)
}

package nn

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A SpectralNorm is a weight that is divided by its largest singular value, as a matrix
// [out in·spatial]. The value is estimated by vectors that a step of the power method brings
// nearer in each step of training. Embed it in a layer as a [WeightNorm]; in training, call
// Next first.
//
// Source: Miyato et al., "Spectral Normalization for Generative Adversarial Networks", 2018.
type SpectralNorm struct {
	Original tensor.Tensor `tensor:"weight_orig"`    // the weight [out in spatial...]
	U        tensor.Tensor `tensor:"weight_u,state"` // [out]
	V        tensor.Tensor `tensor:"weight_v,state"` // [in·spatial]
}

// NewSpectralNorm returns the norm of a weight [out in spatial...] with random vectors, after
// 15 steps of the power method, as in PyTorch.
func NewSpectralNorm(rng *tensor.RNG, weight tensor.Tensor) SpectralNorm {
	defer named("SpectralNorm")
	in, _ := fans("NewSpectralNorm", rng, weight.Shape())
	l := SpectralNorm{Original: weight, U: rng.Normal(weight.Dim(0)), V: rng.Normal(in)}
	for range 15 {
		l = l.Next()
	}
	l.U, l.V = l.U.Keep(), l.V.Keep()
	return l
}

// Weight returns the weight divided by uᵀ·W·v.
func (l SpectralNorm) Weight() tensor.Tensor {
	defer named("SpectralNorm")
	w := l.matrix()
	return narrowed(widened(l.Original).Div(widened(l.U).Dot(w.MatMul(widened(l.V)))), l.Original)
}

// Next returns the norm after a step of the power method, through which no derivative flows.
func (l SpectralNorm) Next() SpectralNorm {
	defer named("SpectralNorm")
	w := tensorOf(graph.StopGradient(nodeOf(l.matrix())))
	along := func(m, by tensor.Tensor) tensor.Tensor { return narrowed(unit(m.MatMul(widened(by))), by) }
	l.V = along(w.T(), l.U)
	l.U = along(w, l.V)
	return l
}

// matrix returns the weight as a matrix, of 32 bits at least.
func (l SpectralNorm) matrix() tensor.Tensor {
	checkPresent("SpectralNorm", "Original", l.Original)
	checkPresent("SpectralNorm", "U", l.U)
	checkPresent("SpectralNorm", "V", l.V)
	if l.Original.Rank() < 2 {
		fail("SpectralNorm", "the weight %v has rank %d, want at least 2", l.Original.Shape(), l.Original.Rank())
	}
	return widened(l.Original.Flatten(1))
}

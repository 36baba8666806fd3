package nn

import (
	"cmp"
	"math"

	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// InfoNCE returns the contrastive loss of each query: the cross-entropy of its cosine
// similarities to all keys, divided by a temperature, where the key in the query's place is
// the right one. Queries are [n width], keys [m width] of one type, with m ≥ n; the keys after the
// first n are only negatives. The result is [n].
//
// CLIP's loss is the mean of two: images as queries with texts as keys, and the reverse.
//
// Source: van den Oord, Li, Vinyals, "Representation Learning with Contrastive Predictive
// Coding", 2018.
func InfoNCE(queries, keys tensor.Tensor, temperature float64) tensor.Tensor {
	const op = "InfoNCE"
	checkPred(op, queries, "keys", keys)
	if queries.Rank() != 2 || keys.Rank() != 2 || queries.Dim(1) != keys.Dim(1) || keys.Dim(0) < queries.Dim(0) {
		fail(op, "want queries [n width] and keys [m width] with m ≥ n, not %v and %v", queries.Shape(), keys.Shape())
	}
	setting(op, "the temperature", temperature, limits.Positive)
	defer named(op)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		logits := Normalize(ts[0], -1).MatMul(Normalize(ts[1], -1).T()).Div(atLeast(ts[0], temperature))
		return CrossEntropy(logits, tensor.Arange(queries.Dim(0)))
	}, queries, keys)
}

// Normalize divides x by its norm along axes, or along all axes without any: unit vectors.
// Zeros stay zeros.
func Normalize(x tensor.Tensor, axes ...int) tensor.Tensor {
	defer named("Normalize")
	return wide(func(ts ...tensor.Tensor) tensor.Tensor { return unit(ts[0], axes...) }, x)
}

// FocalOptions are the options of [Focal].
type FocalOptions struct {
	// Alpha weighs targets of 1, and 1 - Alpha targets of 0; 0 is 0.25, and a negative
	// number weighs all alike.
	Alpha float64
	Gamma float64 // exponent of the factor for easy examples; 0 is 2
}

// Focal returns the focal loss of each logit and target, both of one shape and type:
// [BCEWithLogits] times (1-p)^Gamma, where p is the probability of the target, so that
// examples that are easy count less. Targets are 0 or 1. For classes on the last axis set
// Gamma of [CrossEntropyOptions].
//
// Source: Lin et al., "Focal Loss for Dense Object Detection", 2017.
func Focal(pred, target tensor.Tensor, o *FocalOptions) tensor.Tensor {
	checkTarget("Focal", pred, target)
	if o == nil {
		o = &FocalOptions{}
	}
	alpha, gamma := cmp.Or(o.Alpha, 0.25), cmp.Or(o.Gamma, 2)
	setting("Focal", "Gamma", gamma, limits.AtLeastOne)
	setting("Focal", "Alpha", alpha, limits.Limits{Least: -math.MaxFloat64, Most: 1, Want: "at most 1, or a negative number"})
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		x, y := ts[0], ts[1]
		p := x.Sigmoid()
		wrong := p.Add(y).Sub(p.Mul(y).Mul(2)) // 1 - the probability of the target
		loss := BCEWithLogits(x, y)
		loss = focused(loss, loss, wrong, gamma)
		if alpha < 0 {
			return loss
		}
		return weighted(loss, y.Mul(2*alpha-1).Add(1-alpha))
	}, pred, target)
}

package nn

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// MarginRanking returns max(0, -target·(a - b) + margin) for each element: a should be above
// b where the target is 1, and below where it is -1. The three have one shape and type.
func MarginRanking(a, b, target tensor.Tensor, margin float64) tensor.Tensor {
	checkTarget("MarginRanking", a, b)
	checkTarget("MarginRanking", a, target)
	setting("MarginRanking", "the margin", margin, limits.Finite)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		return weighted(ts[1].Sub(ts[0]), ts[2]).Add(margin).ReLU()
	}, a, b, target)
}

// HingeEmbedding returns for each distance the distance itself where the target is 1, and
// max(0, margin - distance) where it is not, which is meant by -1. Both have one shape and
// type. PyTorch's margin is 1.
func HingeEmbedding(distance, target tensor.Tensor, margin float64) tensor.Tensor {
	checkTarget("HingeEmbedding", distance, target)
	setting("HingeEmbedding", "the margin", margin, limits.Finite)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		return tensor.Where(ts[1].Eq(1), ts[0], ts[0].Neg().Add(margin).ReLU())
	}, distance, target)
}

// CosineEmbedding returns [CosineDistance] of a and b where the target is 1, and elsewhere
// max(0, cos - margin), with the cosine of their angle. It drops the last axis of a and b,
// [... width] of one type; targets are [...], 1 or -1.
func CosineEmbedding(a, b, target tensor.Tensor, margin float64) tensor.Tensor {
	checkTarget("CosineEmbedding", a, b)
	distance := CosineDistance(a, b)
	if !target.IsValid() || !slices.Equal(target.Shape(), distance.Shape()) {
		fail("CosineEmbedding", "want targets %v, one for each pair of vectors", distance.Shape())
	}
	setting("CosineEmbedding", "the margin", margin, limits.Finite)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		return tensor.Where(target.Eq(1), ts[0], ts[0].Neg().Add(1-margin).ReLU())
	}, distance)
}

// SoftMargin returns log(1 + e^(-x·y)) for each logit x and target y, which is 1 or -1; both
// have one shape and type.
func SoftMargin(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("SoftMargin", pred, target)
	return weighted(pred, target).Neg().Softplus()
}

// MultiLabelSoftMargin returns the mean of [BCEWithLogits] over the last axis, the classes,
// which it drops. Both are [... classes] of one type; a target is 1 for each class that
// applies and 0 for others.
func MultiLabelSoftMargin(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("MultiLabelSoftMargin", pred, target)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		return dropLast("MultiLabelSoftMargin", BCEWithLogits(ts[0], ts[1])).Div(pred.Dim(-1))
	}, pred, target)
}

// MultiLabelMargin returns Σ max(0, 1 - (x[i] - x[j])) / classes, over each class i that
// applies and each j that does not. Both are [... classes] of one type; a target is 1 for
// each class that applies and 0 for others, where PyTorch takes a list of classes.
func MultiLabelMargin(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("MultiLabelMargin", pred, target)
	if pred.Rank() == 0 {
		fail("MultiLabelMargin", "predictions have rank 0, want at least 1")
	}
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		x, y := ts[0], ts[1]
		pairs := y.Unsqueeze(-1).Mul(y.Neg().Add(1).Unsqueeze(-2)) // [... i j]
		counts := pairs.Ne(0)                                      // of others, differences may be Inf - Inf
		margins := tensor.Where(counts, x.Unsqueeze(-2), 0).Sub(tensor.Where(counts, x.Unsqueeze(-1), 0)).Add(1).ReLU()
		return margins.Mul(pairs).Sum(-1, -2).Squeeze(-1, -2).Div(pred.Dim(-1))
	}, pred, target)
}

// MultiMargin returns Σ max(0, margin - x[label] + x[j])^p / classes over the classes j that
// are not the label. Predictions are [... classes]; labels, and the result, are [...], as for
// [CrossEntropy]. PyTorch's margin and p are 1.
func MultiMargin(pred, labels tensor.Tensor, margin, p float64) tensor.Tensor {
	const op = "MultiMargin"
	checkLabels(op, pred, labels)
	if p != 1 && p != 2 {
		fail(op, "p is %v, want 1 or 2", p)
	}
	setting(op, "the margin", margin, limits.Finite)
	own := tensor.Internal.Pick(graph.Token{}, "nn."+op, pred, labels).Unsqueeze(-1)
	labels = tensor.Internal.Narrow(graph.Token{}, "nn."+op, labels)
	others := tensor.Arange(pred.Dim(-1)).Ne(labels.Unsqueeze(-1))
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		// The difference of the label's own prediction may be Inf - Inf.
		margins := tensor.Where(others, ts[0], 0).Sub(tensor.Where(others, ts[1], 0)).Add(margin).ReLU()
		if p == 2 {
			margins = margins.Square()
		}
		return tensor.Where(others, margins, 0).Sum(-1).Squeeze(-1).Div(pred.Dim(-1))
	}, pred, own)
}

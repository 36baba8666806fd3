package train

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// AUC returns the area under the ROC curve, a scalar: the probability that an example of
// class 1 has a higher score than one of class 0, where equal scores count half. Pred has
// the scores and target the classes, bool or numbers 0 and 1; both have one shape. It is
// exact but for the last rounding, and NaN if a class does not occur. A score that is NaN and
// another class are errors when it is computed, which is on the host.
//
// Source: Mann, Whitney, "On a Test of Whether one of Two Random Variables is
// Stochastically Larger than the Other", 1947.
func AUC(pred, target tensor.Tensor) tensor.Tensor {
	checkAlike("AUC", pred, target)
	scores := pred.Reshape(-1)
	if pred.DType().IsInt() { // ranks, because floats have too few digits
		scores = scores.Sort(0).SearchSorted(scores)
	}
	scores = scores.Cast(floatOf(scores.DType()))
	truth := target.Reshape(-1).Cast(scores.DType())
	return tensor.Internal.HostCall(graph.Token{}, "train.AUC", 1, "auc", auc, scores, truth).Squeeze(0)
}

// floatOf returns the type in which the host reads elements of a type.
func floatOf(d tensor.DType) tensor.DType {
	if d == tensor.Float64 {
		return d
	}
	return tensor.Float32
}

// auc fills out from scores and classes.
func auc(out graph.HostArray, in []graph.HostArray) error {
	type example struct {
		score    float64
		positive bool
	}
	examples := make([]example, graph.Len(in[0].Shape))
	for i := range examples {
		score, class := elementOf(in[0], i), elementOf(in[1], i)
		switch {
		case math.IsNaN(score):
			return fmt.Errorf("score %d is NaN", i)
		case class != 0 && class != 1:
			return fmt.Errorf("target %d is %v, want 0 or 1", i, class)
		}
		examples[i] = example{score, class == 1}
	}
	slices.SortFunc(examples, func(a, b example) int { return cmp.Compare(a.score, b.score) })
	// Pairs of one example of each class: twice those that are in order, with ties as halves.
	var negatives, positives, ordered int64
	for i := 0; i < len(examples); {
		below, above, score := negatives, positives, examples[i].score
		for ; i < len(examples) && examples[i].score == score; i++ {
			if examples[i].positive {
				positives++
			} else {
				negatives++
			}
		}
		ordered += (positives - above) * (below + negatives)
	}
	setElement(out, float64(ordered)/float64(2*negatives*positives))
	return nil
}

// elementOf returns element i of an array of float32 or float64.
func elementOf(a graph.HostArray, i int) float64 {
	if a.DType == tensor.Float64 {
		return math.Float64frombits(binary.LittleEndian.Uint64(a.Data[8*i:]))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Data[4*i:])))
}

// setElement sets the element of an array of one float32 or float64.
func setElement(a graph.HostArray, x float64) {
	if a.DType == tensor.Float64 {
		binary.LittleEndian.PutUint64(a.Data, math.Float64bits(x))
		return
	}
	binary.LittleEndian.PutUint32(a.Data, math.Float32bits(float32(x)))
}

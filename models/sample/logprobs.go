package sample

import (
	"math"
	"slices"
)

// A LogProb is the logarithm of the probability of a token.
type LogProb struct {
	ID      int32
	LogProb float64
}

// LogProbs returns the log-probability of a token by the logits of all, and the n greatest in descending order.
func LogProbs(logits []float32, id int32, n int) (float64, []LogProb) {
	top, sum := float64(slices.Max(logits)), 0.0
	for _, x := range logits {
		sum += math.Exp(float64(x) - top)
	}
	norm := top + math.Log(sum)
	of := float64(logits[id]) - norm
	if n <= 0 {
		return of, nil
	}
	var best []LogProb
	for t, x := range logits {
		p := float64(x) - norm
		if len(best) == n && p <= best[n-1].LogProb {
			continue
		}
		at := len(best)
		for at > 0 && best[at-1].LogProb < p {
			at--
		}
		best = slices.Insert(best, at, LogProb{int32(t), p})[:min(n, len(best)+1)]
	}
	return of, best
}

package subword

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/tensorken/tensorken/internal/limits"
)

// trainerLimits returns the limits of a number of tokenizer.BPETrainer or tokenizer.UnigramTrainer.
func trainerLimits(field string) limits.Limits {
	if field == "ShrinkingFactor" {
		return limits.BelowOne
	}
	return limits.Limits{Least: 0, Most: math.MaxInt32, Want: fmt.Sprintf("a number from 0 to %d", math.MaxInt32)}
}

// CheckTrainer returns an error if a number of a trainer has no meaning, or there are no texts.
func CheckTrainer(trainer any, texts iter.Seq[string]) error {
	if texts == nil {
		return errors.New("there is nothing to train on: the texts are nil")
	}
	return limits.Fields(trainer, trainerLimits)
}

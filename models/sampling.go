package models

import (
	"cmp"
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// A Sampling says how the next token is chosen. The zero value takes the most probable one.
// The steps and their order are as in generate of transformers.
type Sampling struct {
	// Temperature divides the logits; 0 takes the most probable token. All but
	// RepetitionPenalty have an effect only if it is positive.
	Temperature float64
	TopK        int     // only the TopK most probable tokens are drawn; 0 is all
	TopP        float64 // only the most probable tokens whose probabilities add up to TopP; 0 is all
	MinP        float64 // only tokens at least MinP times as probable as the most probable
	// RepetitionPenalty divides positive logits, and multiplies negative ones, of tokens that
	// the text has already; 0 and 1 are off.
	//
	// Source: Keskar et al., "CTRL: A Conditional Transformer Language Model for Controllable
	// Generation", 2019.
	RepetitionPenalty float64
}

// check returns an error for a value that has no meaning.
func (s Sampling) check(rng *tensor.RNG) error {
	for _, f := range []struct {
		name string
		x    float64
		limits.Limits
	}{
		{"Temperature", s.Temperature, limits.NotNegative}, {"TopK", float64(s.TopK), limits.NotNegative}, {"TopP", s.TopP, limits.AtMostOne},
		{"MinP", s.MinP, limits.AtMostOne}, {"RepetitionPenalty", s.RepetitionPenalty, limits.NotNegative},
	} {
		if err := f.Check(f.name, f.x); err != nil {
			return err
		}
	}
	if s.Temperature > 0 && rng == nil {
		return fmt.Errorf("the Temperature is %v: set RNG, from which tokens are drawn", s.Temperature)
	}
	return nil
}

// penalizes reports whether tokens that a text has matter.
func (s Sampling) penalizes() bool { return cmp.Or(s.RepetitionPenalty, 1) != 1 }

// Choose returns the next token of each text, int32 [batch], for logits [batch vocabulary]. Bools
// seen, [batch vocabulary], are true for the tokens that the text has, for RepetitionPenalty;
// otherwise seen may be absent. With a Temperature it draws from rng. It panics if a field has no
// meaning. It is an error, when the tokens are read, if the greatest logit of a text is NaN or
// infinite.
func (s Sampling) Choose(logits, seen tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	if err := s.check(rng); err != nil {
		tensor.Internal.Misuse(graph.Token{}, choosing, err.Error())
	}
	x := logits.Cast(tensor.Float32)
	if s.penalizes() {
		x = tensor.Where(seen, tensor.Where(x.Lt(0), x.Mul(s.RepetitionPenalty), x.Div(s.RepetitionPenalty)), x)
	}
	if s.Temperature == 0 {
		return tensor.Internal.Checked(graph.Token{}, choosing, x.ArgMax(-1), x.Max(-1).Squeeze(-1).IsFinite(),
			"the greatest of the logits", "is NaN or infinite")
	}
	x = x.Sub(x.Max(-1)).Div(max(s.Temperature, 0x1p-126)) // stays in float32's range
	var tokens tensor.Tensor                               // of x, if it is sorted
	topP := cmp.Or(s.TopP, 1)
	if n := x.Dim(-1); s.TopK > 0 && s.TopK < n || topP < 1 {
		x, tokens = x.TopK(-1, min(cmp.Or(s.TopK, n), n))
	}
	p := x.Softmax(-1)
	keep := p.Ge(p.Max(-1).Mul(s.MinP))
	if topP < 1 {
		keep = keep.And(p.CumSum(-1).Sub(p).Lt(topP)) // the more probable tokens add up to less
	}
	next := rng.Categorical(tensor.Where(keep, p, 0))
	if tokens.IsValid() {
		next = tokens.TakeAlong(-1, next.Unsqueeze(-1)).Squeeze(-1)
	}
	return next
}

// choosing is the operation that errors of logits name without a Temperature. With one it is Categorical.
const choosing = "Sampling.Choose"

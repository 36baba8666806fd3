package sample

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Choose returns the next token of each text, int32 [batch], for logits [batch vocabulary], by the
// steps from TopK on: see OnDevice. With a Temperature it draws from rng. It panics if a field has
// no meaning, or its step needs the text. It is an error, when the tokens are read, if the greatest
// logit of a text is NaN or infinite.
func (s Settings) Choose(logits tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	if err := s.checkDevice(rng); err != nil {
		tensor.Internal.Misuse(graph.Token{}, Choosing, err.Error())
	}
	x := logits.Cast(tensor.Float32)
	if s.Temperature == 0 {
		return tensor.Internal.Checked(graph.Token{}, Choosing, x.ArgMax(-1), x.Max(-1).Squeeze(-1).IsFinite(),
			"the greatest of the logits", "is NaN or infinite")
	}
	x = x.Sub(x.Max(-1))
	var tokens tensor.Tensor // of x, if it is sorted
	topP := cmp.Or(s.TopP, 1)
	if n := x.Dim(-1); s.TopK > 0 && s.TopK < n || topP < 1 {
		x, tokens = x.TopK(-1, min(cmp.Or(s.TopK, n), n))
	}
	p := x.Softmax(-1)
	keep := p.Ge(p.Max(-1).Mul(s.MinP))
	if topP < 1 {
		keep = keep.And(p.CumSum(-1).Sub(p).Lt(topP)) // the more probable tokens add up to less
	}
	hot := x.Div(max(s.Temperature, 0x1p-126)).Softmax(-1) // stays in float32's range
	next := rng.Categorical(tensor.Where(keep, hot, 0))
	if tokens.IsValid() {
		next = tokens.TakeAlong(-1, next.Unsqueeze(-1)).Squeeze(-1)
	}
	return next
}

func (s Settings) checkDevice(rng *tensor.RNG) error {
	switch err := s.Check(); {
	case err != nil:
		return err
	case !s.OnDevice():
		return errors.New("the Bias, penalties, DRY, Typical and XTC need the text: use a Sampler")
	case s.Random() && rng == nil:
		return fmt.Errorf("the Temperature is %v: set RNG, from which tokens are drawn", s.Temperature)
	}
	return nil
}

// Choosing is the operation that errors of logits name without a Temperature. With one it is
// Categorical.
const Choosing = "Sampling.Choose"

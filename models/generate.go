package models

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A Generator continues texts by a decoder with a cache. It records the step of a token once
// for each capacity of the cache, so keep it for the next texts; do not change Model after the
// first. It is for one goroutine at a time.
type Generator struct {
	Model     Decoder
	MaxTokens int // of each text, without the prompt
	Sampling
	Stop []int32     // tokens that end a text, such as eos_token_id
	RNG  *tensor.RNG // for a Temperature; each text of a batch has draws of its own

	step func(state) state // recorded
}

// A state is the state of generation: a step takes and returns it.
type state struct {
	IDs      tensor.Tensor // the last token of each text, [batch 1]
	Cache    Cache
	Seen     tensor.Tensor `tensor:",optional"` // see Sampling.Choose
	Sampling Sampling
	RNG      *tensor.RNG
}

// Generate returns up to MaxTokens tokens that follow each prompt, without the one of Stop that
// ended them. Prompts are computed at once, as a batch. It is an error, before the first token,
// if the longest of them with MaxTokens needs more positions than the model has. After a later
// error the texts have the tokens that came before it.
func (g *Generator) Generate(prompts [][]int32) ([][]int32, error) {
	texts := make([][]int32, len(prompts))
	for tokens, err := range g.All(prompts) {
		if err != nil {
			return texts, err
		}
		for i, t := range tokens {
			if t >= 0 {
				texts[i] = append(texts[i], t)
			}
		}
	}
	return texts, nil
}

// All yields the next token of each text, turn by turn, and -1 for texts that have ended. It ends
// after MaxTokens turns, or when all texts have ended.
func (g *Generator) All(prompts [][]int32) iter.Seq2[[]int32, error] {
	return func(yield func([]int32, error) bool) {
		s, held, err := g.begin(prompts)
		ended := make([]bool, len(prompts))
		for i := 0; err == nil && i < g.MaxTokens; i++ {
			var tokens []int32
			if tokens, err = tensor.Data[int32](s.IDs); err != nil {
				break
			}
			for k, t := range tokens {
				ended[k] = ended[k] || slices.Contains(g.Stop, t)
				if ended[k] {
					tokens[k] = -1
				}
			}
			if !slices.Contains(ended, false) || !yield(tokens, nil) || i+1 == g.MaxTokens {
				return
			}
			if c := s.Cache.Capacity(); held+i == c {
				s.Cache = s.Cache.Resize(2 * c)
			}
			s, err = g.next(s)
		}
		if err != nil {
			yield(nil, g.explain(err))
		}
	}
}

// explain adds the parameter that has NaN to an error about logits.
func (g *Generator) explain(err error) error {
	var e *tensor.Error
	if !errors.As(err, &e) || e.Op != choosing && e.Op != "Categorical" {
		return err
	}
	for name, t := range tree.All(g.Model) {
		if t.DType().IsFloat() {
			if bad, readErr := tensor.Data[bool](t.IsFinite().All().Not()); readErr == nil && bad[0] {
				return fmt.Errorf("%w: parameter %q has NaN or infinite numbers: load it from another file, or train it with a lower LR", err, name)
			}
		}
	}
	return fmt.Errorf("%w: all parameters are finite: train.FindNaN finds the operation", err)
}

// begin reads the prompts and chooses the first tokens. It also returns the number of positions
// in the cache.
func (g *Generator) begin(prompts [][]int32) (s state, held int, err error) {
	defer tensor.Catch(&err)
	if g.Model == nil || g.MaxTokens < 1 {
		return s, 0, errors.New("models: a Generator needs a Model, and MaxTokens of at least 1")
	}
	if err := g.check(g.RNG); err != nil {
		return s, 0, fmt.Errorf("models: %w", err)
	}
	ids, pads, err := batch(prompts)
	if err != nil {
		return s, 0, err
	}
	if err := g.checkPositions(ids.Dim(1)); err != nil {
		return s, 0, err
	}
	s = state{Sampling: g.Sampling, RNG: g.RNG, Cache: g.Model.NewCache(len(prompts), capacity(ids.Dim(1)+1))}
	s.Cache.Pads = pads
	x, cache := g.Model.Decode(ids, s.Cache)
	logits := g.Model.Logits(x.Index(tensor.All, -1))
	if err := checkTokens(prompts, logits.Dim(-1)); err != nil {
		return s, 0, err
	}
	s.Cache = cache
	if s.Sampling.penalizes() {
		s.Seen = seenIn(prompts, logits.Dim(-1))
	}
	s = s.choose(logits)
	s.Cache = s.Cache.OnDevice()
	return s, ids.Dim(1), tensor.Eval(s)
}

// checkPositions returns an error unless the model has positions for a prompt and all tokens
// after it but the last, which is not read.
func (g *Generator) checkPositions(prompt int) error {
	need := prompt + g.MaxTokens - 1
	if m, ok := g.Model.(limited); ok && need > m.Positions() {
		return fmt.Errorf("models: a prompt of %s and MaxTokens %d need %d positions: the model has %d",
			shape.Count(prompt, "token"), g.MaxTokens, need, m.Positions())
	}
	return nil
}

// checkTokens returns an error unless the tokens of prompts are in a vocabulary.
func checkTokens(prompts [][]int32, vocabulary int) error {
	for i, prompt := range prompts {
		for k, t := range prompt {
			if t < 0 || int(t) >= vocabulary {
				return fmt.Errorf("models: token %d of prompt %d is %d: want 0 to %d", k, i, t, vocabulary-1)
			}
		}
	}
	return nil
}

// next runs a step.
func (g *Generator) next(s state) (_ state, err error) {
	defer tensor.Catch(&err)
	if g.step == nil {
		g.step = grad.Jit(func(s state) state {
			x, cache := g.Model.Decode(s.IDs, s.Cache)
			s.Cache = cache
			return s.choose(g.Model.Logits(x).Squeeze(1))
		})
	}
	return g.step(s), nil
}

// choose chooses the next tokens.
func (s state) choose(logits tensor.Tensor) state {
	next := s.Sampling.Choose(logits, s.Seen, s.RNG)
	if s.Seen.IsValid() {
		s.Seen = s.Seen.Or(next.OneHot(logits.Dim(-1)).Cast(tensor.Bool))
	}
	s.IDs = next.Unsqueeze(-1)
	return s
}

// capacity returns a length for caches of some positions. Few lengths make few plans.
func capacity(positions int) int { return 1 << max(6, bits.Len(uint(positions-1))) }

// batch returns texts as one tensor [batch time], each after positions that do not count, and
// the number of these in each text, absent if all are 0.
func batch(texts [][]int32) (ids, pads tensor.Tensor, err error) {
	longest := 0
	for i, text := range texts {
		if len(text) == 0 {
			return ids, pads, fmt.Errorf("models: prompt %d is empty: it needs a token to begin with", i)
		}
		longest = max(longest, len(text))
	}
	if longest == 0 {
		return ids, pads, errors.New("models: there are no prompts")
	}
	var all, before []int32
	for _, text := range texts {
		before = append(before, int32(longest-len(text)))
		all = append(all, make([]int32, longest-len(text))...)
		all = append(all, text...)
	}
	if slices.Max(before) > 0 {
		pads = tensor.New(before, len(texts), 1)
	}
	return tensor.New(all, len(texts), longest), pads, nil
}

// seenIn returns which tokens of a vocabulary each text has.
func seenIn(texts [][]int32, vocabulary int) tensor.Tensor {
	seen := make([]bool, len(texts)*vocabulary)
	for i, text := range texts {
		for _, t := range text {
			seen[i*vocabulary+int(t)] = true
		}
	}
	return tensor.New(seen, len(texts), vocabulary)
}

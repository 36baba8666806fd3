package models

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/models/sample"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Sampling says how tokens are chosen.
type Sampling = sample.Settings

// A Generator continues texts by a decoder with a cache. It records the step of a token once
// for each capacity of the cache, so keep it for the next texts; do not change Model after the
// first. It is for one goroutine at a time.
type Generator struct {
	Model     Decoder
	MaxTokens int // of each text, without the prompt
	Sampling
	Stop []int32     // tokens that end a text, such as eos_token_id
	RNG  *tensor.RNG // for a Temperature; each text of a batch has draws of its own
	// N is the number of texts of each prompt, which is read once; 0 is 1. Texts of the first prompt come first.
	N int
	// LogProbs, if it is positive, is how many of the most probable tokens Choices yields with
	// each token.
	LogProbs int

	// A single text is written faster with Draft, a smaller model of the same tokens, or with
	// NGram. Then up to Propose tokens, 0 is 3, are proposed at once, and Model reads them in one
	// step. Texts keep the distribution of Model.
	Draft Decoder
	// NGram is the number of tokens, as 3, that are looked for earlier in the text: the tokens
	// after the last occurrence are proposed. 0 is off.
	NGram, Propose int

	// CacheType is the type in which keys and values are stored. If it is empty, they are float16 next to weights in
	// blocks on the CPU, and otherwise in the model's type.
	CacheType nn.CacheType

	// Reuse keeps the cache of a single text for the next: a prompt that begins as the text before
	// it, as the next turn of a chat does, reads only its other tokens. They are rounded in another
	// way then than in a prompt that is read at once.
	Reuse bool

	step        func(state) state // recorded
	read, draft func(reading) reading
	round       func(round) round
	kept        text
	keptType    nn.CacheType
}

// A text is tokens with their cache.
type text struct {
	ids   []int32
	cache Cache
}

// A Choice is a token of a text.
type Choice struct {
	ID int32 // -1: the text has ended
	// LogProb is the logarithm of the probability of the token by the model itself, without
	// Sampling, and Top has the most probable tokens with theirs: see [Generator.LogProbs].
	LogProb float64
	Top     []LogProb
}

// A LogProb is the logarithm of the probability of a token.
type LogProb = sample.LogProb

// Generate returns up to MaxTokens tokens that follow each prompt, N times, without the one of Stop that
// ended them. Prompts are computed at once, as a batch. It is an error, before the first token,
// if the longest of them with MaxTokens needs more positions than the model has. After a later
// error the texts have the tokens that came before it.
func (g *Generator) Generate(prompts [][]int32) ([][]int32, error) {
	texts := make([][]int32, len(prompts)*g.perPrompt())
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
		for choices, err := range g.Choices(prompts) {
			var tokens []int32
			for _, c := range choices {
				tokens = append(tokens, c.ID)
			}
			if !yield(tokens, err) {
				return
			}
		}
	}
}

// Choices is All with the log-probabilities of tokens.
func (g *Generator) Choices(prompts [][]int32) iter.Seq2[[]Choice, error] {
	return func(yield func([]Choice, error) bool) {
		ended := make([]bool, len(prompts)*g.perPrompt())
		t, err := g.begin(prompts)
		defer func() {
			if err == nil && g.Reuse && len(ended) == 1 {
				g.kept, g.keptType = t.held(), g.CacheType
			}
		}()
		capacity, last := piece, 0
		for i := 0; err == nil && i < g.MaxTokens; i++ {
			var choices []Choice
			if choices, err = t.next(g.MaxTokens - i); err != nil {
				break
			}
			c, before := t.held().cache, last
			if last = c.Capacity(); i > 1 && last > capacity && last == before {
				capacity = last
				if err = c.giveBack(); err != nil {
					break
				}
			}
			for k, c := range choices {
				ended[k] = ended[k] || slices.Contains(g.Stop, c.ID)
				if ended[k] {
					choices[k] = Choice{ID: -1}
				}
			}
			if !slices.Contains(ended, false) || !yield(choices, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, g.explain(err, t))
		}
	}
}

// explain adds the parameter, or the layer, that has NaN to an error about logits.
func (g *Generator) explain(err error, t turns) error {
	var e *tensor.Error
	if !errors.Is(err, sample.ErrLogits) && (!errors.As(err, &e) || e.Op != sample.Choosing && e.Op != "Categorical") {
		return err
	}
	broken := func(t tensor.Tensor) bool {
		bad, readErr := tensor.Data[bool](t.IsFinite().All().Not())
		return readErr == nil && bad[0]
	}
	for name, t := range tree.All(g.Model) {
		if t.DType().IsFloat() && broken(t) {
			return fmt.Errorf("%w: parameter %q has NaN or infinite numbers: load it from another file, or train it with a lower LR", err, name)
		}
	}
	where := "after the last layer"
	if t != nil {
		c := t.held().cache
		for i := range c.K {
			if k, _ := c.Layer(i).Held(tensor.Float32); broken(k) {
				where = fmt.Sprintf("before the keys of layer %d, counted from 0", i)
				break
			}
		}
	}
	return fmt.Errorf("%w: all parameters are finite, and numbers overflow %s: cast the model to float32 or bfloat16; train.FindNaN finds the operation", err, where)
}

// begin reads the prompts.
func (g *Generator) begin(prompts [][]int32) (t turns, err error) {
	defer tensor.Catch(&err)
	if g.Model == nil || g.MaxTokens < 1 {
		return nil, errors.New("models: a Generator needs a Model, and MaxTokens of at least 1")
	}
	if err := g.checkSettings(len(prompts) * g.perPrompt()); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	ids, pads, err := batch(prompts)
	if err != nil {
		return nil, err
	}
	if err := g.checkPositions(ids.Dim(1)); err != nil {
		return nil, err
	}
	cache := g.Model.NewCache(len(prompts), capacity(ids.Dim(1)+1)).As(g.CacheType)
	cache.Pads = pads
	read := 0
	if len(prompts) == 1 {
		if read = g.Shared(prompts[0]); read > 0 {
			cache = g.kept.cache.back(read).with(ids.Dim(1) + 1)
		}
	}
	g.kept = text{} // the next step overwrites it
	first, cache, err := prompt(g.Model, prompts, ids.Slice(1, read, ids.Dim(1)), cache)
	if err != nil {
		return nil, err
	}
	if g.N > 1 {
		var all [][]int32
		for _, p := range prompts {
			all = append(all, slices.Repeat([][]int32{p}, g.N)...)
		}
		prompts, first, cache = all, first.Repeat(0, g.N), cache.repeat(g.N)
	}
	switch {
	case !g.Sampling.OnDevice() || g.LogProbs > 0 || g.speculates() && (g.Random() || g.Draft != nil && deviceOf(g.Draft) != deviceOf(g.Model)):
		return g.onHost(prompts, first, cache, ids.Dim(1))
	case g.speculates():
		return g.speculateOnDevice(prompts[0], first, cache)
	}
	return g.onDevice(prompts, first, cache, ids.Dim(1))
}

// Shared returns how many of the first tokens of a prompt need not be read again: see Reuse.
func (g *Generator) Shared(prompt []int32) (n int) {
	for g.Reuse && g.keptType == g.CacheType && n < min(len(g.kept.ids), len(prompt)-1) && g.kept.ids[n] == prompt[n] {
		n++
	}
	return n
}

// piece is the most tokens of a text that the CPU reads at once: with more, products are no faster, and results of
// layers take more memory than their weights.
const piece = 512

// prompt reads tokens of prompts into a cache, and returns the logits of the tokens that follow.
func prompt(m Decoder, prompts [][]int32, ids tensor.Tensor, c Cache) (logits tensor.Tensor, next Cache, err error) {
	time := ids.Dim(1)
	for at, n := 0, time; at < time; at += n {
		if time > piece && deviceOf(m) == tensor.CPU() {
			n = min(piece, time-at)
		}
		x, next := m.Decode(ids.Slice(1, at, at+n), c)
		logits, c = m.Logits(x.Index(tensor.All, -1)), next
		if err := checkTokens(prompts, logits.Dim(-1)); err != nil {
			return logits, c, err
		}
		if at+n < time {
			if err := tensor.Eval(c); err != nil {
				return logits, c, err
			}
		}
	}
	return logits, c, nil
}

// deviceOf returns the device on which a model computes.
func deviceOf(m Decoder) *tensor.Device {
	for _, t := range tree.All(m) {
		if d := t.Device(); d != nil {
			return d
		}
	}
	return tensor.CPU()
}

// maxN bounds N, before memory is taken for as many texts.
const maxN = 1 << 16

// perPrompt returns the number of texts of each prompt.
func (g *Generator) perPrompt() int { return min(max(1, g.N), maxN) }

// checkSettings returns an error for settings without a meaning.
func (g *Generator) checkSettings(texts int) error {
	switch err := errors.Join(g.Check(), g.CacheType.Check()); {
	case err != nil:
		return err
	case g.Random() && g.RNG == nil:
		return fmt.Errorf("the Temperature is %v: set RNG, from which tokens are drawn", g.Temperature)
	case g.N < 0 || g.LogProbs < 0 || g.NGram < 0 || g.Propose < 0:
		return fmt.Errorf("want 0 or more for N %d, LogProbs %d, NGram %d and Propose %d", g.N, g.LogProbs, g.NGram, g.Propose)
	case g.N > maxN:
		return fmt.Errorf("want at most %d for N %d", maxN, g.N)
	case g.Draft != nil && g.NGram > 0:
		return errors.New("both Draft and NGram are set: choose one")
	case g.speculates() && texts > 1:
		return fmt.Errorf("with Draft or NGram one text is written at a time, and there are %d", texts)
	}
	return nil
}

// checkPositions returns an error unless the model has positions for a prompt and all tokens
// after it but the last, which is not read.
func (g *Generator) checkPositions(prompt int) error {
	need, most := uint(prompt)+uint(g.MaxTokens)-1, positions(g.Model)
	if need > uint(most) {
		return fmt.Errorf("models: a prompt of %s and MaxTokens %d need %d positions: the model has %d",
			shape.Count(prompt, "token"), g.MaxTokens, need, most)
	}
	return nil
}

// positions returns the number of positions that a model has.
func positions(m Decoder) int {
	if m, ok := m.(interface{ Positions() int }); ok {
		return m.Positions()
	}
	return math.MaxInt
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

// capacity returns a length for caches of some positions: 64, 128 and so on to 1,024, where eight lengths follow before
// each next power of two. Few lengths make few plans, and long caches that double waste memory.
func capacity(positions int) int {
	bits := max(6, bits.Len(uint(positions-1)))
	step := 1 << bits
	if bits > 10 {
		step >>= 4
	}
	return (positions + step - 1) &^ (step - 1)
}

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

package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/models/sample"
	"github.com/tensorken/tensorken/tensor"
)

// GenerateOptions say how a text goes on. Their zero value takes the most probable tokens until the
// context is full; [Model.Defaults] has the settings of the model's makers.
type GenerateOptions struct {
	sample.Settings
	// DRYBreakers are texts: tokens that have one of them are added to DRY.Breakers.
	DRYBreakers []string

	MaxTokens int      // 0: until the context is full
	Stop      []string // texts that end the answer, and are not part of it
	End       []int32  // tokens that end the answer
	N         int      // answers, each with draws of its own; 0 is 1
	Seed      uint64   // of the draws; 0 is another one each time
	LogProbs  int      // the number of tokens in Token.Top; 0 leaves LogProb out too

	// Draft, a smaller model of the same tokenizer, or NGram, proposes tokens: see
	// [models.Generator]. The distribution of answers stays the same.
	Draft          *Model
	NGram, Propose int
}

// An End says why an answer ended.
type End string

// The ends of answers.
const (
	EndStop   End = "stop"   // by a token of GenerateOptions.End, or a text of Stop
	EndLength End = "length" // by MaxTokens, or by a full context
)

// A Token is the next piece of an answer.
type Token struct {
	ID int32 // -1 in the last one of an answer, which has End
	// Text follows the text before: whole characters only, and nothing that may
	// become a text of Stop, so that it may be empty, or belong to tokens before.
	Text    string
	Index   int // the answer, from 0 to N-1
	LogProb float64
	Top     []models.LogProb // the most probable tokens, see GenerateOptions.LogProbs
	End     End
}

// Generate yields the tokens that follow a prompt. The last one of an answer has End. When ctx is
// done, it ends with the error of ctx.
func (m *Model) Generate(ctx context.Context, prompt string, o *GenerateOptions) iter.Seq2[Token, error] {
	return m.generate(ctx, func() ([]int32, error) { return m.encode(prompt, false) }, o, false)
}

// GenerateIDs is Generate with a prompt of tokens. It needs no tokenizer; without one, texts are
// empty.
func (m *Model) GenerateIDs(ctx context.Context, prompt []int32, o *GenerateOptions) iter.Seq2[Token, error] {
	return m.generate(ctx, func() ([]int32, error) { return prompt, nil }, o, false)
}

// encode returns the tokens of a text; raw ones without those that the model wants around it.
func (m *Model) encode(text string, raw bool) ([]int32, error) {
	if m.tokenizer == nil {
		return nil, m.noTokens
	}
	e, err := m.tokenizer.Encode(text, encoding(raw))
	if err != nil {
		return nil, err
	}
	return e.IDs, nil
}

func (m *Model) generate(ctx context.Context, prompt func() ([]int32, error), o *GenerateOptions, chat bool) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		ids, err := prompt()
		if err == nil {
			err = m.answer(ctx, ids, o, chat, func(t Token) bool { return yield(t, nil) })
		}
		if err != nil {
			yield(Token{ID: -1}, err)
		}
	}
}

// answer writes the answers to a prompt until yield returns false.
func (m *Model) answer(ctx context.Context, prompt []int32, options *GenerateOptions, chat bool, yield func(Token) bool) error {
	o := m.defaults
	if options != nil {
		o = *options
	}
	g, err := m.begin(prompt, &o, chat)
	if err != nil {
		return err
	}
	defer m.end(g)
	texts := make([]*answer, max(1, o.N))
	for i := range texts {
		texts[i] = m.newAnswer(i, o.Stop)
	}
	for choices, err := range g.Choices(slices.Repeat([][]int32{prompt}, len(texts))) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		writing := false
		for i, c := range choices {
			if a := texts[i]; !a.ended && (!yieldAll(a.add(c), yield)) {
				return nil
			}
			writing = writing || !texts[i].ended
		}
		if !writing {
			return nil
		}
	}
	for _, a := range texts {
		end := EndStop
		if a.tokens == g.MaxTokens {
			end = EndLength
		}
		if !a.ended && !yield(a.finish(end)) {
			return nil
		}
	}
	return ctx.Err()
}

func yieldAll(tokens []Token, yield func(Token) bool) bool {
	for _, t := range tokens {
		if !yield(t) {
			return false
		}
	}
	return true
}

// begin returns a generator for a prompt.
func (m *Model) begin(prompt []int32, o *GenerateOptions, chat bool) (*models.Generator, error) {
	if m.decoder == nil {
		return nil, errEncoder
	}
	room := int(^uint32(0) >> 1)
	if m.settings.Context > 0 {
		if room = m.settings.Context - len(prompt); room < 1 {
			return nil, &ContextError{len(prompt), m.settings.Context}
		}
	}
	switch {
	case o.MaxTokens < 0 || o.N < 0:
		return nil, fmt.Errorf("llm: MaxTokens is %d and N %d: want 0 or more", o.MaxTokens, o.N)
	case slices.Contains(o.Stop, ""):
		return nil, errors.New("llm: Stop has an empty text")
	case len(o.Stop) > 0 && m.tokenizer == nil:
		return nil, fmt.Errorf("llm: Stop needs a tokenizer: %w", m.noTokens)
	}
	if o.MaxTokens > 0 {
		room = min(room, o.MaxTokens)
	}
	if err := m.breakers(o); err != nil {
		return nil, err
	}
	var draft models.Decoder
	if o.Draft != nil {
		if err := m.checkDraft(o.Draft); err != nil {
			return nil, err
		}
		draft = o.Draft.decoder
	}
	g := m.generator(draft, prompt, chat)
	g.MaxTokens, g.Sampling, g.Stop, g.LogProbs = room, o.Settings, o.End, o.LogProbs
	g.Draft, g.NGram, g.Propose = draft, o.NGram, o.Propose
	seed := o.Seed
	for seed == 0 {
		seed = rand.Uint64()
	}
	g.RNG = tensor.NewRNG(seed)
	return g, nil
}

// maxIdle is how many generators are kept, each with a cache after a chat.
const maxIdle = 4

// generator returns one that is idle: it keeps its recorded steps for the next text and, of a chat,
// the tokens that it has read.
func (m *Model) generator(draft models.Decoder, prompt []int32, chat bool) *models.Generator {
	m.mu.Lock()
	defer m.mu.Unlock()
	best, most := -1, -1
	for i, g := range m.idle {
		if draft != nil && g.Draft != draft {
			continue
		}
		if g.Reuse = chat; g.Shared(prompt) > most {
			best, most = i, g.Shared(prompt)
		}
	}
	if best < 0 {
		return &models.Generator{Model: m.decoder, Reuse: chat}
	}
	g := m.idle[best]
	m.idle = slices.Delete(m.idle, best, best+1)
	return g
}

func (m *Model) end(g *models.Generator) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.idle = append(m.idle, g); len(m.idle) > maxIdle {
		m.idle = slices.Delete(m.idle, 0, 1)
	}
}

// breakers adds the tokens of DRYBreakers.
func (m *Model) breakers(o *GenerateOptions) error {
	if len(o.DRYBreakers) == 0 || o.DRY.Multiplier == 0 {
		return nil
	}
	if m.tokenizer == nil {
		return fmt.Errorf("llm: DRYBreakers need a tokenizer: %w", m.noTokens)
	}
	all := slices.Clone(o.DRY.Breakers)
	for id := range int32(m.tokenizer.VocabSize()) {
		text := m.tokenizer.Decode([]int32{id}, true)
		if slices.ContainsFunc(o.DRYBreakers, func(b string) bool { return strings.Contains(text, b) }) {
			all = append(all, id)
		}
	}
	o.DRY.Breakers = all
	return nil
}

// checkDraft returns an error unless a model has the same tokens.
func (m *Model) checkDraft(d *Model) error {
	if d.decoder == nil {
		return fmt.Errorf("llm: the draft: %w", errEncoder)
	}
	if m.tokenizer == nil || d.tokenizer == nil {
		return nil // the caller has the tokens
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	err, known := m.checked[d]
	if known {
		return err
	}
	for id := range int32(min(m.tokenizer.VocabSize(), d.tokenizer.VocabSize())) {
		a, _ := m.tokenizer.IDToToken(id)
		if b, _ := d.tokenizer.IDToToken(id); a != b {
			err = fmt.Errorf("llm: the draft has another tokenizer: its token %d is %q, the model's is %q", id, b, a)
			break
		}
	}
	m.checked[d] = err
	return err
}

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

	// Shift goes on where the context is full: half of the text after its first Keep tokens is forgotten, and the
	// rest is read again. Token.Forgotten reports it. A prompt has to fit into the context all the same.
	Shift bool
	Keep  int
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
	// Forgotten is the number of tokens that were forgotten before this one: see GenerateOptions.Shift.
	Forgotten int
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
	if err := m.check(&o); err != nil {
		return err
	}
	w := &writing{model: m, ctx: ctx, o: &o, chat: chat, yield: yield, seed: o.Seed}
	for w.seed == 0 {
		w.seed = rand.Uint64()
	}
	for i := range max(1, o.N) {
		w.answers = append(w.answers, m.newAnswer(i, o.Stop))
	}
	for {
		text, full, err := w.write(prompt)
		if err != nil || !full {
			return err
		}
		half := (len(text) - o.Keep) / 2
		if half < 1 || o.Keep+half >= len(text) {
			return fmt.Errorf("llm: Keep is %d, of a context of %d tokens: nothing is left to forget", o.Keep, m.settings.Context)
		}
		prompt = slices.Delete(text, o.Keep, o.Keep+half)
		w.forgotten, w.seed = half, w.seed+1
	}
}

// A writing is answers that are written.
type writing struct {
	model     *Model
	ctx       context.Context
	o         *GenerateOptions
	chat      bool
	yield     func(Token) bool
	answers   []*answer
	seed      uint64
	forgotten int // before the next token
}

// write goes on with the answers after a text, and returns the text of the first. It is full if the context ended
// it and not the options.
func (w *writing) write(prompt []int32) (text []int32, full bool, err error) {
	written := w.answers[0].tokens
	g, err := w.model.begin(prompt, w.o, w.chat, written)
	if err != nil {
		return nil, false, err
	}
	defer w.model.end(g)
	g.RNG = tensor.NewRNG(w.seed)
	text = slices.Clone(prompt)
	if w.model.t5 != nil {
		prompt = []int32{w.model.settings.Start}
	}
	for choices, err := range g.Choices([][]int32{prompt}) {
		if err := errors.Join(err, w.ctx.Err()); err != nil {
			return nil, false, err
		}
		text = append(text, choices[0].ID)
		more := false
		for i, c := range choices {
			if a := w.answers[i]; !a.ended {
				tokens := a.add(c)
				tokens[0].Forgotten, w.forgotten = w.forgotten, 0
				if !yieldAll(tokens, w.yield) {
					return nil, false, nil
				}
			}
			more = more || !w.answers[i].ended
		}
		if !more {
			return nil, false, nil
		}
	}
	atEnd := w.answers[0].tokens - written
	if w.o.Shift && atEnd == g.MaxTokens && w.answers[0].tokens != w.o.MaxTokens {
		return text, true, w.ctx.Err()
	}
	for _, a := range w.answers {
		end := EndStop
		if a.tokens-written == g.MaxTokens {
			end = EndLength
		}
		if !a.ended && !w.yield(a.finish(end)) {
			return nil, false, nil
		}
	}
	return nil, false, w.ctx.Err()
}

func yieldAll(tokens []Token, yield func(Token) bool) bool {
	for _, t := range tokens {
		if !yield(t) {
			return false
		}
	}
	return true
}

// check returns an error for options without a meaning, and completes them.
func (m *Model) check(o *GenerateOptions) error {
	switch {
	case m.decoder == nil && (m.t5 == nil || m.t5.Decoder == nil):
		return errEncoder
	case o.MaxTokens < 0 || o.N < 0 || o.Keep < 0:
		return fmt.Errorf("llm: MaxTokens is %d, N %d and Keep %d: want 0 or more", o.MaxTokens, o.N, o.Keep)
	case slices.Contains(o.Stop, ""):
		return errors.New("llm: Stop has an empty text")
	case len(o.Stop) > 0 && m.tokenizer == nil:
		return fmt.Errorf("llm: Stop needs a tokenizer: %w", m.noTokens)
	case o.Shift && (o.N > 1 || m.t5 != nil):
		return errors.New("llm: Shift is for one answer of a decoder")
	case o.Keep > 0 && !o.Shift:
		return fmt.Errorf("llm: Keep is %d without Shift", o.Keep)
	case o.Draft != nil && m.t5 != nil:
		return errors.New("llm: a Draft is for a decoder alone, and the model has an encoder")
	}
	if o.Draft != nil {
		if err := m.checkDraft(o.Draft); err != nil {
			return err
		}
	}
	return m.breakers(o)
}

// begin returns a generator for a prompt, after some tokens of the answer.
func (m *Model) begin(prompt []int32, o *GenerateOptions, chat bool, written int) (g *models.Generator, err error) {
	defer tensor.Catch(&err)
	room := int(^uint32(0) >> 1)
	if c := m.settings.Context; c > 0 {
		switch room = c - len(prompt); {
		case m.t5 != nil && room >= 0:
			room = c // the answer is beside the prompt
		case room < 1:
			return nil, &ContextError{len(prompt), c}
		}
	}
	if o.MaxTokens > 0 {
		room = min(room, o.MaxTokens-written)
	}
	var draft models.Decoder
	if o.Draft != nil {
		draft = o.Draft.decoder
	}
	if m.t5 != nil {
		g, err = m.encodePrompt(prompt)
	} else {
		g = m.generator(draft, prompt, chat)
	}
	if err != nil {
		return nil, err
	}
	g.MaxTokens, g.Sampling, g.Stop, g.LogProbs, g.N = room, o.Settings, o.End, o.LogProbs, o.N
	g.Draft, g.NGram, g.Propose, g.CacheType = draft, o.NGram, o.Propose, m.options.CacheType
	return g, nil
}

// encodePrompt returns a generator by the decoder of a T5.
func (m *Model) encodePrompt(prompt []int32) (*models.Generator, error) {
	if len(prompt) == 0 {
		return nil, errors.New("llm: the prompt is empty: it needs a token to begin with")
	}
	words := m.t5.Shared.Weight.Dim(0)
	if i := slices.IndexFunc(prompt, func(id int32) bool { return id < 0 || int(id) >= words }); i >= 0 {
		return nil, fmt.Errorf("llm: token %d of the prompt is %d: want 0 to %d", i, prompt[i], words-1)
	}
	ids := tensor.New(prompt, 1, len(prompt))
	if d := m.options.Device; d != nil {
		ids = ids.To(d)
	}
	return &models.Generator{Model: m.t5.NewDecoder(m.t5.Encode(ids, tensor.Tensor{}), tensor.Tensor{})}, nil
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
	if g.Model != m.decoder { // it is for one prompt
		return
	}
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

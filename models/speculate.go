package models

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/models/sample"
	"github.com/tensorken/tensorken/tensor"
)

func (g *Generator) speculates() bool { return g.Draft != nil || g.NGram > 0 }

// A proposal is a token that may follow a text. It was drawn from q; nil is a certain one.
type proposal struct {
	id int32
	q  []sample.Candidate
}

// A speculation writes one text by tokens that are proposed, and accepted or not in one step of
// the model.
//
// Source: Leviathan et al., "Fast Inference from Transformers via Speculative Decoding", 2023.
type speculation struct {
	*hostTurns
	propose func(text []int32, n int) ([]proposal, error)
	most    int      // proposals of a step
	tokens  int32    // of the vocabulary, which a draft's may exceed
	queue   []Choice // accepted
}

func (g *Generator) speculate(h *hostTurns) (turns, error) {
	s := &speculation{hostTurns: h, most: cmp.Or(g.Propose, 3), tokens: int32(len(h.ready[0][0]))}
	if g.Draft == nil {
		s.propose = func(text []int32, n int) ([]proposal, error) { return lookup(text, g.NGram, n), nil }
		return s, nil
	}
	r, err := g.readDraft(h.texts)
	if err != nil {
		return nil, err
	}
	d := &drafter{reader: r}
	if d.sampler, err = g.sampler(); err != nil {
		return nil, err
	}
	if g.draft == nil {
		g.draft = recordRead(g.Draft)
	}
	d.step, s.propose = g.draft, d.propose
	return s, nil
}

// readDraft reads a prompt into a cache of the draft.
func (g *Generator) readDraft(prompts [][]int32) (r reader, err error) {
	if err := (&Generator{Model: g.Draft, MaxTokens: g.MaxTokens}).checkPositions(len(prompts[0])); err != nil {
		return r, err
	}
	ids, _, err := batch(prompts)
	if err != nil {
		return r, err
	}
	n := ids.Dim(1)
	_, cache, err := prompt(g.Draft, prompts, ids, g.Draft.NewCache(1, capacity(n+1)).As(g.CacheType))
	if err != nil {
		return r, err
	}
	r = reader{cache: cache.OnDevice(), len: n}
	return r, tensor.Eval(r.cache)
}

func (s *speculation) next(left int) (choices []Choice, err error) {
	defer tensor.Catch(&err)
	if len(s.queue) == 0 && s.ready != nil {
		return s.hostTurns.next(left)
	}
	if len(s.queue) == 0 {
		if err := s.round(left); err != nil {
			return nil, err
		}
	}
	choices, s.queue = s.queue[:1:1], s.queue[1:]
	return choices, nil
}

// round accepts as many of the proposals as agree with the model, and chooses one token more.
func (s *speculation) round(left int) error {
	proposals, err := s.propose(s.texts[0], min(s.most, left-1))
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(proposals, func(p proposal) bool { return p.id >= s.tokens }); i >= 0 {
		proposals = proposals[:i]
	}
	ids := s.texts[0][len(s.texts[0])-1:]
	for _, p := range proposals {
		ids = append(ids[:len(ids):len(ids)], p.id)
	}
	logits, err := s.read([][]int32{ids})
	if err != nil {
		return err
	}
	sampler := s.samplers[0]
	for i, row := range logits[0] {
		p, err := sampler.Distribution(row, s.texts[0])
		if err != nil {
			return err
		}
		if i == len(proposals) {
			s.queue = append(s.queue, s.choose(0, sampler.Pick(p), row))
			break
		}
		id, accepted := sampler.Verify(p, proposals[i].q, proposals[i].id)
		s.queue = append(s.queue, s.choose(0, id, row))
		if !accepted {
			break
		}
	}
	s.rewind(len(s.texts[0]) - 1)
	return nil
}

// A drafter proposes tokens by a model.
type drafter struct {
	reader
	sampler *sample.Sampler
}

func (d *drafter) propose(text []int32, n int) (proposals []proposal, err error) {
	d.rewind(min(d.len, len(text)-1))
	text = slices.Clone(text)
	for range n {
		logits, err := d.read([][]int32{text[d.len:]})
		if err != nil {
			return nil, err
		}
		q, err := d.sampler.Distribution(logits[0][len(logits[0])-1], text)
		if err != nil {
			return nil, err
		}
		id := d.sampler.Pick(q)
		proposals, text = append(proposals, proposal{id, slices.Clone(q)}), append(text, id)
	}
	return proposals, nil
}

// lookup proposes the tokens that follow the last occurrence of the text's last tokens, of as many
// as there are up to n.
//
// Source: Saxena, "Prompt Lookup Decoding", 2023.
func lookup(text []int32, n, most int) (proposals []proposal) {
	for n = min(n, len(text)-1); n > 0; n-- {
		end := text[len(text)-n:]
		for i := len(text) - n - 1; i >= 0; i-- {
			if slices.Equal(text[i:i+n], end) {
				for _, id := range text[i+n : min(i+n+most, len(text))] {
					proposals = append(proposals, proposal{id: id})
				}
				return proposals
			}
		}
	}
	return nil
}

// A round is the argument of a step and, with proposals and choices, its result.
type round struct {
	// IDs are [1 time]. Before, they are the last tokens of the text and proposals; after, the proposals of the draft, and
	// the model's choice after the last token and after each proposal: -1 if the greatest logit is not finite.
	IDs            tensor.Tensor
	Cache, Draft   Cache
	Known, Propose int // tokens of IDs that the model has read; proposals of the draft
}

// recordRound returns a function that lets the draft propose, and the model choose. Both take the most probable tokens, of
// which the draft may have more.
func (g *Generator) recordRound(tokens int) func(round) round {
	return grad.Jit(func(r round) round {
		var proposed []tensor.Tensor
		next, unread := r.IDs, r.IDs.Slice(1, r.Known, r.IDs.Dim(1))
		for range r.Propose {
			x, cache := g.Draft.Decode(next, r.Draft)
			logits := g.Draft.Logits(x.Index(tensor.All, -1))
			next = logits.Slice(-1, 0, min(tokens, logits.Dim(-1))).ArgMax(-1).Unsqueeze(-1)
			proposed, r.Draft = append(proposed, next), cache
		}
		x, cache := g.Model.Decode(tensor.Cat(1, append([]tensor.Tensor{unread}, proposed...)...), r.Cache)
		r.Cache = cache
		logits := g.Model.Logits(x)
		chosen := tensor.Where(logits.Max(-1).Squeeze(-1).IsFinite(), logits.ArgMax(-1), -1)
		r.IDs = tensor.Cat(1, append(proposed, chosen)...)
		return r
	})
}

// A deviceSpeculation proposes and chooses the most probable tokens where the logits are.
type deviceSpeculation struct {
	step         func(round) round
	model, draft reader
	text, queue  []int32
	ngram, most  int
	positions    int // of the model and the draft
}

func (g *Generator) speculateOnDevice(prompt []int32, logits tensor.Tensor, c Cache) (turns, error) {
	if g.round == nil {
		g.round = g.recordRound(logits.Dim(-1))
	}
	s := &deviceSpeculation{
		step: g.round, model: reader{cache: c.OnDevice(), len: len(prompt)},
		ngram: g.NGram, most: cmp.Or(g.Propose, 3), positions: min(positions(g.Model), positions(g.Draft)),
	}
	first := g.Choose(logits, nil)
	err := tensor.Eval(first, s.model.cache)
	if err != nil {
		return nil, err
	}
	if s.queue, err = tensor.Data[int32](first); err == nil && g.Draft != nil {
		s.draft, err = g.readDraft([][]int32{prompt})
	}
	s.text = slices.Concat(prompt, s.queue)
	s.draft.rewind(len(prompt) - 1)
	return s, err
}

func (s *deviceSpeculation) held() text {
	return text{s.text[:min(s.model.len, len(s.text))], s.model.cache}
}

func (s *deviceSpeculation) next(int) (choices []Choice, err error) {
	defer tensor.Catch(&err)
	if len(s.queue) == 0 {
		if s.queue, err = s.write(); err != nil {
			return nil, err
		}
	}
	choices, s.queue = []Choice{{ID: s.queue[0]}}, s.queue[1:]
	return choices, nil
}

// write returns as many of the proposals as the model chooses too, and one token more. Each number
// of proposals is a recording, so near the last position the draft proposes nothing.
func (s *deviceSpeculation) write() ([]int32, error) {
	known, n := len(s.text)-1, s.most
	if len(s.text)+n > s.positions {
		n = 0
	}
	r := round{Propose: n}
	var proposals []int32
	unread := s.text[known:]
	if s.ngram > 0 {
		r.Propose = 0
		for _, p := range lookup(s.text, s.ngram, n) {
			proposals = append(proposals, p.id)
		}
		unread = slices.Concat(unread, proposals)
	} else if n > 0 {
		unread = s.text[s.draft.len:]
		r.Known, r.Draft = known-s.draft.len, s.draft.cache.with(s.draft.len+len(unread)+n-1)
	}
	r.IDs, r.Cache = tensor.New(unread, 1, len(unread)), s.model.cache.with(s.model.len+1+n)
	r = s.step(r)
	chosen, err := tensor.Data[int32](r.IDs)
	if err != nil {
		return nil, err
	}
	proposals, chosen = append(proposals, chosen[:r.Propose]...), chosen[r.Propose:]
	accepted := 0
	for accepted < len(proposals) && proposals[accepted] == chosen[accepted] {
		accepted++
	}
	if chosen = chosen[:accepted+1]; chosen[accepted] < 0 {
		return nil, sample.ErrLogits
	}
	s.text = append(s.text, chosen...)
	// All rounds are one recording: the draft reads two tokens also where it lacks one, and positions are from the host.
	s.model.len = len(s.text) - 1
	s.model.cache = r.Cache.back(s.model.len)
	if r.Propose > 0 {
		s.draft.len, s.draft.cache = len(s.text)-2, r.Draft.back(len(s.text)-2)
	}
	return chosen, nil
}

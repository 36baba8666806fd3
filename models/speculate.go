package models

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
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

// A round is the argument of a step and its result.
type round struct {
	IDs tensor.Tensor // [1 time]: before, the last two tokens of the text and proposals; after, the last two
	// Chosen is the model's choice after the text and after each proposal, -1 if the greatest logit is not finite, and
	// how many proposals agree.
	Chosen       tensor.Tensor `tensor:",optional"`
	Cache, Draft Cache         // without the last token, and the last two
	Propose      int           // proposals of the draft
}

// recordRound returns a function that lets the draft propose, and the model choose. Both take the most probable tokens, of
// which the draft may have more. The next round needs nothing from the host.
func (g *Generator) recordRound(tokens int) func(round) round {
	return grad.Jit(func(r round) round {
		read, next, held, known := r.IDs.Slice(1, 1, r.IDs.Dim(1)), r.IDs, r.Cache.Pos, r.Draft.Pos
		for range r.Propose {
			x, cache := g.Draft.Decode(next, r.Draft)
			logits := g.Draft.Logits(x.Index(tensor.All, -1))
			next = logits.Slice(-1, 0, min(tokens, logits.Dim(-1))).ArgMax(-1).Unsqueeze(-1)
			read, r.Draft = tensor.Cat(1, read, next), cache
		}
		x, cache := g.Model.Decode(read, r.Cache)
		logits, n := g.Model.Logits(x), read.Dim(1)
		chosen := tensor.Where(logits.Max(-1).Squeeze(-1).IsFinite(), logits.ArgMax(-1), -1)
		differs := read.Slice(1, 1, n).Ne(chosen.Slice(1, 0, n-1)).Pad(1, 0, 1).Or(tensor.Arange(n).Eq(n - 1))
		agree := differs.Cast(tensor.Int32).ArgMax(-1).Unsqueeze(-1)
		r.Chosen = tensor.Cat(1, chosen, agree)
		r.IDs = tensor.Cat(1, read.Slice(1, 0, 1), chosen.Maximum(0)).TakeAlong(1, agree.Add(tensor.Arange(2)))
		r.Cache = cache
		r.Cache.Pos = agree.Reshape().Add(held).Add(1)
		if r.Propose > 0 {
			r.Draft.Pos = agree.Reshape().Add(known).Add(1)
		}
		return r
	})
}

// A deviceSpeculation proposes and chooses the most probable tokens where the logits are.
type deviceSpeculation struct {
	step        func(round) round
	last        round // that was started
	ready       bool  // its tokens are not yet in the text
	again       bool  // a round has run
	err         error // of the last round
	text, queue []int32
	ngram, most int
	positions   int // of the model and the draft
}

func (g *Generator) speculateOnDevice(prompt []int32, logits tensor.Tensor, c Cache) (turns, error) {
	if g.round == nil {
		g.round = g.recordRound(logits.Dim(-1))
	}
	s := &deviceSpeculation{
		step: g.round, last: round{Cache: c.OnDevice()},
		ngram: g.NGram, most: cmp.Or(g.Propose, 3), positions: min(positions(g.Model), positions(g.Draft)),
	}
	first := g.Choose(logits, nil)
	err := tensor.Eval(first, s.last.Cache)
	if err != nil {
		return nil, err
	}
	if s.queue, err = tensor.Data[int32](first); err == nil && g.Draft != nil {
		var draft reader
		if draft, err = g.readDraft([][]int32{prompt}); err != nil {
			return nil, err
		}
		s.last.Draft = draft.cache.back(len(prompt) - 1) // all rounds read two tokens
	}
	s.text = slices.Concat(prompt, s.queue)
	s.last.IDs = s.ids(s.text[len(s.text)-2:])
	return s, err
}

// ids returns tokens where the cache is.
func (s *deviceSpeculation) ids(tokens []int32) tensor.Tensor {
	ids := tensor.New(tokens, 1, len(tokens))
	if d := s.last.Cache.K[0].Device(); d != nil {
		ids = ids.To(d)
	}
	return ids
}

func (s *deviceSpeculation) held() text { return text{s.text[:len(s.text)-1], s.last.Cache} }

func (s *deviceSpeculation) next(left int) (choices []Choice, err error) {
	defer tensor.Catch(&err)
	if len(s.queue) == 0 {
		if s.queue, err = s.write(left); err != nil {
			return nil, err
		}
	}
	choices, s.queue = []Choice{{ID: s.queue[0]}}, s.queue[1:]
	return choices, nil
}

// proposals is the number of them after a text. Each is a recording, so near the last position it is 0.
func (s *deviceSpeculation) proposals(length int) int {
	if length+s.most > s.positions {
		return 0
	}
	return s.most
}

// start starts a round after a text of at most some tokens.
func (s *deviceSpeculation) start(length int) {
	r, n := s.last, s.proposals(length)
	if s.ngram > 0 {
		tokens := slices.Clone(s.text[length-2:])
		for _, p := range lookup(s.text, s.ngram, n) {
			tokens = append(tokens, p.id)
		}
		r.IDs = s.ids(tokens)
	} else if r.Propose = n; n > 0 {
		r.Draft = r.Draft.with(length + n - 1)
	} else {
		r.Draft = Cache{}
	}
	r.Cache, r.Chosen = r.Cache.with(length+n), tensor.Tensor{}
	s.last = s.step(r)
}

// write returns as many of the proposals as the model chooses too, and one token more, of texts that go on for some
// tokens. It reads them while the next round of a draft runs.
func (s *deviceSpeculation) write(left int) ([]int32, error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case !s.ready:
		s.start(len(s.text))
	}
	read, goesOn := tensor.Internal.Ahead(graph.Token{}, s.last.Chosen)
	n := s.last.Chosen.Dim(1) - 1 // tokens at most
	s.ready = goesOn && s.again && s.ngram == 0 && left > n && s.proposals(len(s.text)+n) > 0
	if s.again = true; s.ready {
		s.err = tensor.Try(func() { s.start(len(s.text) + n) })
	}
	chosen, err := read()
	if err != nil {
		return nil, err
	}
	if chosen = chosen[:chosen[n]+1]; chosen[len(chosen)-1] < 0 {
		return nil, sample.ErrLogits
	}
	s.text = append(s.text, chosen...)
	return chosen, nil
}

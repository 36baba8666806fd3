package models

import (
	"cmp"
	"slices"

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
	d := &drafter{}
	err := (&Generator{Model: g.Draft, MaxTokens: g.MaxTokens}).checkPositions(len(h.texts[0]))
	if err != nil {
		return nil, err
	}
	if d.sampler, err = g.sampler(); err != nil {
		return nil, err
	}
	if g.draft == nil {
		g.draft = recordRead(g.Draft)
	}
	ids, pads, err := batch(h.texts)
	if err != nil {
		return nil, err
	}
	cache := g.Draft.NewCache(1, capacity(ids.Dim(1)+1)).As(g.CacheType)
	cache.Pads = pads
	_, cache, err = prompt(g.Draft, h.texts, ids, cache)
	if err != nil {
		return nil, err
	}
	d.reader = reader{g.draft, cache.OnDevice(), len(h.texts[0])}
	s.propose = d.propose
	return s, tensor.Eval(d.cache)
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

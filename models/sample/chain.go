package sample

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// A Candidate is a token that may be chosen.
type Candidate struct {
	ID    int32
	Logit float64
	P     float64 // the probability; all add up to 1
}

// A Sampler chooses the tokens of a text on the host. It is for one goroutine at a time.
type Sampler struct {
	Settings
	rand *rand.Rand
	all  []Candidate // memory of Distribution
	seen []int32     // of tokens, how often the text has them
}

// New returns a sampler that draws from a seed.
func New(s Settings, seed uint64) (*Sampler, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return &Sampler{Settings: s, rand: rand.New(rand.NewPCG(seed, 0x5a4d504c))}, nil
}

// ErrLogits says that a model's logits are not numbers to choose from.
var ErrLogits = errors.New("the logits have NaN, or their greatest is infinite")

// Distribution returns the tokens that may follow a text, by their logits, in the order of their
// ids. The result is valid until the next call. It is an [ErrLogits] if a logit is NaN, or if none
// is finite.
func (s *Sampler) Distribution(logits []float32, text []int32) ([]Candidate, error) {
	s.all = s.all[:0]
	for id, x := range logits {
		if x != x || x > math.MaxFloat32 {
			return nil, fmt.Errorf("%w: that of token %d is %v", ErrLogits, id, x)
		}
		s.all = append(s.all, Candidate{ID: int32(id), Logit: float64(x)})
	}
	finite := false
	for _, x := range logits {
		finite = finite || x >= -math.MaxFloat32
	}
	if !finite {
		return nil, ErrLogits
	}
	c := s.all
	for id, b := range s.Bias {
		if id < 0 || int(id) >= len(c) {
			return nil, fmt.Errorf("the Bias has token %d: the vocabulary has 0 to %d", id, len(c)-1)
		}
		c[id].Logit += b
	}
	s.penalize(c, text)
	s.dry(c, text)
	c = filter(c, func(i int) bool {
		c[i].Logit = min(c[i].Logit, math.MaxFloat64)
		return c[i].Logit > math.Inf(-1) // nor NaN, of -Inf less a penalty of -Inf
	})
	if len(c) == 0 {
		return nil, errors.New("the Bias forbids all tokens")
	}
	if s.Temperature == 0 {
		best := greatest(c)
		c = filter(c, func(i int) bool { return i == best })
		c[0].P = 1
		return c, nil
	}
	for _, step := range []func([]Candidate) []Candidate{s.topK, s.typical, s.topP, s.minP, s.xtc} {
		c = step(c)
	}
	softmax(c, s.Temperature)
	return c, nil
}

// Pick draws one of the candidates.
func (s *Sampler) Pick(c []Candidate) int32 {
	if len(c) == 1 {
		return c[0].ID
	}
	return draw(c, s.rand.Float64(), func(i int) float64 { return c[i].P })
}

// draw returns the candidate at a share u of the weights' sum.
func draw(c []Candidate, u float64, weight func(i int) float64) int32 {
	sum, last := 0.0, 0
	for i := range c {
		sum += weight(i)
	}
	at := 0.0
	for i := range c {
		if w := weight(i); w > 0 {
			if at += w; u*sum < at {
				return c[i].ID
			}
			last = i
		}
	}
	return c[last].ID
}

// Verify returns a token with the distribution p, given one that was proposed, drawn from the
// distribution q; nil stands for a certain proposal. It takes the proposal as often as it can.
//
// Source: Leviathan et al., "Fast Inference from Transformers via Speculative Decoding", 2023.
func (s *Sampler) Verify(p, q []Candidate, proposed int32) (id int32, accepted bool) {
	if q == nil {
		q = []Candidate{{ID: proposed, P: 1}}
	}
	probability := lookup(q)
	rest, total := make([]float64, len(p)), 0.0
	for i, c := range p {
		r := probability(c.ID)
		if rest[i] = max(0, c.P-r); c.ID == proposed && s.rand.Float64()*r < c.P {
			return proposed, true
		}
		total += rest[i]
	}
	weight := func(i int) float64 { return rest[i] }
	if total == 0 { // p is q but for rounding
		weight = func(i int) float64 { return p[i].P }
	}
	return draw(p, s.rand.Float64(), weight), false
}

// lookup returns the probabilities of ids, which must be asked for in their order.
func lookup(c []Candidate) func(id int32) float64 {
	return func(id int32) float64 {
		for len(c) > 0 && c[0].ID < id {
			c = c[1:]
		}
		if len(c) > 0 && c[0].ID == id {
			return c[0].P
		}
		return 0
	}
}

func (s *Sampler) penalize(c []Candidate, text []int32) {
	if !s.penalizes() {
		return
	}
	s.seen = append(s.seen[:0], make([]int32, len(c))...)
	for _, id := range last(text, s.PenaltyWindow) {
		if uint(id) < uint(len(s.seen)) { // a draft's vocabulary may have fewer tokens, and ended texts have -1
			s.seen[id]++
		}
	}
	repetition := cmp.Or(s.RepetitionPenalty, 1)
	for id, n := range s.seen {
		if n == 0 {
			continue
		}
		if x := &c[id].Logit; *x > 0 {
			*x /= repetition
		} else {
			*x *= repetition
		}
		c[id].Logit -= float64(n)*s.FrequencyPenalty + s.PresencePenalty
	}
}

// last returns the last n tokens; 0 is all.
func last(text []int32, n int) []int32 {
	if n > 0 && n < len(text) {
		return text[len(text)-n:]
	}
	return text
}

// dry finds the repetitions with the Z-function of the reversed text: the length of the longest
// prefix of it that begins at each position, too.
func (s *Sampler) dry(c []Candidate, text []int32) {
	if s.DRY.Multiplier == 0 {
		return
	}
	text = last(text, s.DRY.Window)
	n := len(text)
	at := func(i int) int32 { return text[n-1-i] }
	breaks := map[int32]bool{}
	for _, id := range s.DRY.Breakers {
		breaks[id] = true
	}
	limit := 0 // tokens after the last breaker
	for limit < n && !breaks[at(limit)] {
		limit++
	}
	longest := map[int32]int{} // of tokens, the repetition that they would make longer
	z := make([]int, n)
	for i, left, right := 1, 0, 0; i < n; i++ {
		if i < right {
			z[i] = min(right-i, z[i-left])
		}
		for i+z[i] < n && at(z[i]) == at(i+z[i]) {
			z[i]++
		}
		if i+z[i] > right {
			left, right = i, i+z[i]
		}
		longest[at(i-1)] = max(longest[at(i-1)], min(z[i], limit))
	}
	allowed := cmp.Or(s.DRY.Allowed, 2)
	for id, m := range longest {
		if m >= allowed && uint(id) < uint(len(c)) {
			c[id].Logit -= min(math.MaxFloat32, s.DRY.Multiplier*math.Pow(cmp.Or(s.DRY.Base, 1.75), float64(m-allowed)))
		}
	}
}

func (s *Sampler) topK(c []Candidate) []Candidate {
	if s.TopK == 0 || s.TopK >= len(c) {
		return c
	}
	worst := &heap{first: func(a, b int32) bool { return better(&c[b], &c[a]) }} // of the TopK best so far
	for i := range c {
		if i < s.TopK {
			worst.at = append(worst.at, int32(i))
			if i == s.TopK-1 {
				worst.order()
			}
		} else if better(&c[i], &c[worst.at[0]]) {
			worst.at[0] = int32(i)
			worst.down(0)
		}
	}
	cut := c[worst.at[0]]
	return filter(c, func(i int) bool { return !better(&cut, &c[i]) })
}

// better reports whether the logit of a is greater, or equal and the id less.
func better(a, b *Candidate) bool { return a.Logit > b.Logit || a.Logit == b.Logit && a.ID < b.ID }

func (s *Sampler) topP(c []Candidate) []Candidate {
	if cmp.Or(s.TopP, 1) == 1 {
		return c
	}
	softmax(c, 1)
	return upTo(c, s.TopP, func(a, b int32) bool { return better(&c[a], &c[b]) })
}

// typical: Meister et al., "Locally Typical Sampling", 2023.
func (s *Sampler) typical(c []Candidate) []Candidate {
	if cmp.Or(s.Typical, 1) == 1 {
		return c
	}
	softmax(c, 1)
	entropy, far := 0.0, make([]float64, len(c))
	for i := range c {
		if c[i].P > 0 {
			entropy -= c[i].P * math.Log(c[i].P)
		}
	}
	for i := range c {
		far[i] = math.Abs(-math.Log(c[i].P) - entropy)
	}
	return upTo(c, s.Typical, func(a, b int32) bool { return far[a] < far[b] || far[a] == far[b] && a < b })
}

// upTo keeps the first candidates whose probabilities add up to p.
func upTo(c []Candidate, p float64, first func(a, b int32) bool) []Candidate {
	h := &heap{first: first}
	for i := range c {
		h.at = append(h.at, int32(i))
	}
	h.order()
	kept, sum := make([]bool, len(c)), 0.0
	for len(h.at) > 0 {
		i := h.pop()
		kept[i] = true
		if sum += c[i].P; sum >= p {
			break
		}
	}
	return filter(c, func(i int) bool { return kept[i] })
}

func (s *Sampler) minP(c []Candidate) []Candidate {
	if s.MinP == 0 {
		return c
	}
	least := c[greatest(c)].Logit + math.Log(s.MinP)
	return filter(c, func(i int) bool { return c[i].Logit >= least })
}

func (s *Sampler) xtc(c []Candidate) []Candidate {
	if s.XTC.Probability == 0 || s.rand.Float64() >= s.XTC.Probability {
		return c
	}
	softmax(c, 1)
	least := -1 // of those to exclude
	for i := range c {
		if c[i].P >= s.XTC.Threshold && (least < 0 || !better(&c[i], &c[least])) {
			least = i
		}
	}
	if least < 0 {
		return c
	}
	return filter(c, func(i int) bool { return i == least || c[i].P < s.XTC.Threshold })
}

// softmax sets the probabilities, added up in the order of ids.
func softmax(c []Candidate, temperature float64) {
	top, sum := c[greatest(c)].Logit, 0.0
	for i := range c {
		c[i].P = math.Exp((c[i].Logit - top) / temperature)
		sum += c[i].P
	}
	for i := range c {
		c[i].P /= sum
	}
}

// greatest returns the first candidate with the greatest logit.
func greatest(c []Candidate) int {
	best := 0
	for i := range c {
		if c[i].Logit > c[best].Logit {
			best = i
		}
	}
	return best
}

// filter returns the candidates that are kept, in their order, in a part of c's memory. keep
// may read candidate i alone.
func filter(c []Candidate, keep func(i int) bool) []Candidate {
	n := 0
	for i := range c {
		if keep(i) {
			c[n] = c[i]
			n++
		}
	}
	return c[:n]
}

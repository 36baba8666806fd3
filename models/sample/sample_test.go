package sample

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// reference returns the distribution by the definitions, step by step over sorted lists.
func reference(s Settings, logits []float32, text []int32) []Candidate {
	x := map[int32]float64{}
	for id, l := range logits {
		x[int32(id)] = float64(l) + s.Bias[int32(id)]
	}
	for id := range x {
		n := 0.0
		for i, t := range text {
			if t == id && (s.PenaltyWindow == 0 || i >= len(text)-s.PenaltyWindow) {
				n++
			}
		}
		if r := s.RepetitionPenalty; n > 0 && r != 0 {
			if x[id] > 0 {
				x[id] /= r
			} else {
				x[id] *= r
			}
		}
		if n > 0 {
			x[id] -= n*s.FrequencyPenalty + s.PresencePenalty
		}
	}
	if s.DRY.Multiplier > 0 {
		base, allowed, window := s.DRY.Base, s.DRY.Allowed, text
		if base == 0 {
			base = 1.75
		}
		if allowed == 0 {
			allowed = 2
		}
		if s.DRY.Window > 0 {
			window = text[max(0, len(text)-s.DRY.Window):]
		}
		for id := range x {
			longest := 0
			for i := range window {
				for n := 1; window[i] == id && n <= i; n++ {
					end := window[len(window)-n:]
					if !slices.Equal(window[i-n:i], end) || slices.ContainsFunc(end, func(t int32) bool { return slices.Contains(s.DRY.Breakers, t) }) {
						break
					}
					longest = max(longest, n)
				}
			}
			if longest >= allowed {
				x[id] -= s.DRY.Multiplier * math.Pow(base, float64(longest-allowed))
			}
		}
	}
	ids := []int32{}
	for id := range x {
		if !math.IsInf(x[id], -1) {
			ids = append(ids, id)
		}
	}
	by := func(first func(a, b int32) bool) {
		slices.SortFunc(ids, func(a, b int32) int {
			switch {
			case first(a, b):
				return -1
			case first(b, a):
				return 1
			}
			return int(a - b)
		})
	}
	best := func(a, b int32) bool { return x[a] > x[b] }
	probabilities := func(t float64) map[int32]float64 {
		p, sum := map[int32]float64{}, 0.0
		top := x[slices.MaxFunc(ids, func(a, b int32) int {
			if x[a] < x[b] {
				return -1
			}
			return 1
		})]
		for _, id := range slices.Sorted(slices.Values(ids)) {
			p[id] = math.Exp((x[id] - top) / t)
			sum += p[id]
		}
		for id := range p {
			p[id] /= sum
		}
		return p
	}
	mass := func(most float64) {
		p, sum := probabilities(1), 0.0
		for i, id := range ids {
			if sum += p[id]; sum >= most {
				ids = ids[:i+1]
				return
			}
		}
	}
	by(best)
	if s.Temperature == 0 {
		return []Candidate{{ids[0], x[ids[0]], 1}}
	}
	if s.TopK > 0 {
		ids = ids[:min(s.TopK, len(ids))]
	}
	if s.Typical > 0 && s.Typical < 1 {
		p, h := probabilities(1), 0.0
		for _, id := range slices.Sorted(slices.Values(ids)) {
			h -= p[id] * math.Log(p[id])
		}
		by(func(a, b int32) bool { return math.Abs(-math.Log(p[a])-h) < math.Abs(-math.Log(p[b])-h) })
		mass(s.Typical)
	}
	by(best)
	if s.TopP > 0 && s.TopP < 1 {
		mass(s.TopP)
	}
	if s.MinP > 0 {
		least := x[ids[0]] + math.Log(s.MinP)
		ids = slices.DeleteFunc(ids, func(id int32) bool { return x[id] < least })
	}
	if s.XTC.Probability > 0 {
		p := probabilities(1)
		n := 0
		for n < len(ids) && p[ids[n]] >= s.XTC.Threshold {
			n++
		}
		ids = ids[max(0, n-1):]
	}
	p, c := probabilities(s.Temperature), []Candidate{}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		c = append(c, Candidate{id, x[id], p[id]})
	}
	return c
}

// Each step, alone and with all others, keeps the tokens that its definition keeps, with the same
// probabilities to the last bit.
func TestDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(values ...float64) float64 { return values[r.IntN(len(values))] }
	for round := range 3000 {
		logits := make([]float32, 1+r.IntN(60))
		for i := range logits {
			logits[i] = float32(r.NormFloat64() * 3)
			if round%3 == 0 {
				logits[i] = float32(math.Round(float64(logits[i]))) // ties
			}
		}
		text := make([]int32, r.IntN(40))
		for i := range text {
			text[i] = int32(r.IntN(min(len(logits), 4)))
		}
		s := Settings{
			RepetitionPenalty: pick(0, 0, 1, 1.3, 0.8), FrequencyPenalty: pick(0, 0, 0.4, -0.3), PresencePenalty: pick(0, 0, 0.7),
			PenaltyWindow: r.IntN(2) * 5, TopK: r.IntN(2) * r.IntN(20), Typical: pick(0, 0, 0.3, 0.9), TopP: pick(0, 0, 0.5, 0.95, 1), MinP: pick(0, 0, 0.05, 0.5),
			Temperature: pick(0, 0.3, 1, 1, 2, 1e-300),
		}
		if round%4 == 0 {
			s.DRY = DRY{Multiplier: 0.8, Base: pick(0, 1, 1.5), Allowed: r.IntN(4), Window: r.IntN(2) * 20, Breakers: []int32{3}}
		}
		if round%5 == 0 {
			s.XTC = XTC{1, pick(0.05, 0.2, 0.5)}
		}
		if round%7 == 0 {
			s.Bias = map[int32]float64{0: 2, int32(r.IntN(len(logits))): pick(-1, 5)}
			if len(logits) > 1 {
				s.Bias[int32(len(logits)-1)] = math.Inf(-1)
			}
		}
		sampler, err := New(s, 1)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		got, err := sampler.Distribution(logits, text)
		if want := reference(s, logits, text); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%+v, logits %v, text %v: error %v\n%v, want\n%v", s, logits, text, err, got, want)
		}
	}
}

// Tokens of a text that the vocabulary lacks, such as the -1 of a text that has ended, count nowhere.
func TestForeignTokens(t *testing.T) {
	for _, s := range []Settings{{RepetitionPenalty: 2}, {FrequencyPenalty: 1}, {PresencePenalty: 1}, {DRY: DRY{Multiplier: 1, Allowed: 1}}} {
		sampler, err := New(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, foreign := range []int32{-1, 3, math.MinInt32, math.MaxInt32} {
			got, err := sampler.Distribution([]float32{1, 2, 3}, []int32{foreign, foreign, foreign})
			if err != nil || len(got) != 1 || got[0].ID != 2 || got[0].Logit != 3 {
				t.Errorf("%+v after tokens %d: %v, %v, want token 2 of logit 3", s, foreign, got, err)
			}
		}
	}
}

// XTC acts as often as its probability says.
func TestXTC(t *testing.T) {
	s, _ := New(Settings{XTC: XTC{0.3, 0.1}, Temperature: 1}, 1)
	n := 0
	for range 10000 {
		if c, err := s.Distribution([]float32{2, 2, 0}, nil); err != nil {
			t.Fatal(err)
		} else if c[0].ID == 1 {
			n++
		}
	}
	if n < 2800 || n > 3200 {
		t.Errorf("%d of 10000, want about 3000", n)
	}
}

// The chi-squared statistic of 3 degrees of freedom is above 21 once in 10,000 times.
func differs(counts [4]int, p []Candidate) bool {
	n, chi := 0, 0.0
	for _, k := range counts {
		n += k
	}
	for _, c := range p {
		d := float64(counts[c.ID]) - float64(n)*c.P
		chi += d * d / (float64(n) * c.P)
	}
	return chi > 21
}

// Tokens that a proposal passed through Verify have the target's distribution.
func TestVerify(t *testing.T) {
	s, _ := New(Settings{Temperature: 1}, 3)
	p := []Candidate{{ID: 0, P: 0.5}, {ID: 1, P: 0.3}, {ID: 2, P: 0.15}, {ID: 3, P: 0.05}}
	for _, q := range [][]Candidate{
		p, {{ID: 0, P: 0.1}, {ID: 1, P: 0.2}, {ID: 2, P: 0.3}, {ID: 3, P: 0.4}}, {{ID: 1, P: 0.4}, {ID: 9, P: 0.6}}, {{ID: 2, P: 1}}, nil,
	} {
		var counts, direct [4]int
		accepted := 0
		for range 40000 {
			proposed := int32(2)
			if q != nil {
				proposed = s.Pick(q)
			}
			id, ok := s.Verify(p, q, proposed)
			counts[id]++
			if ok {
				accepted++
			}
			direct[s.Pick(p)]++
		}
		if differs(counts, p) || differs(direct, p) {
			t.Errorf("proposals of %v give %v and draws %v, want %v", q, counts, direct, p)
		}
		if len(q) == 4 && q[0].P == 0.5 && accepted != 40000 {
			t.Errorf("%d of 40000 proposals of the same distribution are accepted", accepted)
		}
	}
}

// A proposal that is rejected by rounding alone is replaced by a token that has a probability.
func TestVerifyOfEqual(t *testing.T) {
	s, err := New(Settings{Temperature: 1}, 7)
	if err != nil {
		t.Fatal(err)
	}
	p := []Candidate{{ID: 0, P: 0}, {ID: 1, P: 0.5}, {ID: 2, P: 0.5}}
	q := []Candidate{{ID: 1, P: 0.75}, {ID: 2, P: 0.75}} // more than rounding, so that it is seen
	for range 100 {
		if id, _ := s.Verify(p, q, 1); id == 0 {
			t.Fatal("a token without probability is chosen")
		}
	}
}

// Penalties beyond the range of numbers forbid tokens or prefer them, and no probability is NaN.
func TestGreatPenalties(t *testing.T) {
	s, err := New(Settings{Temperature: 1, FrequencyPenalty: -1e308, Bias: map[int32]float64{0: math.Inf(-1)}}, 7)
	if err != nil {
		t.Fatal(err)
	}
	text := slices.Repeat([]int32{0, 1}, 10)
	c, err := s.Distribution([]float32{1, 2, 3}, text)
	if err != nil || len(c) != 2 || c[0].ID != 1 || c[0].P != 1 {
		t.Errorf("%v, %v, want token 1 alone to have a probability", c, err)
	}
}

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		s    Settings
		want string
	}{
		{Settings{Temperature: nan}, "Temperature is NaN"}, {Settings{Temperature: inf}, "Temperature is +Inf"}, {Settings{Temperature: -1}, "Temperature is -1"},
		{Settings{TopK: -1}, "TopK is -1"}, {Settings{TopP: 1.1}, "TopP is 1.1"}, {Settings{MinP: nan}, "MinP is NaN"}, {Settings{Typical: -1}, "Typical is -1"},
		{Settings{RepetitionPenalty: -1}, "RepetitionPenalty is -1"}, {Settings{FrequencyPenalty: nan}, "FrequencyPenalty is NaN"},
		{Settings{PresencePenalty: inf}, "PresencePenalty is +Inf"}, {Settings{PenaltyWindow: -1}, "PenaltyWindow is -1"},
		{Settings{DRY: DRY{Multiplier: -1}}, "DRY.Multiplier is -1"}, {Settings{DRY: DRY{Multiplier: 1, Base: 0.5}}, "DRY.Base is 0.5"},
		{Settings{DRY: DRY{Allowed: 3}}, "turns it off"}, {Settings{DRY: DRY{Multiplier: 1, Window: -1}}, "DRY.Window is -1"},
		{Settings{XTC: XTC{2, 0.1}}, "XTC.Probability is 2"}, {Settings{XTC: XTC{0.5, 0.6}}, "XTC.Threshold is 0.6"}, {Settings{XTC: XTC{0, 0.1}}, "turns it off"},
		{Settings{Bias: map[int32]float64{7: nan}}, "the Bias of token 7 is NaN"}, {Settings{Bias: map[int32]float64{7: inf}}, "the Bias of token 7 is +Inf"},
	} {
		if _, err := New(c.s, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.s, err, c.want)
		}
	}
	for _, logits := range [][]float32{{1, float32(nan)}, {float32(inf), 1}, {float32(-inf)}, {}} {
		s, _ := New(Settings{Temperature: 1}, 1)
		if c, err := s.Distribution(logits, nil); !errors.Is(err, ErrLogits) {
			t.Errorf("logits %v: %v, error %v", logits, c, err)
		}
	}
	for _, bias := range []map[int32]float64{{0: -inf, 1: -inf}, {2: 1}, {-1: 1}} {
		s, _ := New(Settings{Bias: bias}, 1)
		if c, err := s.Distribution([]float32{1, 2}, nil); err == nil {
			t.Errorf("Bias %v: %v, want an error", bias, c)
		}
	}
}

func BenchmarkDistribution(b *testing.B) {
	logits := make([]float32, 151936)
	for i := range logits {
		logits[i] = float32(rand.NormFloat64() * 3)
	}
	for name, s := range map[string]Settings{"greedy": {FrequencyPenalty: 1}, "topk": {TopK: 40, TopP: 0.95, MinP: 0.05, Temperature: 0.8}, "topp": {TopP: 0.95, Temperature: 0.8}} {
		b.Run(name, func(b *testing.B) {
			sampler, _ := New(s, 1)
			for b.Loop() {
				if _, err := sampler.Distribution(logits, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

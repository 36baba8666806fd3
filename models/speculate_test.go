package models_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

var spoken = []int32{5, 6, 7, 9, 5, 6}

// Texts with tokens that are chosen on the host, and that are proposed, are the greedy texts.
func TestSpeculateGreedy(t *testing.T) {
	m := toDevice(t, "llama_gqa", tensor.CPU())
	other := toDevice(t, "gpt2_gen", tensor.CPU())
	wide := *m.(*models.Llama) // proposes tokens that m lacks
	wide.Model.EmbedTokens.Weight = tensor.Cat(0, wide.Model.EmbedTokens.Weight, wide.Model.EmbedTokens.Weight.Mul(2)).Keep()
	want := generate(t, &models.Generator{Model: m, MaxTokens: 50}, spoken)[0]
	for name, g := range map[string]models.Generator{
		"host": {LogProbs: 1}, "itself": {Draft: m}, "another": {Draft: other, Propose: 7}, "n-grams": {NGram: 3}, "one": {NGram: 1, Propose: 9},
		"wide": {Draft: &wide}, "itself on the host": {Draft: m, LogProbs: 1}, "wide on the host": {Draft: &wide, LogProbs: 1}, "n-grams on the host": {NGram: 2, LogProbs: 1},
	} {
		g.Model, g.MaxTokens = m, 50
		for range 2 {
			if got := generate(t, &g, spoken)[0]; !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		n := &models.Generator{Model: m, MaxTokens: 9, Draft: g.Draft, NGram: g.NGram, LogProbs: g.LogProbs, Stop: want[5:6]}
		if got, end := generate(t, n, spoken)[0], slices.Index(want, want[5]); !slices.Equal(got, want[:end]) {
			t.Errorf("%s: %v, want %v", name, got, want[:end])
		}
	}
}

// A draft may be on another device.
func TestDraftElsewhere(t *testing.T) {
	d := tensor.NewDevice(cpu.New(cpu.Options{}))
	here, there := toDevice(t, "llama_gqa", tensor.CPU()), toDevice(t, "llama_gqa", d)
	want := generate(t, &models.Generator{Model: here, MaxTokens: 20}, spoken)[0]
	for _, g := range []*models.Generator{{Model: here, Draft: there}, {Model: there, Draft: here}, {Model: there, Draft: there}, {Model: there, NGram: 2}} {
		g.MaxTokens = 20
		if got := generate(t, g, spoken)[0]; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// Logits after a proposal that is not accepted do not matter; NaN in logits of the text is an error.
func TestSpeculateNaN(t *testing.T) {
	m := load[*models.Llama](t, "llama_gqa", tensor.CPU())
	want := generate(t, &models.Generator{Model: m, MaxTokens: 30}, spoken)[0]
	odd := int32(0)
	for slices.Contains(want, odd) || slices.Contains(spoken, odd) {
		odd++
	}
	broken, draft := *m, *m
	e := m.Model.EmbedTokens.Weight
	is := func(token int32) tensor.Tensor { return tensor.Arange(e.Dim(0)).Eq(int(token)).Unsqueeze(-1) }
	head := nn.Linear{Weight: e.Mul(tensor.Where(is(odd), 60, 1)).Keep()}
	draft.Tied, draft.LMHead = false, &head
	broken.Tied, broken.LMHead = false, &nn.Linear{Weight: e}
	for _, c := range []struct {
		token int32
		want  string
	}{{odd, ""}, {want[4], "NaN"}} {
		broken.Model.EmbedTokens.Weight = tensor.Where(is(c.token), math.NaN(), e).Keep()
		for _, logProbs := range []int{0, 1} {
			g := &models.Generator{Model: &broken, Draft: &draft, MaxTokens: 30, LogProbs: logProbs}
			got, err := g.Generate([][]int32{spoken})
			if err == nil && (c.want != "" || !slices.Equal(got[0], want)) || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("token %d, LogProbs %d: %v, %v; want %v", c.token, logProbs, got, err, want)
			}
		}
	}
}

// Proposals of the model itself are all accepted, so that it takes fewer steps.
func TestSpeculateSteps(t *testing.T) {
	n := 0
	m := toDevice(t, "llama_gqa", tensor.CPU())
	g := models.Generator{Model: stepped{m, &n}, Draft: m, MaxTokens: 41, Propose: 4}
	want := generate(t, &g, spoken)[0]
	if n > 10 {
		t.Errorf("%d steps for 41 tokens, want at most 10", n)
	}
	// A round in which all proposals are accepted is recorded like those before it.
	g, written := models.Generator{Model: g.Model, Draft: learning{m}, MaxTokens: 41, Propose: 4}, 0
	for ids, err := range g.All([][]int32{spoken}) {
		if err != nil || ids[0] != want[written] {
			t.Fatalf("token %d is %v with error %v, want %d", written, ids, err, want[written])
		}
		if written++; written == 15 {
			n = 0
		}
	}
	if n > 0 {
		t.Errorf("%d steps are recorded once the draft agrees, want none", n)
	}
}

// A learning decoder is wrong at the first positions.
type learning struct{ models.Decoder }

func (d learning) Decode(ids tensor.Tensor, c models.Cache) (tensor.Tensor, models.Cache) {
	x, c := d.Decoder.Decode(ids, c)
	if c.Pos.IsValid() {
		x = x.Mul(tensor.Where(c.Pos.Lt(25), -1.0, 1.0))
	}
	return x, c
}

// With Reuse, a prompt that goes on from the text before it reads its new tokens alone, and other
// prompts read all.
func TestGenerateReuse(t *testing.T) {
	m := toDevice(t, "llama_gqa", tensor.CPU())
	for name, g := range map[string]models.Generator{"device": {}, "host": {LogProbs: 1}, "n-grams": {NGram: 2}, "stop": {Stop: []int32{69}}} {
		read := 0
		g.Model, g.MaxTokens, g.Reuse = measured{m, &read}, 6, true
		text := slices.Clone(spoken)
		for turn := range 4 {
			want := generate(t, &models.Generator{Model: m, MaxTokens: 6, LogProbs: g.LogProbs, NGram: g.NGram, Stop: g.Stop}, text)[0]
			shared := g.Shared(text)
			if least := len(text) - 4; turn > 0 && turn < 3 && shared < least || (turn == 0 || turn == 3) && shared > 1 {
				t.Errorf("%s, turn %d: %d of %d tokens are shared", name, turn, shared, len(text))
			}
			read = 0
			if got := generate(t, &g, text)[0]; !slices.Equal(got, want) {
				t.Errorf("%s, turn %d: %v, want %v", name, turn, got, want)
			}
			if most := len(text) - shared; read > max(most, 10) {
				t.Errorf("%s, turn %d: %d tokens are read at once, want at most %d", name, turn, read, most)
			}
			if text = append(text, want...); turn == 2 {
				text = []int32{9, 5, 6}
			} else {
				text = append(text, 30, 31)
			}
		}
		if g.CacheType = nn.CacheQ8; g.Shared(append(text, 1)) != 0 {
			t.Errorf("%s: a cache of another type is shared", name)
		}
	}
}

// A measured decoder keeps the most tokens that it read at once.
type measured struct {
	models.Decoder
	most *int
}

func (m measured) Decode(ids tensor.Tensor, c models.Cache) (tensor.Tensor, models.Cache) {
	*m.most = max(*m.most, ids.Dim(1))
	return m.Decoder.Decode(ids, c)
}

// A stepped decoder counts its calls, and is not recorded, as they change the number.
type stepped struct {
	models.Decoder
	n *int
}

func (s stepped) Decode(ids tensor.Tensor, c models.Cache) (tensor.Tensor, models.Cache) {
	*s.n++
	return s.Decoder.Decode(ids, c)
}

// Drawn tokens have the distribution of the model, whatever proposes them: the third token's is
// compared with that by the definition, over all second tokens.
func TestSpeculateDistribution(t *testing.T) {
	const vocabulary = 4
	draws := 1500
	if testing.Short() {
		draws = 300
	}
	m := load[*models.GPT2](t, "gpt2_gen", tensor.CPU())
	m.Tied = true
	m.Transformer.Wte.Weight = m.Transformer.Wte.Weight.Slice(0, 0, vocabulary).Mul(3).Keep()
	draft := load[*models.GPT2](t, "gpt2_gen", tensor.CPU())
	draft.Transformer.Wte.Weight = draft.Transformer.Wte.Weight.Slice(0, 10, 10+vocabulary).Mul(3).Keep()
	if err := tensor.Eval(m, draft); err != nil {
		t.Fatal(err)
	}
	prompt := []int32{1, 2, 3, 1, 2}
	next := func(text []int32) []float32 {
		p, err := tensor.Data[float32](m.Apply(tensor.New(text, 1, len(text))).Index(0, -1).Softmax(-1))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := map[string]float64{}
	for a, pa := range next(prompt) {
		for b, pb := range next(append(slices.Clone(prompt), int32(a))) {
			for c, pc := range next(append(slices.Clone(prompt), int32(a), int32(b))) {
				want[fmt.Sprint([]int32{int32(a), int32(b), int32(c)})] += float64(pa) * float64(pb) * float64(pc)
			}
		}
	}
	for name, g := range map[string]models.Generator{"host": {LogProbs: 1}, "draft": {Draft: draft, Propose: 2}, "n-gram": {NGram: 2, Propose: 2}} {
		if testing.Short() && name == "host" {
			continue
		}
		g.Model, g.MaxTokens, g.Temperature, g.RNG = m, 3, 1, tensor.NewRNG(5)
		counts := map[string]float64{}
		for range draws {
			counts[fmt.Sprint(generate(t, &g, prompt)[0])]++
		}
		chi, classes, rest, restWant := 0.0, 0, float64(draws), float64(draws)
		for text, p := range want {
			if e := p * float64(draws); e >= 5 {
				d := counts[text] - e
				chi, classes, rest, restWant = chi+d*d/e, classes+1, rest-counts[text], restWant-e
			}
		}
		chi += (rest - restWant) * (rest - restWant) / restWant
		if k := float64(classes); chi > k+4*math.Sqrt(2*k) || classes < 8 {
			t.Errorf("%s: chi squared is %.1f for %d classes", name, chi, classes)
		}
	}
}

// Log-probabilities are the model's own, whatever Sampling is.
func TestLogProbs(t *testing.T) {
	m := load[*models.Llama](t, "llama_gqa", tensor.CPU())
	g := models.Generator{Model: m, MaxTokens: 4, LogProbs: 3, Sampling: models.Sampling{PresencePenalty: 2}}
	text := slices.Clone(spoken)
	for choices, err := range g.Choices([][]int32{spoken}) {
		if err != nil {
			t.Fatal(err)
		}
		c := choices[0]
		p, err := tensor.Data[float32](m.Apply(tensor.New(text, 1, len(text))).Index(0, -1).LogSoftmax(-1))
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.Clone(p)
		slices.Sort(sorted)
		slices.Reverse(sorted)
		for i, top := range append(slices.Clone(c.Top), models.LogProb{ID: c.ID, LogProb: c.LogProb}) {
			if want := float64(p[top.ID]); math.Abs(top.LogProb-want) > 1e-4 || i < 3 && math.Abs(want-float64(sorted[i])) > 1e-4 {
				t.Errorf("after %v: token %d has %v, want %v", text, top.ID, top.LogProb, want)
			}
		}
		if len(c.Top) != 3 {
			t.Errorf("%d tokens, want 3", len(c.Top))
		}
		text = append(text, c.ID)
	}
}

// Texts of a batch with penalties are those that they are alone.
func TestGeneratePenalties(t *testing.T) {
	m := toDevice(t, "gemma2", tensor.CPU())
	prompts := [][]int32{{5, 6, 7}, {90, 3, 1, 44, 23, 8, 9, 10, 11}, {17}}
	g := models.Generator{Model: m, MaxTokens: 20, Sampling: models.Sampling{RepetitionPenalty: 1.5, FrequencyPenalty: 0.5}}
	got := generate(t, &g, prompts...)
	for i, p := range prompts {
		if want := generate(t, &g, p)[0]; !slices.Equal(got[i], want) {
			t.Errorf("text %d of a batch is %v, alone %v", i, got[i], want)
		}
		seen := map[int32]bool{}
		for _, id := range got[i] {
			seen[id] = true
		}
		if len(seen) < 15 {
			t.Errorf("text %d repeats tokens: %v", i, got[i])
		}
	}
}

// Numbers that overflow between finite parameters are an error that names the layer.
func TestGenerateOverflow(t *testing.T) {
	for _, s := range []models.Sampling{{}, {PresencePenalty: 1}} {
		m := load[*models.GPT2](t, "gpt2_gen", tensor.CPU())
		m = tree.Map(m, func(name string, x tensor.Tensor) tensor.Tensor {
			if strings.Contains(name, "h.0.mlp") {
				return x.Mul(1e25)
			}
			return x
		})
		_, err := (&models.Generator{Model: m, MaxTokens: 2, Sampling: s}).Generate([][]int32{{1, 2}})
		if err == nil || !strings.Contains(err.Error(), "overflow before the keys of layer 1") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

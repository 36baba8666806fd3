package models_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

func generate(t *testing.T, g *models.Generator, prompts ...[]int32) [][]int32 {
	t.Helper()
	got, err := g.Generate(prompts)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Texts of a batch are those that they are alone, whatever their lengths.
func TestGenerateBatch(t *testing.T) {
	prompts := [][]int32{{5, 6, 7}, {90, 3, 1, 44, 23, 8, 9, 10, 11}, {17}}
	for _, name := range []string{"gpt2_gen", "llama_gqa", "gemma2", "qwen2"} {
		m := toDevice(t, name, tensor.CPU())
		g := models.Generator{Model: m, MaxTokens: 15}
		got := generate(t, &g, prompts...)
		for i, p := range prompts {
			if want := generate(t, &g, p)[0]; !slices.Equal(got[i], want) {
				t.Errorf("%s: text %d of a batch is %v, alone %v", name, i, got[i], want)
			}
		}
	}
}

// A text goes on when the cache is full, with a longer one.
func TestGenerateLong(t *testing.T) {
	m := toDevice(t, "llama_gqa", tensor.CPU())
	prompts := [][]int32{{5, 6, 7}, {17}}
	got := generate(t, &models.Generator{Model: m, MaxTokens: 150}, prompts...)
	for i, p := range prompts {
		all := slices.Concat(p, got[i])
		next := texts(t, m.Apply(tensor.New(all, 1, len(all))).ArgMax(-1))[0]
		if want := next[len(p)-1 : len(all)-1]; !slices.Equal(got[i], want) {
			t.Errorf("text %d is %v, want %v", i, got[i], want)
		}
	}
}

// A prompt that is read in pieces gives the same.
func TestGenerateLongPrompt(t *testing.T) {
	m := toDevice(t, "llama_gqa", tensor.CPU())
	prompt := make([]int32, 520)
	for i := range prompt {
		prompt[i] = int32(i * 7 % 60)
	}
	g := models.Generator{Model: m, MaxTokens: 3}
	got := generate(t, &g, prompt)[0]
	all := slices.Concat(prompt, got)
	next := texts(t, m.Apply(tensor.New(all, 1, len(all))).ArgMax(-1))[0]
	if want := next[len(prompt)-1 : len(all)-1]; !slices.Equal(got, want) {
		t.Errorf("the text is %v, want %v", got, want)
	}
}

func TestGenerateStop(t *testing.T) {
	m := toDevice(t, "llama_gqa", tensor.CPU())
	prompts := [][]int32{{5, 6, 7}, {17}}
	free := generate(t, &models.Generator{Model: m, MaxTokens: 12}, prompts...)
	stop := []int32{free[0][3], free[1][7]}
	g := models.Generator{Model: m, MaxTokens: 12, Stop: stop}
	for i, got := range generate(t, &g, prompts...) {
		end := slices.IndexFunc(free[i], func(id int32) bool { return slices.Contains(stop, id) })
		if !slices.Equal(got, free[i][:end]) {
			t.Errorf("text %d is %v, want %v", i, got, free[i][:end])
		}
	}
	turns := 0
	for tokens, err := range g.All(prompts) {
		if turns++; err != nil || len(tokens) != 2 || turns == 2 {
			break
		}
	}
	if turns != 2 {
		t.Errorf("%d turns, want 2 before break", turns)
	}
}

// A counted decoder counts how often it is traced.
type counted struct {
	models.Decoder
	n *int
}

func (c counted) Decode(ids tensor.Tensor, cache models.Cache) (tensor.Tensor, models.Cache) {
	*c.n++
	return c.Decoder.Decode(ids, cache)
}

// Steps are recorded, also for a second text; draws are new in each.
func TestGenerateDraws(t *testing.T) {
	n := 0
	m := counted{toDevice(t, "gpt2_gen", tensor.CPU()), &n}
	g := models.Generator{Model: m, MaxTokens: 20, RNG: tensor.NewRNG(1), Sampling: models.Sampling{Temperature: 3, TopP: 0.9, RepetitionPenalty: 1.2}}
	prompts := [][]int32{{5, 6, 7}, {5, 6, 7}}
	first := generate(t, &g, prompts...)
	traced := n
	second := generate(t, &g, prompts...)
	if traced > 5 || n != traced+1 {
		t.Errorf("the model was traced %d times for the first text and %d for the second", traced, n-traced)
	}
	if slices.Equal(first[0], first[1]) || slices.Equal(first[0], second[0]) {
		t.Errorf("texts are equal: %v %v", first, second)
	}
	for i := range 17 {
		if slices.Equal(first[0][i:i+4], slices.Repeat(first[0][i:i+1], 4)) {
			t.Errorf("a token is drawn again and again: %v", first[0])
		}
	}
	again := generate(t, &models.Generator{Model: m, MaxTokens: 20, RNG: tensor.NewRNG(1), Sampling: g.Sampling}, prompts...)
	if fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("with the same seed %v, and %v", again, first)
	}
}

// Fields without a meaning are errors with the line. Temperatures near 0 choose the most probable token.
func TestChooseSettings(t *testing.T) {
	logits, rng, inf := tensor.New([]float32{1, 3, 2}, 1, 3), tensor.NewRNG(1), math.Inf(1)
	for _, s := range []models.Sampling{
		{Temperature: math.NaN()}, {Temperature: inf}, {Temperature: -1}, {TopK: -1}, {TopP: math.NaN()}, {TopP: 1.5}, {MinP: -1}, {MinP: 2},
		{RepetitionPenalty: inf}, {RepetitionPenalty: -1}, {RepetitionPenalty: 2}, {PresencePenalty: 1}, {Typical: 0.5, Temperature: 1},
		{Bias: map[int32]float64{1: 1}},
	} {
		err := tensor.Try(func() { s.Choose(logits, rng) })
		if err == nil || !strings.Contains(err.Error(), "generate_test.go") {
			t.Errorf("%+v: %v, want an error with the line", s, err)
		}
	}
	for _, v := range []float64{1e-300, 1e-45, 1e-38} {
		if got := (models.Sampling{Temperature: v}).Choose(logits, rng).String(); got != "[1]" {
			t.Errorf("Temperature %v: %s, want [1]", v, got)
		}
	}
}

func TestChoose(t *testing.T) {
	d := openDevice(t)
	const rows = 20000
	p := []float64{0.05, 0.4, 0.1, 0.3, 0.15}
	logits := make([]float32, len(p))
	for i := range p {
		logits[i] = float32(math.Log(p[i])) + 3
	}
	for _, c := range []struct {
		s    models.Sampling
		want []float64
	}{
		{models.Sampling{}, []float64{0, 1, 0, 0, 0}},
		{models.Sampling{Temperature: 0.5, TopP: 0.75, MinP: 0.5}, []float64{0, 0.64, 0, 0.36, 0}}, // of the probabilities without Temperature
		{models.Sampling{Temperature: 1}, p},
		{models.Sampling{Temperature: 1, TopK: 9, TopP: 1}, p},
		{models.Sampling{Temperature: 1, TopK: 2}, []float64{0, 4. / 7, 0, 3. / 7, 0}},
		{models.Sampling{Temperature: 1, TopP: 0.75}, []float64{0, 0.4 / 0.85, 0, 0.3 / 0.85, 0.15 / 0.85}},
		{models.Sampling{Temperature: 1, TopP: 0.01}, []float64{0, 1, 0, 0, 0}},
		{models.Sampling{Temperature: 1, MinP: 0.3}, []float64{0, 0.4 / 0.85, 0, 0.3 / 0.85, 0.15 / 0.85}},
		{models.Sampling{Temperature: 1, TopK: 3, MinP: 0.5}, []float64{0, 4. / 7, 0, 3. / 7, 0}},
		{models.Sampling{Temperature: 1, TopK: 3, TopP: 0.5}, []float64{0, 4. / 7, 0, 3. / 7, 0}}, // of 0.85
		{models.Sampling{Temperature: 0.5}, []float64{0.0025 / 0.285, 0.16 / 0.285, 0.01 / 0.285, 0.09 / 0.285, 0.0225 / 0.285}},
	} {
		next := c.s.Choose(tensor.New(logits, 1, 5).Expand(rows, 5).To(d), tensor.NewRNG(2))
		tokens, err := tensor.Data[int32](next)
		if err != nil || len(tokens) != rows {
			t.Fatal(len(tokens), err)
		}
		var n [5]float64
		for _, k := range tokens {
			n[k]++
		}
		for k := range n {
			if got, want := n[k]/rows, c.want[k]; want == 0 && got > 0 || math.Abs(got-want) > 0.015 {
				t.Errorf("%+v draws token %d with probability %.3f, want %.3f", c.s, k, got, want)
			}
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	m := toDevice(t, "gpt2_gen", tensor.CPU())
	one := [][]int32{{1}}
	for _, c := range []struct {
		g       models.Generator
		prompts [][]int32
		want    string
	}{
		{models.Generator{MaxTokens: 1}, one, "needs a Model"},
		{models.Generator{Model: m}, one, "MaxTokens of at least 1"},
		{models.Generator{Model: m, MaxTokens: 1}, nil, "there are no prompts"},
		{models.Generator{Model: m, MaxTokens: 1}, [][]int32{{1}, {}}, "prompt 1 is empty"},
		{models.Generator{Model: m, MaxTokens: 1, Sampling: models.Sampling{Temperature: 1}}, one, "set RNG"},
		{models.Generator{Model: m, MaxTokens: 1, Sampling: models.Sampling{TopP: 2}}, one, "TopP is 2"},
		{models.Generator{Model: m, MaxTokens: 1, Sampling: models.Sampling{TopK: -1}}, one, "TopK is -1"},
		{models.Generator{Model: m, MaxTokens: 1, Sampling: models.Sampling{MinP: math.NaN()}}, one, "MinP is NaN"},
		{models.Generator{Model: m, MaxTokens: 1, LogProbs: -1}, one, "LogProbs -1"},
		{models.Generator{Model: m, MaxTokens: 1, NGram: 2, Draft: m}, one, "choose one"},
		{models.Generator{Model: m, MaxTokens: 1, NGram: 2}, [][]int32{{1}, {1}}, "one text is written at a time, and there are 2"},
		{models.Generator{Model: m, MaxTokens: 1, Sampling: models.Sampling{Bias: map[int32]float64{96: 1}}}, one, "Bias has token 96: the vocabulary has 0 to 95"},
		{models.Generator{Model: m, MaxTokens: 1}, [][]int32{{96}}, "token 0 of prompt 0 is 96: want 0 to 95"},
		{models.Generator{Model: m, MaxTokens: 1}, [][]int32{{1}, {5, -1}}, "token 1 of prompt 1 is -1: want 0 to 95"},
		{models.Generator{Model: m, MaxTokens: 1, N: math.MaxInt}, one, "want at most 65536 for N 9223372036854775807"},
		{models.Generator{Model: m, MaxTokens: math.MaxInt}, one, "need 9223372036854775807 positions: the model has 64"},
		{models.Generator{Model: m, MaxTokens: math.MaxInt}, [][]int32{{1, 2, 3}}, "need 9223372036854775809 positions: the model has 64"},
		{models.Generator{Model: &models.Llama{}, MaxTokens: 1}, one, "the model has no layers"},
		{models.Generator{Model: m, MaxTokens: 100}, one, "a prompt of 1 token and MaxTokens 100 need 100 positions: the model has 64"},
		{models.Generator{Model: m, MaxTokens: 1}, [][]int32{{1}, make([]int32, 65)}, "a prompt of 65 tokens and MaxTokens 1 need 65 positions: the model has 64"},
	} {
		if _, err := c.g.Generate(c.prompts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Generate(%v): %v, want %q", c.prompts, err, c.want)
		}
	}
}

// Logits without a greatest number are an error that names the parameter at fault.
func TestGenerateNaN(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, temperature := range []float64{0, 1} {
			m := load[*models.GPT2](t, "gpt2_gen", tensor.CPU())
			want := ""
			m = tree.Map(m, func(name string, x tensor.Tensor) tensor.Tensor {
				if strings.Contains(name, "mlp") && want == "" {
					want = name
					return x.Mul(bad)
				}
				return x
			})
			g := models.Generator{Model: m, MaxTokens: 2, RNG: tensor.NewRNG(1), Sampling: models.Sampling{Temperature: temperature}}
			if got, err := g.Generate([][]int32{{1, 2}}); want == "" || err == nil || !strings.Contains(err.Error(), `parameter "`+want+`" has NaN`) {
				t.Errorf("with %v in %s and temperature %v: %v, error %v", bad, want, temperature, got, err)
			}
		}
	}
	for _, logits := range [][]float32{{1, float32(math.NaN()), 2}, {float32(math.Inf(1)), 0, 0}, {float32(math.Inf(-1)), float32(math.Inf(-1))}} {
		for _, s := range []models.Sampling{{}, {Temperature: 1}, {Temperature: 1, TopK: 1}, {Temperature: 1, TopP: 0.5}, {Temperature: 1, MinP: 0.5}} {
			if err := tensor.Eval(s.Choose(tensor.New(logits, 1, len(logits)), tensor.NewRNG(1))); err == nil {
				t.Errorf("%+v chooses from %v", s, logits)
			}
		}
	}
	if got := (models.Sampling{}).Choose(tensor.New([]float32{1, float32(math.Inf(-1)), 2}, 1, 3), nil).String(); got != "[2]" {
		t.Errorf("a masked token: %v", got)
	}
}

// A text may fill all positions of a model. Tokens before a late error are not lost.
func TestGenerateToTheLastPosition(t *testing.T) {
	m := toDevice(t, "gpt2_gen", tensor.CPU())
	prompt := []int32{5, 6, 7}
	g := models.Generator{Model: m, MaxTokens: 62}
	want := generate(t, &g, prompt)[0]
	if len(want) != 62 {
		t.Errorf("%d tokens, want 62", len(want))
	}
	unlimited := struct{ models.Decoder }{m}
	got, err := (&models.Generator{Model: unlimited, MaxTokens: 100}).Generate([][]int32{prompt})
	if err == nil || len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("beyond the last position: %v, %v, want %v and an error", got, err, want)
	}
}

// A counting decoder counts the tokens that it reads.
type counting struct {
	*models.Llama
	tokens *int
}

func (c counting) Decode(ids tensor.Tensor, cache models.Cache) (tensor.Tensor, models.Cache) {
	*c.tokens += ids.Len()
	return c.Llama.Decode(ids, cache)
}

// N texts of a prompt equal the texts of N prompts, and the prompt is read once.
func TestGenerateN(t *testing.T) {
	m := load[*models.Llama](t, "llama_gqa", openDevice(t))
	for _, s := range []models.Sampling{{}, {Temperature: 1}, {Temperature: 1, PresencePenalty: 0.1}} {
		prompts := [][]int32{{5, 6, 7, 8, 9}, {3, 4}}
		write := func(n int, prompts ...[]int32) [][]int32 {
			g := models.Generator{Model: m, MaxTokens: 9, N: n, Sampling: s, RNG: tensor.NewRNG(1)}
			got, err := g.Generate(prompts)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := write(3, prompts...)
		want := write(0, prompts[0], prompts[0], prompts[0], prompts[1], prompts[1], prompts[1])
		if !slices.EqualFunc(got, want, slices.Equal[[]int32]) {
			t.Errorf("%+v: %v, want %v", s, got, want)
		}
		read := 0
		g := models.Generator{Model: counting{m, &read}, MaxTokens: 1, N: 3, Sampling: s, RNG: tensor.NewRNG(1)}
		if _, err := g.Generate(prompts[:1]); err != nil || read != 5 {
			t.Errorf("%+v: %d tokens of 5 are read, %v", s, read, err)
		}
	}
}

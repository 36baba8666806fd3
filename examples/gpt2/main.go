// Command gpt2 trains GPT-2 from scratch, and loads models in the layout in which Hugging
// Face publishes it: a folder with config.json and model.safetensors.
//
//	go run ./examples/gpt2 -text book.txt -dir mine      # train, save, and go on if interrupted
//	go run ./examples/gpt2 -dir mine -prompt 'It was '   # generate
//	go run ./examples/gpt2 -dir gpt2 -prompt 464,3290    # published weights take token ids
//
// A token of a text is a byte; a file .bin has uint16 tokens, as nanoGPT writes them.
package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

// A config is the part of config.json that matters here.
type config struct {
	ModelType  string  `json:"model_type"`
	Vocabulary int     `json:"vocab_size"`
	Positions  int     `json:"n_positions"`
	Width      int     `json:"n_embd"`
	Layers     int     `json:"n_layer"`
	Heads      int     `json:"n_head"`
	Inner      int     `json:"n_inner,omitempty"` // 0, or null: 4·Width
	Activation string  `json:"activation_function"`
	Eps        float64 `json:"layer_norm_epsilon"`
	Dropout    float64 `json:"resid_pdrop"` // the others are equal in all published models
	Scale      bool    `json:"scale_attn_weights"`
	ByLayer    bool    `json:"scale_attn_by_inverse_layer_idx"`
	Tied       bool    `json:"tie_word_embeddings"`
}

// defaults are the values of settings that a config.json leaves out.
var defaults = config{
	ModelType: "gpt2", Vocabulary: 50257, Positions: 1024, Width: 768, Layers: 12, Heads: 12,
	Activation: "gelu_new", Eps: 1e-5, Dropout: 0.1, Scale: true, Tied: true,
}

var activations = map[string]nn.Func{
	"gelu_new": tensor.Tensor.GELUTanh, "gelu_pytorch_tanh": tensor.Tensor.GELUTanh,
	"gelu": tensor.Tensor.GELU, "relu": tensor.Tensor.ReLU, "silu": tensor.Tensor.SiLU, "tanh": tensor.Tensor.Tanh,
}

func (c config) check() error {
	switch {
	case c.ModelType != "gpt2":
		return fmt.Errorf("model_type is %q, want gpt2", c.ModelType)
	case c.Heads < 1 || c.Width%c.Heads != 0:
		return fmt.Errorf("n_head, %d, does not divide n_embd, %d", c.Heads, c.Width)
	case activations[c.Activation] == nil:
		return fmt.Errorf("activation_function is %q, which this program does not have", c.Activation)
	}
	return nil
}

// A gpt2 has the published names: wte.weight, h.0.attn.c_attn.weight, …
type gpt2 struct {
	WTE, WPE nn.Embedding
	H        []block
	LNF      nn.LayerNorm `tensor:"ln_f"`
	LMHead   *nn.Linear   `tensor:",optional"` // nil: WTE
	config   config
}

type block struct {
	LN1  nn.LayerNorm `tensor:"ln_1"`
	Attn struct{ CAttn, CProj conv1D }
	LN2  nn.LayerNorm `tensor:"ln_2"`
	MLP  struct{ CFc, CProj conv1D }
}

// A conv1D is GPT-2's linear layer, whose weight is [in out].
type conv1D struct{ Weight, Bias tensor.Tensor }

func (l conv1D) Apply(x tensor.Tensor) tensor.Tensor { return x.MatMul(l.Weight).Add(l.Bias) }

// newGPT2 returns a model with GPT-2's initial weights: layers that add to the residual
// stream have smaller ones, because there are many.
func newGPT2(rng *tensor.RNG, c config) gpt2 {
	normal := func(shape ...int) tensor.Tensor { return rng.Normal(shape...).Mul(0.02) }
	linear := func(in, out int) conv1D { return conv1D{normal(in, out), tensor.Zeros(out)} }
	residual := func(in int) conv1D {
		l := linear(in, c.Width)
		l.Weight = l.Weight.Div(math.Sqrt(float64(2 * c.Layers)))
		return l
	}
	m := gpt2{WTE: nn.Embedding{Weight: normal(c.Vocabulary, c.Width)}, WPE: nn.Embedding{Weight: normal(c.Positions, c.Width)}, LNF: nn.NewLayerNorm(c.Width), config: c}
	for range c.Layers {
		b := block{LN1: nn.NewLayerNorm(c.Width), LN2: nn.NewLayerNorm(c.Width)}
		b.Attn.CAttn, b.Attn.CProj = linear(c.Width, 3*c.Width), residual(c.Width)
		b.MLP.CFc, b.MLP.CProj = linear(c.Width, 4*c.Width), residual(4*c.Width)
		m.H = append(m.H, b)
	}
	return m
}

// apply maps tokens, int32 [batch time], to the logits of the tokens after them, [batch time
// vocabulary]. The tokens follow the caches' tokens, where there is a cache for each layer,
// or are a text of their own. Without an rng there is no dropout.
func (m gpt2) apply(ids tensor.Tensor, caches []nn.KVCache, rng *tensor.RNG) tensor.Tensor {
	at, b, t, dropout := 0, ids.Dim(0), ids.Dim(1), nn.Dropout{P: m.config.Dropout}
	if caches != nil {
		at = caches[0].Len
	}
	x := m.WTE.Apply(ids).Add(m.WPE.Apply(tensor.Arange(t).Add(at)))
	x = dropout.Drop(x, rng)
	for i, l := range m.H {
		qkv := l.Attn.CAttn.Apply(l.LN1.Apply(x)).Reshape(b, t, 3, m.config.Heads, -1).Permute(2, 0, 3, 1, 4)
		q, k, v := qkv.At(0).Mul(m.config.scale(i)), qkv.At(1), qkv.At(2) // [batch heads time width]
		var y tensor.Tensor
		if caches != nil {
			y, caches[i] = caches[i].Attend(q, k, v)
		} else {
			y = tensor.Attention(q, k, v, &tensor.AttentionOptions{Causal: true, Dropout: dropout.P, RNG: rng})
		}
		x = x.Add(dropout.Drop(l.Attn.CProj.Apply(y.Transpose(1, 2).Flatten(2)), rng))
		hidden := activations[m.config.Activation](l.MLP.CFc.Apply(l.LN2.Apply(x)))
		x = x.Add(dropout.Drop(l.MLP.CProj.Apply(hidden), rng))
	}
	x = m.LNF.Apply(x)
	if m.LMHead != nil {
		return m.LMHead.Apply(x)
	}
	return x.MatMul(m.WTE.Weight.T())
}

// scale returns the factor of the scores of layer i, beside 1/√width of a head, which
// attention has by itself.
func (c config) scale(i int) float64 {
	s := 1.0
	if !c.Scale {
		s = math.Sqrt(float64(c.Width / c.Heads))
	}
	if c.ByLayer {
		s /= float64(i + 1)
	}
	return s
}

// load reads a model from a folder.
func load(dir string) (m gpt2, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return m, err
	}
	m.config = defaults
	if err = json.Unmarshal(b, &m.config); err == nil {
		err = m.config.check()
	}
	if err != nil {
		return m, fmt.Errorf("%s: config.json: %w", dir, err)
	}
	m.H, m.LNF.Eps = make([]block, m.config.Layers), m.config.Eps
	for i := range m.H {
		m.H[i].LN1.Eps, m.H[i].LN2.Eps = m.config.Eps, m.config.Eps
	}
	path := filepath.Join(dir, "model.safetensors")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		path += ".index.json" // of several files
	}
	f, err := safetensors.Open(path)
	if err != nil {
		return m, err
	}
	defer f.Close()
	return m, f.Load(&m, func(name string) string {
		switch {
		case strings.HasSuffix(name, ".attn.bias"), strings.HasSuffix(name, ".attn.masked_bias"):
			return "" // masks, not parameters
		case name == "lm_head.weight" && m.config.Tied:
			return ""
		}
		return strings.TrimPrefix(name, "transformer.")
	})
}

// save writes a model to a folder, as load reads it.
func (m gpt2) save(dir string) error {
	b, err := json.MarshalIndent(m.config, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), append(b, '\n'), 0o666)
	}
	if err != nil {
		return err
	}
	return safetensors.Save(filepath.Join(dir, "model.safetensors"), struct{ Transformer gpt2 }{m})
}

// generate returns n tokens after ids, each drawn from the k most probable ones. At
// temperature 0 it is the best one.
func (m gpt2) generate(rng *tensor.RNG, ids []int32, n, k int, temperature float64) (out []int32, err error) {
	defer tensor.Catch(&err)
	length := len(ids) + n
	if len(ids) == 0 || length > m.config.Positions {
		return nil, fmt.Errorf("%d tokens after %d: the model has %d positions", n, len(ids), m.config.Positions)
	}
	if temperature == 0 {
		k, temperature = 1, 1
	}
	caches := make([]nn.KVCache, len(m.H))
	for i := range caches {
		caches[i] = nn.NewKVCache(1, m.config.Heads, length, m.config.Width/m.config.Heads)
	}
	for range n {
		logits := m.apply(tensor.New(ids, 1, len(ids)), caches, nil).Index(0, -1)
		best, tokens := logits.TopK(0, min(k, m.config.Vocabulary))
		choice := rng.Categorical(best.Cast(tensor.Float32).Div(temperature).Softmax(0))
		ids = []int32{int32(tokens.Take(0, choice).Item())}
		out = append(out, ids...)
	}
	return out, nil
}

// sizes are the sizes of the published models, with GPT-3's rates for them, and a tiny one.
var sizes = map[string]struct {
	layers, width, heads int
	rate                 float64
}{
	"tiny": {4, 128, 4, 3e-3}, "small": {12, 768, 12, 6e-4}, "medium": {24, 1024, 16, 3e-4},
	"large": {36, 1280, 20, 2.5e-4}, "xl": {48, 1600, 25, 2e-4},
}

var (
	on          = flag.String("device", "", device.Usage)
	dir         = flag.String("dir", "gpt2", "folder of the model")
	text        = flag.String("text", "", "train on this file: a text, or a .bin of uint16 tokens")
	sizeName    = flag.String("size", "tiny", "size of the model to train: tiny, small, medium, large or xl")
	length      = flag.Int("length", 256, "tokens that the model looks back on")
	batch       = flag.Int("batch", 8, "texts that are computed at once")
	accumulate  = flag.Int("accumulate", 1, "batches in a step")
	steps       = flag.Int("steps", 2000, "steps of training in all")
	every       = flag.Int("every", 200, "steps between reports")
	rate        = flag.Float64("rate", 0, "learning rate (default that of the size)")
	dropout     = flag.Float64("dropout", 0.1, "probability that a number is dropped in training")
	prompt      = flag.String("prompt", "", "beginning of the text to generate: bytes, or token ids such as 464,3290")
	count       = flag.Int("n", 100, "tokens to generate")
	topK        = flag.Int("top-k", 40, "the number of tokens that each is chosen from")
	temperature = flag.Float64("temperature", 0.8, "how random the text is; at 0 the best token is taken")
	seed        = flag.Uint64("seed", 1, "seed of weights and of texts")
)

func main() { flags.Run(on, run) }

func run(ctx context.Context, w io.Writer) (err error) {
	defer tensor.Catch(&err)
	if *text != "" {
		err = pretrain(ctx, w)
	}
	if err != nil {
		return err
	}
	m, err := load(*dir)
	if err != nil || *prompt == "" {
		return err
	}
	ids, err := encode(*prompt, m.config.Vocabulary)
	if err != nil {
		return fmt.Errorf("-prompt: %w", err)
	}
	out, err := m.generate(tensor.NewRNG(*seed), ids, *count, *topK, *temperature)
	if err == nil {
		fmt.Fprintln(w, decode(append(ids, out...), m.config.Vocabulary))
	}
	return err
}

const bytes = 256 // the vocabulary of a model of texts

// encode returns the tokens of a prompt: its bytes, or the ids that it lists.
func encode(prompt string, vocabulary int) (ids []int32, err error) {
	if vocabulary == bytes {
		for _, b := range []byte(prompt) {
			ids = append(ids, int32(b))
		}
		return ids, nil
	}
	for field := range strings.SplitSeq(prompt, ",") {
		id, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || id < 0 || id >= vocabulary {
			return nil, fmt.Errorf("%q: want token ids below %d, with commas between them", field, vocabulary)
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}

func decode(ids []int32, vocabulary int) string {
	if vocabulary != bytes {
		return strings.Trim(fmt.Sprint(ids), "[]")
	}
	var text []byte
	for _, id := range ids {
		text = append(text, byte(id))
	}
	return string(text)
}

// readTokens returns the tokens of a file, int32 [n], and the size of the vocabulary.
func readTokens(path string) (tokens tensor.Tensor, size int, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return tokens, 0, err
	}
	if filepath.Ext(path) != ".bin" {
		return tensor.New(b).Cast(tensor.Int32), bytes, nil
	}
	ids := make([]int32, len(b)/2)
	for i := range ids {
		ids[i] = int32(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return tensor.New(ids), defaults.Vocabulary, nil
}

// pretrain trains a new model on nine tenths of a file, tests it on the rest, and saves it. It
// goes on from the folder's checkpoint if there is one.
func pretrain(ctx context.Context, w io.Writer) error {
	tokens, vocabulary, err := readTokens(*text)
	if err != nil {
		return err
	}
	size, ok := sizes[*sizeName]
	if !ok {
		return fmt.Errorf("no size %q: want tiny, small, medium, large or xl", *sizeName)
	}
	n, cut := tokens.Len(), tokens.Len()*9/10
	if n-cut <= *length {
		return fmt.Errorf("%s has %d tokens, want more than %d", *text, n, 10**length)
	}
	test, err := data.Whole(data.Windows(tokens.Slice(0, cut, n), *length, max(*length, (n-cut)/16)))
	if err == nil {
		err = os.MkdirAll(*dir, 0o777)
	}
	if err != nil {
		return err
	}
	c := defaults
	c.Vocabulary, c.Positions, c.Dropout = vocabulary, *length, *dropout
	c.Layers, c.Width, c.Heads = size.layers, size.width, size.heads
	rng := tensor.NewRNG(*seed)
	decayed, plain := optim.AdamW{Beta2: 0.95, WeightDecay: 0.1}, optim.AdamW{Beta2: 0.95} // plain: biases and norms
	l := train.Loop[gpt2, data.Window]{
		Model: newGPT2(rng, c),
		Data:  &data.Loader[data.Window]{Set: data.Windows(tokens.Slice(0, 0, cut), *length, 1), Batch: *batch, Shuffle: true, DropLast: true},
		Optimizer: &optim.Optimizer{
			Rule: decayed, LR: cmp.Or(*rate, size.rate), ClipNorm: 1, Schedule: optim.Warmup(*steps/20, optim.Cosine(*steps, 0.1)),
			Groups: optim.Groups{{Names: "*.bias", Rule: plain}, {Names: "*ln_?.weight", Rule: plain}},
		},
		RNG: rng, Steps: *steps, Every: *every, Accumulate: *accumulate,
		Checkpoint: filepath.Join(*dir, "run.ckpt"), Resume: true,
		Loss: func(m gpt2, b data.Window, rng *tensor.RNG) (tensor.Tensor, gpt2) {
			return nn.CrossEntropy(m.apply(b.X, nil, rng), b.Y).Mean(), m
		},
		Validate: func(m gpt2) (train.Metrics, error) {
			return train.Metrics{"test": nn.CrossEntropy(m.apply(test.X, nil, nil), test.Y).Mean().Item()}, nil
		},
	}
	l.Watch = func(history []train.Metrics) error {
		last, figure := history[len(history)-1], plot.Metrics(history)
		fmt.Fprintf(w, "step %d, loss %.4f, of the text held out %.4f\n", l.Step, last["loss"], last["test"])
		figure.X.Label, figure.Width, figure.Height = fmt.Sprintf("%d steps", *every), 480, 320
		return figure.Save(filepath.Join(*dir, "losses.png"))
	}
	if err := l.Run(ctx); err != nil {
		return err
	}
	return l.Model.save(*dir)
}

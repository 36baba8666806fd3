package llm

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/vocabulary"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
)

// A pooling makes one embedding from the embeddings of a text's tokens, as the files of Sentence
// Transformers say.
type pooling struct {
	apply     func(x, valid tensor.Tensor) tensor.Tensor
	normalize bool
	length    int // the most tokens of a text; 0 is the context
}

// poolings are the modes of 1_Pooling/config.json.
var poolings = map[string]func(x, valid tensor.Tensor) tensor.Tensor{
	"pooling_mode_cls_token":   models.CLSPooling.Apply,
	"pooling_mode_mean_tokens": models.MeanPooling.Apply,
	"pooling_mode_max_tokens":  models.MaxPooling.Apply,
	"pooling_mode_lasttoken":   lastToken,
}

// ggufPoolings are the numbers of llama.cpp. Without a pooling, it is the mean here.
var ggufPoolings = map[int]func(x, valid tensor.Tensor) tensor.Tensor{
	0: models.MeanPooling.Apply, 1: models.MeanPooling.Apply, 2: models.CLSPooling.Apply, 3: lastToken,
}

// lastToken returns the embedding of the last token that is not padding.
func lastToken(x, valid tensor.Tensor) tensor.Tensor {
	last := valid.Cast(tensor.Int32).Sum(-1).Sub(1)
	at := tensor.Arange(x.Dim(1)).Eq(last).Unsqueeze(-1)
	return tensor.Where(at, x, 0).Sum(1).Squeeze(1)
}

// readPooling reads the modules of Sentence Transformers. Without them it is the mean, as there.
func readPooling(dir string) (p pooling, err error) {
	p.apply = models.MeanPooling.Apply
	var modules []struct{ Path, Type string }
	if _, err := vocabulary.ReadJSON(dir, "modules.json", &modules); err != nil {
		return p, err
	}
	for _, m := range modules {
		switch kind := filepath.Ext(m.Type); kind {
		case ".Transformer":
		case ".Normalize":
			p.normalize = true
		case ".Pooling":
			if p.apply, err = readModes(dir, m.Path); err != nil {
				return p, err
			}
		default:
			return p, fmt.Errorf("%s: the module %q is not known: want Transformer, Pooling or Normalize", files.Name(filepath.Join(dir, "modules.json")), m.Type)
		}
	}
	var s struct {
		Length int `json:"max_seq_length"`
	}
	if _, err := vocabulary.ReadJSON(dir, "sentence_bert_config.json", &s); err != nil {
		return p, err
	}
	p.length = max(0, s.Length)
	return p, nil
}

func readModes(dir, module string) (func(x, valid tensor.Tensor) tensor.Tensor, error) {
	if !filepath.IsLocal(module) {
		return nil, fmt.Errorf("%s: the path %q of a module is not in the folder", files.Name(filepath.Join(dir, "modules.json")), module)
	}
	name := filepath.Join(module, "config.json")
	var raw map[string]json.RawMessage
	if ok, err := vocabulary.ReadJSON(dir, name, &raw); err != nil || !ok {
		return nil, fmt.Errorf("%s: there is no config of the pooling: %w", files.Name(filepath.Join(dir, name)), err)
	}
	var modes []string
	for mode := range raw {
		if len(mode) > 13 && mode[:13] == "pooling_mode_" && string(raw[mode]) == "true" {
			modes = append(modes, mode)
		}
	}
	slices.Sort(modes)
	if len(modes) != 1 || poolings[modes[0]] == nil {
		return nil, fmt.Errorf("%s: the modes are %q: want one of cls, mean, max or the last token", files.Name(filepath.Join(dir, name)), modes)
	}
	return poolings[modes[0]], nil
}

// batchTexts is the number of texts that are embedded at once.
const batchTexts = 32

// Embed returns the embedding of each text: the model's result for its tokens, pooled and
// normalized as modules.json says. A text that is longer than the model reads is a [*ContextError],
// unless Options.Truncate.
func (m *Model) Embed(texts []string) (embeddings [][]float32, err error) {
	defer tensor.Catch(&err)
	if m.tokenizer == nil {
		return nil, m.noTokens
	}
	o := encoding(false)
	most := m.settings.Context
	if n := m.pooling.length; n > 0 && (most == 0 || n < most) {
		most = n
	}
	if m.options.Truncate && most > 0 {
		o.NoTruncation, o.Truncation = false, &tokenizer.Truncation{MaxLength: most}
	}
	all, err := m.tokenizer.EncodeBatch(texts, o)
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		if most > 0 && len(e.IDs) > most {
			return nil, fmt.Errorf("llm: text %d: %w", i, &ContextError{len(e.IDs), most})
		}
		if len(e.IDs) == 0 {
			return nil, fmt.Errorf("llm: text %d has no tokens", i)
		}
	}
	order := make([]int, len(texts)) // by length, so that little is padded
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(all[b].IDs) - len(all[a].IDs) })
	embeddings = make([][]float32, len(texts))
	for part := range slices.Chunk(order, batchTexts) {
		var ids [][]int32
		for _, i := range part {
			ids = append(ids, all[i].IDs)
		}
		rows, err := m.embed(ids)
		if err != nil {
			return nil, err
		}
		for k, i := range part {
			if slices.ContainsFunc(rows[k], func(x float32) bool { return x-x != 0 }) {
				return nil, fmt.Errorf("llm: the embedding of text %d has NaN or infinite numbers: the model's weights have some, or its numbers overflow", i)
			}
			embeddings[i] = rows[k]
		}
	}
	return embeddings, nil
}

// embed embeds texts at once; the first one is the longest.
func (m *Model) embed(texts [][]int32) ([][]float32, error) {
	time := len(texts[0])
	ids, valid := make([]int32, len(texts)*time), make([]bool, len(texts)*time)
	pad := int32(0)
	if m.encoder != nil {
		pad = int32(max(0, m.encoder.PaddingID))
	}
	for i := range ids {
		ids[i] = pad
	}
	for i, t := range texts {
		copy(ids[i*time:], t)
		for k := range t {
			valid[i*time+k] = true
		}
	}
	in, mask := tensor.New(ids, len(texts), time), tensor.New(valid, len(texts), time)
	if d := m.options.Device; d != nil {
		in, mask = in.To(d), mask.To(d)
	}
	var x tensor.Tensor
	switch {
	case m.encoder != nil:
		x = m.encoder.Apply(in, mask)
	case m.t5 != nil:
		x = m.t5.Encode(in, mask)
	default: // tokens attend to earlier ones only, so that padding at the end changes nothing
		x, _ = m.decoder.Decode(in, m.decoder.NewCache(len(texts), time))
	}
	x = m.pooling.apply(x.Cast(tensor.Float32), mask)
	if m.pooling.normalize {
		x = nn.Normalize(x, -1)
	}
	all, err := tensor.Data[float32](x)
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(all, x.Dim(-1))), nil
}

package models_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func TestBERT(t *testing.T) {
	d := openDevice(t)
	m, io := load[*models.BERT](t, "bert", d), readIO(t, "bert")
	ids, valid := io.In["input_ids"].To(d), io.In["attention_mask"].To(d)
	closeTo(t, "Apply(ids, valid)", m.Apply(ids, valid), io.Out["last_hidden_state"])
	closeTo(t, "ApplyTypes(ids, types, valid)", m.ApplyTypes(ids, tensor.ZerosLike(ids), valid.Ne(0)), io.Out["last_hidden_state"])
}

// Nomic's encoder has rotary positions, which scale in texts that are longer than in the training.
func TestNomic(t *testing.T) {
	d := openDevice(t)
	m, io := load[*models.BERT](t, "nomic_bert", d), readIO(t, "nomic_bert")
	ids := io.In["input_ids"].To(d)
	closeTo(t, "Apply(ids)", m.Apply(ids, tensor.Tensor{}), io.Out["logits"])
	if _, err := models.Load(changed(t, "nomic_bert", map[string]any{"activation_function": "gelu"})); err == nil || !strings.Contains(err.Error(), "want swiglu, geglu or glu") {
		t.Errorf("another activation: %v", err)
	}
}

// withPrefix returns tensors with names that begin with a prefix.
func withPrefix(prefix string, all map[string]tensor.Tensor) map[string]tensor.Tensor {
	return renamed(all, func(n string) string { return prefix + n })
}

// stored returns a tensor of small random elements.
func stored(seed uint64, shape ...int) tensor.Tensor {
	return tensor.NewRNG(seed).Normal(shape...).Mul(0.3).Keep()
}

func TestBERTHeads(t *testing.T) {
	io := readIO(t, "bert")
	ids, valid, hidden := io.In["input_ids"], io.In["attention_mask"], io.Out["last_hidden_state"]
	body := withPrefix("bert.", tensorsOf(t, "bert"))
	class := nn.Linear{Weight: stored(1, 3, 32), Bias: stored(2, 3)}
	dense := nn.Linear{Weight: stored(3, 32, 32), Bias: stored(4, 32)}
	pooler := nn.Linear{Weight: body["bert.pooler.dense.weight"], Bias: body["bert.pooler.dense.bias"]}
	first := hidden.Index(tensor.All, 0)
	head := func(more map[string]tensor.Tensor, settings map[string]any) *models.BERT {
		all := maps.Clone(body)
		maps.Copy(all, more)
		return loadDir[*models.BERT](t, rewritten(t, "bert", settings, all))
	}

	classifier := map[string]tensor.Tensor{"classifier.weight": class.Weight, "classifier.bias": class.Bias}
	m := head(classifier, nil)
	closeTo(t, "logits of texts", m.Logits(m.Apply(ids, valid)), class.Apply(pooler.Apply(first).Tanh()))

	m = head(classifier, map[string]any{"architectures": []string{"BertForTokenClassification"}})
	closeTo(t, "logits of tokens", m.Logits(m.Apply(ids, valid)), class.Apply(hidden))

	m = head(map[string]tensor.Tensor{"qa_outputs.weight": class.Weight.Slice(0, 0, 2), "qa_outputs.bias": class.Bias.Slice(0, 0, 2)}, nil)
	closeTo(t, "logits of answers", m.Logits(m.Apply(ids, valid)), class.Apply(hidden).Slice(2, 0, 2))

	masked := map[string]tensor.Tensor{
		"cls.predictions.transform.dense.weight": dense.Weight, "cls.predictions.transform.dense.bias": dense.Bias,
		"cls.predictions.transform.LayerNorm.gamma": stored(5, 32), "cls.predictions.transform.LayerNorm.beta": stored(6, 32),
		"cls.predictions.bias": stored(7, 96), "cls.predictions.decoder.weight": stored(8, 96, 32), "cls.predictions.decoder.bias": stored(7, 96),
		"cls.seq_relationship.weight": stored(9, 2, 32), "cls.seq_relationship.bias": stored(10, 2),
	}
	norm := nn.LayerNorm{Weight: stored(5, 32), Bias: stored(6, 32), Eps: 1e-12}
	x := norm.Apply(dense.Apply(hidden).GELU())
	m = head(masked, nil)
	closeTo(t, "tied logits of masked tokens", m.Logits(m.Apply(ids, valid)), x.MatMul(body["bert.embeddings.word_embeddings.weight"].T()).Add(stored(7, 96)))
	m = head(masked, map[string]any{"tie_word_embeddings": false})
	closeTo(t, "logits of masked tokens", m.Logits(m.Apply(ids, valid)), x.MatMul(stored(8, 96, 32).T()).Add(stored(7, 96)))

	err := tensor.Try(func() { head(nil, nil).Logits(hidden) })
	if err == nil || !strings.Contains(err.Error(), "the file has no head") {
		t.Errorf("Logits without a head: %v", err)
	}
}

// RoBERTa and DistilBERT are BERT with other names, positions and tables.
func TestBERTRelatives(t *testing.T) {
	io, all := readIO(t, "bert"), tensorsOf(t, "bert")
	ids, valid := io.In["input_ids"], io.In["attention_mask"]
	types := all["embeddings.token_type_embeddings.weight"]

	// Positions of RoBERTa begin after the padding's position, 0 here.
	positions := all["embeddings.position_embeddings.weight"]
	roberta := maps.Clone(all)
	roberta["embeddings.position_embeddings.weight"] = tensor.Cat(0, stored(1, 1, 32), positions)
	roberta["embeddings.token_type_embeddings.weight"] = types.Slice(0, 0, 1)
	class := nn.Linear{Weight: stored(3, 32, 32), Bias: stored(4, 32)}
	out := nn.Linear{Weight: stored(5, 2, 32), Bias: stored(6, 2)}
	roberta = withPrefix("roberta.", roberta)
	maps.Copy(roberta, map[string]tensor.Tensor{
		"classifier.dense.weight": class.Weight, "classifier.dense.bias": class.Bias,
		"classifier.out_proj.weight": out.Weight, "classifier.out_proj.bias": out.Bias,
	})
	m := loadDir[*models.BERT](t, rewritten(t, "bert", map[string]any{"model_type": "roberta", "pad_token_id": 0, "max_position_embeddings": 65, "type_vocab_size": 1}, roberta))
	mask := valid.Ne(0)
	text := tensor.Where(mask, ids.Maximum(1), 0) // 0 is padding, and nothing else
	bert := loadDir[*models.BERT](t, "testdata/bert")
	want := tensor.Where(mask.Unsqueeze(2), bert.Apply(text, valid), 0)
	x := m.Apply(text, valid)
	closeTo(t, "RoBERTa", tensor.Where(mask.Unsqueeze(2), x, 0), want)
	closeTo(t, "RoBERTa's classifier", m.Logits(x), out.Apply(class.Apply(x.Index(tensor.All, 0)).Tanh()))

	names := strings.NewReplacer("encoder.layer", "transformer.layer", "attention.self.query", "attention.q_lin", "attention.self.key", "attention.k_lin",
		"attention.self.value", "attention.v_lin", "attention.output.dense", "attention.out_lin", "attention.output.LayerNorm", "sa_layer_norm",
		"intermediate.dense", "ffn.lin1", "output.dense", "ffn.lin2", "output.LayerNorm", "output_layer_norm")
	distil := renamed(all, func(n string) string {
		if strings.HasPrefix(n, "pooler") || strings.Contains(n, "token_type") {
			return ""
		}
		return "distilbert." + names.Replace(n)
	})
	words := "distilbert.embeddings.word_embeddings.weight"
	distil[words] = distil[words].Add(types.At(0))
	maps.Copy(distil, map[string]tensor.Tensor{
		"pre_classifier.weight": class.Weight, "pre_classifier.bias": class.Bias, "classifier.weight": out.Weight, "classifier.bias": out.Bias,
	})
	none := map[string]any{"model_type": "distilbert", "dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4, "activation": "gelu"}
	for _, k := range []string{"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "hidden_act", "type_vocab_size", "layer_norm_eps"} {
		none[k] = nil
	}
	m = loadDir[*models.BERT](t, rewritten(t, "bert", none, distil))
	x = m.Apply(ids, valid)
	closeTo(t, "DistilBERT", x, io.Out["last_hidden_state"])
	closeTo(t, "DistilBERT's classifier", m.Logits(x), out.Apply(class.Apply(x.Index(tensor.All, 0)).ReLU()))
}

func TestPooling(t *testing.T) {
	x := tensor.New([]float32{1, -2, 3, -4, 50, 60, -1, -2, -3, -4, -5, -9}, 2, 3, 2)
	valid := tensor.New([]int32{1, 1, 0, 1, 1, 1}, 2, 3)
	for p, want := range map[models.Pooling][]float32{
		models.MeanPooling: {2, -3, -3, -5},
		models.CLSPooling:  {1, -2, -1, -2},
		models.MaxPooling:  {3, -2, -1, -2},
	} {
		closeTo(t, "Apply", p.Apply(x, valid), tensor.New(want, 2, 2))
		first := x.Slice(1, 0, 2)
		closeTo(t, "Apply without padding", p.Apply(first, tensor.Tensor{}), p.Apply(first, tensor.Ones(2, 2)))
	}
	m, io := loadDir[*models.BERT](t, "testdata/bert"), readIO(t, "bert")
	e := m.Embed(io.In["input_ids"], io.In["attention_mask"], models.MeanPooling)
	closeTo(t, "Embed", e, models.MeanPooling.Apply(io.Out["last_hidden_state"], io.In["attention_mask"]))
}

// The mean of 16-bit embeddings is exact where 16 bits lack the sum or the number of tokens.
func TestPoolingOfHalves(t *testing.T) {
	for d, v := range map[tensor.DType]float64{tensor.Float16: 512, tensor.BFloat16: 1} {
		x := tensor.NewRNG(1).Uniform(1, 301, 2).Mul(0).Add(v).Cast(d)
		if err := tensor.Eval(x); err != nil {
			t.Fatal(err)
		}
		for name, valid := range map[string]tensor.Tensor{"all": {}, "given": tensor.Ones(1, 301).Cast(tensor.Bool)} {
			y := models.MeanPooling.Apply(x, valid)
			if got := y.Cast(tensor.Float32).Sub(v).Abs().Max().Item(); got != 0 {
				t.Errorf("%v, %s tokens: the mean of 301 times %v is off by %v", d, name, v, got)
			}
		}
	}
}

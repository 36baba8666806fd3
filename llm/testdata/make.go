// Command make writes the models of the tests: chat, a Llama that learned a few texts by heart, and
// embed, a BERT with random weights. Run it in this folder: go run make.go
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
	"github.com/tensorken/tensorken/tree"
)

type object = map[string]any

const template = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}" +
	"{% if tools %}{{ '<|im_start|>tools\n' + tools|tojson + '<|im_end|>\n' }}{% endif %}" +
	"{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

var texts = []string{
	"<|endoftext|>The quick brown fox jumps over the lazy dog. The end.<|endoftext|>",
	"<|endoftext|>Größe: 3 °C, naïve café ☕.<|endoftext|>",
	"<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nHi! How can I help you?<|im_end|>",
	"<|im_start|>user\nWhat is a tensor?<|im_end|>\n<|im_start|>assistant\nAn array of numbers with a shape.<|im_end|>",
	"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nHi.<|im_end|>",
}

func main() {
	log.SetFlags(0)
	if err := chat(); err != nil {
		log.Fatal(err)
	}
	if err := embed(); err != nil {
		log.Fatal(err)
	}
}

// write writes a file of JSON.
func write(path string, v any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o666)
}

func chat() error {
	vocabulary := object{}
	n := 0
	for b := range 256 { // GPT-2's characters for bytes
		r := rune(b)
		if b <= ' ' || b >= 127 && b <= 160 || b == 173 {
			r = rune(256 + n)
			n++
		}
		vocabulary[string(r)] = b
	}
	special := []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}
	var added []object
	for i, s := range special {
		added = append(added, object{"id": 256 + i, "content": s, "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false})
	}
	bytes := object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}
	const width, inner, layers, heads, kv = 48, 96, 2, 4, 2
	for name, v := range map[string]object{
		"tokenizer.json": {"version": "1.0", "added_tokens": added, "pre_tokenizer": bytes, "decoder": bytes, "model": object{"type": "BPE", "vocab": vocabulary, "merges": []string{}},
			"post_processor": object{"type": "TemplateProcessing", "single": []object{{"SpecialToken": object{"id": special[0], "type_id": 0}}, {"Sequence": object{"id": "A", "type_id": 0}}},
				"pair":           []object{{"Sequence": object{"id": "A", "type_id": 0}}, {"Sequence": object{"id": "B", "type_id": 0}}},
				"special_tokens": object{special[0]: object{"id": special[0], "ids": []int{256}, "tokens": special[:1]}}}},
		"tokenizer_config.json":  {"bos_token": special[0], "eos_token": special[2], "chat_template": template},
		"generation_config.json": {"eos_token_id": []int{256, 258}},
		"config.json": {"model_type": "llama", "hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv,
			"vocab_size": 259, "max_position_embeddings": 128, "hidden_act": "silu", "rms_norm_eps": 1e-6, "tie_word_embeddings": true, "dtype": "bfloat16"},
	} {
		if err := write(filepath.Join("chat", name), v); err != nil {
			return err
		}
	}
	rng := tensor.NewRNG(1)
	all := map[string]tensor.Tensor{"model.embed_tokens.weight": rng.Normal(259, width).Mul(0.1), "model.norm.weight": tensor.Ones(width)}
	for i := range layers {
		p := fmt.Sprintf("model.layers.%d.", i)
		sizes := map[string][2]int{
			"self_attn.q_proj": {width, width}, "self_attn.k_proj": {width * kv / heads, width}, "self_attn.v_proj": {width * kv / heads, width}, "self_attn.o_proj": {width, width},
			"mlp.gate_proj": {inner, width}, "mlp.up_proj": {inner, width}, "mlp.down_proj": {width, inner},
		}
		for _, name := range slices.Sorted(maps.Keys(sizes)) {
			s := sizes[name]
			all[p+name+".weight"] = rng.Normal(s[0], s[1]).Mul(0.15)
		}
		all[p+"input_layernorm.weight"], all[p+"post_attention_layernorm.weight"] = tensor.Ones(width), tensor.Ones(width)
	}
	file := filepath.Join("chat", "model.safetensors")
	if err := safetensors.Save(file, all); err != nil {
		return err
	}
	m, err := models.LoadLlama("chat")
	if err != nil {
		return err
	}
	t, err := tokenizer.Open("chat")
	if err != nil {
		return err
	}
	const long = 120
	ids := make([]int32, 0, len(texts)*long)
	for _, text := range texts {
		e, err := t.Encode(text, &tokenizer.EncodeOptions{NoSpecial: true})
		if err != nil {
			return err
		}
		row := append(e.IDs, make([]int32, long-len(e.IDs))...)
		for i := len(e.IDs); i < long; i++ {
			row[i] = -1
		}
		ids = append(ids, row...)
	}
	in := tensor.New(ids, len(texts), long)
	labels, in := in.Slice(1, 1, long), in.Slice(1, 0, long-1).Maximum(0)
	loss := func(m *models.Llama) tensor.Tensor {
		l, w := nn.CrossEntropyWith(m.Apply(in), labels, &nn.CrossEntropyOptions{Ignore: []int{-1}})
		return l.Sum().Div(w.Sum())
	}
	opt := optim.New(optim.AdamW{}, 3e-3)
	step := grad.Jit(func(m *models.Llama) struct {
		Loss tensor.Tensor
		Grad *models.Llama
	} {
		l, g := grad.ValueAndGrad(loss)(m)
		return struct {
			Loss tensor.Tensor
			Grad *models.Llama
		}{l, g}
	})
	for i := range 500 {
		s := step(m)
		if err := opt.Step(&m, s.Grad); err != nil {
			return err
		}
		if i%50 == 49 {
			log.Printf("step %d: loss %.4f", i+1, s.Loss.Item())
		}
	}
	return safetensors.Save(file, tree.Map(m, func(_ string, t tensor.Tensor) tensor.Tensor { return t.Cast(tensor.BFloat16) }))
}

func embed() error {
	vocabulary := object{"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
	for c := 'a'; c <= 'z'; c++ {
		vocabulary[string(c)], vocabulary["##"+string(c)] = len(vocabulary), len(vocabulary)+1
	}
	token := func(name string, id int) object {
		return object{"id": name, "ids": []int{id}, "tokens": []string{name}}
	}
	part := func(kind, id string) object { return object{kind: object{"id": id, "type_id": 0}} }
	const width = 32
	for name, v := range map[string]any{
		"tokenizer.json": object{"version": "1.0", "added_tokens": []object{}, "normalizer": object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
			"pre_tokenizer": object{"type": "BertPreTokenizer"}, "decoder": object{"type": "WordPiece", "prefix": "##", "cleanup": true},
			"post_processor": object{"type": "TemplateProcessing", "single": []object{part("SpecialToken", "[CLS]"), part("Sequence", "A"), part("SpecialToken", "[SEP]")},
				"pair":           []object{part("Sequence", "A"), part("Sequence", "B")},
				"special_tokens": object{"[CLS]": token("[CLS]", 2), "[SEP]": token("[SEP]", 3)}},
			"model": object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary}},
		"tokenizer_config.json": object{"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"},
		"modules.json": []object{{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
			{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}, {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}},
		"1_Pooling/config.json":     object{"word_embedding_dimension": width, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false},
		"sentence_bert_config.json": object{"max_seq_length": 32, "do_lower_case": false},
		"config.json": object{"model_type": "bert", "hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": 1, "num_attention_heads": 4, "hidden_act": "gelu",
			"vocab_size": len(vocabulary), "max_position_embeddings": 64, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "dtype": "float32"},
	} {
		if err := write(filepath.Join("embed", name), v); err != nil {
			return err
		}
	}
	rng := tensor.NewRNG(2)
	all := map[string]tensor.Tensor{}
	norm := func(name string) { all[name+".weight"], all[name+".bias"] = tensor.Ones(width), tensor.Zeros(width) }
	linear := func(name string, out, in int) {
		all[name+".weight"], all[name+".bias"] = rng.Normal(out, in).Mul(0.2), tensor.Zeros(out)
	}
	all["embeddings.word_embeddings.weight"] = rng.Normal(len(vocabulary), width)
	all["embeddings.position_embeddings.weight"], all["embeddings.token_type_embeddings.weight"] = rng.Normal(64, width), rng.Normal(2, width)
	norm("embeddings.LayerNorm")
	const l = "encoder.layer.0."
	for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
		linear(l+name, width, width)
	}
	linear(l+"intermediate.dense", 2*width, width)
	linear(l+"output.dense", width, 2*width)
	norm(l + "attention.output.LayerNorm")
	norm(l + "output.LayerNorm")
	return safetensors.Save(filepath.Join("embed", "model.safetensors"), all)
}

package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/internal/shape"
)

// A config is a config.json, or an object in it, or the metadata of a GGUF file.
type config struct {
	path    string
	kind    string // model_type
	raw     map[string]json.RawMessage
	weights weights // the tensors of the model
	// tensors is their number. Each layer has one at least, so that it bounds the layers that
	// config.json asks for.
	tensors int
}

// weights is a file of tensors.
type weights interface {
	Names() []string
	Load(tree any, rename func(name string) string) error
	Close() error
}

// isGGUF reports whether a path names a GGUF file, and not a folder.
func isGGUF(path string) bool { return strings.EqualFold(filepath.Ext(path), ".gguf") }

// readConfig reads the config.json of a folder, or opens a GGUF file, which the caller closes.
func readConfig(dir string) (config, error) {
	if isGGUF(dir) {
		m, err := llamacpp.Open(dir)
		if err != nil {
			return config{}, fmt.Errorf("models: %w", err)
		}
		m.OneType()
		return config{path: dir, kind: m.Kind, raw: m.Settings, weights: m}, nil
	}
	c := config{path: filepath.Join(dir, "config.json")}
	if err := readJSON(c.path, &c.raw); err != nil {
		return c, err
	}
	if files.JSON(c.raw["model_type"], &c.kind) != nil {
		return c, c.errorf("there is no model_type")
	}
	return c, nil
}

// close closes the file of tensors, if it is open.
func (c config) close() {
	if c.weights != nil {
		c.weights.Close()
	}
}

// folder returns the folder of config.json, or the GGUF file.
func (c config) folder() string {
	if isGGUF(c.path) {
		return c.path
	}
	return filepath.Dir(c.path)
}

// maxJSON is the most bytes of a file of settings. Those with the labels of a large
// classification have 1 MB.
const maxJSON = 16 << 20

// readJSON reads a file of settings.
func readJSON(path string, into any) error {
	if err := files.ReadJSON(path, maxJSON, into); err != nil {
		return fmt.Errorf("models: %s: %w", files.Name(path), err)
	}
	return nil
}

func (c config) errorf(format string, args ...any) error {
	return fmt.Errorf("models: %s: %w", files.Name(c.path), fmt.Errorf(format, args...))
}

// read fills a struct. The tag of a field is the name of its setting and its bounds,
// `config:"hidden_size,positive,required"`; required settings must be there unless they have a default. Other numbers are at
// least 0. A tag `of:"qwen2 qwen3"` lists the kinds of models that have the setting. The values
// before are the defaults; null is the zero value, or the default where that is out of bounds.
func (c config) read(into any) error {
	known := map[string]bool{}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("config"), ",")
		option, required := strings.CutSuffix(options, "required")
		option = strings.TrimSuffix(option, ",")
		if of := f.Tag.Get("of"); name == "" || of != "" && !slices.Contains(strings.Fields(of), c.kind) {
			continue
		}
		known[name] = true
		raw, ok := c.raw[name]
		if !ok {
			if required && v.Field(i).IsZero() {
				return c.errorf("there is no %s", name)
			}
			continue
		}
		value := reflect.New(f.Type)
		if err := files.JSON(raw, value.Interface()); err != nil {
			return c.errorf("%s is %s: %w", name, shown(raw), err)
		}
		if string(raw) == "null" && !required && bounds[option].least > 0 {
			continue
		}
		if why := c.outside(bounds[option], value.Elem()); why != "" {
			return c.errorf("%s is %s: %s", name, shown(raw), why)
		}
		v.Field(i).Set(value.Elem())
	}
	for _, name := range slices.Sorted(maps.Keys(c.raw)) {
		raw := strings.TrimSpace(string(c.raw[name]))
		only, limited := supported[name]
		switch {
		case known[name] || noEffect[name] || raw == "null" || limited && sameJSON(raw, only):
		case limited:
			return c.errorf("%s is %s: only %s is supported", name, shown(c.raw[name]), only)
		default:
			return c.errorf("the setting %s is not known for %s, and may change results", strconv.Quote(name), c.kind)
		}
	}
	return nil
}

// sameJSON reports whether two scalars are equal, as 1 and 1.0 are.
func sameJSON(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// A bound limits a number, or each element of a list of numbers.
type bound struct {
	least, most float64
	layers      bool // it counts parts that have tensors, so it is at most their number
}

// bounds are the bounds by a tag's options. No int may be so great that products of a few of
// them overflow, and no float64 greater than a float32.
var bounds = map[string]bound{
	"":         {0, math.MaxFloat32, false},
	"positive": {1, math.MaxFloat32, false},
	"count":    {1, math.MaxFloat32, true},
	"epsilon":  {0, 1, false},
	"any":      {-math.MaxInt32, math.MaxInt32, false},
}

// outside returns the mistake in a value, or "".
func (c config) outside(o bound, v reflect.Value) string {
	var x float64
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		sum := 0
		for _, e := range v.Seq2() {
			if why := c.outside(o, e); why != "" {
				return why
			}
			if o.layers {
				sum += int(e.Int())
			}
		}
		return c.tooMany(sum)
	case reflect.Int:
		x, o.most = float64(v.Int()), min(o.most, math.MaxInt32)
	case reflect.Float64:
		x = v.Float()
	default:
		return ""
	}
	switch {
	case x < o.least:
		return fmt.Sprintf("want at least %v", o.least)
	case x > o.most:
		return fmt.Sprintf("want at most %v", o.most)
	case o.layers:
		return c.tooMany(int(x))
	}
	return ""
}

// tooMany returns the mistake in a number of layers, or "".
func (c config) tooMany(layers int) string {
	if layers > c.tensors {
		return fmt.Sprintf("the file has only %s", shape.Count(c.tensors, "tensor"))
	}
	return ""
}

// shown returns text of a file for an error: in one line, and not long.
func shown(raw []byte) string {
	const most = 100
	cut := ""
	if len(raw) > most {
		raw, cut = raw[:most], "…"
	}
	q := strconv.QuoteToGraphic(string(raw))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + cut
}

// part returns the object of a setting, an empty one if it is missing.
func (c config) part(name string) (config, error) {
	p := config{path: c.path + ": " + name, kind: c.kind, weights: c.weights, tensors: c.tensors}
	if raw, ok := c.raw[name]; ok {
		if err := files.JSON(raw, &p.raw); err != nil {
			return p, p.errorf("%w", err)
		}
	}
	return p, nil
}

// architecture reports whether the model was saved with a head, as ForTokenClassification.
func (c config) architecture(head string) bool {
	var names []string
	return files.JSON(c.raw["architectures"], &names) == nil && slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, head) })
}

// supported lists settings with one supported value, besides null.
var supported = map[string]string{
	"add_cross_attention":             "false",
	"is_decoder":                      "false",
	"position_embedding_type":         `"absolute"`,
	"pruned_heads":                    "{}",
	"tie_encoder_decoder":             "false",
	"use_bidirectional_attention":     "false",
	"rope_interleaved":                "false",
	"use_mrope":                       "false",
	"use_mask_token":                  "false",
	"lm_head_bias":                    "false",
	"causal":                          "false",
	"prenorm":                         "false",
	"parallel_block":                  "false",
	"parallel_block_tied_norm":        "false",
	"rotary_emb_fraction":             "1",
	"rotary_emb_interleaved":          "false",
	"use_rms_norm":                    "false",
	"scale_attn_weights":              "true",
	"scale_attn_by_inverse_layer_idx": "false",
	"full_attn_mod":                   "1",
	"interpolate_factor":              "1",
}

// noEffect lists settings that do not change the results of a forward pass: settings of
// training, of generation, of other heads, of files.
var noEffect = set(`
	model_type architectures torch_dtype dtype transformers_version use_cache
	_name_or_path _commit_hash _attn_implementation _attn_implementation_autoset name_or_path
	unsloth_fixed unsloth_version is_llama_config transformers.js_config use_bfloat16 torchscript tf_legacy_loss gradient_checkpointing
	cache_implementation chunk_size_feed_forward pretraining_tp reorder_and_upcast_attn
	tie_word_embeddings tokenizer_class prefix finetuning_task task_specific_params problem_type
	id2label label2id num_labels is_encoder_decoder return_dict output_past
	output_attentions output_hidden_states output_scores return_dict_in_generate

	attn_pdrop embd_pdrop resid_pdrop attention_dropout hidden_dropout hidden_dropout_prob
	attention_probs_dropout_prob classifier_dropout classifier_dropout_prob dropout dropout_rate
	activation_dropout encoder_layerdrop decoder_layerdrop layerdrop drop_path_rate qa_dropout
	seq_classif_dropout initializer_range initializer_factor init_std logit_scale_init_value
	output_router_logits router_aux_loss_coef router_jitter_noise
	apply_spec_augment mask_feature_length mask_feature_min_masks mask_feature_prob
	mask_time_length mask_time_min_masks mask_time_prob

	bos_token_id eos_token_id pad_token_id sep_token_id cls_token_id mask_token_id unk_token_id
	decoder_start_token_id forced_bos_token_id forced_eos_token_id forced_decoder_ids
	max_length min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty
	temperature top_k top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size
	encoder_no_repeat_ngram_size bad_words_ids num_return_sequences remove_invalid_values
	exponential_decay_length_penalty suppress_tokens begin_suppress_tokens max_new_tokens

	summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj
	summary_hidden_size directionality pooler_fc_size pooler_num_attention_heads
	pooler_num_fc_layers pooler_size_per_head pooler_type classifier_proj_size
	use_weighted_layer_sum cross_attention_hidden_size encoder_stride median_filter_width
	out_features out_indices stage_names n_ctx auto_map
	dense_seq_output fused_bias_fc fused_dropout_add_ln pad_vocab_size_multiple use_flash_attn use_xentropy
`)

func set(names string) map[string]bool {
	s := map[string]bool{}
	for _, n := range strings.Fields(names) {
		s[n] = true
	}
	return s
}

package llamacpp

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// A Folder is a model in Hugging Face's layout, as a GGUF file has it. Sources have the types of
// its tensors, vectors float32.
type Folder struct {
	Meta    gguf.Meta
	Sources []gguf.Source

	weights *safetensors.File
	a       *architecture
	config  map[string]any
	heads   heads
}

// maxJSON is the most bytes of a file of settings, or of a tokenizer.
const maxJSON = 64 << 20

// OpenFolder opens the model in a folder.
func OpenFolder(dir string) (*Folder, error) {
	f := &Folder{config: map[string]any{}}
	err := f.open(dir)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("gguf: %s: %w", files.Name(dir), files.Quoted(err))
	}
	return f, nil
}

// Close closes the files.
func (f *Folder) Close() error {
	if f.weights == nil {
		return nil
	}
	return f.weights.Close()
}

// Tokens returns the number of tokens that the model has embeddings of.
func (f *Folder) Tokens() int {
	for _, s := range f.Sources {
		if s.Name == "token_embd.weight" {
			return s.Shape[0]
		}
	}
	return 0
}

func (f *Folder) open(dir string) (err error) {
	if err := readJSON(filepath.Join(dir, "config.json"), &f.config); err != nil {
		return err
	}
	kind, _ := f.config["model_type"].(string)
	var all []string
	for i, a := range architectures {
		if all = append(all, a.kinds...); slices.Contains(a.kinds, kind) {
			f.a = &architectures[i]
		}
	}
	if f.a == nil {
		return fmt.Errorf("config.json: model_type is %q: want one of %s", kind, strings.Join(all, ", "))
	}
	for _, name := range []string{"model.safetensors", "model.safetensors.index.json"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && f.weights == nil {
			continue
		}
		if f.weights, err = safetensors.Open(path); err != nil {
			return err
		}
		break
	}
	if f.weights == nil {
		return errors.New("there is neither model.safetensors nor model.safetensors.index.json")
	}
	if err := f.writeSettings(dir, kind); err != nil {
		return fmt.Errorf("config.json: %w", err)
	}
	return f.writeTensors()
}

func readJSON(path string, into any) error {
	if err := files.ReadJSON(path, maxJSON, into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

// value returns a setting, nil if it is missing. A setting of rotary positions may be in an
// object.
func (f *Folder) value(name string) any {
	if name == "n_positions" && f.a.name == "nomic-bert" && f.config["rotary_scaling_factor"] != nil {
		return number(f.config, "max_trained_positions", 2048) // llama.cpp has no such scaling
	}
	if v := f.config[name]; v != nil {
		return v
	}
	rope := f.rope("full_attention")
	local := f.rope("sliding_attention")
	switch {
	case name == "rope_theta":
		return rope["rope_theta"]
	case name == "rope_local_base_freq" && f.config["rope_parameters"] != nil:
		return local["rope_theta"]
	}
	return nil
}

// rope returns the object of rotary positions, of a kind of layers if it has several.
func (f *Folder) rope(layers string) map[string]any {
	for _, name := range []string{"rope_parameters", "rope_scaling"} {
		if all, ok := f.config[name].(map[string]any); ok {
			if part, ok := all[layers].(map[string]any); ok {
				return part
			}
			return all
		}
	}
	return nil
}

func (f *Folder) set(key string, value any) {
	f.Meta = append(f.Meta, gguf.Pair{Key: key, Value: value})
}

func (f *Folder) writeSettings(dir, kind string) error {
	for _, name := range slices.Sorted(maps.Keys(f.a.fixed)) {
		if v := f.config[name]; (v != nil || name == "norm_topk_prob" && f.a.fixed[name] == true) && !reflect.DeepEqual(v, f.a.fixed[name]) && !(name == "hidden_act" && strings.HasPrefix(f.a.name, "gemma")) {
			return fmt.Errorf("%s is %v: files of llama.cpp can only hold %v", name, v, f.a.fixed[name])
		}
	}
	f.set("general.architecture", f.a.name)
	f.set("general.name", filepath.Base(dir))
	for _, l := range f.a.settingLines() {
		v, ok := f.value(l.name).(float64)
		if !ok {
			v = f.missing(l.name)
		}
		switch {
		case v == 0 && l.name == "sliding_window", v == 0 && l.typ == "f" && strings.Contains(l.name, "softcap"):
		case v == 0 && l.typ == "f":
			return fmt.Errorf("there is no %s: add it, or its default in transformers", l.name)
		case l.typ == "f":
			f.set(l.key, float32(v))
		case v < 0 || v > 1<<32-1 || v != float64(uint32(v)):
			return fmt.Errorf("%s is %v: want an integer from 0 on", l.name, v)
		case (v > 0 || l.name == "decoder_start_token_id") && !(l.name == "sliding_window" && strings.HasPrefix(kind, "qwen")):
			f.set(l.key, uint32(v))
		}
	}
	s, err := f.a.readSettings(f.Meta)
	if err == nil {
		f.heads, err = f.a.heads(s)
	}
	if err == nil {
		err = f.writeRope(s)
	}
	if err == nil && strings.HasPrefix(f.a.name, "gemma") {
		err = f.writeGemma(s)
	}
	if err != nil {
		return err
	}
	f.writeTokens()
	return nil
}

// missing returns the value of a setting that config.json lacks, or 0 without one.
func (f *Folder) missing(name string) float64 {
	number := func(name string) float64 { return number(f.config, name, 0) }
	switch name {
	case "rope_theta", "rope_local_base_freq":
		return 10000
	case "layer_norm_epsilon":
		return 1e-5
	case "n_inner":
		return 4 * number("n_embd")
	case "head_dim":
		if n := number("num_attention_heads"); n > 0 {
			return number("hidden_size") / n
		}
	case "num_decoder_layers":
		return number("num_layers")
	case "n_positions":
		return 512
	}
	return 0
}

// writeTokens adds the special tokens that config.json names.
func (f *Folder) writeTokens() {
	for _, p := range [][2]string{{"bos", "bos"}, {"eos", "eos"}, {"padding", "pad"}} {
		v := f.config[p[1]+"_token_id"]
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		if id, ok := v.(float64); ok && id >= 0 {
			f.set("tokenizer.ggml."+p[0]+"_token_id", uint32(id))
		}
	}
}

// buffers ends the names of tensors that models compute.
var buffers = []string{"position_ids", "rotary_emb.inv_freq", ".attn.masked_bias"}

// writeTensors adds the sources.
func (f *Folder) writeTensors() error {
	lines := f.a.lines()
	tied, given := f.config["tie_word_embeddings"].(bool)
	if !given {
		tied = f.a.name == "gpt2" || strings.HasPrefix(f.a.name, "gemma") || f.config["model_type"] == "t5"
	}
	skip := append(strings.Fields(f.a.skip), buffers...)
	if tied {
		skip = append(skip, "lm_head.weight")
	}
	stacks := map[string]*stack{}
	for _, name := range f.weights.Names() {
		if slices.ContainsFunc(skip, func(end string) bool { return strings.HasSuffix(name, end) }) {
			continue
		}
		l, numbers, end, ok := find(lines, name)
		if !ok {
			return fmt.Errorf("the tensor %q is not known for models of type %v", name, f.config["model_type"])
		}
		if !l.stacked() {
			if err := f.add(fill(l.gguf, numbers, end), l, name); err != nil {
				return err
			}
			continue
		}
		to := fill(l.gguf, numbers, end)
		s := cmp.Or(stacks[to], &stack{line: l, parts: map[int]string{}})
		s.parts[numbers[len(numbers)-1]], stacks[to] = name, s
	}
	for to, s := range stacks {
		if err := f.addStack(to, s); err != nil {
			return err
		}
	}
	slices.SortFunc(f.Sources, func(a, b gguf.Source) int { return compareNames(a.Name, b.Name) })
	return nil
}

// A stack is one tensor in GGUF.
type stack struct {
	line  line
	parts map[int]string
}

// find returns the line for a name, which may lack the prefix of a model with a head, or have
// BERT's.
func find(lines []line, name string) (l line, numbers []int, end string, ok bool) {
	for _, n := range []string{name, "model." + name, "transformer." + name, strings.TrimPrefix(name, "bert.")} {
		parts, end := cutEnd(n)
		for _, l := range lines {
			if numbers, ok := match(l.hf, parts); ok && end != "" && l.how != "old" {
				return l, numbers, end, true
			}
		}
	}
	return l, nil, "", false
}

// add adds a tensor.
func (f *Folder) add(to string, l line, name string) error {
	dtype, shape, err := f.weights.Describe(name)
	if err == nil {
		err = f.heads.check(name, l.how, shape)
	}
	if err != nil {
		return err
	}
	convert := func() (x tensor.Tensor, err error) {
		defer tensor.Catch(&err)
		x, err = f.weights.Tensor(name)
		if op, ok := operations[l.how]; ok && err == nil {
			x = op.store(x, f.heads)
		}
		return x, err
	}
	if l.how == "transposed" && len(shape) == 2 {
		shape[0], shape[1] = shape[1], shape[0]
	}
	typ, err := gguf.TypeOf(dtype)
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	if len(shape) < 2 {
		typ = gguf.F32
	}
	f.Sources = append(f.Sources, gguf.Source{Name: to, Type: typ, Shape: shape, Tensor: convert})
	return nil
}

// addStack adds tensors as one.
func (f *Folder) addStack(to string, s *stack) error {
	names := make([]string, len(s.parts))
	for i := range names {
		if names[i] = s.parts[i]; names[i] == "" {
			return fmt.Errorf("there are %d parts of %s, and not number %d", len(names), strconv.Quote(to), i)
		}
	}
	if err := f.add(to, s.line, names[0]); err != nil {
		return err
	}
	source := &f.Sources[len(f.Sources)-1]
	source.Shape = append([]int{len(names)}, source.Shape...)
	source.Tensor = func() (x tensor.Tensor, err error) {
		defer tensor.Catch(&err)
		parts := make([]tensor.Tensor, len(names))
		for i, name := range names {
			if parts[i], err = f.weights.Tensor(name); err != nil {
				return x, err
			}
		}
		return tensor.Stack(0, parts...), nil
	}
	return nil
}

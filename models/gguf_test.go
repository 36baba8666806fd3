package models_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A file in llama.cpp's layout, made by its own tools, is the model of the folder.
func TestGGUF(t *testing.T) {
	m, err := models.LoadLlama("../gguf/testdata/llama_gqa.gguf")
	if err != nil {
		t.Fatal(err)
	}
	io := readIO(t, "llama_gqa")
	closeTo(t, "Apply(ids)", m.Apply(io.In["input_ids"]), io.Out["logits"])
	want, err := tensor.Data[int32](io.Out["greedy"].Cast(tensor.Int32))
	if err != nil {
		t.Fatal(err)
	}
	g := models.Generator{Model: m, MaxTokens: 24}
	got, err := g.Generate([][]int32{want[:12]})
	if err != nil || !slices.Equal(got[0], want[12:]) {
		t.Errorf("Generate returned %v, %v, want %v", got, err, want[12:])
	}
	if stops, err := models.StopTokens("../gguf/testdata/llama_gqa.gguf"); err != nil || !slices.Equal(stops, []int32{2}) {
		t.Errorf("StopTokens = %v, %v, want [2]", stops, err)
	}
}

// converted returns a GGUF file of a model of testdata.
func converted(t *testing.T, dir string) string {
	t.Helper()
	f, err := llamacpp.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := gguf.Write(path, f.Meta, f.Sources); err != nil {
		t.Fatal(err)
	}
	return path
}

// quantised returns a GGUF file of a model of testdata with its matrices in a type, and one of the same
// numbers in float32.
func quantised(t *testing.T, dir, name string) (blocks, plain string) {
	t.Helper()
	typ, err := gguf.ParseType(name)
	if err != nil {
		t.Fatal(err)
	}
	from, err := gguf.Open(converted(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	write := func(f *gguf.File, typeOf func(gguf.Info) gguf.Type) string {
		path := filepath.Join(t.TempDir(), "q.gguf")
		var sources []gguf.Source
		for _, info := range f.Tensors() {
			sources = append(sources, gguf.Source{Name: info.Name, Type: typeOf(info), Shape: info.Shape, Tensor: func() (tensor.Tensor, error) { return f.Tensor(info.Name) }})
		}
		if err := gguf.Write(path, f.Meta, sources); err != nil {
			t.Fatal(err)
		}
		return path
	}
	float, err := gguf.TypeOf(tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	blocks = write(from, func(i gguf.Info) gguf.Type {
		if len(i.Shape) > 1 {
			return typ
		}
		return float
	})
	f, err := gguf.Open(blocks)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return blocks, write(f, func(gguf.Info) gguf.Type { return float })
}

// A quantised model computes the same as a model of the decoded numbers, and its matrices stay quantised in
// memory, whatever was computed from them.
func TestQuantised(t *testing.T) {
	for i, name := range []string{"Q8_0", "Q4_0", "Q5_1", "IQ4_NL", "MXFP4"} {
		for j, dir := range []string{"llama_gqa", "qwen2"} {
			if testing.Short() && (i+j)%2 == 1 {
				continue
			}
			path, plain := quantised(t, filepath.Join("testdata", dir), name)
			m, want := loadDir[*models.Llama](t, path), loadDir[*models.Llama](t, plain)
			ids := tensor.New([]int32{3, 5, 7, 9, 11, 2}, 1, 6)
			closeTo(t, name+": Apply", m.Apply(ids), want.Apply(ids))
			prompt := [][]int32{{3, 5, 7}}
			var texts [2][][]int32
			for i, m := range []*models.Llama{m, want} {
				g := models.Generator{Model: m, MaxTokens: 12}
				var err error
				if texts[i], err = g.Generate(prompt); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(texts[0][0], texts[1][0]) {
				t.Errorf("%s, %s: Generate returned %v, want %v", dir, name, texts[0], texts[1])
			}
			for i, m := range []*models.Llama{m, want} {
				_, c := m.Decode(ids, m.NewCache(1, 8))
				if d := []tensor.DType{tensor.Float16, tensor.Float32}[i]; c.K[0].DType() != d || c.V[1].DType() != d {
					t.Errorf("%s, %s: the cache has %v and %v, want %v", dir, name, c.K[0].DType(), c.V[1].DType(), d)
				}
			}
			layer := m.Model.Layers[0]
			for of, w := range map[string]tensor.Tensor{"q": layer.SelfAttn.QProj.Weight, "up": layer.MLP.UpProj.Weight, "embeddings": m.Model.EmbedTokens.Weight} {
				if !storage.Of(tensor.Internal.Node(graph.Token{}, w).Value()).InBlocks() {
					t.Errorf("%s, %s: %s is not stored in blocks", dir, name, of)
				}
			}
		}
	}
}

// Models that are converted to llama.cpp's layout and read again compute the same.
func TestConverted(t *testing.T) {
	for _, name := range []string{"gpt2_gen", "llama_gqa", "llama3_rope", "qwen2", "gemma2", "gemma3", "mixtral", "qwen2_moe", "qwen3_moe", "phi3"} {
		m := loadDir[languageModel](t, converted(t, filepath.Join("testdata", name)))
		io := readIO(t, name)
		closeTo(t, name+": Apply(ids)", m.Apply(io.In["input_ids"]), io.Out["logits"])
	}
	for _, name := range []string{"bert", "nomic_bert", "t5", "t5_gated"} {
		dir := filepath.Join("testdata", name)
		path := converted(t, dir)
		want, got := loadDir[any](t, dir), loadDir[any](t, path)
		ids := tensor.New([]int32{3, 5, 7, 9, 11, 2}, 1, 6)
		switch want := want.(type) {
		case *models.BERT:
			closeTo(t, name+": Apply", got.(*models.BERT).Apply(ids, tensor.Tensor{}), want.Apply(ids, tensor.Tensor{}))
		case *models.T5:
			closeTo(t, name+": Apply", got.(*models.T5).Apply(ids, tensor.Tensor{}, ids), want.Apply(ids, tensor.Tensor{}, ids))
		}
	}
}

// Mistral's window and Qwen 3's norms survive, too, and settings that files cannot hold are
// an error.
func TestConvertedSettings(t *testing.T) {
	ids := tensor.New([]int32{3, 5, 7, 9, 11, 2}, 1, 6)
	same := func(name, dir string) {
		t.Helper()
		want, got := loadDir[*models.Llama](t, dir), loadDir[*models.Llama](t, converted(t, dir))
		closeTo(t, name, got.Apply(ids), want.Apply(ids))
	}
	same("mistral", changed(t, "llama_gqa", map[string]any{"model_type": "mistral", "sliding_window": 3, "attention_bias": nil, "mlp_bias": nil}))
	same("linear", changed(t, "llama_gqa", map[string]any{"rope_parameters": nil, "rope_theta": 1000, "rope_scaling": map[string]any{"type": "linear", "factor": 4}}))
	same("yarn", changed(t, "llama_gqa", map[string]any{"rope_parameters": map[string]any{"rope_theta": 1000, "rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 16}}))
	same("gemma3", changed(t, "gemma3", map[string]any{"layer_types": nil, "_sliding_window_pattern": 2}))
	if _, err := llamacpp.OpenFolder(changed(t, "gemma2", map[string]any{"query_pre_attn_scalar": 12})); err == nil || !strings.Contains(err.Error(), "query_pre_attn_scalar is 12: files of llama.cpp can only hold 8") {
		t.Errorf("another factor of scores: %v", err)
	}
	f, err := gguf.Open(converted(t, "testdata/gemma3"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if v := f.Meta.Value("gemma3.attention.scale"); v != nil { // llama.cpp does not read it
		t.Errorf("the factor of scores is %v beside the norms of queries, which have it", v)
	}
	tensors := tensorsOf(t, "llama_gqa")
	for i := range 2 {
		for _, n := range []string{"q", "k"} {
			tensors[fmt.Sprintf("model.layers.%d.self_attn.%s_norm.weight", i, n)] = tensor.Arange(8).Add(1).Cast(tensor.Float32)
		}
	}
	same("qwen3", rewritten(t, "llama_gqa", map[string]any{"model_type": "qwen3", "mlp_bias": nil}, tensors))
	for _, c := range []struct {
		settings map[string]any
		want     string
	}{
		{map[string]any{"hidden_act": "relu"}, "config.json: hidden_act is relu: files of llama.cpp can only hold silu"},
		{map[string]any{"model_type": "mamba"}, `config.json: model_type is "mamba": want one of llama, mistral`},
		{map[string]any{"rms_norm_eps": nil}, "config.json: there is no rms_norm_eps"},
		{map[string]any{"rope_parameters": map[string]any{"rope_type": "dynamic"}}, `config.json: rotary positions are of type "dynamic"`},
		{map[string]any{"hidden_size": -1}, "config.json: hidden_size is -1: want an integer"},
	} {
		dir := changed(t, "llama_gqa", c.settings)
		if _, err := llamacpp.OpenFolder(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.settings, err, c.want)
		}
	}
}

// A converted model has the names, shapes and bytes of a file by llama.cpp's tools.
func TestConvertedLayout(t *testing.T) {
	got, err := gguf.Open(converted(t, "testdata/llama_gqa"))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	want, err := gguf.Open("../gguf/testdata/llama_gqa.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if !slices.Equal(got.Names(), want.Names()) {
		t.Fatalf("the tensors are %v, want %v", got.Names(), want.Names())
	}
	for _, name := range want.Names() {
		a, err := got.Raw(name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := want.Raw(name); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has other elements than llama.cpp's, %v", name, err)
		}
	}
	for _, p := range want.Meta {
		if v := got.Meta.Value(p.Key); strings.HasPrefix(p.Key, "llama.") && v != p.Value {
			t.Errorf("%s is %v, want %v", p.Key, v, p.Value)
		}
	}
}

// Metadata that a model cannot have is an error that names it.
func TestBadGGUF(t *testing.T) {
	f, err := gguf.Open("../gguf/testdata/llama_gqa.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"general.architecture", "mamba", `general.architecture is "mamba": want one of llama, qwen2, qwen3, qwen2moe`},
		{"general.architecture", uint32(1), `metadata "general.architecture" is a uint32, want a string`},
		{"llama.block_count", uint32(4e9), "num_hidden_layers is 4000000000: want at most 2.147483647e+09"},
		{"llama.block_count", uint32(1e8), "num_hidden_layers is 100000000: the file has only 20 tensors"},
		{"llama.block_count", uint32(1), `a models.Llama has no field for "model.layers.1`},
		{"llama.block_count", "2", `metadata "llama.block_count" is a string`},
		{"llama.attention.head_count", uint32(0), "llama.attention.head_count is no number above 0"},
		{"llama.attention.head_count", uint32(3), `"blk.0.attn_q.weight" is of shape [32 32]: want 3 heads with pairs of rows`},
		{"llama.attention.head_count", []uint32{4, 4}, `metadata "llama.attention.head_count" is a []uint32`},
		{"llama.attention.head_count_kv", uint32(8), "num_key_value_heads is 8"},
		{"llama.attention.layer_norm_rms_epsilon", float32(-1), "rms_norm_eps is -1: want at least 0"},
		{"llama.embedding_length", uint32(64), "llama.rope.dimension_count is 8 and heads are 16 wide"},
		{"llama.expert_count", uint32(4), "num_local_experts is 4, and layer 0 of the file has no experts"},
		{"llama.rope.dimension_count", uint32(4), "llama.rope.dimension_count is 4 and heads are 8 wide"},
		{"llama.rope.scaling.type", "dynamic", "rotary positions of type"},
		{"llama.logit_scale", float32(2), `the setting "llama.logit_scale" is not known for models of architecture llama`},
	} {
		var sources []gguf.Source
		for _, info := range f.Tensors() {
			sources = append(sources, gguf.Source{Name: info.Name, Type: info.Type, Shape: info.Shape, Raw: func() ([]byte, error) { return f.Raw(info.Name) }})
		}
		path := filepath.Join(t.TempDir(), "m.gguf")
		if err := gguf.Write(path, f.Meta.With(c.key, c.value), sources); err != nil {
			t.Fatal(err)
		}
		if _, err := models.Load(path); err == nil || !strings.HasPrefix(err.Error(), "models: ") && !strings.HasPrefix(err.Error(), "gguf: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: %v, want %s", c.key, c.value, err, c.want)
		}
	}
}

// A file without one of its tensors is an error.
func TestGGUFLacks(t *testing.T) {
	for _, name := range []string{"llama_gqa", "gemma3", "mixtral", "qwen2", "gpt2_gen", "bert", "t5", "qwen2_moe", "phi3", "nomic_bert"} {
		f, err := llamacpp.OpenFolder("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		path := filepath.Join(t.TempDir(), "m.gguf")
		for i, s := range f.Sources {
			if optional := s.Name == "output.weight" || strings.HasSuffix(s.Name, "rope_freqs.weight"); optional || i > 30 || testing.Short() && i%4 != 0 {
				continue
			}
			if err := gguf.Write(path, f.Meta, slices.Concat(f.Sources[:i], f.Sources[i+1:])); err != nil {
				t.Fatal(err)
			}
			if _, err := models.Load(path); err == nil {
				t.Errorf("%s: a file without %s is loaded", name, s.Name)
			}
			empty := slices.Clone(f.Sources)
			empty[i].Shape = append([]int{0}, s.Shape[1:]...)
			empty[i].Tensor, empty[i].Raw = nil, func() ([]byte, error) { return nil, nil }
			if err := gguf.Write(path, f.Meta, empty); err != nil {
				t.Fatal(err)
			}
			if _, err := models.Load(path); err == nil && slices.Contains([]string{"llama_gqa", "mixtral"}, name) && strings.HasSuffix(s.Name, "attn_q.weight") {
				t.Errorf("%s: a file in which %s has no rows is loaded", name, s.Name)
			}
		}
	}
}

// A file may have vectors in float32 beside matrices of 16 bits, as llama.cpp's files do. The model computes in
// 16 bits.
func TestHalfMatrices(t *testing.T) {
	for _, half := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
		from, err := gguf.Open(converted(t, "testdata/llama_gqa"))
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		var sources []gguf.Source
		for _, info := range from.Tensors() {
			d := info.DType()
			if len(info.Shape) > 1 {
				d = half
			}
			typ, err := gguf.TypeOf(d)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, gguf.Source{Name: info.Name, Type: typ, Shape: info.Shape, Tensor: func() (tensor.Tensor, error) { return from.Tensor(info.Name) }})
		}
		path := filepath.Join(t.TempDir(), "half.gguf")
		if err := gguf.Write(path, from.Meta, sources); err != nil {
			t.Fatal(err)
		}
		m, err := models.LoadLlama(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range tree.All(m) {
			if x.DType() != half {
				t.Errorf("%s is %v, want %v", name, x.DType(), half)
			}
		}
		want, err := models.LoadLlama("testdata/llama_gqa")
		if err != nil {
			t.Fatal(err)
		}
		ids := tensor.New([]int32{5, 6, 7, 8}, 1, 4)
		if ok, err := tensor.AllClose(m.Apply(ids).Cast(tensor.Float32), want.Apply(ids), 0.05, 0.05); !ok || err != nil {
			t.Errorf("in %v the logits differ (%v)", half, err)
		}
	}
}

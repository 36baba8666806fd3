package models

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/models/internal/settings"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A llamaConfig has the settings of a [Llama].
type llamaConfig struct {
	Width       int      `config:"hidden_size,positive,required"`
	Inner       int      `config:"intermediate_size,positive,required"`
	Layers      int      `config:"num_hidden_layers,count,required"`
	Heads       int      `config:"num_attention_heads,positive,required"`
	KVHeads     int      `config:"num_key_value_heads"`
	HeadWidth   int      `config:"head_dim"`
	Vocab       int      `config:"vocab_size,positive,required"`
	Length      int      `config:"max_position_embeddings,positive"`
	Act         string   `config:"hidden_act"`
	GemmaAct    string   `config:"hidden_activation" of:"gemma gemma2 gemma3_text"`
	Eps         float64  `config:"rms_norm_eps,epsilon"`
	Theta       float64  `config:"rope_theta"`
	RopeOld     any      `config:"rope_scaling"` // see config.rotary
	Rope        any      `config:"rope_parameters"`
	Tied        bool     `config:"tie_word_embeddings"`
	Bias        bool     `config:"attention_bias" of:"llama qwen3 qwen3_moe phi3 gemma gemma2 gemma3_text"`
	MLPBias     bool     `config:"mlp_bias" of:"llama phi3"`
	Window      int      `config:"sliding_window" of:"mistral mixtral qwen2 qwen3 qwen2_moe qwen3_moe phi3 gemma2 gemma3_text"`
	UseWindow   bool     `config:"use_sliding_window" of:"qwen2 qwen3 qwen2_moe qwen3_moe"`
	FullLayers  int      `config:"max_window_layers" of:"qwen2 qwen3 qwen2_moe qwen3_moe"`
	LayerTypes  []string `config:"layer_types" of:"mistral mixtral qwen2 qwen3 qwen2_moe qwen3_moe gemma2 gemma3_text"`
	ScoreCap    float64  `config:"attn_logit_softcapping" of:"gemma2 gemma3_text"`
	LogitCap    float64  `config:"final_logit_softcapping" of:"gemma2 gemma3_text"`
	QueryScalar float64  `config:"query_pre_attn_scalar" of:"gemma2 gemma3_text"`
	LocalTheta  float64  `config:"rope_local_base_freq" of:"gemma3_text"`            // of layers with a window
	Pattern     int      `config:"sliding_window_pattern,positive" of:"gemma3_text"` // one layer of so many has no window
	PatternNew  int      `config:"_sliding_window_pattern,positive" of:"gemma3_text"`
	Experts     int      `config:"num_local_experts" of:"mixtral"`
	QwenExperts int      `config:"num_experts" of:"qwen2_moe qwen3_moe"`
	TopK        int      `config:"num_experts_per_tok" of:"mixtral qwen2_moe qwen3_moe"`
	ExpertInner int      `config:"moe_intermediate_size" of:"qwen2_moe qwen3_moe"`
	SharedInner int      `config:"shared_expert_intermediate_size" of:"qwen2_moe"`
	Normalize   bool     `config:"norm_topk_prob" of:"qwen2_moe qwen3_moe"` // the weights of experts
	SparseStep  int      `config:"decoder_sparse_step,positive" of:"qwen2_moe qwen3_moe"`
	DenseLayers []int    `config:"mlp_only_layers" of:"qwen2_moe qwen3_moe"`
	QKVBias     bool     `config:"qkv_bias" of:"qwen2_moe"`
	Partial     float64  `config:"partial_rotary_factor" of:"phi3"`
	Trained     int      `config:"original_max_position_embeddings" of:"phi3"`

	config    // where the settings are from
	rotary    nn.Rotary
	local     nn.Rotary // of layers with a window
	act       nn.Func
	sliding   []bool                           // whether a layer has a window
	sparse    []bool                           // whether a layer has experts
	experts   string                           // the setting of the number of experts
	fused     bool                             // queries, keys and values are one layer, gate and up another
	headNorm  bool                             // of queries and keys
	gemma     bool                             // scaled embeddings, norms with weights less by one
	postNorms bool                             // norms of each part's result, too
	twoBases  bool                             // layers with a window have a rotation of their own
	windowed  func(s *llamaConfig, i int) bool // whether layer i has a window if LayerTypes is missing
}

// llamas has the defaults of each kind, where a config.json may leave a setting out.
var llamas = map[string]llamaConfig{
	"llama":   {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 2048},
	"mistral": {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 131072, KVHeads: 8, Window: 4096, windowed: allLayers},
	"mixtral": {Act: "silu", Eps: 1e-5, Theta: 1e6, Length: 131072, KVHeads: 8, Experts: 8, TopK: 2, SparseStep: 1, Normalize: true, windowed: allLayers},
	"qwen2":   {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 32768, KVHeads: 32, Window: 4096, FullLayers: 28, QKVBias: true, windowed: lastLayers},
	"qwen3":   {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 32768, KVHeads: 32, HeadWidth: 128, Window: 4096, FullLayers: 28, headNorm: true, windowed: lastLayers},
	"qwen2_moe": {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 32768, KVHeads: 16, Window: 4096, FullLayers: 28, QKVBias: true, windowed: lastLayers,
		QwenExperts: 60, TopK: 4, ExpertInner: 1408, SharedInner: 5632, SparseStep: 1},
	"qwen3_moe": {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 32768, KVHeads: 4, Window: 4096, FullLayers: 28, headNorm: true, windowed: lastLayers,
		QwenExperts: 128, TopK: 8, ExpertInner: 768, SparseStep: 1},
	"phi3":  {Act: "silu", Eps: 1e-5, Theta: 1e4, Length: 4096, Trained: 4096, Partial: 1, fused: true, windowed: allLayers},
	"gemma": {Eps: 1e-6, Theta: 1e4, Length: 8192, KVHeads: 16, HeadWidth: 256, Tied: true, gemma: true},
	"gemma2": {GemmaAct: "gelu_pytorch_tanh", Eps: 1e-6, Theta: 1e4, Length: 8192, KVHeads: 4, HeadWidth: 256, Tied: true, gemma: true,
		Window: 4096, ScoreCap: 50, LogitCap: 30, QueryScalar: 256, postNorms: true, windowed: evenLayers},
	"gemma3_text": {GemmaAct: "gelu_pytorch_tanh", Eps: 1e-6, Theta: 1e6, LocalTheta: 1e4, Length: 131072, KVHeads: 4, HeadWidth: 256, Tied: true, gemma: true,
		Width: 2304, Inner: 9216, Layers: 26, Heads: 8, Vocab: 262208, Window: 4096, QueryScalar: 256, Pattern: 6, headNorm: true, postNorms: true, twoBases: true, windowed: pattern},
}

func allLayers(*llamaConfig, int) bool      { return true }
func evenLayers(_ *llamaConfig, i int) bool { return i%2 == 0 }
func lastLayers(s *llamaConfig, i int) bool { return i >= s.FullLayers }
func pattern(s *llamaConfig, i int) bool    { return (i+1)%cmp.Or(s.PatternNew, s.Pattern) != 0 }

// readLlama reads the settings of a [Llama].
func readLlama(c config) (s llamaConfig, err error) {
	s = llamas[c.kind]
	if err := c.read(&s); err != nil {
		return s, err
	}
	s.config = c
	s.KVHeads = cmp.Or(s.KVHeads, s.Heads)
	if err := c.divides("num_key_value_heads", s.KVHeads, "num_attention_heads", s.Heads); err != nil {
		return s, err
	}
	if s.HeadWidth == 0 {
		if err := c.divides("num_attention_heads", s.Heads, "hidden_size", s.Width); err != nil {
			return s, err
		}
		s.HeadWidth = s.Width / s.Heads
	}
	if err := s.findExperts(); err != nil {
		return s, err
	}
	if s.rotary, s.local, err = s.rotations(); err != nil {
		return s, err
	}
	setting, name := "hidden_act", s.Act
	if s.gemma {
		setting, name = "hidden_activation", cmp.Or(s.GemmaAct, s.Act)
		if name == "gelu" || name == "" { // Gemma's first files say gelu and mean its approximation
			name = "gelu_pytorch_tanh"
		}
	}
	if s.act, err = c.activation(setting, name); err != nil {
		return s, err
	}
	return s, s.findWindows()
}

// findExperts sets Experts, the sizes of a network, and sparse.
func (s *llamaConfig) findExperts() error {
	if s.experts = "num_local_experts"; s.kind != "mixtral" {
		s.experts, s.Experts = "num_experts", s.QwenExperts
	}
	s.ExpertInner = cmp.Or(s.ExpertInner, s.Inner)
	sparse := 0
	s.sparse = make([]bool, s.Layers)
	for i := range s.sparse {
		if s.Experts > 0 && (i+1)%s.SparseStep == 0 && !slices.Contains(s.DenseLayers, i) {
			s.sparse[i], sparse = true, sparse+1
		}
	}
	if why := settings.TooMany(s.Experts*sparse, s.tensors); why != "" {
		return s.errorf("%s is %d in %d layers: %s", s.experts, s.Experts, sparse, why)
	}
	if (sparse > 0 || s.kind == "mixtral") && (s.TopK < 1 || s.TopK > s.Experts) {
		return s.errorf("num_experts_per_tok is %d: want 1 to %s, %d", s.TopK, s.experts, s.Experts)
	}
	return nil
}

// rotations returns the rotations of layers without a window and of those with one.
func (s *llamaConfig) rotations() (full, sliding nn.Rotary, err error) {
	rotary := func(c config, theta float64, objects ...string) (r nn.Rotary) {
		if err == nil {
			r, err = c.rotary(rope{Theta: theta, Partial: cmp.Or(s.Partial, 1), Length: s.Trained}, s.Length, s.HeadWidth, objects...)
		}
		return r
	}
	all, err := s.part("rope_parameters")
	switch {
	case err != nil:
	case !s.twoBases:
		full = rotary(s.config, s.Theta, "rope_scaling", "rope_parameters")
		sliding = full
	case all.raw == nil: // as before version 5 of transformers
		full, sliding = rotary(s.config, s.Theta, "rope_scaling"), rotary(s.config, s.LocalTheta)
	default:
		err = all.read(&struct {
			Full    any `config:"full_attention,required"`
			Sliding any `config:"sliding_attention,required"`
		}{})
		full, sliding = rotary(all, s.Theta, "full_attention"), rotary(all, s.LocalTheta, "sliding_attention")
	}
	return full, sliding, err
}

// findWindows sets sliding.
func (s *llamaConfig) findWindows() error {
	if s.LayerTypes != nil && len(s.LayerTypes) != s.Layers {
		return s.errorf("layer_types has %d elements for %d layers", len(s.LayerTypes), s.Layers)
	}
	s.sliding = make([]bool, s.Layers)
	for i := range s.sliding {
		sliding := s.windowed != nil && s.windowed(s, i)
		if s.LayerTypes != nil {
			sliding = s.LayerTypes[i] == "sliding_attention"
			if !sliding && s.LayerTypes[i] != "full_attention" {
				return s.errorf("layer_types has %q: want full_attention or sliding_attention", s.LayerTypes[i])
			}
		}
		s.sliding[i] = sliding && (s.UseWindow || !strings.HasPrefix(s.kind, "qwen"))
	}
	return nil
}

// biased reports whether the layer of a name has a bias.
func (s llamaConfig) biased(layer string) bool {
	attention := strings.Contains(layer, ".self_attn.") && strings.HasSuffix(layer, "_proj")
	switch {
	case attention && s.QKVBias:
		return !strings.HasSuffix(layer, ".o_proj")
	case attention:
		return s.Bias
	}
	return s.MLPBias && strings.Contains(layer, ".mlp.")
}

func (s llamaConfig) norm() RMSNorm {
	if s.gemma {
		return RMSNorm{Eps: s.Eps, Plus: 1}
	}
	return RMSNorm{Eps: s.Eps}
}

// layer returns layer i without its tensors.
func (s llamaConfig) layer(i int) LlamaLayer {
	l := LlamaLayer{InputLayernorm: s.norm(), PostAttentionLayernorm: s.norm()}
	l.SelfAttn.Settings = nn.Attention{
		Heads: s.Heads, KVHeads: s.KVHeads, Causal: true, SoftCap: s.ScoreCap, Rotary: s.rotary,
	}
	if s.sliding[i] {
		l.SelfAttn.Settings.Window, l.SelfAttn.Settings.Rotary = s.Window, s.local
	}
	if s.QueryScalar > 0 {
		l.SelfAttn.Settings.Scale = 1 / math.Sqrt(s.QueryScalar)
	}
	if s.headNorm {
		q, k := s.norm(), s.norm()
		l.SelfAttn.QNorm, l.SelfAttn.KNorm = &q, &k
	}
	if s.postNorms {
		pre, post := s.norm(), s.norm()
		l.PreFeedforwardLayernorm, l.PostFeedforwardLayernorm = &pre, &post
	}
	if s.sparse[i] {
		l.BlockSparseMoE = &SparseMLP{TopK: s.TopK, Act: s.act, Experts: make([]Expert, s.Experts), Unnormalized: !s.Normalize}
		if s.SharedInner > 0 {
			l.BlockSparseMoE.SharedExpert, l.BlockSparseMoE.SharedExpertGate = &GatedMLP{Act: s.act}, &nn.Linear{}
		}
	} else {
		l.MLP = &GatedMLP{Act: s.act}
	}
	if s.fused {
		l.SelfAttn.QKVProj, l.MLP.GateUpProj = &nn.Linear{}, &nn.Linear{}
	}
	return l
}

// check returns an error unless the tensors of a model have the sizes of the settings.
func (s llamaConfig) check(m *Llama) error {
	sizes := []size{{"embed_tokens.weight", m.Model.EmbedTokens.Weight, []int{s.Vocab, s.Width}}}
	for i, l := range m.Model.Layers {
		if err := s.checkParts(i, l); err != nil {
			return err
		}
		add := func(name string, t tensor.Tensor, shape ...int) {
			sizes = append(sizes, size{fmt.Sprintf("layers.%d.%s.weight", i, name), t, shape})
		}
		queries, keys := s.Heads*s.HeadWidth, s.KVHeads*s.HeadWidth
		if a := l.SelfAttn; s.fused {
			add("self_attn.qkv_proj", a.QKVProj.Weight, queries+2*keys, s.Width)
		} else {
			add("self_attn.q_proj", a.QProj.Weight, queries, s.Width)
			add("self_attn.k_proj", a.KProj.Weight, keys, s.Width)
			add("self_attn.v_proj", a.VProj.Weight, keys, s.Width)
		}
		if s.headNorm {
			add("self_attn.q_norm", l.SelfAttn.QNorm.Weight, s.HeadWidth)
			add("self_attn.k_norm", l.SelfAttn.KNorm.Weight, s.HeadWidth)
		}
		if n := l.PreFeedforwardLayernorm; n != nil {
			add("pre_feedforward_layernorm", n.Weight, s.Width)
			add("post_feedforward_layernorm", l.PostFeedforwardLayernorm.Weight, s.Width)
		}
		gated := func(name string, n *GatedMLP, inner int) {
			if n.GateUpProj != nil {
				add(name+".gate_up_proj", n.GateUpProj.Weight, 2*inner, s.Width)
				return
			}
			add(name+".gate_proj", n.GateProj.Weight, inner, s.Width)
			add(name+".up_proj", n.UpProj.Weight, inner, s.Width)
		}
		e := l.BlockSparseMoE
		if e == nil {
			gated("mlp", l.MLP, s.Inner)
			continue
		}
		add("block_sparse_moe.gate", e.Gate.Weight, s.Experts, s.Width)
		add("block_sparse_moe.experts.0.w3", e.Experts[0].W3.Weight, s.ExpertInner, s.Width)
		if e.SharedExpert != nil {
			gated("block_sparse_moe.shared_expert", e.SharedExpert, s.SharedInner)
			add("block_sparse_moe.shared_expert_gate", e.SharedExpertGate.Weight, 1, s.Width)
		}
	}
	return s.config.check(sizes...)
}

// checkParts returns an error if layer i has other parts than the settings say.
func (s llamaConfig) checkParts(i int, l LlamaLayer) error {
	e := l.BlockSparseMoE
	switch {
	case s.sparse[i] && (!e.Gate.Weight.IsValid() || l.MLP != nil):
		return s.errorf("%s is %d, and layer %d of the file has no experts, or another network beside them", s.experts, s.Experts, i)
	case !s.sparse[i] && e != nil:
		return s.errorf("layer %d of the file has experts, which by its settings it does not", i)
	case (l.SelfAttn.QKVProj != nil) != s.fused || l.MLP != nil && (l.MLP.GateUpProj != nil) != s.fused:
		return s.errorf("layer %d of the file has other matrices of queries and keys, or of a network, than models of type %s", i, s.kind)
	case e != nil && (e.SharedExpert != nil || e.SharedExpertGate != nil) != (s.SharedInner > 0):
		return s.errorf("layer %d of the file has an expert for all tokens, which by its settings it does not", i)
	}
	return nil
}

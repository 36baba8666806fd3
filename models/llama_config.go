package models

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A llamaConfig has the settings of a [Llama].
type llamaConfig struct {
	Width       int      `config:"hidden_size,required"`
	Inner       int      `config:"intermediate_size,required"`
	Layers      int      `config:"num_hidden_layers,required"`
	Heads       int      `config:"num_attention_heads,required"`
	KVHeads     int      `config:"num_key_value_heads"`
	HeadWidth   int      `config:"head_dim"`
	Vocab       int      `config:"vocab_size,required"`
	Length      int      `config:"max_position_embeddings"`
	Act         string   `config:"hidden_act"`
	GemmaAct    string   `config:"hidden_activation" of:"gemma gemma2"`
	Eps         float64  `config:"rms_norm_eps,unsigned"`
	Theta       float64  `config:"rope_theta"`
	RopeOld     any      `config:"rope_scaling"` // see config.rotary
	Rope        any      `config:"rope_parameters"`
	Tied        bool     `config:"tie_word_embeddings"`
	Bias        bool     `config:"attention_bias" of:"llama qwen3 gemma gemma2"`
	MLPBias     bool     `config:"mlp_bias" of:"llama"`
	Window      int      `config:"sliding_window" of:"mistral mixtral qwen2 qwen3 gemma2"`
	UseWindow   bool     `config:"use_sliding_window" of:"qwen2 qwen3"`
	FullLayers  int      `config:"max_window_layers" of:"qwen2 qwen3"`
	LayerTypes  []string `config:"layer_types" of:"mistral mixtral qwen2 qwen3 gemma2"`
	ScoreCap    float64  `config:"attn_logit_softcapping" of:"gemma2"`
	LogitCap    float64  `config:"final_logit_softcapping" of:"gemma2"`
	QueryScalar float64  `config:"query_pre_attn_scalar" of:"gemma2"`
	Experts     int      `config:"num_local_experts" of:"mixtral"`
	TopK        int      `config:"num_experts_per_tok" of:"mixtral"`

	config   // where the settings are from
	rotary   nn.Rotary
	act      nn.Func
	windows  []int               // of each layer, 0 for none
	qkvBias  bool                // whatever Bias says
	headNorm bool                // of queries and keys
	gemma    bool                // scaled embeddings, norms with weights less by one
	windowed func(int, int) bool // whether a layer has a window if LayerTypes is missing, by FullLayers
}

// llamas has the defaults of each kind, where a config.json may leave a setting out.
var llamas = map[string]llamaConfig{
	"llama":   {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 2048},
	"mistral": {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 131072, KVHeads: 8, Window: 4096, windowed: allLayers},
	"mixtral": {Act: "silu", Eps: 1e-5, Theta: 1e6, Length: 131072, KVHeads: 8, Experts: 8, TopK: 2, windowed: allLayers},
	"qwen2":   {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 32768, KVHeads: 32, Window: 4096, FullLayers: 28, qkvBias: true, windowed: lastLayers},
	"qwen3":   {Act: "silu", Eps: 1e-6, Theta: 1e4, Length: 32768, KVHeads: 32, HeadWidth: 128, Window: 4096, FullLayers: 28, headNorm: true, windowed: lastLayers},
	"gemma":   {Eps: 1e-6, Theta: 1e4, Length: 8192, KVHeads: 16, HeadWidth: 256, Tied: true, gemma: true},
	"gemma2": {GemmaAct: "gelu_pytorch_tanh", Eps: 1e-6, Theta: 1e4, Length: 8192, KVHeads: 4, HeadWidth: 256, Tied: true, gemma: true,
		Window: 4096, ScoreCap: 50, LogitCap: 30, QueryScalar: 256, windowed: evenLayers},
}

func allLayers(int, int) bool          { return true }
func evenLayers(layer, _ int) bool     { return layer%2 == 0 }
func lastLayers(layer, first int) bool { return layer >= first }

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
	if s.kind == "mixtral" && (s.TopK < 1 || s.TopK > s.Experts) {
		return s, c.errorf("num_experts_per_tok is %d: want 1 to num_local_experts, %d", s.TopK, s.Experts)
	}
	if s.rotary, err = c.rotary(s.Theta, s.Length, s.HeadWidth); err != nil {
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

// findWindows sets windows.
func (s *llamaConfig) findWindows() error {
	if s.LayerTypes != nil && len(s.LayerTypes) != s.Layers {
		return s.errorf("layer_types has %d elements for %d layers", len(s.LayerTypes), s.Layers)
	}
	s.windows = make([]int, s.Layers)
	for i := range s.windows {
		sliding := s.windowed != nil && s.windowed(i, s.FullLayers)
		if s.LayerTypes != nil {
			sliding = s.LayerTypes[i] == "sliding_attention"
			if !sliding && s.LayerTypes[i] != "full_attention" {
				return s.errorf("layer_types has %q: want full_attention or sliding_attention", s.LayerTypes[i])
			}
		}
		if sliding && (s.UseWindow || !strings.HasPrefix(s.kind, "qwen")) {
			s.windows[i] = s.Window
		}
	}
	return nil
}

// biased reports whether the layer of a name has a bias.
func (s llamaConfig) biased(layer string) bool {
	attention := strings.Contains(layer, ".self_attn.") && strings.HasSuffix(layer, "_proj")
	switch {
	case attention && s.qkvBias:
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
		Heads: s.Heads, KVHeads: s.KVHeads, Causal: true, Window: s.windows[i], SoftCap: s.ScoreCap, Rotary: s.rotary,
	}
	if s.QueryScalar > 0 {
		l.SelfAttn.Settings.Scale = 1 / math.Sqrt(s.QueryScalar)
	}
	if s.headNorm {
		l.SelfAttn.QNorm, l.SelfAttn.KNorm = &nn.RMSNorm{Eps: s.Eps}, &nn.RMSNorm{Eps: s.Eps}
	}
	if s.kind == "gemma2" {
		pre, post := s.norm(), s.norm()
		l.PreFeedforwardLayernorm, l.PostFeedforwardLayernorm = &pre, &post
	}
	if s.Experts > 0 {
		l.BlockSparseMoE = &SparseMLP{TopK: s.TopK, Act: s.act, Experts: make([]Expert, s.Experts)}
	} else {
		l.MLP = &GatedMLP{Act: s.act}
	}
	return l
}

// check returns an error unless the tensors of a model have the sizes of the settings.
func (s llamaConfig) check(m *Llama) error {
	sizes := []size{{"embed_tokens.weight", m.Model.EmbedTokens.Weight, []int{s.Vocab, s.Width}}}
	for i, l := range m.Model.Layers {
		add := func(name string, t tensor.Tensor, shape ...int) {
			sizes = append(sizes, size{fmt.Sprintf("layers.%d.%s.weight", i, name), t, shape})
		}
		add("self_attn.q_proj", l.SelfAttn.QProj.Weight, s.Heads*s.HeadWidth, s.Width)
		add("self_attn.k_proj", l.SelfAttn.KProj.Weight, s.KVHeads*s.HeadWidth, s.Width)
		if s.headNorm {
			add("self_attn.q_norm", l.SelfAttn.QNorm.Weight, s.HeadWidth)
			add("self_attn.k_norm", l.SelfAttn.KNorm.Weight, s.HeadWidth)
		}
		if n := l.PreFeedforwardLayernorm; n != nil {
			add("pre_feedforward_layernorm", n.Weight, s.Width)
			add("post_feedforward_layernorm", l.PostFeedforwardLayernorm.Weight, s.Width)
		}
		if l.MLP != nil {
			add("mlp.up_proj", l.MLP.UpProj.Weight, s.Inner, s.Width)
		} else {
			add("block_sparse_moe.gate", l.BlockSparseMoE.Gate.Weight, s.Experts, s.Width)
		}
	}
	return s.config.check(sizes...)
}

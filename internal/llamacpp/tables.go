package llamacpp

import "strings"

// An architecture has the names of a kind of model.
type architecture struct {
	name     string   // general.architecture
	kinds    []string // model_type, of which detect chooses
	class    string   // the element of architectures in config.json
	settings string   // lines: a key after name and a dot, the setting of config.json, its type
	tensors  string   // lines: a name in GGUF, one in safetensors, and the change of the elements
	// fixed has settings that files need not have, with their only values in config.json.
	fixed map[string]any
	skip  string // ends of names of tensors that are not converted
}

const decoderSettings = `
	context_length                   max_position_embeddings u
	embedding_length                 hidden_size             u
	block_count                      num_hidden_layers       u
	feed_forward_length              intermediate_size       u
	attention.head_count             num_attention_heads     u
	attention.head_count_kv          num_key_value_heads     u
	attention.key_length             head_dim                u
	attention.value_length           head_dim                u
	attention.layer_norm_rms_epsilon rms_norm_eps            f
	rope.freq_base                   rope_theta              f
	vocab_size                       vocab_size              u
	expert_count                     num_local_experts       u
	expert_used_count                num_experts_per_tok     u
	attention.sliding_window         sliding_window          u
	attn_logit_softcapping           attn_logit_softcapping  f
	final_logit_softcapping          final_logit_softcapping f
`

const decoderTensors = `
	token_embd            model.embed_tokens
	output                lm_head
	blk.%d.attn_v         model.layers.%d.self_attn.v_proj
	blk.%d.attn_output    model.layers.%d.self_attn.o_proj
	blk.%d.ffn_gate       model.layers.%d.mlp.gate_proj
	blk.%d.ffn_up         model.layers.%d.mlp.up_proj
	blk.%d.ffn_down       model.layers.%d.mlp.down_proj
`

// plainTensors are the tensors of decoders whose queries and keys are as in safetensors.
const plainTensors = decoderTensors + `
	blk.%d.attn_q         model.layers.%d.self_attn.q_proj
	blk.%d.attn_k         model.layers.%d.self_attn.k_proj
`

const norms = `
	output_norm           model.norm
	blk.%d.attn_norm      model.layers.%d.input_layernorm
	blk.%d.ffn_norm       model.layers.%d.post_attention_layernorm
	blk.%d.attn_q_norm    model.layers.%d.self_attn.q_norm
	blk.%d.attn_k_norm    model.layers.%d.self_attn.k_norm
`

var qwenExpertSettings = strings.Replace(decoderSettings, "num_local_experts", "num_experts", 1) + `
	expert_feed_forward_length moe_intermediate_size u
`

const qwenExperts = `
	blk.%d.ffn_gate_inp  model.layers.%d.mlp.gate
	blk.%d.ffn_gate_exps model.layers.%d.mlp.experts.*.gate_proj
	blk.%d.ffn_down_exps model.layers.%d.mlp.experts.*.down_proj
	blk.%d.ffn_up_exps   model.layers.%d.mlp.experts.*.up_proj
`

// In Gemma's files 1 is added to the weights of norms.
const gemmaNorms = `
	output_norm                model.norm plus1
	blk.%d.attn_norm           model.layers.%d.input_layernorm plus1
	blk.%d.ffn_norm            model.layers.%d.post_attention_layernorm plus1
`

const gemma2Norms = `
	output_norm                model.norm plus1
	blk.%d.attn_norm           model.layers.%d.input_layernorm plus1
	blk.%d.attn_q_norm         model.layers.%d.self_attn.q_norm scaled
	blk.%d.attn_k_norm         model.layers.%d.self_attn.k_norm plus1
	blk.%d.post_attention_norm model.layers.%d.post_attention_layernorm plus1
	blk.%d.ffn_norm            model.layers.%d.pre_feedforward_layernorm plus1
	blk.%d.post_ffw_norm       model.layers.%d.post_feedforward_layernorm plus1
`

var gemmaFixed = map[string]any{"hidden_activation": "gelu_pytorch_tanh", "hidden_act": "gelu_pytorch_tanh", "attention_bias": false}

var architectures = []architecture{
	{
		name: "llama", kinds: []string{"llama", "mistral", "mixtral"}, class: "LlamaForCausalLM",
		settings: decoderSettings,
		// The rows of queries and keys are in another order: ggml rotates pairs of neighbours.
		tensors: decoderTensors + norms + `
			blk.%d.attn_q         model.layers.%d.self_attn.q_proj queries
			blk.%d.attn_k         model.layers.%d.self_attn.k_proj keys
			blk.%d.ffn_gate_inp   model.layers.%d.block_sparse_moe.gate
			blk.%d.ffn_gate_exps  model.layers.%d.block_sparse_moe.experts.*.w1
			blk.%d.ffn_down_exps  model.layers.%d.block_sparse_moe.experts.*.w2
			blk.%d.ffn_up_exps    model.layers.%d.block_sparse_moe.experts.*.w3
			blk.%d.ffn_gate.%d    model.layers.%d.block_sparse_moe.experts.%d.w1 old
			blk.%d.ffn_down.%d    model.layers.%d.block_sparse_moe.experts.%d.w2 old
			blk.%d.ffn_up.%d      model.layers.%d.block_sparse_moe.experts.%d.w3 old
		`,
		fixed: map[string]any{"hidden_act": "silu"},
	},
	{
		name: "qwen2", kinds: []string{"qwen2"}, class: "Qwen2ForCausalLM",
		settings: decoderSettings, tensors: plainTensors + norms,
		fixed: map[string]any{"hidden_act": "silu", "use_sliding_window": false},
	},
	{
		name: "qwen3", kinds: []string{"qwen3"}, class: "Qwen3ForCausalLM",
		settings: decoderSettings, tensors: plainTensors + norms,
		fixed: map[string]any{"hidden_act": "silu", "use_sliding_window": false, "attention_bias": false},
	},
	{
		name: "qwen2moe", kinds: []string{"qwen2_moe"}, class: "Qwen2MoeForCausalLM",
		settings: qwenExpertSettings + "expert_shared_feed_forward_length shared_expert_intermediate_size u",
		tensors: plainTensors + norms + qwenExperts + `
			blk.%d.ffn_gate_inp_shexp model.layers.%d.mlp.shared_expert_gate
			blk.%d.ffn_gate_shexp     model.layers.%d.mlp.shared_expert.gate_proj
			blk.%d.ffn_up_shexp       model.layers.%d.mlp.shared_expert.up_proj
			blk.%d.ffn_down_shexp     model.layers.%d.mlp.shared_expert.down_proj
		`,
		fixed: map[string]any{"hidden_act": "silu", "use_sliding_window": false, "norm_topk_prob": false, "decoder_sparse_step": 1.0, "mlp_only_layers": []any{}},
	},
	{
		name: "qwen3moe", kinds: []string{"qwen3_moe"}, class: "Qwen3MoeForCausalLM",
		settings: qwenExpertSettings, tensors: plainTensors + norms + qwenExperts,
		fixed: map[string]any{"hidden_act": "silu", "use_sliding_window": false, "attention_bias": false, "norm_topk_prob": true, "decoder_sparse_step": 1.0, "mlp_only_layers": []any{}},
	},
	{
		name: "phi3", kinds: []string{"phi3"}, class: "Phi3ForCausalLM",
		settings: decoderSettings + "rope.scaling.original_context_length original_max_position_embeddings u",
		tensors: `
			token_embd            model.embed_tokens
			output                lm_head
			output_norm           model.norm
			blk.%d.attn_norm      model.layers.%d.input_layernorm
			blk.%d.ffn_norm       model.layers.%d.post_attention_layernorm
			blk.%d.attn_qkv       model.layers.%d.self_attn.qkv_proj
			blk.%d.attn_output    model.layers.%d.self_attn.o_proj
			blk.%d.ffn_up         model.layers.%d.mlp.gate_up_proj
			blk.%d.ffn_down       model.layers.%d.mlp.down_proj
		`,
		fixed: map[string]any{"hidden_act": "silu", "attention_bias": false},
	},
	{
		name: "gemma", kinds: []string{"gemma"}, class: "GemmaForCausalLM",
		settings: decoderSettings, tensors: plainTensors + gemmaNorms, fixed: gemmaFixed,
	},
	{
		name: "gemma2", kinds: []string{"gemma2"}, class: "Gemma2ForCausalLM",
		settings: decoderSettings, tensors: plainTensors + gemma2Norms, fixed: gemmaFixed,
	},
	{
		name: "gemma3", kinds: []string{"gemma3_text"}, class: "Gemma3ForCausalLM",
		settings: decoderSettings + `
			rope.freq_base_swa rope_local_base_freq f
		`,
		tensors: plainTensors + gemma2Norms, fixed: gemmaFixed,
	},
	{
		name: "gpt2", kinds: []string{"gpt2"}, class: "GPT2LMHeadModel",
		settings: `
			context_length               n_positions        u
			embedding_length             n_embd             u
			block_count                  n_layer            u
			feed_forward_length          n_inner            u
			attention.head_count         n_head             u
			attention.layer_norm_epsilon layer_norm_epsilon f
			vocab_size                   vocab_size         u
		`,
		tensors: `
			token_embd         transformer.wte
			position_embd      transformer.wpe
			output_norm        transformer.ln_f
			output             lm_head
			blk.%d.attn_norm   transformer.h.%d.ln_1
			blk.%d.attn_qkv    transformer.h.%d.attn.c_attn transposed
			blk.%d.attn_output transformer.h.%d.attn.c_proj transposed
			blk.%d.ffn_norm    transformer.h.%d.ln_2
			blk.%d.ffn_up      transformer.h.%d.mlp.c_fc transposed
			blk.%d.ffn_down    transformer.h.%d.mlp.c_proj transposed
		`,
		skip:  ".attn.bias .attn.masked_bias",
		fixed: map[string]any{"activation_function": "gelu_new", "scale_attn_weights": true, "scale_attn_by_inverse_layer_idx": false},
	},
	{
		name: "bert", kinds: []string{"bert"}, class: "BertModel",
		settings: `
			context_length               max_position_embeddings u
			embedding_length             hidden_size             u
			block_count                  num_hidden_layers       u
			feed_forward_length          intermediate_size       u
			attention.head_count         num_attention_heads     u
			attention.layer_norm_epsilon layer_norm_eps          f
			vocab_size                   vocab_size              u
			tokenizer.ggml.token_type_count type_vocab_size      u
		`,
		tensors: `
			token_embd              embeddings.word_embeddings
			position_embd           embeddings.position_embeddings
			token_types             embeddings.token_type_embeddings
			token_embd_norm         embeddings.LayerNorm
			blk.%d.attn_q           encoder.layer.%d.attention.self.query
			blk.%d.attn_k           encoder.layer.%d.attention.self.key
			blk.%d.attn_v           encoder.layer.%d.attention.self.value
			blk.%d.attn_output      encoder.layer.%d.attention.output.dense
			blk.%d.attn_output_norm encoder.layer.%d.attention.output.LayerNorm
			blk.%d.ffn_up           encoder.layer.%d.intermediate.dense
			blk.%d.ffn_down         encoder.layer.%d.output.dense
			blk.%d.layer_output_norm encoder.layer.%d.output.LayerNorm
		`,
		// llama.cpp has no pooler.
		skip:  "position_ids pooler.dense.weight pooler.dense.bias",
		fixed: map[string]any{"hidden_act": "gelu"},
	},
	{
		name: "nomic-bert", kinds: []string{"nomic_bert"}, class: "NomicBertModel",
		settings: `
			context_length               n_positions        u
			embedding_length             n_embd             u
			block_count                  n_layer            u
			feed_forward_length          n_inner            u
			attention.head_count         n_head             u
			attention.layer_norm_epsilon layer_norm_epsilon f
			rope.freq_base               rotary_emb_base    f
			vocab_size                   vocab_size         u
			tokenizer.ggml.token_type_count type_vocab_size u
		`,
		tensors: `
			token_embd              embeddings.word_embeddings
			token_types             embeddings.token_type_embeddings
			token_embd_norm         emb_ln
			blk.%d.attn_qkv         encoder.layers.%d.attn.Wqkv
			blk.%d.attn_output      encoder.layers.%d.attn.out_proj
			blk.%d.attn_output_norm encoder.layers.%d.norm1
			blk.%d.ffn_up           encoder.layers.%d.mlp.fc11
			blk.%d.ffn_gate         encoder.layers.%d.mlp.fc12
			blk.%d.ffn_down         encoder.layers.%d.mlp.fc2
			blk.%d.layer_output_norm encoder.layers.%d.norm2
		`,
		fixed: map[string]any{"activation_function": "swiglu", "qkv_proj_bias": false, "mlp_fc1_bias": false, "mlp_fc2_bias": false,
			"prenorm": false, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": false, "use_rms_norm": false, "parallel_block": false, "causal": false},
	},
	{
		name: "t5", kinds: []string{"t5", "mt5"}, class: "T5ForConditionalGeneration",
		settings: `
			context_length                   n_positions                     u
			embedding_length                 d_model                         u
			block_count                      num_layers                      u
			decoder_block_count              num_decoder_layers              u
			feed_forward_length              d_ff                            u
			attention.head_count             num_heads                       u
			attention.key_length             d_kv                            u
			attention.value_length           d_kv                            u
			attention.layer_norm_epsilon     layer_norm_epsilon              f
			attention.layer_norm_rms_epsilon layer_norm_epsilon              f
			attention.relative_buckets_count relative_attention_num_buckets  u
			attention.relative_max_distance  relative_attention_max_distance u
			decoder_start_token_id           decoder_start_token_id          u
			vocab_size                       vocab_size                      u
		`,
		tensors: `
			token_embd                 shared
			output                     lm_head
			enc.output_norm            encoder.final_layer_norm
			dec.output_norm            decoder.final_layer_norm
		` + t5Layer("enc", "encoder", "1") + t5Layer("dec", "decoder", "2") + `
			dec.blk.%d.cross_attn_norm decoder.block.%d.layer.1.layer_norm
			dec.blk.%d.cross_attn_q    decoder.block.%d.layer.1.EncDecAttention.q
			dec.blk.%d.cross_attn_k    decoder.block.%d.layer.1.EncDecAttention.k
			dec.blk.%d.cross_attn_v    decoder.block.%d.layer.1.EncDecAttention.v
			dec.blk.%d.cross_attn_o    decoder.block.%d.layer.1.EncDecAttention.o
		`,
		skip: "coder.embed_tokens.weight EncDecAttention.relative_attention_bias.weight cross_attn_rel_b.weight",
	},
}

// t5Layer returns the names of a layer of an encoder or a decoder, whose feed-forward network has
// a number. Without gate, its first part is wi, else wi_1.
func t5Layer(short, long, feed string) string {
	const lines = `
		S.blk.%d.attn_norm  L.block.%d.layer.0.layer_norm
		S.blk.%d.attn_q     L.block.%d.layer.0.SelfAttention.q
		S.blk.%d.attn_k     L.block.%d.layer.0.SelfAttention.k
		S.blk.%d.attn_v     L.block.%d.layer.0.SelfAttention.v
		S.blk.%d.attn_o     L.block.%d.layer.0.SelfAttention.o
		S.blk.%d.attn_rel_b L.block.%d.layer.0.SelfAttention.relative_attention_bias
		S.blk.%d.ffn_norm   L.block.%d.layer.F.layer_norm
		S.blk.%d.ffn_gate   L.block.%d.layer.F.DenseReluDense.wi_0
		S.blk.%d.ffn_up     L.block.%d.layer.F.DenseReluDense.wi_1 gated
		S.blk.%d.ffn_up     L.block.%d.layer.F.DenseReluDense.wi ungated
		S.blk.%d.ffn_down   L.block.%d.layer.F.DenseReluDense.wo
	`
	return strings.NewReplacer("S.", short+".", "L.", long+".", "layer.F", "layer."+feed).Replace(lines)
}

package settings

import "strings"

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

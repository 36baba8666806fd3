"""Writes qwen2_moe, qwen3_moe, phi3 and nomic_bert: small models with random weights in Hugging Face's layout.

    python3 generate_llamacpp.py

Their io.safetensors have the logits, or the embeddings of tokens, that llama.cpp computes from the files of
tensorken gguf convert, with keys and values in float32: FOLDER.txt, a number a line, for the tokens IDS, and
FOLDER.greedy.txt, the tokens that follow. A second run of this script packs them.
"""
import json, os, random, struct

IDS = [3, 5, 7, 9, 11, 2, 40, 41, 8, 30, 17, 20]
W, HEADS, KV, HEAD, V, INNER, LAYERS = 32, 4, 2, 8, 48, 32, 2
draw = random.Random(7)


def save(path, tensors):
    head, data = {}, b""
    for name in sorted(tensors):
        kind, shape, raw = tensors[name]
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def floats(values, *shape):
    return "F32", list(shape), struct.pack("<%df" % len(values), *values)


def random_tensor(*shape, scale=0.3, mean=0.0):
    n = 1
    for d in shape:
        n *= d
    return floats([draw.gauss(mean, scale) for _ in range(n)], *shape)


def norm(width=W):
    return random_tensor(width, scale=0.1, mean=1.0)


def decoder(fused=False, bias=False, head_norm=False):
    t = {"model.embed_tokens.weight": random_tensor(V, W, scale=1), "model.norm.weight": norm(), "lm_head.weight": random_tensor(V, W, scale=0.2)}
    for i in range(LAYERS):
        p = f"model.layers.{i}."
        t[p + "input_layernorm.weight"], t[p + "post_attention_layernorm.weight"] = norm(), norm()
        for name, rows in [("qkv", HEADS + 2 * KV)] if fused else [("q", HEADS), ("k", KV), ("v", KV)]:
            t[f"{p}self_attn.{name}_proj.weight"] = random_tensor(rows * HEAD, W)
            if bias:
                t[f"{p}self_attn.{name}_proj.bias"] = random_tensor(rows * HEAD)
        t[p + "self_attn.o_proj.weight"] = random_tensor(W, HEADS * HEAD)
        if head_norm:
            t[p + "self_attn.q_norm.weight"], t[p + "self_attn.k_norm.weight"] = norm(HEAD), norm(HEAD)
    return t


def gated(t, name, inner):
    for part in "gate", "up":
        t[f"{name}.{part}_proj.weight"] = random_tensor(inner, W)
    t[name + ".down_proj.weight"] = random_tensor(W, inner)


def experts(t, count, inner, shared=0):
    for i in range(LAYERS):
        p = f"model.layers.{i}.mlp."
        t[p + "gate.weight"] = random_tensor(count, W)
        for e in range(count):
            gated(t, f"{p}experts.{e}", inner)
        if shared:
            t[p + "shared_expert_gate.weight"] = random_tensor(1, W)
            gated(t, p + "shared_expert", shared)
    return t


def phi():
    t = decoder(fused=True)
    for i in range(LAYERS):
        p = f"model.layers.{i}.mlp."
        t[p + "gate_up_proj.weight"], t[p + "down_proj.weight"] = random_tensor(2 * INNER, W), random_tensor(W, INNER)
    return t


def nomic():
    t = {"embeddings.word_embeddings.weight": random_tensor(V, W, scale=1), "embeddings.token_type_embeddings.weight": random_tensor(2, W)}
    t["emb_ln.weight"], t["emb_ln.bias"] = norm(), random_tensor(W)
    for i in range(LAYERS):
        p = f"encoder.layers.{i}."
        for name, rows, columns in ("attn.Wqkv", 3 * W, W), ("attn.out_proj", W, W), ("mlp.fc11", INNER, W), ("mlp.fc12", INNER, W), ("mlp.fc2", W, INNER):
            t[f"{p}{name}.weight"] = random_tensor(rows, columns)
        for name in "norm1", "norm2":
            t[f"{p}{name}.weight"], t[f"{p}{name}.bias"] = norm(), random_tensor(W)
    return t


def write(kind, tensors, **settings):
    os.makedirs(kind, exist_ok=True)
    with open(kind + "/config.json", "w") as f:
        json.dump(dict(settings, model_type=kind), f, indent=2)
    save(kind + "/model.safetensors", tensors)
    if os.path.exists(kind + ".txt"):
        values = [float(line) for line in open(kind + ".txt")]
        io = {"in.input_ids": ("I64", [1, len(IDS)], struct.pack("<%dq" % len(IDS), *IDS)), "out.logits": floats(values, 1, len(IDS), len(values) // len(IDS))}
        if os.path.exists(kind + ".greedy.txt"):
            ids = IDS + [int(n) for n in open(kind + ".greedy.txt").read().split(",")]
            io["out.greedy"] = ("I64", [len(ids)], struct.pack("<%dq" % len(ids), *ids))
        save(kind + "/io.safetensors", io)


llama = dict(hidden_size=W, intermediate_size=INNER, num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=KV, vocab_size=V,
             max_position_embeddings=1024, rms_norm_eps=1e-6, rope_theta=10000.0, hidden_act="silu", tie_word_embeddings=False)
write("qwen2_moe", experts(decoder(bias=True), 4, 12, 20), **llama, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12,
      shared_expert_intermediate_size=20, norm_topk_prob=False, decoder_sparse_step=1, mlp_only_layers=[], use_sliding_window=False)
write("qwen3_moe", experts(decoder(head_norm=True), 4, 12), **llama, num_experts=4, num_experts_per_tok=3, moe_intermediate_size=12, norm_topk_prob=True,
      head_dim=HEAD, attention_bias=False)
write("phi3", phi(), **llama, original_max_position_embeddings=256, sliding_window=None, partial_rotary_factor=0.5, attention_bias=False,
      rope_scaling=dict(type="longrope", short_factor=[1.0, 1.5], long_factor=[2.0, 6.0]))
write("nomic_bert", nomic(), architectures=["NomicBertModel"], activation_function="swiglu", n_embd=W, n_head=HEADS, n_inner=INNER, n_layer=LAYERS,
      n_positions=256, vocab_size=V, type_vocab_size=2, layer_norm_epsilon=1e-12, qkv_proj_bias=False, mlp_fc1_bias=False, mlp_fc2_bias=False,
      prenorm=False, rotary_emb_base=1000, rotary_emb_fraction=1.0, rotary_emb_interleaved=False, rotary_scaling_factor=2,
      max_trained_positions=64, causal=False, use_rms_norm=False, parallel_block=False)

"""Writes clip, resnet_bottleneck, resnet_bottleneck_early, t5 and t5_gated: small models with random weights in Hugging Face's layout, and what
the formulas of their papers give for some inputs, in plain PyTorch and float64.

    python3 generate.py
"""
import json, math, os, struct
import torch
from torch.nn.functional import batch_norm, conv2d, layer_norm, linear as dense, max_pool2d

torch.manual_seed(1)
TYPES = {torch.float32: "F32", torch.int64: "I64"}


def save(path, tensors):
    head, data = {}, b""
    for name in sorted(tensors):
        t = tensors[name].contiguous()
        t = t.float() if t.is_floating_point() else t
        raw = t.numpy().tobytes()
        head[name] = {"dtype": TYPES[t.dtype], "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def write(folder, config, weights, io):
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/config.json", "w") as f:
        json.dump(config, f, indent=2)
    save(folder + "/model.safetensors", weights)
    save(folder + "/io.safetensors", io)


class Weights(dict):
    """Random weights, rounded to float32, made when they are first asked for."""
    def __call__(self, name, *shape, scale=0.3, mean=0.0):
        if name not in self:
            self[name] = (torch.randn(shape) * scale + mean).float().double()
        return self[name]


def linear(w, name, x, out, bias=True):
    y = x @ w(name + ".weight", out, x.shape[-1]).T
    return y + w(name + ".bias", out) if bias else y


def norm(w, name, x, eps):
    n = x.shape[-1]
    return layer_norm(x, [n], w(name + ".weight", n, mean=1.0), w(name + ".bias", n), eps)


def heads(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def attend(q, k, v, scale, bias):
    p = ((q @ k.transpose(-1, -2)) * scale + bias).softmax(-1)
    return (p @ v).transpose(1, 2).flatten(2)


def causal(n):
    return torch.full((n, n), -math.inf).triu(1).double()


def padding(valid):
    return torch.zeros(valid.shape).double().masked_fill(valid == 0, -math.inf)[:, None, None, :]


# CLIP: Radford et al., 2021.

def clip_encoder(w, name, x, layers, n, inner, act, eps, mask):
    width = x.shape[-1]
    for i in range(layers):
        p = f"{name}.encoder.layers.{i}."
        y = norm(w, p + "layer_norm1", x, eps)
        q, k, v = (heads(linear(w, p + f"self_attn.{c}_proj", y, width), n) for c in "qkv")
        x = x + linear(w, p + "self_attn.out_proj", attend(q, k, v, (width // n) ** -0.5, mask), width)
        y = linear(w, p + "mlp.fc1", norm(w, p + "layer_norm2", x, eps), inner)
        x = x + linear(w, p + "mlp.fc2", act(y), width)
    return x


def clip(folder, act_name, act, end):
    text = dict(hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=3, hidden_act=act_name,
                layer_norm_eps=1e-5, vocab_size=50, max_position_embeddings=9, projection_dim=16, model_type="clip_text_model", eos_token_id=end)
    vision = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, hidden_act=act_name,
                  layer_norm_eps=1e-6, image_size=12, patch_size=4, num_channels=3, projection_dim=16, model_type="clip_vision_model")
    w = Weights()
    ids = torch.tensor([[48, 5, 6, 49, 0, 0, 0], [48, 9, 10, 11, 12, 13, 49]])
    valid = torch.tensor([[1, 1, 1, 1, 0, 0, 0], [1] * 7])
    n, t = text["hidden_size"], ids.shape[1]
    e = "text_model.embeddings."
    x = w(e + "token_embedding.weight", 50, n)[ids] + w(e + "position_embedding.weight", 9, n)[:t]
    x = clip_encoder(w, "text_model", x, 2, 3, 40, act, 1e-5, causal(t) + padding(valid))
    x = norm(w, "text_model.final_layer_norm", x, 1e-5)
    at = (ids == 49).int().argmax(-1)
    texts = linear(w, "text_projection", x[torch.arange(2), at], 16, bias=False)

    images = torch.randn(3, 3, 12, 12).float().double()
    n, e = vision["hidden_size"], "vision_model.embeddings."
    x = conv2d(images, w(e + "patch_embedding.weight", n, 3, 4, 4), stride=4).flatten(2).transpose(1, 2)
    x = torch.cat([w(e + "class_embedding", n).expand(3, 1, n), x], 1) + w(e + "position_embedding.weight", 10, n)
    x = norm(w, "vision_model.pre_layrnorm", x, 1e-6)
    x = clip_encoder(w, "vision_model", x, 2, 4, 48, act, 1e-6, torch.zeros(()).double())
    pictures = linear(w, "visual_projection", norm(w, "vision_model.post_layernorm", x[:, 0], 1e-6), 16, bias=False)
    scale = w("logit_scale", scale=0.1, mean=2.0)
    unit = lambda x: x / x.norm(dim=-1, keepdim=True)
    logits = unit(pictures) @ unit(texts).T * scale.exp()
    config = dict(architectures=["CLIPModel"], model_type="clip", projection_dim=16, logit_scale_init_value=2.6592,
                  text_config=text, vision_config=vision, torch_dtype="float32", transformers_version="4.49.0")
    write(folder, config, w, {"in.input_ids": ids, "in.attention_mask": valid, "in.pixel_values": images,
                              "out.text_embeds": texts, "out.image_embeds": pictures, "out.logits_per_image": logits})


# ResNet: He et al., 2016.

def resnet(folder, early):
    w = Weights()
    depths, widths = [1, 2], [8, 16]

    def conv(name, x, out, kernel, stride):
        x = conv2d(x, w(name + ".convolution.weight", out, x.shape[1], kernel, kernel), stride=stride, padding=kernel // 2)
        n = name + ".normalization."
        mean, var = w(n + "running_mean", out), w(n + "running_var", out, scale=0.1, mean=1.0)
        return batch_norm(x, mean, var, w(n + "weight", out, mean=1.0), w(n + "bias", out), eps=1e-5)

    images = torch.randn(2, 3, 37, 33).float().double()
    x = max_pool2d(conv("resnet.embedder.embedder", images, 6, 7, 2).relu(), 3, 2, 1)
    for i, (depth, out) in enumerate(zip(depths, widths)):
        for j in range(depth):
            stride = 2 if j == 0 else 1
            p = f"resnet.encoder.stages.{i}.layers.{j}."
            y = conv(p + "layer.0", x, out // 4, 1, stride if early else 1).relu()
            y = conv(p + "layer.1", y, out // 4, 3, 1 if early else stride).relu()
            y = conv(p + "layer.2", y, out, 1, 1)
            if j == 0:
                x = conv(p + "shortcut", x, out, 1, stride)
            x = (x + y).relu()
    logits = dense(x.mean((2, 3)), w("classifier.1.weight", 5, 16), w("classifier.1.bias", 5))
    config = dict(architectures=["ResNetForImageClassification"], model_type="resnet", depths=depths, hidden_sizes=widths, embedding_size=6,
                  layer_type="bottleneck", hidden_act="relu", downsample_in_first_stage=True, downsample_in_bottleneck=early, num_channels=3)
    write(folder, config, w, {"in.pixel_values": images, "out.logits": logits})


# T5: Raffel et al., 2020. Buckets of distances as in its text: half of them exact, the others
# logarithmic up to the greatest distance.

def bucket(d, both, buckets, most):
    b = 0
    if both:
        buckets //= 2
        b, d = (buckets if d > 0 else 0), abs(d)
    else:
        d = max(-d, 0)
    exact = buckets // 2
    if d >= exact:
        far = math.log(d / exact) / math.log(most / exact)
        d = min(exact + int(far * (buckets - exact)), buckets - 1)
    return b + d


def t5(folder, kind, feed, tied):
    width, kv, inner, layers, out_layers, n, vocab, buckets, most, eps = 24, 10, 36, 2, 3, 3, 40, 8, 12, 1e-6
    w = Weights()

    def rms(name, x):
        return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * w(name + ".weight", width, mean=1.0)

    def project(name, x, memory, bias):
        q, k, v = (heads(linear(w, f"{name}.{c}", y, n * kv, bias=False), n) for c, y in zip("qkv", [x, memory, memory]))
        return linear(w, name + ".o", attend(q, k, v, 1.0, bias), width, bias=False)

    def forward(name, x):
        y = rms(name + ".layer_norm", x)
        p = name + ".DenseReluDense."
        if feed == "relu":
            y = linear(w, p + "wi", y, inner, bias=False).relu()
        else:
            z = linear(w, p + "wi_0", y, inner, bias=False)
            z = 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z ** 3)))
            y = z * linear(w, p + "wi_1", y, inner, bias=False)
        return x + linear(w, p + "wo", y, width, bias=False)

    def biases(name, time, both):
        table = w(name + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", buckets, n, scale=1.0)
        return table[torch.tensor([[bucket(k - q, both, buckets, most) for k in range(time)] for q in range(time)])].permute(2, 0, 1)

    shared = w("shared.weight", vocab, width, scale=1.0)
    ids = torch.randint(2, vocab, (2, 14))
    valid = torch.ones(2, 14, dtype=torch.int64)
    ids[1, 9:], valid[1, 9:] = 0, 0
    x = shared[ids]
    mask = biases("encoder", 14, True) + padding(valid)
    for i in range(layers):
        p = f"encoder.block.{i}.layer."
        y = rms(p + "0.layer_norm", x)
        x = forward(p + "1", x + project(p + "0.SelfAttention", y, y, mask))
    memory = rms("encoder.final_layer_norm", x)

    head = shared if tied else w("lm_head.weight", vocab, width)

    def decode(decoded):
        time = decoded.shape[1]
        x = shared[decoded]
        mask = biases("decoder", time, False) + causal(time)
        for i in range(out_layers):
            p = f"decoder.block.{i}.layer."
            y = rms(p + "0.layer_norm", x)
            x = x + project(p + "0.SelfAttention", y, y, mask)
            x = x + project(p + "1.EncDecAttention", rms(p + "1.layer_norm", x), memory, padding(valid))
            x = forward(p + "2", x)
        x = rms("decoder.final_layer_norm", x)
        return (x * width ** -0.5 if tied else x) @ head.T

    decoded = torch.cat([torch.zeros(2, 1, dtype=torch.int64), torch.randint(2, vocab, (2, 15))], 1)
    logits = decode(decoded)
    greedy = torch.zeros(2, 1, dtype=torch.int64)
    for _ in range(20):
        greedy = torch.cat([greedy, decode(greedy)[:, -1:].argmax(-1)], 1)
    config = dict(architectures=["T5ForConditionalGeneration"], model_type=kind, d_model=width, d_kv=kv, d_ff=inner,
                  num_layers=layers, num_decoder_layers=out_layers, num_heads=n, vocab_size=vocab, relative_attention_num_buckets=buckets,
                  relative_attention_max_distance=most, feed_forward_proj=feed, layer_norm_epsilon=eps, tie_word_embeddings=tied,
                  is_encoder_decoder=True, dropout_rate=0.1, decoder_start_token_id=0, eos_token_id=1, pad_token_id=0, use_cache=True)
    write(folder, config, w, {"in.input_ids": ids, "in.attention_mask": valid, "in.decoder_input_ids": decoded,
                              "out.encoder": memory, "out.logits": logits, "out.greedy": greedy})


clip("clip", "quick_gelu", lambda x: x * torch.sigmoid(1.702 * x), 49)
resnet("resnet_bottleneck", False)
resnet("resnet_bottleneck_early", True)
t5("t5", "t5", "relu", True)
t5("t5_gated", "mt5", "gated-gelu", False)

"""The works in PyTorch, as its users write them."""

import contextlib
import math

import torch
from torch import nn
from torch.nn import functional as F

import peer

device = "cpu"
compiled = lambda f: f  # how a loss runs: peers that compile replace it


def floats(inputs, scale, *shape):
    return torch.as_tensor(inputs.floats(scale, *shape), device=device)


def ints(inputs, n, *shape):
    return torch.as_tensor(inputs.ints(n, *shape), device=device)


def matmul(n):
    return binary(torch.matmul, n, n)


def unary(f, *shape, scale=4):
    def setup(inputs):
        x = floats(inputs, scale, *shape)
        return lambda: f(x)

    return setup


def binary(f, *shape):
    def setup(inputs):
        a, b = floats(inputs, 1, *shape), floats(inputs, 1, *shape)
        return lambda: f(a, b)

    return setup


def chain(a, c):
    return torch.relu((a * c + a) * 0.5 - c)


def layernorm(inputs):
    x, weight, bias = floats(inputs, 4, 4096, 4096), floats(inputs, 1, 4096), floats(inputs, 1, 4096)
    return lambda: F.layer_norm(x, (4096,), weight, bias)


def conv(inputs):
    x, weight = floats(inputs, 1, 32, 64, 56, 56), floats(inputs, 1, 64, 64, 3, 3)
    return lambda: F.conv2d(x, weight, padding=1)


def trained(model, loss, rule=torch.optim.Adam, rate=1e-3, half=None):
    """A function that makes a training step, in half if it is a type, and returns the loss before it."""
    fused = {"fused": True, "capturable": True} if device != "cpu" else {}
    loss, optimizer = compiled(loss), rule(model.parameters(), lr=rate, **fused)

    def run():
        with torch.enable_grad():
            with torch.autocast(torch.device(device).type, half) if half else contextlib.nullcontext():
                value = loss()
            optimizer.zero_grad(set_to_none=True)
            value.backward()
        optimizer.step()
        return value.detach()

    return run


def linear(inputs, width_in, width_out):
    layer = nn.Linear(width_in, width_out, device=device)
    with torch.no_grad():
        layer.weight.copy_(floats(inputs, 1 / math.sqrt(width_in), width_out, width_in))
        layer.bias.zero_()
    return layer


def mlp(batch):
    def setup(inputs):
        x, y = floats(inputs, 1, batch, 784), ints(inputs, 10, batch)
        model = nn.Sequential(
            linear(inputs, 784, 512), nn.ReLU(), linear(inputs, 512, 512), nn.ReLU(), linear(inputs, 512, 10)
        )
        return trained(model, lambda: F.cross_entropy(model(x), y))

    return setup


class Size:
    def __init__(self, layers, width, heads, length, batch, vocabulary):
        self.layers, self.width, self.heads = layers, width, heads
        self.length, self.batch, self.vocabulary = length, batch, vocabulary


def attention(q, k, v, causal):
    if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(q.size(-1)))
    if causal:
        future = torch.ones(q.size(-2), k.size(-2), device=device).triu(1).bool()
        scores = scores.masked_fill(future, float("-inf"))
    return F.softmax(scores, dim=-1) @ v


def layer_norm(width):
    return nn.LayerNorm(width, device=device)


class Block(nn.Module):
    def __init__(self, inputs, size):
        super().__init__()
        width, self.heads = size.width, size.heads
        self.norm1, self.norm2 = layer_norm(width), layer_norm(width)
        self.qkv, self.out = linear(inputs, width, 3 * width), linear(inputs, width, width)
        self.up, self.down = linear(inputs, width, 4 * width), linear(inputs, 4 * width, width)

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = (
            y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.norm1(x)).split(width, dim=2)
        )
        y = attention(q, k, v, causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view(b, t, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, inputs, size, tied):
        super().__init__()
        self.tokens = nn.Embedding.from_pretrained(floats(inputs, 0.1, size.vocabulary, size.width), freeze=False)
        self.positions = nn.Parameter(floats(inputs, 0.1, size.length, size.width))
        self.blocks = nn.Sequential(*(Block(inputs, size) for _ in range(size.layers)))
        self.norm = layer_norm(size.width)
        self.head = None if tied else linear(inputs, size.width, size.vocabulary)

    def forward(self, ids):
        x = self.norm(self.blocks(self.tokens(ids) + self.positions))
        return self.head(x) if self.head else x @ self.tokens.weight.t()


def transformer(size, tied=False, **settings):
    def setup(inputs):
        shape = size.batch, size.length
        ids, targets = ints(inputs, size.vocabulary, *shape), ints(inputs, size.vocabulary, *shape)
        model = Transformer(inputs, size, tied)
        return trained(
            model, lambda: F.cross_entropy(model(ids).view(-1, size.vocabulary), targets.view(-1)), **settings
        )

    return setup


def lstm(batch, time, width_in, width, layers, bidirectional):
    def setup(inputs):
        x = floats(inputs, 1, batch, time, width_in)
        model = nn.LSTM(width_in, width, layers, batch_first=True, bidirectional=bidirectional)
        with torch.no_grad():
            for p in model.parameters():  # layer by layer, direction by direction
                p.copy_(floats(inputs, 1 / math.sqrt(width), *p.shape))
        return trained(model, lambda: model(x)[0].square().mean())

    return setup


works = {f"matmul/{n}": (matmul(n), 1) for n in (64, 256, 512, 1024, 2048)}
for size, n in (("1M", 1 << 20), ("16M", 16 << 20)):
    works["exp/" + size] = unary(torch.exp, n), 1
    works["mul/" + size] = binary(torch.mul, n), 1
    works["sum/" + size] = unary(torch.sum, n, scale=1), 1
works |= {
    "tanh/16M": (unary(torch.tanh, 16 << 20), 1),
    "gelu/16M": (unary(F.gelu, 16 << 20), 1),
    "chain/16M": (binary(chain, 16 << 20), 1),
    "softmax/4096": (unary(lambda x: torch.softmax(x, dim=1), 4096, 4096), 1),
    "layernorm/4096": (layernorm, 1),
    # x.t() + 1 would keep the order of x in memory and transpose nothing.
    "transpose/4096": (unary(lambda x: x.t().contiguous() + 1, 4096, 4096, scale=1), 1),
    "conv/32x64x56x56": (conv, 1),
    "transformer": (transformer(Size(4, 128, 8, 128, 4, 256)), 4),
    "lstm/1000": (lstm(8, 1000, 32, 64, 1, False), 4),
    "bilstm/100": (lstm(64, 100, 256, 256, 2, True), 4),
}
works |= {f"mlp/{batch}": (mlp(batch), 4) for batch in (64, 256, 1024)}

if __name__ == "__main__":
    with torch.no_grad():
        peer.main("PyTorch " + torch.__version__, works, torch.set_num_threads)

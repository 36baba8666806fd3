"""The works in PyTorch, as its users write them."""

import math

import torch
from torch import nn
from torch.nn import functional as F

import peer


def floats(inputs, scale, *shape):
    return torch.from_numpy(inputs.floats(scale, *shape))


def ints(inputs, n, *shape):
    return torch.from_numpy(inputs.ints(n, *shape))


def matmul(n):
    def setup(inputs):
        a, b = floats(inputs, 1, n, n), floats(inputs, 1, n, n)
        return lambda: a @ b

    return setup


def unary(f, *shape, scale=4):
    def setup(inputs):
        x = floats(inputs, scale, *shape)
        return lambda: f(x)

    return setup


def mul(n):
    def setup(inputs):
        a, b = floats(inputs, 1, n), floats(inputs, 1, n)
        return lambda: a * b

    return setup


def chain(inputs):
    a, c = floats(inputs, 1, 16 << 20), floats(inputs, 1, 16 << 20)
    return lambda: torch.relu((a * c + a) * 0.5 - c)


def layernorm(inputs):
    x, weight, bias = floats(inputs, 4, 4096, 4096), floats(inputs, 1, 4096), floats(inputs, 1, 4096)
    return lambda: F.layer_norm(x, (4096,), weight, bias)


def conv(inputs):
    x, weight = floats(inputs, 1, 32, 64, 56, 56), floats(inputs, 1, 64, 64, 3, 3)
    return lambda: F.conv2d(x, weight, padding=1)


def trained(model, loss):
    """A function that does a step of Adam and returns the loss before it."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def run():
        with torch.enable_grad():
            value = loss()
            optimizer.zero_grad(set_to_none=True)
            value.backward()
        optimizer.step()
        return value.detach()

    return run


def linear(inputs, width_in, width_out):
    layer = nn.Linear(width_in, width_out)
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


LAYERS, WIDTH, HEADS, LENGTH, BATCH, VOCABULARY = 4, 128, 8, 128, 4, 256


class Block(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = linear(inputs, WIDTH, 3 * WIDTH), linear(inputs, WIDTH, WIDTH)
        self.up, self.down = linear(inputs, WIDTH, 4 * WIDTH), linear(inputs, 4 * WIDTH, WIDTH)
        self.register_buffer("past", torch.tril(torch.ones(LENGTH, LENGTH)).bool())

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = (
            y.view(b, t, HEADS, width // HEADS).transpose(1, 2) for y in self.qkv(self.norm1(x)).split(width, dim=2)
        )
        scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(width // HEADS))
        p = F.softmax(scores.masked_fill(~self.past, float("-inf")), dim=-1)
        x = x + self.out((p @ v).transpose(1, 2).contiguous().view(b, t, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.tokens = nn.Embedding.from_pretrained(floats(inputs, 0.1, VOCABULARY, WIDTH), freeze=False)
        self.positions = nn.Parameter(floats(inputs, 0.1, LENGTH, WIDTH))
        self.blocks = nn.Sequential(*(Block(inputs) for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), linear(inputs, WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.positions)))


def transformer(inputs):
    ids, targets = ints(inputs, VOCABULARY, BATCH, LENGTH), ints(inputs, VOCABULARY, BATCH, LENGTH)
    model = Transformer(inputs)
    return trained(model, lambda: F.cross_entropy(model(ids).view(-1, VOCABULARY), targets.view(-1)))


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
    works["mul/" + size] = mul(n), 1
    works["sum/" + size] = unary(torch.sum, n, scale=1), 1
works |= {
    "tanh/16M": (unary(torch.tanh, 16 << 20), 1),
    "gelu/16M": (unary(F.gelu, 16 << 20), 1),
    "chain/16M": (chain, 1),
    "softmax/4096": (unary(lambda x: torch.softmax(x, dim=1), 4096, 4096), 1),
    "layernorm/4096": (layernorm, 1),
    # x.t() + 1 would keep the order of x in memory and transpose nothing.
    "transpose/4096": (unary(lambda x: x.t().contiguous() + 1, 4096, 4096, scale=1), 1),
    "conv/32x64x56x56": (conv, 1),
    "transformer": (transformer, 4),
    "lstm/1000": (lstm(8, 1000, 32, 64, 1, False), 4),
    "bilstm/100": (lstm(64, 100, 256, 256, 2, True), 4),
}
works |= {f"mlp/{batch}": (mlp(batch), 4) for batch in (64, 256, 1024)}

if __name__ == "__main__":
    with torch.no_grad():
        peer.main("PyTorch " + torch.__version__, works, torch.set_num_threads)

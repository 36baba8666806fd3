"""The program examples/gpt in PyTorch, as its users write it. Prints tokens per second.

    go test -run xxx -bench . ./examples/gpt

runs both. Alone:

    python3 gpt.py --text go.txt --threads 2 --steps 30
"""

import argparse
import math
import time

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads, length, dropout, attention):
        super().__init__()
        self.heads, self.dropout, self.attention = heads, nn.Dropout(dropout), attention
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.register_buffer("future", torch.ones(length, length).triu(1).bool())

    def attend(self, x):
        b, t, width = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(width, dim=2))
        if self.attention == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout.p)
        else:
            scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(k.size(-1)))
            p = F.softmax(scores.masked_fill(self.future[:t, :t], float("-inf")), dim=-1)
            y = self.dropout(p) @ v
        return self.out(y.transpose(1, 2).contiguous().view(b, t, width))

    def forward(self, x):
        x = x + self.dropout(self.attend(self.norm1(x)))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))


def adamw(parameters):
    """The optimizer, in one kernel for all parameters if this version has it for the CPU."""
    settings = dict(lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)
    try:
        return torch.optim.AdamW(parameters, fused=True, **settings)
    except (TypeError, RuntimeError):
        return torch.optim.AdamW(parameters, **settings)


class GPT(nn.Module):
    def __init__(self, vocabulary, length, layers, width, heads, dropout, attention):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        for e in (self.tokens, self.positions):
            nn.init.normal_(e.weight, std=0.02)
        self.blocks = nn.Sequential(*(Block(width, heads, length, dropout, attention) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.size(1)))
        return self.head(self.norm(self.blocks(x)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--text", required=True)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--steps", type=int, default=30, help="steps that are timed, after 5 others")
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--dropout", type=float, default=0.1)
    sdpa = hasattr(F, "scaled_dot_product_attention")
    p.add_argument("--attention", choices=["sdpa", "product"], default="sdpa" if sdpa else "product")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    with open(a.text, encoding="utf-8") as f:
        text = f.read()
    position = {c: i for i, c in enumerate(sorted(set(text)))}
    ids = torch.tensor([position[c] for c in text])
    length = 128
    model = GPT(len(position), length, 4, 128, 4, a.dropout, a.attention)
    optimizer = adamw(list(model.parameters()))
    start = 0
    for step in range(5 + a.steps):
        if step == 5:
            start = time.perf_counter()
        at = torch.randint(len(ids) - length, (a.batch,))
        x, y = (torch.stack([ids[i + k : i + k + length] for i in at]) for k in (0, 1))
        loss = F.cross_entropy(model(x).view(-1, len(position)), y.view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
    seconds = time.perf_counter() - start
    print(f"{a.steps * a.batch * length / seconds:.0f} tokens/s, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()

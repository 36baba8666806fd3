"""The works of several ranks in PyTorch, as its users write them: DDP, and FSDP for what no GPU holds alone."""

import argparse
import json
import math
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

import peer
import pytorch_peer
from pytorch_gpu_peer import Inputs, gpt2_small
from pytorch_peer import Size, Transformer, attention, trained


def all_reduce(length):
    def setup(inputs, ranks):
        x = torch.ones(length, device=pytorch_peer.device)

        def run():
            dist.all_reduce(x, dist.ReduceOp.AVG)  # which stays 1
            return x

        return run

    return setup


def gpt2(half):
    def setup(inputs, ranks):
        size = gpt2_small
        ids, targets = (inputs.ints(size.vocabulary, size.batch, size.length) for _ in range(2))
        model = Transformer(inputs, size, tied=True)
        if ranks > 1:
            model = DistributedDataParallel(model, device_ids=[pytorch_peer.device], gradient_as_bucket_view=True)
        loss = lambda: F.cross_entropy(model(ids).view(-1, size.vocabulary), targets.view(-1))
        return trained(model, loss, rule=torch.optim.AdamW, rate=1e-4, half=half)

    return setup


class LlamaBlock(nn.Module):
    def __init__(self, weight, width, inner, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = (nn.RMSNorm(width, eps=1e-6, device=pytorch_peer.device) for _ in range(2))
        self.q, self.k, self.v, self.o = (linear(weight, width, width) for _ in range(4))
        self.gate, self.up, self.down = linear(weight, width, inner), linear(weight, width, inner), linear(weight, inner, width)

    def forward(self, x, cos, sin):
        b, t, width = x.shape
        y = self.norm1(x)
        q, k, v = (f(y).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = attention(turned(q, cos, sin), turned(k, cos, sin), v, causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, width))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def turned(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def linear(weight, width, out):
    layer = nn.Linear(width, out, bias=False, device="meta")
    layer.weight = nn.Parameter(weight(out, width))
    return layer


class Llama(nn.Module):
    def __init__(self, inputs, size, inner):
        super().__init__()
        table, count = inputs.floats(1, max(inner, size.vocabulary) * size.width), 0

        def weight(out, width):
            nonlocal count
            count += 1
            return (table[: out * width] * ((1 + count / 1024) / math.sqrt(width))).view(out, width)

        self.tokens = nn.Embedding.from_pretrained(weight(size.vocabulary, size.width), freeze=False)
        self.head = linear(weight, size.width, size.vocabulary)
        self.blocks = nn.ModuleList(LlamaBlock(weight, size.width, inner, size.heads) for _ in range(size.layers))
        self.norm = nn.RMSNorm(size.width, eps=1e-6, device=pytorch_peer.device)
        rates = 10000 ** (-torch.arange(0, size.width // size.heads, 2, device=pytorch_peer.device) * size.heads / size.width)
        angles = torch.outer(torch.arange(size.length, device=pytorch_peer.device), rates)
        self.cos, self.sin = angles.cos().bfloat16(), angles.sin().bfloat16()

    def forward(self, ids):
        x = self.tokens(ids)
        for b in self.blocks:
            x = checkpoint(b, x, self.cos, self.sin, use_reentrant=False)
        return self.head(self.norm(x))


def llama(size, inner):
    def setup(inputs, ranks):
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

        ids, targets = (inputs.ints(size.vocabulary, size.batch, size.length) for _ in range(2))
        model = Llama(inputs, size, inner)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
        for m in (*model.blocks, model):
            fully_shard(m, mp_policy=policy)
        loss = lambda: F.cross_entropy(model(ids).view(-1, size.vocabulary).float(), targets.view(-1))
        return trained(model, loss, rule=torch.optim.AdamW, rate=1e-5)

    return setup


works = {f"allreduce/{name}": (all_reduce(size // 4), 1) for name, size in (("4KiB", 1 << 12), ("1MiB", 1 << 20), ("16MiB", 1 << 24), ("256MiB", 1 << 28), ("1GiB", 1 << 30))}
works |= {"gpt2": (gpt2(None), 4), "gpt2/bf16": (gpt2(torch.bfloat16), 4), "zero2/llama7b/bf16": (llama(Size(32, 4096, 32, 1024, 8, 32000), 11008), 4)}


def measure(run, seconds, ranks):
    """The median of three times of a run, the slowest rank's, of as many runs on all ranks as fit into the seconds."""

    def timed(n):
        torch.cuda.synchronize()
        dist.barrier()
        start = time.perf_counter()
        for _ in range(n):
            run()
        torch.cuda.synchronize()
        t = torch.tensor([(time.perf_counter() - start) / n], device=pytorch_peer.device)
        dist.all_reduce(t, dist.ReduceOp.MAX)
        return t.item()

    n = min(max(3, int(seconds / timed(4))), 1000)
    return sorted(timed(n) for _ in range(3))[1]


def rank(number, ranks, port, seconds, names):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    pytorch_peer.device = f"cuda:{number}"
    torch.cuda.set_device(number)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    dist.init_process_group("nccl", rank=number, world_size=ranks)
    for name in names:
        setup, runs = works[name]
        result = {"work": name}
        try:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            run = setup(Inputs(), ranks)
            result["sample"] = [s for _ in range(runs) for s in peer.sample(run())]
            result |= {"seconds": measure(run, seconds, ranks), "memory": torch.cuda.max_memory_allocated()}
        except Exception as e:  # out of memory; an operation that this version of the library lacks
            result["error"] = f"{type(e).__name__}: {e}".split("\n")[0]
        run = None
        if number == 0:
            print(json.dumps(result), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--about", action="store_true")
    p.add_argument("--ranks", type=int, default=1)
    p.add_argument("--device", default="cuda")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seconds", type=float, default=0.2)
    p.add_argument("works", nargs="*")
    a = p.parse_args()
    found = torch.cuda.device_count()
    if found < a.ranks:
        raise SystemExit(f"PyTorch {torch.__version__} sees {found} GPUs of NVIDIA, and there are {a.ranks} ranks")
    if a.about:
        nccl = ".".join(map(str, torch.cuda.nccl.version()))
        print(json.dumps({"about": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, NCCL {nccl}", "works": list(works)}))
    else:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        torch.multiprocessing.spawn(rank, (a.ranks, port, a.seconds, a.works), nprocs=a.ranks)

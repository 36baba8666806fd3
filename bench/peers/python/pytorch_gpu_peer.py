"""The works of GPUs in PyTorch, as its users write them."""

import gc
import math

import torch

import peer
import pytorch_peer
from pytorch_peer import Size, attention, binary, chain, conv, floats, layernorm, matmul, mlp, transformer, unary


class Inputs(peer.Inputs):
    """The inputs, made by the GPU."""

    dtype = torch.float32

    def _hash(self, n):
        self.seed += 1
        low = 0xFFFFFFFF  # of 64 bits
        h = torch.arange(n, device=pytorch_peer.device) + (self.seed * 0x9E3779B9 & low) & low
        h ^= h >> 16
        h = h * 0x85EBCA6B & low
        h ^= h >> 13
        h = h * 0xC2B2AE35 & low
        return h ^ h >> 16

    def floats(self, scale, *shape):
        return (((self._hash(math.prod(shape)) >> 8).float() * 2**-23 - 1) * scale).view(shape).to(self.dtype)

    def ints(self, n, *shape):
        return (self._hash(math.prod(shape)) % n).view(shape)


class GPU(peer.CPU):
    inputs = Inputs

    def open(self, name):
        pytorch_peer.device = name
        if name == "cpu":  # for tests
            return ""
        if not torch.cuda.is_available():
            raise SystemExit(f"PyTorch {torch.__version__} sees no GPU of NVIDIA")
        torch.cuda.set_device(torch.device(name).index or 0)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        return f", CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}"

    def clear(self):
        gc.collect()
        torch.cuda.empty_cache()
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()

    def sync(self):
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    def memory(self):
        return {"memory": torch.cuda.max_memory_allocated()} if torch.cuda.is_available() else {}


def halved(dtype, setup):
    def start(inputs):
        inputs.dtype = dtype
        return setup(inputs)

    return start


def heads(inputs, width):
    return floats(inputs, 1, 4, 16, 4096, width)


def attend(width, causal):
    def setup(inputs):
        q, k, v = (heads(inputs, width) for _ in range(3))
        return lambda: attention(q, k, v, causal)

    return halved(torch.bfloat16, setup)


def attend_backward(width, causal):
    def setup(inputs):
        q, k, v = (heads(inputs, width).requires_grad_() for _ in range(3))
        cotangent = heads(inputs, width)

        def run():
            with torch.enable_grad():
                y = attention(q, k, v, causal)
            return torch.autograd.grad(y, (q, k, v), cotangent)[0]

        return run

    return halved(torch.bfloat16, setup)


def softmax(x):
    return torch.softmax(x, dim=1)


def cross_entropy(rows, classes):
    def setup(inputs):
        logits, labels = floats(inputs, 4, rows, classes).requires_grad_(), inputs.ints(classes, rows)
        mean = pytorch_peer.compiled(torch.nn.functional.cross_entropy)

        def run():
            with torch.enable_grad():
                loss = mean(logits, labels)
            return torch.autograd.grad(loss, logits)[0]

        return run

    return setup


gpu_transformer = Size(4, 256, 8, 256, 16, 256)
gpt2_small = Size(12, 768, 12, 1024, 8, 50304)
gpt2 = {"tied": True, "rule": torch.optim.AdamW, "rate": 1e-4}  # with weight decay of 0.01
n = 64 << 20

works = {f"matmul/{side}": matmul(side) for side in (1024, 2048, 4096, 8192)}
for side in (4096, 8192):
    works[f"matmul/{side}/bf16"] = halved(torch.bfloat16, matmul(side))
    works[f"matmul/{side}/f16"] = halved(torch.float16, matmul(side))
for width in (64, 128):
    works[f"attention/{width}"] = attend(width, False)
    works[f"attention/{width}/causal"] = attend(width, True)
    works[f"attention/{width}/backward"] = attend_backward(width, False)
    works[f"attention/{width}/causal/backward"] = attend_backward(width, True)
works |= {
    "add/64M": binary(torch.add, n),
    "mul/64M": binary(torch.mul, n),
    "exp/64M": unary(torch.exp, n),
    "sum/64M": unary(torch.sum, n, scale=1),
    "chain/64M": binary(chain, n),
    "softmax/4096": unary(softmax, 4096, 4096),
    "layernorm/4096": layernorm,
    "softmax/65536x1024": unary(softmax, 65536, 1024),
    "softmax/8192x50304": unary(softmax, 8192, 50304),
    "crossentropy/8192x50304": cross_entropy(8192, 50304),
    "argmax/4096": unary(lambda x: x.argmax(1), 4096, 4096, scale=1),
    "rowsums/4096": unary(lambda x: x.sum(1), 4096, 4096, scale=1),
    "columnsums/4096": unary(lambda x: x.sum(0), 4096, 4096, scale=1),
    "conv/32x64x56x56": conv,
    "exp/1M": unary(torch.exp, 1 << 20),
}
steps = {f"mlp/{batch}": mlp(batch) for batch in (64, 256, 1024)} | {
    "transformer": transformer(gpu_transformer),
    "transformer/bf16": transformer(gpu_transformer, half=torch.bfloat16),
    "gpt2": transformer(gpt2_small, **gpt2),
    "gpt2/bf16": transformer(gpt2_small, **gpt2, half=torch.bfloat16),
}



def main(about, works=works, steps=steps):
    table = {name: (w, 1) for name, w in works.items()} | {name: (w, 4) for name, w in steps.items()}
    with torch.no_grad():
        peer.main(f"PyTorch {torch.__version__}{about}", table, torch.set_num_threads, GPU())


if __name__ == "__main__":
    main("")

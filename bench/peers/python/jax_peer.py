"""Row work and training steps of GPUs in JAX, each one function under jax.jit."""

import math
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

import peer


class Inputs(peer.Inputs):
    arrays, integer = jnp, np.int32


class GPU(peer.CPU):
    inputs = Inputs

    def __init__(self):
        self.last = None  # result: work runs in order

    def open(self, name):
        jax.config.update("jax_default_matmul_precision", "highest")
        if name == "cpu":  # for tests
            jax.config.update("jax_platforms", "cpu")
            return ""
        device = jax.devices("cuda")[int(name.partition(":")[2] or 0)]
        jax.config.update("jax_default_device", device)
        return f", {device.device_kind}"

    def clear(self):
        self.last = None
        jax.clear_caches()

    def sync(self):
        jax.block_until_ready(self.last)


gpu = GPU()


def running(step):
    """A function that remembers its result, so that sync can wait for it."""

    def run():
        gpu.last = step()
        return gpu.last

    return run


def unary(f, *shape, scale=4):
    def setup(inputs):
        x, g = inputs.floats(scale, *shape), jax.jit(f)
        return running(lambda: g(x))

    return setup


def binary(f, *shape):
    def setup(inputs):
        a, b, g = inputs.floats(1, *shape), inputs.floats(1, *shape), jax.jit(f)
        return running(lambda: g(a, b))

    return setup


def chain(a, c):
    return jax.nn.relu((a * c + a) * 0.5 - c)


def norm(x, weight, bias):
    y = x.astype(jnp.float32)
    y = y - y.mean(-1, keepdims=True)
    y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-5)
    return (y * weight + bias).astype(x.dtype)


def layernorm(inputs):
    x, weight, bias, g = inputs.floats(4, 4096, 4096), inputs.floats(1, 4096), inputs.floats(1, 4096), jax.jit(norm)
    return running(lambda: g(x, weight, bias))


def mean_cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1).mean()


def cross_entropy(rows, classes):
    def setup(inputs):
        logits, labels = inputs.floats(4, rows, classes), inputs.ints(classes, rows)
        g = jax.jit(jax.value_and_grad(mean_cross_entropy))
        return running(lambda: g(logits, labels)[1])

    return setup


def trained(parameters, loss, x, y, rate=1e-3, decay=0.0):
    """A function that makes a training step by Adam, and returns the loss before it."""

    def step(p, m, v, t, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        c, d = 1 - 0.9**t, 1 - 0.999**t
        p = jax.tree.map(lambda p, m, v: p * (1 - rate * decay) - rate * (m / c) / (jnp.sqrt(v / d) + 1e-8), p, m, v)
        return value, p, m, v, t

    step = jax.jit(step, donate_argnums=(0, 1, 2, 3))
    state = [parameters, jax.tree.map(jnp.zeros_like, parameters), jax.tree.map(jnp.zeros_like, parameters), jnp.float32(0)]

    def run():
        value, *state[:] = step(*state, x, y)
        return value

    return running(run)


def linear(inputs, width_in, width_out):
    return inputs.floats(1 / math.sqrt(width_in), width_out, width_in), jnp.zeros(width_out, jnp.float32)


def apply(layer, x):
    weight, bias = layer
    return x @ weight.T + bias


def mlp(batch):
    def setup(inputs):
        x, y = inputs.floats(1, batch, 784), inputs.ints(10, batch)
        layers = [linear(inputs, 784, 512), linear(inputs, 512, 512), linear(inputs, 512, 10)]

        def loss(layers, x, y):
            for layer in layers[:-1]:
                x = jax.nn.relu(apply(layer, x))
            return mean_cross_entropy(apply(layers[-1], x), y)

        return trained(layers, loss, x, y)

    return setup


def block(inputs, width):
    norms = {n: (jnp.ones(width, jnp.float32), jnp.zeros(width, jnp.float32)) for n in ("norm1", "norm2")}
    widths = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    return norms | {n: linear(inputs, *w) for n, w in widths.items()}


def transformer(layers, width, heads, length, batch, vocabulary, tied=False, half=None, **settings):
    def setup(inputs):
        ids, targets = inputs.ints(vocabulary, batch, length), inputs.ints(vocabulary, batch, length)
        model = {"tokens": inputs.floats(0.1, vocabulary, width), "positions": inputs.floats(0.1, length, width)}
        model["blocks"] = [block(inputs, width) for _ in range(layers)]
        model["norm"] = jnp.ones(width, jnp.float32), jnp.zeros(width, jnp.float32)
        if not tied:
            model["head"] = linear(inputs, width, vocabulary)
        flash = "cudnn" if half and jax.default_backend() == "gpu" else None

        def attend(b, x):
            q, k, v = jnp.moveaxis(apply(b["qkv"], x).reshape(batch, length, 3, heads, width // heads), 2, 0)
            y = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation=flash)
            return apply(b["out"], y.reshape(batch, length, width))

        def loss(model, ids, targets):
            if half:
                model = jax.tree.map(lambda p: p.astype(half), model)
            x = model["tokens"][ids] + model["positions"]
            for b in model["blocks"]:
                x = x + attend(b, norm(x, *b["norm1"]))
                x = x + apply(b["down"], jax.nn.gelu(apply(b["up"], norm(x, *b["norm2"])), approximate=False))
            x = norm(x, *model["norm"])
            logits = x @ model["tokens"].T if tied else apply(model["head"], x)
            return mean_cross_entropy(logits.astype(jnp.float32), targets)

        def precise(*arguments):  # halves have products of their own
            with jax.default_matmul_precision("default" if half else "highest"):
                return loss(*arguments)

        return trained(model, precise, ids, targets, **settings)

    return setup


n = 64 << 20
works = {
    "add/64M": binary(jnp.add, n),
    "mul/64M": binary(jnp.multiply, n),
    "exp/64M": unary(jnp.exp, n),
    "sum/64M": unary(jnp.sum, n, scale=1),
    "chain/64M": binary(chain, n),
    "softmax/4096": unary(jax.nn.softmax, 4096, 4096),
    "layernorm/4096": layernorm,
    "softmax/65536x1024": unary(jax.nn.softmax, 65536, 1024),
    "softmax/8192x50304": unary(jax.nn.softmax, 8192, 50304),
    "crossentropy/8192x50304": cross_entropy(8192, 50304),
    "argmax/4096": unary(lambda x: x.argmax(1), 4096, 4096, scale=1),
    "rowsums/4096": unary(lambda x: x.sum(1), 4096, 4096, scale=1),
    "columnsums/4096": unary(lambda x: x.sum(0), 4096, 4096, scale=1),
    "exp/1M": unary(jnp.exp, 1 << 20),
}
small, gpt2 = (4, 256, 8, 256, 16, 256), (12, 768, 12, 1024, 8, 50304)
tied = {"tied": True, "rate": 1e-4, "decay": 0.01}
steps = {f"mlp/{batch}": mlp(batch) for batch in (64, 256, 1024)} | {
    "transformer": transformer(*small),
    "transformer/bf16": transformer(*small, half=jnp.bfloat16),
    "gpt2": transformer(*gpt2, **tied),
    "gpt2/bf16": transformer(*gpt2, half=jnp.bfloat16, **tied),
}

if __name__ == "__main__":
    table = {name: (w, 1) for name, w in works.items()} | {name: (w, 4) for name, w in steps.items()}
    peer.main("JAX " + jax.__version__, table, device=gpu)

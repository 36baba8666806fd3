"""The works in NumPy, as its users write them."""

import numpy as np

import peer


def matmul(n):
    def setup(inputs):
        a, b = inputs.floats(1, n, n), inputs.floats(1, n, n)
        return lambda: a @ b

    return setup


def unary(f, n, scale=4):
    def setup(inputs):
        x = inputs.floats(scale, n)
        return lambda: f(x)

    return setup


def mul(n):
    def setup(inputs):
        a, b = inputs.floats(1, n), inputs.floats(1, n)
        return lambda: a * b

    return setup


def chain(inputs):
    a, c = inputs.floats(1, 16 << 20), inputs.floats(1, 16 << 20)
    return lambda: np.maximum((a * c + a) * np.float32(0.5) - c, 0)


def softmax(inputs):
    x = inputs.floats(4, 4096, 4096)

    def run():
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return run


def layernorm(inputs):
    x, weight, bias = inputs.floats(4, 4096, 4096), inputs.floats(1, 4096), inputs.floats(1, 4096)

    def run():
        centred = x - x.mean(axis=1, keepdims=True)
        variance = np.square(centred).mean(axis=1, keepdims=True)
        return centred / np.sqrt(variance + np.float32(1e-5)) * weight + bias

    return run


def transpose(inputs):
    x = inputs.floats(1, 4096, 4096)
    # x.T + 1 would keep the order of x in memory and transpose nothing.
    return lambda: np.ascontiguousarray(x.T) + np.float32(1)


works = {f"matmul/{n}": (matmul(n), 1) for n in (64, 256, 512, 1024, 2048)}
for size, n in (("1M", 1 << 20), ("16M", 16 << 20)):
    works["exp/" + size] = unary(np.exp, n), 1
    works["mul/" + size] = mul(n), 1
    works["sum/" + size] = unary(np.sum, n, 1), 1
works |= {
    "tanh/16M": (unary(np.tanh, 16 << 20), 1),
    "chain/16M": (chain, 1),
    "softmax/4096": (softmax, 1),
    "layernorm/4096": (layernorm, 1),
    "transpose/4096": (transpose, 1),
}

if __name__ == "__main__":
    peer.main("NumPy " + np.__version__, works)

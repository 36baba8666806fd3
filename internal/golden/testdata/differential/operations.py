"""The operations of the test's table (ops_test.go), as PyTorch computes them.

A value of a floating-point type is a float64 here, whatever its type in the
case: so references are exact but for rounding to float64.
"""

import torch
import torch.nn.functional as F


def axes_of(x, a):
    axes = a.get("axes")
    return list(range(x.dim())) if axes is None else [i % x.dim() for i in axes]


def keep(a):
    """Reduced axes are kept unless the case says otherwise; without axes, none are."""
    return a.get("keepdims", True) and "axes" in a


def reduction(f):
    """f(x, axes, keepdims) of a tensor that has axes."""

    def run(ins, a):
        x = ins[0]
        if x.dim() == 0:
            return f(x.reshape(1), [0], False)
        return f(x, axes_of(x, a), keep(a))

    return run


def summed(x, axes, keepdims):
    if x.is_floating_point():
        return x.sum(axes, keepdim=keepdims)
    narrow = x.dtype in (torch.bool, torch.uint8, torch.int8)
    return x.sum(axes, keepdim=keepdims, dtype=torch.int32 if narrow else x.dtype)


def one_by_one(f):
    """A reduction that PyTorch has for one axis at a time."""

    def run(x, axes, keepdims):
        for i in axes:
            x = f(x, i)
        return x if keepdims else x.reshape([n for i, n in enumerate(x.shape) if i not in axes])

    return run


def extreme(f):
    def run(x, axes, keepdims):
        if x.dtype == torch.bool:
            return f(x.to(torch.uint8), axes, keepdim=keepdims).to(torch.bool)
        return f(x, axes, keepdim=keepdims)

    return run


def unary(f):
    return lambda ins, a: f(ins[0])


def binary(f):
    """f of two tensors, or of one and the number "other"."""

    def run(ins, a):
        x = ins[0]
        y = ins[1] if len(ins) == 2 else torch.tensor(a["other"], dtype=x.dtype)
        return f(x, y)

    return run


def along(f):
    return lambda ins, a: f(ins[0], a["axis"])


def positive(i, n):
    i = i.long()
    return torch.where(i < 0, i + n, i)


def sliced(ins, a):
    x = ins[0]
    for axis, (start, stop, step) in enumerate(a["slices"]):
        at = list(range(x.shape[axis]))[slice(start, stop, step)]
        x = x.index_select(axis, torch.tensor(at, dtype=torch.long))
    return x


def padded(ins, a):
    flat = [n for pair in reversed(a["padding"]) for n in pair]
    return F.pad(ins[0], flat)


def product(x, y):
    """The matrix product; of integers it wraps, of uint8 and int8 it is int32."""
    if x.is_floating_point():
        return x @ y
    if x.dtype in (torch.uint8, torch.int8):
        x, y = x.int(), y.int()
    return (x.unsqueeze(-1) * y.unsqueeze(-3)).sum(-2, dtype=x.dtype)


def take_along(ins, a):
    x, i = ins
    return x.gather(a["axis"], positive(i, x.shape[a["axis"]]))


def scatter(how):
    def run(ins, a):
        x, i, src = ins
        i = positive(i, x.shape[a["axis"]])
        if how == "sum":
            return x.scatter_add(a["axis"], i, src)
        return x.scatter_reduce(a["axis"], i, src, how)

    return run


def windows(f):
    def run(ins, a):
        return f(*ins, **{k: a[k] for k in ("stride", "padding", "dilation", "groups") if k in a})

    return run


def pool(f):
    return lambda ins, a: f(ins[0], a["kernel"], stride=a.get("stride"), padding=a.get("padding", 0))


def layer_norm(ins, a):
    return F.layer_norm(ins[0], ins[0].shape[-1:], *ins[1:], eps=a["eps"])


def rms_norm(ins, a):
    x = ins[0]
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + a["eps"]) * ins[1]


def cross_entropy(ins, a):
    return F.cross_entropy(ins[0], ins[1].long(), reduction="none")


def norm(x, axes, keepdims):
    return (x * x).sum(axes, keepdim=keepdims).sqrt()


def softplus(x):
    """PyTorch's own is x above 20."""
    return torch.logaddexp(x, torch.zeros_like(x))


# The elementwise functions that round, by what they accept: any number, or
# one that is not near 0 or below.
ANY = {
    "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "tanh": torch.tanh, "atan": torch.atan, "erf": torch.erf,
    "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "sinh": torch.sinh, "cosh": torch.cosh,
    "sigmoid": torch.sigmoid, "silu": F.silu, "softplus": softplus, "mish": F.mish, "hardswish": F.hardswish,
    "square": torch.square,
}
POSITIVE = {
    "log": torch.log, "log2": torch.log2, "log1p": torch.log1p, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal,
}
# Those that do not round, and whose derivative, if any, is 0 or ±1.
EXACT_UNARY = {
    "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "relu": torch.relu,
    "floor": torch.floor, "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc,
}
ARITHMETIC = {"add": torch.add, "sub": torch.sub, "mul": torch.mul}
EXTREMES = {"maximum": torch.maximum, "minimum": torch.minimum}
COMPARISONS = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
BITWISE = {"and": torch.bitwise_and, "or": torch.bitwise_or, "xor": torch.bitwise_xor}
FLOAT_REDUCTIONS = {
    "mean": lambda x, axes, keepdims: x.mean(axes, keepdim=keepdims),
    "var": lambda x, axes, keepdims: x.var(axes, unbiased=False, keepdim=keepdims),
    "std": lambda x, axes, keepdims: x.var(axes, unbiased=False, keepdim=keepdims).sqrt(),
    "norm": norm,
    "logsumexp": lambda x, axes, keepdims: torch.logsumexp(x, axes, keepdim=keepdims),
}
REDUCTIONS = {
    "sum": summed,
    "prod": one_by_one(lambda x, i: x.prod(i, keepdim=True, dtype=x.dtype)),
    "max": extreme(torch.amax),
    "min": extreme(torch.amin),
}

TORCH = {
    **{k: unary(f) for k, f in {**ANY, **POSITIVE, **EXACT_UNARY}.items()},
    **{k: binary(f) for k, f in {**ARITHMETIC, **EXTREMES, **COMPARISONS, **BITWISE}.items()},
    **{k: reduction(f) for k, f in {**FLOAT_REDUCTIONS, **REDUCTIONS}.items()},
    "gelu": lambda ins, a: F.gelu(ins[0], approximate=a.get("approximate", "none")),
    "elu": lambda ins, a: F.elu(ins[0], a["alpha"]),
    "leaky_relu": lambda ins, a: F.leaky_relu(ins[0], a["negative_slope"]),
    "clamp": lambda ins, a: ins[0].clamp(a["min"], a["max"]),
    "div": binary(lambda x, y: x / y if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc")),
    "rem": binary(torch.fmod),
    "pow": binary(torch.pow),
    "atan2": binary(torch.atan2),
    "shl": binary(torch.bitwise_left_shift),
    "shr": binary(torch.bitwise_right_shift),
    "not": unary(torch.bitwise_not),
    "isnan": unary(torch.isnan),
    "isinf": unary(torch.isinf),
    "where": lambda ins, a: torch.where(*ins),
    "any": reduction(one_by_one(lambda x, i: (x != 0).any(i, keepdim=True))),
    "all": reduction(one_by_one(lambda x, i: (x != 0).all(i, keepdim=True))),
    "softmax": along(torch.softmax),
    "log_softmax": along(torch.log_softmax),
    "argmax": lambda ins, a: ins[0].argmax(a["axis"]).int(),
    "argmin": lambda ins, a: ins[0].argmin(a["axis"]).int(),
    "flip": lambda ins, a: ins[0].flip(a["axes"]),
    "permute": lambda ins, a: ins[0].permute(a["perm"]),
    "reshape": lambda ins, a: ins[0].reshape(a["shape"]),
    "expand": lambda ins, a: ins[0].expand(a["shape"]),
    "unsqueeze": along(torch.unsqueeze),
    "pad": padded,
    "slice": sliced,
    "roll": lambda ins, a: ins[0].roll(a["n"], a["axis"]),
    "repeat": lambda ins, a: ins[0].repeat_interleave(a["n"], a["axis"]),
    "tile": lambda ins, a: ins[0].repeat(a["times"]),
    "tril": lambda ins, a: ins[0].tril(a["k"]),
    "triu": lambda ins, a: ins[0].triu(a["k"]),
    "diag": lambda ins, a: ins[0].diag(a["k"]) if ins[0].dim() == 1 else ins[0].diagonal(a["k"], -2, -1),
    "unfold": lambda ins, a: ins[0].unfold(a["axis"], a["size"], a["step"]),
    "cat": lambda ins, a: torch.cat(ins, a["axis"]),
    "stack": lambda ins, a: torch.stack(ins, a["axis"]),
    "matmul": lambda ins, a: product(*ins),
    "einsum": lambda ins, a: torch.einsum(a["equation"], *ins),
    "index_select": lambda ins, a: torch.stack(
        [ins[0].select(a["axis"], int(i)) for i in positive(ins[1], ins[0].shape[a["axis"]])], a["axis"]),
    "take_along_axis": take_along,
    "scatter_add": scatter("sum"),
    "scatter_max": scatter("amax"),
    "scatter_min": scatter("amin"),
    "scatter_mul": scatter("prod"),
    "one_hot": lambda ins, a: F.one_hot(ins[0].long(), a["classes"]).int(),
    "conv1d": windows(F.conv1d),
    "conv2d": windows(F.conv2d),
    "avg_pool1d": pool(F.avg_pool1d),
    "max_pool1d": pool(F.max_pool1d),
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "cross_entropy": cross_entropy,
    "cast": lambda ins, a: ins[0].to(REFERENCE[a["dtype"]]),
}

# The operations whose result is exact where their operands are.
EXACT = {
    *EXACT_UNARY, *EXTREMES, *COMPARISONS, *BITWISE, "clamp", "not", "where", "max", "min", "any", "all", "argmax",
    "argmin", "isnan", "isinf", "flip", "permute", "reshape", "expand", "unsqueeze", "pad", "slice", "roll", "repeat",
    "tile", "tril", "triu", "diag", "unfold", "cat", "stack", "index_select", "take_along_axis", "scatter_max",
    "scatter_min", "one_hot", "max_pool1d",
}

# What a type of the case is here.
REFERENCE = {
    "bool": torch.bool, "uint8": torch.uint8, "int8": torch.int8, "int32": torch.int32, "int64": torch.int64,
    "float16": torch.float64, "bfloat16": torch.float64, "float32": torch.float64, "float64": torch.float64,
}
# Half the distance from 1 to the next number.
UNIT = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-24, "float64": 2**-53}

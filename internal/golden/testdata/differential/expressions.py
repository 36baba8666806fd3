"""Random expressions: a list of operations on inputs and earlier results."""

import random

import torch

from operations import (ANY, ARITHMETIC, BITWISE, COMPARISONS, EXACT, EXACT_UNARY, EXTREMES, FLOAT_REDUCTIONS, POSITIVE,
                        REDUCTIONS, REFERENCE, TORCH, UNIT)

FLOATS = set(UNIT)
INTS = {"uint8", "int8", "int32", "int64"}
LENGTHS = [1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 64, 65]
MOST = 130  # elements of a value
LARGEST = 1e4  # magnitude of a floating-point value


class Rejected(Exception):
    """An operation that does not fit, or a case that proves nothing."""


class Value:
    def __init__(self, t, dtype):
        self.t, self.dtype = t, dtype
        self.shape = list(t.shape)
        self.rank = t.dim()


class Expression:
    """Inputs, the operations on them and all values, computed as they are added."""

    def __init__(self, rng, dtype, differentiable=False, special=False):
        self.rng, self.dtype, self.differentiable, self.special = rng, dtype, differentiable, special
        self.inputs, self.steps, self.values = [], [], []

    # Inputs

    def shape(self):
        r = self.rng
        out, left = [], r.choice([4, 12, 40, MOST])
        for _ in range(r.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])):
            n = r.choice([n for n in LENGTHS if n <= left])
            if not self.differentiable and r.random() < 0.02:
                n = 0
            out.append(n)
            left //= max(n, 1)
        r.shuffle(out)
        return out

    def numbers(self, shape, dtype):
        """Elements of few digits: exact in every type, with ties and zeros."""
        n = 1
        for s in shape:
            n *= s
        r = self.rng
        if dtype == "bool":
            x = [r.random() < 0.5 for _ in range(n)]
        elif dtype == "uint8":
            x = [r.choice([r.randrange(10), r.randrange(256)]) for _ in range(n)]
        elif dtype in INTS:
            big = (2**7 if dtype == "int8" else 2**31) if r.random() < 0.2 else 10
            x = [r.randrange(-big, big) for _ in range(n)]
        else:
            x = [r.randrange(-96, 97) / 32 for _ in range(n)]
            if self.special:
                x = [r.choice([float("nan"), float("inf"), -float("inf"), -0.0]) if r.random() < 0.1 else v for v in x]
        return torch.tensor(x, dtype=REFERENCE[dtype]).reshape(shape)

    def add_input(self, shape, dtype=None, t=None):
        dtype = dtype or self.dtype
        v = Value(self.numbers(shape, dtype) if t is None else t, dtype)
        self.inputs.append(v)
        self.values.append(v)
        return v

    # Operations

    def apply(self, op, *ins, **args):
        """Add an operation, or raise Rejected."""
        try:
            t = TORCH[op]([v.t for v in ins], args)
        except (RuntimeError, IndexError) as e:
            raise Rejected(f"{op}: {e}") from e
        if t.numel() > MOST or t.dim() > 6:
            raise Rejected("too large")
        if t.is_floating_point() and t.numel() > 0 and not self.special:
            if not t.isfinite().all() or t.abs().max() > LARGEST:
                raise Rejected("not finite")
        dtype = args.get("dtype") or str(t.dtype).removeprefix("torch.")
        if dtype == "float64" and op != "cast":
            dtype = next(v.dtype for v in reversed(ins) if v.dtype in FLOATS)
        v = Value(t, dtype)
        self.steps.append((op, ins, args, v))
        self.values.append(v)
        return v

    def pick(self, want=lambda v: True):
        """An earlier value, rather a late one, or a new input."""
        r = self.rng
        fit = [v for v in self.values if v.dtype == self.dtype and want(v)]
        if fit and r.random() < 0.9:
            return fit[-1] if r.random() < (0.95 if self.differentiable else 0.6) else r.choice(fit)
        for _ in range(20):
            shape = self.shape()
            if want(Value(torch.zeros(shape, dtype=REFERENCE[self.dtype]), self.dtype)):
                return self.add_input(shape)
        raise Rejected("no operand")

    def partner(self, x, dtype=None):
        """A value that broadcasts with x."""
        r = self.rng
        dtype = dtype or x.dtype
        fit = [v for v in self.values if v.dtype == dtype and v is not x and broadcasts(v.shape, x.shape)]
        if fit and r.random() < 0.6:
            return r.choice(fit)
        shape = [1 if r.random() < 0.25 else n for n in x.shape]
        shape = shape[r.choice([0, 0, 0, 1]):]
        if x.t.numel() < 20 and r.random() < 0.1:
            shape = [2] + [1] * (x.rank - len(shape)) + shape
        return self.add_input(shape, dtype)

    def positive(self, x):
        return self.apply("add", self.apply("abs", x), other=0.5)

    def grow(self):
        """Add one random operation, or a few that belong together."""
        r = self.rng
        groups = MOVES * 2
        if self.dtype in FLOATS:
            groups = groups + FLOAT_GROUPS * 3
            if not self.differentiable:
                groups = groups + ANY_GROUPS
        elif self.dtype == "bool":
            groups = groups + BOOL_GROUPS * 3 + ANY_GROUPS
        else:
            groups = groups + INT_GROUPS * 3 + ANY_GROUPS
        r.choice(groups)(self)

    def prune(self, outs):
        """Drop the operations and inputs that no value of outs needs."""
        needed = {id(v) for v in outs}
        for _, ins, _, v in reversed(self.steps):
            if id(v) in needed:
                needed.update(id(i) for i in ins)
        self.steps = [s for s in self.steps if id(s[3]) in needed]
        self.inputs = [v for v in self.inputs if id(v) in needed]
        self.values = [v for v in self.values if id(v) in needed]

    def outputs(self):
        """The results that no operation reads, and one other."""
        read = {id(v) for _, ins, _, _ in self.steps for v in ins}
        results = [s[3] for s in self.steps]
        out = [v for v in results if id(v) not in read]
        rest = [v for v in results if id(v) in read]
        if rest:
            out.append(self.rng.choice(rest))
        return out

    def run(self, ins, noise=None, dtypes=None):
        """All results for other inputs, each that rounds with noise on operands and result."""
        at = {id(v): t for v, t in zip(self.inputs, ins)}
        for op, operands, args, v in self.steps:
            xs = [at[id(o)] for o in operands]
            if noise is None or (op in EXACT) or v.dtype not in FLOATS:
                at[id(v)] = TORCH[op](xs, args)
                continue
            xs = [noise(x, v.dtype) for x in xs]
            at[id(v)] = noise(TORCH[op](xs, args), v.dtype)
        return at

    def index(self, v):
        """The number of a value in the file: inputs count first."""
        results = [id(s[3]) for s in self.steps]
        ids = [id(i) for i in self.inputs] + results
        return ids.index(id(v))

    def program(self):
        out = []
        for op, ins, args, _ in self.steps:
            step = {"op": op, "in": [self.index(v) for v in ins]}
            if args:
                step["args"] = args
            out.append(step)
        return out


def broadcasts(a, b):
    return all(x == y or x == 1 or y == 1 for x, y in zip(reversed(a), reversed(b)))


# Groups of operations. Each takes an Expression and adds to it.

def elementwise_any(e):
    op = e.rng.choice([*ANY, "gelu", "gelu", "elu", "leaky_relu"])
    args = {"gelu": lambda: e.rng.choice([{}, {"approximate": "tanh"}]), "elu": lambda: {"alpha": e.rng.choice([1.0, 0.5])},
            "leaky_relu": lambda: {"negative_slope": 0.25}}.get(op, dict)()
    x = e.pick()
    if op == "elu" and (x.t == 0).any():
        raise Rejected("the second derivative at 0 is not PyTorch's")
    if op == "gelu" and e.differentiable and (x.t < -4).any():
        raise Rejected("it cancels to nothing there, with few digits left")
    e.apply(op, x, **args)


def elementwise_exact(e):
    ops = ["neg", "abs", "relu", "clamp"] if e.differentiable and e.rng.random() < 0.8 else [*EXACT_UNARY, "clamp"]
    op = e.rng.choice(ops)
    if e.special and op == "sign":
        raise Rejected("PyTorch's sign of NaN is 0")
    args = {"min": e.rng.choice([-1.5, -0.5]), "max": e.rng.choice([0.5, 2.0])} if op == "clamp" else {}
    e.apply(op, e.pick(), **args)


def elementwise_positive(e):
    op = e.rng.choice([*POSITIVE, "pow", "atan2"])
    x = e.positive(e.pick())
    if op == "atan2":  # it jumps where y is 0 and x is negative
        y, x = e.rng.choice([(x, e.partner(x)), (e.partner(x), x)])
        e.apply(op, y, x)
    elif op != "pow":
        e.apply(op, x)
    elif e.rng.random() < 0.5:
        e.apply("pow", x, e.partner(x))
    else:
        e.apply("pow", x, other=e.rng.choice([-2.0, -1.0, -0.5, 0.5, 1.75, 3.0]))


def arithmetic(e):
    op = e.rng.choice([*ARITHMETIC] * 2 + [*EXTREMES, "div", "rem", "pow"])
    x = e.pick()
    if op == "pow":
        e.apply("pow", x, other=e.rng.choice([0.0, 1.0, 2.0, 3.0, 5.0]))
    elif e.rng.random() < 0.3:
        e.apply(op, x, other=e.rng.choice([-2.5, -1.0, -0.75, 0.25, 0.5, 2.0, 3.0]))
    else:
        y = e.partner(x)
        e.apply(op, x, e.positive(y) if op in ("div", "rem") else y)


def where(e):
    x = e.pick()
    cond = e.partner(x, "bool") if e.rng.random() < 0.3 else e.apply(e.rng.choice([*COMPARISONS]), x, e.partner(x))
    e.apply("where", cond, x, e.partner(x))


def reduce_args(e, x):
    r = e.rng
    if r.random() < 0.2:
        return {}
    axes = [i for i in range(x.rank) if r.random() < 0.5] or [r.randrange(x.rank)]
    args = {"axes": [i - x.rank if r.random() < 0.2 else i for i in axes]}
    if r.random() < 0.3:
        args["keepdims"] = False
    return args


def has_axes(v):
    return v.rank > 0


def reduce_float(e):
    x = e.pick(has_axes)
    op = e.rng.choice(["sum"] * 4 + [*FLOAT_REDUCTIONS, *REDUCTIONS])
    y = e.apply(op, x, **reduce_args(e, x))
    if op in ("std", "norm") and not (y.t > 1e-3).all():
        raise Rejected("the derivative at 0 is not PyTorch's")
    if e.rng.random() < 0.5 and broadcasts(x.shape, y.shape):
        e.apply(e.rng.choice(["sub", "mul", "add"]), x, y)


def soft(e):
    x = e.pick(has_axes)
    e.apply(e.rng.choice(["softmax", "log_softmax"]), x, axis=e.rng.randrange(-x.rank, x.rank))


def normalised(e):
    x = e.pick(lambda v: v.rank > 0 and v.shape[-1] > 1)
    op = e.rng.choice(["layer_norm", "rms_norm", "cross_entropy"])
    if op == "cross_entropy":
        x = e.pick(lambda v: v.rank == 2 and v.shape[-1] > 1)
        labels = torch.tensor([e.rng.randrange(x.shape[1]) for _ in range(x.shape[0])], dtype=torch.int32)
        e.apply(op, x, e.add_input([], "int32", labels), reduction="none")
    else:
        weights = [e.add_input(x.shape[-1:]) for _ in range(2 if op == "layer_norm" else 1)]
        e.apply(op, x, *weights, eps=1e-2)


def matmul(e):
    x = e.pick(lambda v: v.rank in (2, 3))
    fit = [v for v in e.values if v.dtype == x.dtype and v.rank == 2 and v.shape[0] == x.shape[-1]]
    if fit and e.rng.random() < 0.5:
        y = e.rng.choice(fit)
    else:
        y = e.add_input(x.shape[:-2] * e.rng.randrange(2) + [x.shape[-1], e.rng.choice([1, 2, 3, 5, 8])], x.dtype)
    e.apply("matmul", x, y)


def einsum(e):
    x = e.pick(lambda v: v.rank == 2)
    i, j = x.shape
    equation, *others = e.rng.choice([
        ("ij,kj->ik", [3, j]), ("ij,ij->i", [i, j]), ("ij,jk,k->i", [j, 2], [2]), ("ij,i,j->", [i], [j]), ("ij,kil->jkl", [2, i, 2]),
        ("ij->ji",), ("ij->",), ("ij,k->kij", [3])])
    e.apply("einsum", x, *[e.add_input(s) for s in others], equation=equation)


def conv(e):
    n = e.rng.choice([1, 2])
    x = e.pick(lambda v: v.rank == n + 2 and v.t.numel() > 0)
    groups = 2 if x.shape[1] % 2 == 0 and e.rng.random() < 0.5 else 1
    args = {"stride": e.rng.choice([1, 2]), "padding": e.rng.choice([0, 1, 2]), "dilation": e.rng.choice([1, 1, 2]), "groups": groups}
    kernel = e.add_input([2 * groups, x.shape[1] // groups] + [e.rng.choice([1, 2, 3]) for _ in range(n)])
    e.apply(f"conv{n}d", x, kernel, **args)


def pool(e):
    x = e.pick(lambda v: v.rank == 3 and v.t.numel() > 0)
    op = "avg_pool1d" if e.differentiable else e.rng.choice(["avg_pool1d", "max_pool1d"])
    kernel, padding = e.rng.choice([2, 3]), e.rng.choice([0, 1])
    if x.shape[2] + 2 * padding < kernel:
        raise Rejected("no window fits")
    e.apply(op, x, kernel=kernel, stride=e.rng.choice([1, 2, 3]), padding=padding)


def arithmetic_int(e):
    op = e.rng.choice([*ARITHMETIC, *EXTREMES, "div", "rem", "shl", "shr", *BITWISE])
    x = e.pick()
    if op in ("shl", "shr"):
        e.apply(op, x, other=e.rng.randrange(1, 8))
    elif op in ("div", "rem"):
        if e.rng.random() < 0.5:
            e.apply(op, x, other=e.rng.choice([2, 3, 7]))
        else:
            y = e.partner(x)
            if (y.t == 0).any() or (y.t == -1).any():
                raise Rejected("what PyTorch has no result for")
            e.apply(op, x, y)
    else:
        e.apply(op, x, e.partner(x))


def unary_int(e):
    op = e.rng.choice(["not", "abs", "sign", "neg"] if e.dtype != "uint8" else ["not"])
    e.apply(op, e.pick())


def reduce_int(e):
    x = e.pick(has_axes)
    op = e.rng.choice([*REDUCTIONS])
    if op == "prod" and x.dtype in ("uint8", "int8"):
        raise Rejected("PyTorch's is int64")
    e.apply(op, x, **reduce_args(e, x))


def one_hot(e):
    x = e.pick(lambda v: v.rank < 3)
    if not (0 <= x.t).all() or not (x.t < 8).all():
        x = e.apply("and", x, other=3)
    e.apply("one_hot", x, classes=8)


def logic(e):
    x = e.pick()
    if e.rng.random() < 0.3:
        e.apply("not", x)
    else:
        e.apply(e.rng.choice([*BITWISE, *COMPARISONS, *EXTREMES]), x, e.partner(x))


def reduce_bool(e):
    x = e.pick(has_axes)
    e.apply(e.rng.choice(["any", "all", "max", "min", "sum"]), x, **reduce_args(e, x))


def compare(e):
    x = e.pick()
    c = e.apply(e.rng.choice([*COMPARISONS]), x, e.partner(x))
    if e.rng.random() < 0.5:
        e.apply("where", c, x, e.partner(x))
    elif c.rank > 0:
        e.apply(e.rng.choice(["any", "all", "sum"]), c, **reduce_args(e, c))


def arg_extreme(e):
    x = e.pick(lambda v: v.rank > 0 and 0 not in v.shape and v.dtype != "bool")
    e.apply(e.rng.choice(["argmax", "argmin"]), x, axis=e.rng.randrange(x.rank))


def cast(e):
    """A value goes on in another type."""
    x = e.pick()
    if x.dtype in FLOATS:
        to = e.rng.choice(["int32", "bool", "float32", "float16", "bfloat16", "float64"])
    else:
        to = e.rng.choice(["float32", "float32", "float16", "int32", "int64", "uint8", "int8", "bool"])
        if to.startswith("float") and (x.t.double().abs() > 1000).any():
            raise Rejected("it rounds, or is large")
    e.apply("cast", x, dtype=to)
    e.dtype = to


# Movement and indices

def reshape(e):
    x = e.pick()
    n, shape = x.t.numel(), []
    if n == 0:
        raise Rejected("no elements")
    while n > 1 and len(shape) < 3:
        d = e.rng.choice([d for d in range(1, n + 1) if n % d == 0])
        shape.append(d)
        n //= d
    shape.append(n if e.rng.random() < 0.5 else -1)
    e.rng.shuffle(shape)
    e.apply("reshape", x, shape=shape)


def permute(e):
    x = e.pick(lambda v: v.rank > 1)
    perm = list(range(x.rank))
    e.rng.shuffle(perm)
    e.apply("permute", x, perm=perm)


def expand(e):
    x = e.pick(lambda v: 1 in v.shape or v.rank == 0)
    e.apply("expand", x, shape=[2] * e.rng.randrange(2) + [e.rng.choice([1, 2, 3, 5]) if n == 1 else n for n in x.shape])


def flip(e):
    x = e.pick(has_axes)
    e.apply("flip", x, axes=[i for i in range(x.rank) if e.rng.random() < 0.6] or [0])


def pad(e):
    x = e.pick(has_axes)
    if x.dtype == "bool":
        raise Rejected("PyTorch pads no bools")
    e.apply("pad", x, padding=[[e.rng.choice([0, 0, 1, 2]), e.rng.choice([0, 0, 1, 3])] for _ in x.shape])


def slice_(e):
    x = e.pick(has_axes)
    if 0 in x.shape:
        raise Rejected("no elements")
    r, spans = e.rng, []
    for n in x.shape:
        kind = r.choice(["all", "range", "step", "reverse", "negative"])
        start = r.randrange(n)
        stop = r.randrange(start, n + 1) if not e.differentiable and r.random() < 0.1 else r.randrange(start + 1, n + 1)
        spans.append({"all": [None, None, None], "range": [start, stop, None], "step": [start, None, r.choice([1, 2, 3])],
                      "reverse": [None, None, -r.choice([1, 2])], "negative": [start - n, None, None]}[kind])
    e.apply("slice", x, slices=spans)


def repeated(e):
    x = e.pick(lambda v: v.rank > 0 and 0 not in v.shape)
    axis = e.rng.randrange(x.rank)
    op = e.rng.choice(["roll", "repeat", "tile", "unsqueeze"])
    args = {"roll": {"axis": axis, "n": e.rng.randrange(-5, 6)}, "repeat": {"axis": axis, "n": e.rng.choice([1, 2, 3])},
            "tile": {"times": [e.rng.choice([1, 1, 2]) for _ in x.shape]}, "unsqueeze": {"axis": axis}}[op]
    e.apply(op, x, **args)


def triangle(e):
    x = e.pick(lambda v: v.rank > 1)
    e.apply(e.rng.choice(["tril", "triu"]), x, k=e.rng.randrange(-2, 3))


def diag(e):
    x = e.pick(lambda v: v.rank > 0 and 0 not in v.shape)
    k = e.rng.choice([-1, 0, 0, 1])
    if x.rank == 1 and x.shape[0] > 8 or x.rank > 1 and not -x.shape[-2] < k < x.shape[-1]:
        raise Rejected("no such diagonal")
    e.apply("diag", x, k=k)


def unfold(e):
    x = e.pick(lambda v: v.rank > 0 and max(v.shape) > 1)
    axis = e.rng.choice([i for i, n in enumerate(x.shape) if n > 1])
    e.apply("unfold", x, axis=axis, size=e.rng.randrange(1, min(4, x.shape[axis]) + 1), step=e.rng.choice([1, 2, 3]))


def join(e):
    x = e.pick(has_axes)
    axis = e.rng.randrange(x.rank)
    others = [v for v in e.values if v.dtype == x.dtype and v.rank == x.rank and
              all(a == b or i == axis for i, (a, b) in enumerate(zip(v.shape, x.shape)))]
    ts = [x] + [e.rng.choice(others) for _ in range(e.rng.randrange(2))]
    if e.rng.random() < 0.5:
        ts.append(e.add_input([e.rng.choice([1, 2, 4]) if i == axis else n for i, n in enumerate(x.shape)], x.dtype))
    e.rng.shuffle(ts)
    if e.rng.random() < 0.2 and all(t.shape == x.shape for t in ts):
        e.apply("stack", *ts, axis=e.rng.randrange(x.rank + 1))
    else:
        e.apply("cat", *ts, axis=axis)


def positions(e, shape, n):
    count = 1
    for s in shape:
        count *= s
    return torch.tensor([e.rng.randrange(-n, n) for _ in range(count)], dtype=torch.int32).reshape(shape)


def indexed(e):
    r = e.rng
    x = e.pick(lambda v: v.rank > 0 and 0 not in v.shape)
    axis = r.randrange(x.rank)
    n, m = x.shape[axis], r.choice([1, 2, 3, 5])
    like = [m if i == axis else s for i, s in enumerate(x.shape)]
    op = r.choice(["index_select", "take_along_axis", "scatter"])
    if op == "index_select":
        e.apply(op, x, e.add_input([], "int32", positions(e, [m], n)), axis=axis)
    elif op == "take_along_axis":
        e.apply(op, x, e.add_input([], "int32", positions(e, like, n)), axis=axis)
    elif x.dtype == "bool":
        raise Rejected("bools are not scattered")
    else:
        op = "scatter_add" if e.differentiable else r.choice(["scatter_add", "scatter_max", "scatter_min", "scatter_mul"])
        e.apply(op, x, e.add_input([], "int32", positions(e, like, n)), e.add_input(like, x.dtype), axis=axis)


FLOAT_GROUPS = [*[elementwise_any] * 4, elementwise_exact, elementwise_positive, elementwise_positive, arithmetic, arithmetic, arithmetic,
                where, reduce_float, reduce_float, soft, normalised, matmul, matmul, einsum, conv, pool]
INT_GROUPS = [arithmetic_int, arithmetic_int, unary_int, reduce_int, matmul, one_hot]
BOOL_GROUPS = [logic, logic, reduce_bool]
ANY_GROUPS = [compare, arg_extreme, cast]
MOVES = [reshape, permute, expand, flip, pad, slice_, repeated, triangle, diag, unfold, join, indexed, indexed]
SPECIAL = [arithmetic, elementwise_exact, where, compare, reduce_float, matmul, slice_, pad, join, indexed, triangle]


def expression(seed, dtype, steps, differentiable=False, special=False):
    """The random expression of that seed."""
    e = Expression(random.Random(seed), dtype, differentiable, special)
    e.add_input(e.shape())
    for _ in range(200):
        if len(e.steps) >= steps:
            break
        before = len(e.inputs), len(e.steps), len(e.values), e.dtype
        try:
            e.rng.choice(SPECIAL)(e) if special else e.grow()
        except Rejected:  # without what it added before it failed
            del e.inputs[before[0]:], e.steps[before[1]:], e.values[before[2]:]
            e.dtype = before[3]
    e.prune([v for _, _, _, v in e.steps])
    return e

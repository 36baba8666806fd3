"""Writes the reference values of TestDifferential* and TestConversions.

Run by hand, never by a test, with PyTorch 1.13 and NumPy 1.24 of Debian 12:

    apt-get install --no-install-recommends python3-torch python3-numpy
    cd internal/golden/testdata/differential && /usr/bin/python3 generate.py

Seeds are fixed: the same versions write the same bytes. Cases are random and
references are computed in float64. Each array of results has its own tolerance,
[relative, absolute], estimated from samples: every operation that rounds gets a
random error of the rounding unit of its type, and all-float32 cases are also
computed in float32. A case is left out if its tolerance is large, or if an
integer or bool differs between samples.
"""

import gzip
import json
import math
import random
import sys

import torch

sys.dont_write_bytecode = True

import conversions
import optimizers
from expressions import FLOATS, expression
from operations import UNIT

SAMPLES = 12
SAFETY = {"float64": 200}  # tolerance / largest deviation of the samples; 6 by default
WORST = {"float64": 1e-9, "float32": 1e-3, "float16": 0.1, "bfloat16": 0.3}  # largest tolerance kept, relative to the largest element


def number(x, dtype):
    if dtype not in FLOATS:
        return x
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    digits = {"float64": 17, "float32": 9}.get(dtype, 6)
    x = float(f"{x:.{digits}g}")
    return int(x) if x == int(x) and abs(x) < 1e6 else x


def array(t, dtype, tol=None):
    out = {"dtype": dtype, "shape": list(t.shape), "data": [number(x, dtype) for x in t.detach().reshape(-1).tolist()]}
    if tol:
        out["tol"] = tol
    return out


def perturb(generator):
    """Returns noise(x, dtype), which multiplies each element by 1 ± at most 2 rounding units of dtype."""

    def noise(x, dtype):
        if not x.is_floating_point():
            return x
        u = torch.rand(x.shape, generator=generator, dtype=x.dtype) * 2 - 1
        return x * (1 + u * 2 * UNIT[dtype])

    return noise


def least_precise(e, dtype="float32"):
    """The least precise of dtype and the floating-point types in an expression."""
    return max([dtype] + [v.dtype for v in e.values if v.dtype in FLOATS], key=UNIT.get)


def sample(e, seed, compute):
    """Samples of compute(inputs, noise), in float64, and also in float32 if all floats of e are."""
    generator = torch.Generator().manual_seed(seed)
    ins = [v.t for v in e.inputs]
    out = [compute(ins, perturb(generator)) for _ in range(SAMPLES)]
    casts = any(op == "cast" for op, *_ in e.steps)
    if not casts and {v.dtype for v in e.values if v.dtype in FLOATS} == {"float32"}:
        narrow = [t.float() if t.is_floating_point() else t for t in ins]
        out += [compute(narrow, perturb(generator)) for _ in range(SAMPLES // 2)]
    return [[t.detach().double() if t.is_floating_point() else t for t in s] for s in out]


def tolerance(want, samples, dtype, scale):
    """[relative, absolute], or None if the result is ill-conditioned. Scale is the size of terms that may cancel."""
    if dtype not in FLOATS:
        return [0, 0] if all(torch.equal(s, want) for s in samples) else None
    finite = want.isfinite()
    for s in samples:
        if not torch.equal(s.isnan(), want.isnan()) or not torch.equal(s[~finite & ~want.isnan()], want[~finite & ~want.isnan()]):
            return None
        if not s[finite].isfinite().all():
            return None
    w = want[finite].abs()
    if w.numel() == 0:
        return [0, 0]
    off = torch.stack([(s[finite] - want[finite]).abs() for s in samples]).amax(0)
    relative = torch.quantile(off / w.clamp(min=1e-30), 0.8).item()
    if relative > 1:
        relative = 0.0
    absolute = (off - relative * w).clamp(min=0).max().item()
    safety = SAFETY.get(dtype, 6)
    rtol = safety * relative + 8 * UNIT[dtype]
    atol = safety * absolute + UNIT[dtype] * (w.max().item() + 8 * scale) + 1e-12 * (dtype != "float64")
    if atol + rtol * w.max().item() > WORST[dtype] * w.max().item() + 2e-12:
        return None
    return [float(f"{rtol:.1e}"), float(f"{atol:.1e}")]


def with_tolerances(wants, sampled, scale=0.0):
    """Arrays with tolerances of (value, dtype, dtype of the error), or None if one is ill-conditioned."""
    out = []
    for i, (want, dtype, error_dtype) in enumerate(wants):
        tol = tolerance(want, [s[i] for s in sampled], error_dtype, scale)
        if tol is None:
            return None
        out.append(array(want, dtype, tol))
    return out


def value_case(seed, rng):
    special = rng.random() < 0.1
    dtype = "float32" if special else rng.choices(
        ["float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8", "int8", "bool"], [60, 8, 6, 5, 10, 3, 4, 4, 4])[0]
    e = expression(seed, dtype, rng.randrange(1, 13), special=special)
    outs = e.outputs()
    if not any(v.t.numel() > 0 for v in outs):
        return None

    def compute(ins, noise):
        at = e.run(ins, noise)
        return [at[id(v)] for v in outs]

    arrays = with_tolerances([(v.t, v.dtype, least_precise(e, v.dtype) if v.dtype in FLOATS else v.dtype) for v in outs],
                             sample(e, seed, compute))
    if arrays is None:
        return None
    return {"inputs": [array(v.t, v.dtype) for v in e.inputs], "steps": e.program(),
            "values": [e.index(v) for v in outs], "outputs": arrays}


def differentiable(e):
    return [i for i, v in enumerate(e.inputs) if v.dtype in FLOATS]


def gradients(e, ins, out, cotangent, direction=None, noise=None):
    """Gradients of sum(out·cotangent), or with a direction its Hessian-vector products."""
    which = differentiable(e)
    ins = [t.detach().clone().requires_grad_(i in which) for i, t in enumerate(ins)]
    y = (e.run(ins, noise)[id(out)] * cotangent).sum()
    xs = [ins[i] for i in which]
    zero = lambda gs: [torch.zeros_like(x) if g is None else g for g, x in zip(gs, xs)]
    gs = zero(torch.autograd.grad(y, xs, create_graph=direction is not None, allow_unused=True))
    if direction is None:
        return gs
    along = sum((g * v).sum() for g, v in zip(gs, direction))
    if not along.requires_grad:
        return [torch.zeros_like(x) for x in xs]
    return zero(torch.autograd.grad(along, xs, allow_unused=True))


def gradient_case(seed, rng, second=False):
    dtype = rng.choices(["float32", "float64"], [3, 1])[0]
    least = rng.randrange(1, 6 if second else 8)
    e = expression(seed, dtype, least + 2, differentiable=True)
    if not e.steps:
        return None
    out = e.steps[-1][3]
    e.prune([out])
    if len(e.steps) < least or out.dtype not in FLOATS or out.t.numel() == 0:
        return None
    cotangent = e.numbers(out.shape, dtype)
    which = differentiable(e)
    direction = [e.numbers(e.inputs[i].shape, dtype) for i in which] if second else None
    try:
        wants = [g.detach() for g in gradients(e, [v.t for v in e.inputs], out, cotangent, direction)]
        sampled = sample(e, seed, lambda ins, noise: gradients(e, ins, out, cotangent, direction, noise))
    except RuntimeError:  # PyTorch lacks the derivative
        return None
    if not all(w.isfinite().all() and w.abs().max() < 1e5 for w in wants) or all((w == 0).all() for w in wants):
        return None
    scale = cotangent.abs().max().item() * max((v.abs().max().item() for v in direction or []), default=1)
    arrays = with_tolerances([(w, dtype, dtype) for w in wants], sampled, scale)
    if arrays is None:
        return None
    grads = [None] * len(e.inputs)
    for i, a in zip(which, arrays):
        grads[i] = a
    case = {"inputs": [array(v.t, v.dtype) for v in e.inputs], "steps": e.program(), "values": [e.index(out)],
            "cotangent": array(cotangent, dtype), "grads": grads}
    if second:
        case["direction"] = [None] * len(e.inputs)
        for i, v in zip(which, direction):
            case["direction"][i] = array(v, dtype)
    return case


def collect(make, count, seed):
    """count cases from consecutive seeds."""
    cases = []
    while len(cases) < count:
        case = make(seed, random.Random(seed))
        seed += 1
        if case is not None:
            cases.append(case)
    return cases


def write(name, cases):
    text = json.dumps({"source": f"PyTorch {torch.__version__}, float64", "cases": cases}, separators=(",", ":"))
    with open(name, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, compresslevel=9, mtime=0) as z:
        z.write(text.encode())
    ops = {s["op"] for c in cases for s in c.get("steps", [])}
    print(f"{name}: {len(cases)} cases, {len(ops)} operations")


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    write("values.json.gz", collect(value_case, 400, 1_000_000))
    write("gradients.json.gz", collect(gradient_case, 300, 2_000_000))
    write("hessians.json.gz", collect(lambda seed, rng: gradient_case(seed, rng, second=True), 300, 3_000_000))
    write("optimizers.json.gz", optimizers.cases(100, 4))
    conversions.write("conversions.safetensors")

"""Conversions between all pairs of types, at the edges of both.

Left out is what Tensorken defines and PyTorch does not: numbers that are out
of an integer's range, and NaN, as integers.
"""

import json
import struct

import numpy as np
import torch

NAMES = {"bool": "BOOL", "uint8": "U8", "int8": "I8", "int32": "I32", "uint32": "U32", "int64": "I64", "float16": "F16", "bfloat16": "BF16",
         "float32": "F32", "float64": "F64"}
FLOATS = ["float16", "bfloat16", "float32", "float64"]
RANGES = {"bool": (0, 1), "uint8": (0, 255), "int8": (-128, 127), "int32": (-2**31, 2**31 - 1), "uint32": (0, 2**32 - 1),
          "int64": (-2**63, 2**63 - 1)}

INTEGERS = sorted({s * (2**k + d) for k in [0, 1, 3, 7, 8, 10, 11, 12, 15, 16, 23, 24, 25, 30, 31, 32, 33, 52, 53, 54, 62, 63]
                   for d in (-1, 0, 1) for s in (1, -1)} | {100, 2**24 + 3, 2**53 + 3, 65519, 65520, 65535, 33554433 * 3})
REALS = [0.0, 0.1, 0.5, 0.75, 1.0, 1.5, 1 / 3, 2.5, 3.999999, 127.5, 128.0, 255.0, 255.99, 256.0, 1000.25, 2047.5, 2049.0, 2051.0,
         65504.0, 65519.0, 65520.0, 65536.0, 16777215.0, 16777217.0, 2147483520.0, 2147483647.5, 4294967040.0, 2**53 + 2.0,
         9.2e18, 3.38953e38, 3.3895314e38, 3.4028235e38, 3.4028235677973366e38, 1e300, 5e-324, 1e-310, 2.0**-24, 2.0**-25,
         2.0**-25 * 1.0001, 2.0**-14, 2.0**-14 * 0.9999, 2.0**-126, 2.0**-127, 2.0**-133, 2.0**-134, 2.0**-149, 2.0**-150,
         1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-20, 1 + 3 * 2.0**-8, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-20, 1 + 3 * 2.0**-11,
         1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-40, 1 + 3 * 2.0**-24, 1 + 2.0**-11 + 2.0**-50]


def inputs(dtype):
    """Edge values as a tensor; of uint32, which PyTorch lacks, as int64."""
    if dtype in FLOATS:
        x = torch.tensor([s * v for v in REALS + [float(i) for i in INTEGERS] for s in (1, -1)] +
                         [float("inf"), -float("inf"), float("nan")], dtype=torch.float64)
        return x.to(getattr(torch, dtype))
    lo, hi = RANGES[dtype]
    x = torch.tensor([i for i in INTEGERS if lo <= i <= hi], dtype=torch.int64)
    return x if dtype == "uint32" else x.to(getattr(torch, dtype))


def distinct(x):
    seen, at = set(), []
    for i, bits in enumerate(raw(x, None)):
        if bits not in seen:
            seen.add(bits)
            at.append(i)
    return x[torch.tensor(at)]


def convert(x, to):
    """What of x can be converted, and the result."""
    if to in RANGES and to != "bool" and x.is_floating_point():
        lo, hi = RANGES[to]
        t = x.double().trunc()
        x = x[(t >= float(lo)) & (t < float(hi + 1))]
        return x, torch.tensor([int(v) for v in x.double().tolist()], dtype=torch.int64 if to == "uint32" else getattr(torch, to))
    if to == "uint32":
        return x, x.to(torch.int64) & 0xFFFFFFFF
    return x, x.to(getattr(torch, to))


def raw(x, dtype):
    """The bytes of each element."""
    if x.dtype == torch.bfloat16:
        n = x.view(torch.int16).numpy()
    else:
        n = x.numpy().astype(np.uint32) if dtype == "uint32" else x.numpy()
    return [v.tobytes() for v in n]


def write(path):
    header, data, count = {}, b"", 0

    def add(name, x, dtype):
        nonlocal data
        b = b"".join(raw(x, dtype))
        header[name] = {"dtype": NAMES[dtype], "shape": [x.numel()], "data_offsets": [len(data), len(data) + len(b)]}
        data += b

    for a in NAMES:
        for b in NAMES:
            x, y = convert(distinct(inputs(a)), b)
            add(f"{a}.{b}.in", x, a)
            add(f"{a}.{b}.out", y, b)
            count += x.numel()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    print(f"{path}: {len(NAMES)**2} pairs of types, {count} conversions")

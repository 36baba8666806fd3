"""Random configurations of optimizers, and where they lead in PyTorch."""

import random

import torch
from torch.optim import lr_scheduler

STEPS = 10


def rule(r):
    lr = r.choice([0.3, 0.05, 0.01])
    decay = r.choice([0.0, 0.01, 0.2])
    op = r.choice(["sgd", "adam", "adamw"])
    if op == "sgd":
        momentum = r.choice([0.0, 0.5, 0.9])
        nesterov = momentum > 0 and r.random() < 0.5
        return op, {"lr": lr, "momentum": momentum, "nesterov": nesterov, "weight_decay": decay}
    return op, {"lr": lr, "betas": [r.choice([0.9, 0.6]), r.choice([0.999, 0.9, 0.95])], "eps": r.choice([1e-8, 1e-5, 1e-2]),
                "weight_decay": decay}


def schedule(r):
    """A schedule's name and arguments, and the same of PyTorch."""
    steps, floor, warmup = r.choice([5, 10, 20]), r.choice([0.0, 0.1, 0.5]), r.choice([2, 4])
    cosine = lambda o, n: lr_scheduler.CosineAnnealingLR(o, n, o.param_groups[0]["initial_lr"] * floor)
    linear = lambda o, n: lr_scheduler.LinearLR(o, 1.0, floor, n)
    rise = lambda o: lr_scheduler.LinearLR(o, 1 / warmup, 1.0, warmup - 1)
    name = r.choice(["", "cosine", "linear", "warmup", "warmup_cosine"])
    if name in ("cosine", "warmup_cosine"):
        steps = max(steps, STEPS)  # beyond the end PyTorch's rises again
    args = {"schedule": name, "steps": steps, "floor": floor, "warmup": warmup}
    make = {
        "": None,
        "cosine": lambda o: cosine(o, steps),
        "linear": lambda o: linear(o, steps),
        "warmup": rise,
        "warmup_cosine": lambda o: lr_scheduler.SequentialLR(o, [rise(o), cosine(o, steps)], [warmup]),
    }[name]
    return (args if name else {}), make


def numbers(r, *shape):
    n = 1
    for s in shape:
        n *= s
    return torch.tensor([r.randrange(-64, 65) / 32 for _ in range(n)], dtype=torch.float64).reshape(shape)


def array(t):
    return {"dtype": "float64", "shape": list(t.shape), "data": [float(f"{x:.15g}") for x in t.detach().reshape(-1).tolist()],
            "tol": [1e-10, 1e-11]}


def case(r):
    op, args = rule(r)
    scheduled, make = schedule(r)
    w, b, x, y = numbers(r, 3, 2), numbers(r, 2), numbers(r, 5, 3), numbers(r, 5, 2)
    inputs = [array(t) for t in (w, b, x, y)]
    params = [w.requires_grad_(), b.requires_grad_()]
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[op]
    o = kind(params, **args)
    for g in o.param_groups:
        g["initial_lr"] = g["lr"]
    s = make and make(o)
    clip = r.choice([{}, {}, {"clip_norm": 0.3}, {"clip_norm": 10.0}, {"clip_value": 0.1}])
    losses = []
    for _ in range(STEPS):
        o.zero_grad()
        loss = ((torch.tanh(x @ w) + b - y) ** 2).mean()
        losses.append(loss.detach())
        loss.backward()
        if "clip_norm" in clip:
            torch.nn.utils.clip_grad_norm_(params, clip["clip_norm"])
        if "clip_value" in clip:
            torch.nn.utils.clip_grad_value_(params, clip["clip_value"])
        o.step()
        if s:
            s.step()
    return {"op": op, "args": {**args, **scheduled, **clip}, "inputs": inputs, "outputs": [array(t) for t in (torch.stack(losses), w, b)]}


def cases(count, seed):
    r = random.Random(seed)
    return [case(r) for _ in range(count)]

"""What the Python peers share: arguments, inputs, timing and output.

bench/peers/README.md describes the protocol.
"""

import argparse
import json
import math
import os
import time

import numpy as np


class Inputs:
    """The numbers that all peers compute with: a hash of position and seed.

    Each array has the next seed, so works make their inputs in the same order.
    """

    arrays, integer = np, np.int64  # the library of the arrays, and its type of labels

    def __init__(self):
        self.seed = 0

    def _hash(self, n):
        self.seed += 1
        h = self.arrays.arange(n, dtype=np.uint32) + np.uint32(self.seed * 0x9E3779B9 & 0xFFFFFFFF)
        h ^= h >> np.uint32(16)
        h *= np.uint32(0x85EBCA6B)
        h ^= h >> np.uint32(13)
        h *= np.uint32(0xC2B2AE35)
        return h ^ h >> np.uint32(16)

    def floats(self, scale, *shape):
        """Uniform float32 in ±scale."""
        unit = (self._hash(math.prod(shape)) >> np.uint32(8)).astype(np.float32) * np.float32(2**-23)
        return ((unit - np.float32(1)) * np.float32(scale)).reshape(shape)

    def ints(self, n, *shape):
        """Integers from 0 to n-1."""
        return (self._hash(math.prod(shape)) % np.uint32(n)).astype(self.integer).reshape(shape)


def libraries(name):
    """The loaded libraries whose file names have name in them, on Linux."""
    if not os.path.exists("/proc/self/maps"):
        return ""
    with open("/proc/self/maps") as f:
        files = {line.split()[-1].rsplit("/", 1)[-1] for line in f if name in line.rsplit("/", 1)[-1]}
    return "".join(", " + x for x in sorted(files))


def sample(result):
    """Up to 16 elements, evenly spaced from the first to the last."""
    flat = result.reshape(-1)
    n = len(flat)
    m = min(16, n)
    return [float(flat[k * (n - 1) // max(m - 1, 1)]) for k in range(m)]


def measure(run, seconds, sync):
    """The median time of a run, in batches long enough for the clock, each with sync at its end.

    Batches in half as much time before warm up.
    """
    batches, n, spent, samples = 20, 1, -seconds / 2, []
    while not samples or spent < seconds:
        warm = spent >= 0
        start = time.perf_counter()
        for _ in range(n):
            run()
        sync()
        t = time.perf_counter() - start
        spent += t
        if t < seconds / batches / 2:
            n, samples = n * 2, []
            continue
        if warm:
            samples.append(t / n)
    samples.sort()
    return (samples[(len(samples) - 1) // 2] + samples[len(samples) // 2]) / 2


class CPU:
    """The device of a peer."""

    inputs = Inputs

    def open(self, name):
        """Selects the device of that name, and describes it."""
        return libraries("openblas") + libraries("mkl")

    def clear(self):
        """Frees what is no longer used, and counts the greatest number of bytes anew."""

    def sync(self):
        """Waits for all work."""

    def memory(self):
        """The greatest number of bytes held since clear, as fields of the output."""
        return {}


def main(about, works, set_threads=lambda n: None, device=CPU()):
    """Measures works: name -> (setup, number of sampled runs).

    A setup takes Inputs and returns a function that computes once.
    """
    p = argparse.ArgumentParser()
    p.add_argument("--about", action="store_true")
    p.add_argument("--device", default="cuda", help="a GPU; only for peers that have one")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seconds", type=float, default=0.2)
    p.add_argument("works", nargs="*")
    a = p.parse_args()
    about += device.open(a.device)
    if a.about:
        print(json.dumps({"about": about, "works": list(works)}))
        return
    set_threads(a.threads)
    for name in a.works:
        setup, runs = works[name]
        result = {"work": name}
        try:
            device.clear()
            run = setup(device.inputs())
            device.clear()
            start = time.perf_counter()
            first = run()
            device.sync()
            result["first"] = time.perf_counter() - start
            result["sample"] = sample(first) + [s for _ in range(runs - 1) for s in sample(run())]
            first = None
            result |= {"seconds": measure(run, a.seconds, device.sync)} | device.memory()
        except Exception as e:  # out of memory; an operation that this version of the library lacks
            result["error"] = f"{type(e).__name__}: {e}".split("\n")[0]
        run = None
        print(json.dumps(result), flush=True)

"""Writes torch.json: windows and short-time transforms of PyTorch, in float64.

    python3 generate.py > torch.json
"""

import json

import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(1)


def array(t):
    if t.is_complex():
        t = torch.stack((t.real, t.imag))
    return {"shape": list(t.shape), "data": [float("%.12g" % v) for v in t.flatten().tolist()]}


makers = {"hann": torch.hann_window, "hamming": torch.hamming_window, "blackman": torch.blackman_window,
          "bartlett": torch.bartlett_window, "kaiser": lambda n, periodic: torch.kaiser_window(n, periodic, beta=8.5)}
windows = [{"name": name, "n": n, "periodic": periodic, "window": array(make(n, periodic=periodic))}
           for name, make in makers.items() for n in (1, 6, 7) for periodic in (False, True)]

x = torch.randn(2, 29)
cases = []
for args in (
    {"n_fft": 8},
    {"n_fft": 8, "hop_length": 3, "win_length": 5},
    {"n_fft": 9, "hop_length": 4, "win_length": 8, "normalized": True},
    {"n_fft": 8, "center": False, "hop_length": 2},
    {"n_fft": 6, "onesided": False, "pad_mode": "circular"},
    {"n_fft": 7, "pad_mode": "replicate"},
):
    n = args["n_fft"]
    window = torch.hamming_window(args.get("win_length", n))
    signal = x.clone().requires_grad_()
    z = torch.stft(signal, window=window, return_complex=True, **args)
    power = z.real.square() + z.imag.square()
    power.log1p().sum().backward()
    back = {k: v for k, v in args.items() if k != "pad_mode"}
    y = torch.istft(z.detach() * (1 + 0.5j), window=window, length=23, return_complex=not args.get("onesided", True), **back)
    cases.append({"args": args, "stft": array(z.detach()), "grad": array(signal.grad),
                  "istft": array(y.real if y.is_complex() else y)})

print(json.dumps({"source": "torch " + torch.__version__, "windows": windows, "x": array(x), "cases": cases}))

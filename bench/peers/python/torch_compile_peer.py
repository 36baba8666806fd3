"""Row work and losses of training steps on GPUs by torch.compile."""

import torch

import pytorch_gpu_peer as gpu
import pytorch_peer


def compiled(f):
    torch._dynamo.reset()  # or functions of earlier works count as versions of this one
    return torch.compile(f, dynamic=False)


def whole(setup):
    return lambda inputs: compiled(setup(inputs))


def rows():
    """The works that are neither products nor attention. A cross-entropy compiles its loss, which has a gradient."""
    own = {name: w for name, w in gpu.works.items() if name.split("/")[0] not in ("matmul", "attention")}
    return {name: w if name.startswith("crossentropy/") else whole(w) for name, w in own.items()}


pytorch_peer.compiled = compiled

if __name__ == "__main__":
    gpu.main(", torch.compile", rows())

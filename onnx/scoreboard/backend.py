"""Tensorken as a backend of ONNX's tests, for the public scoreboard.

Each run calls `tensorken onnx case --write`, which reads the model and the inputs from a folder in the suite's own
layout and writes the results. The environment variable TENSORKEN names the program, TENSORKEN_DEVICE a device.
"""

import os
import pathlib
import subprocess
import tempfile

import onnx
from onnx import numpy_helper
from onnx.backend.base import Backend, BackendRep

PROGRAM = os.environ.get("TENSORKEN", "tensorken")


def encode(value, info):
    """The protobuf message of an input or result."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(list(value), info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    return numpy_helper.from_array(value, info.name)


def decode(data, info):
    """The value of a message."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


class TensorkenRep(BackendRep):
    def __init__(self, model, device):
        self.model, self.device = model, device

    def run(self, inputs, **kwargs):
        graph = self.model.graph
        weights = {w.name for w in graph.initializer}
        names = [i for i in graph.input if i.name not in weights]
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "test_data_set_0")
            data.mkdir()
            pathlib.Path(folder, "model.onnx").write_bytes(self.model.SerializeToString())
            for i, (value, info) in enumerate(zip(inputs, names)):
                data.joinpath(f"input_{i}.pb").write_bytes(encode(value, info).SerializeToString())
            command = [PROGRAM, "onnx", "case", "--write", folder]
            if self.device == "CUDA":
                command += ["--device", "cuda"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr.strip())
            return tuple(decode(data.joinpath(f"output_{i}.pb").read_bytes(), info) for i, info in enumerate(graph.output))


class TensorkenBackend(Backend):
    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return TensorkenRep(model, device)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device):
        return device in ("CPU", "CUDA")


is_compatible = TensorkenBackend.is_compatible
prepare = TensorkenBackend.prepare
run_model = TensorkenBackend.run_model
supports_device = TensorkenBackend.supports_device

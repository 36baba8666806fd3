"""The cases of ONNX's suite as tests of the backend: pytest suite.py."""

import onnx.backend.test

import backend

suite = onnx.backend.test.BackendTest(backend, __name__)
suite.exclude("_cuda")
globals().update(suite.test_cases)

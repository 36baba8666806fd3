// Package onnx reads and runs models in ONNX, the format in which other frameworks export
// networks: https://onnx.ai. Read model.go first, then frame.go.
//
//	m, err := onnx.Open("resnet50.onnx")
//	out, err := m.Run(ctx, map[string]tensor.Tensor{"image": x})
//
// A model is interpreted, one operator after another, on tensors of package tensor, which are lazy: the
// compiler fuses operators into kernels. Values that do not depend on the elements of the inputs, such
// as shapes and the arithmetic on them, are computed on the host while a model is interpreted.
package onnx

// Package export writes graphs of tensors as models in ONNX. Read model.go first, then view.go.
//
// Each node of a graph becomes a few nodes of the standard, in the graph's order, and nodes that no
// result needs are left out at the end. So a pattern, such as a product that is summed, is written as a whole where the
// walk meets its last node: MatMul, Conv, a pool. Movements that only name axes anew take no nodes.
//
// Values of 16-bit floats are float32 between the inputs, parameters and results, as they are in kernels.
// Integers of 8 and 16 bits are computed in int32, uint32 in int64, and wrap, because onnxruntime lacks
// most operators for them; uint64 has the bits of int64.
package export

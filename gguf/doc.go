// Package gguf reads and writes GGUF, the files of language models that llama.cpp runs: typed
// metadata and named tensors, many of them quantised:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
//
// [Open] reads the metadata and the list of tensors, and checks both. [File.Tensor] reads a
// tensor: numbers as they are, blocks of quantised numbers as the float32 that ggml decodes, to
// the last bit. Axes are in row-major order: a matrix that ggml lists as [in out] has the shape
// [out in]. [Save] writes a tree of tensors and [Write] tensors that are read one at a time, both
// in any type of the format.
//
// All little-endian versions are read, and models in several files; version 3 is written.
// Package models loads whole models from such files.
//
// Begin with file.go; blocks are in internal/blocks.
package gguf

// Package llamacpp maps the names of tensors and settings in llama.cpp's files, which package gguf
// reads, to the names in Hugging Face's folders, config.json and safetensors, and back. The tables
// are in tables.go; a kind of model is a row there.
//
// Source of the names: llama.cpp, https://github.com/ggml-org/llama.cpp, gguf-py/gguf/constants.py
// and tensor_mapping.py.
package llamacpp

// Package safetensors reads and writes files of named tensors in Hugging
// Face's safetensors format, which PyTorch's tools write as well:
// https://github.com/huggingface/safetensors#format.
//
// [Save] writes any tree of tensors, such as a model, under the names that
// package tree describes, and [Load] fills one. Files are the same, byte for
// byte, as those of Hugging Face's own writer for the same tensors. Metadata,
// which that writer puts in any order, is sorted by key.
//
// The types BOOL, U8, I32, U32, I64, F16, BF16, F32 and F64 are read; a tensor
// of another is an error that names it, when it is read. A file is checked
// when it is opened: whatever bytes it holds, the worst that happens is one
// error that says what is wrong.
package safetensors

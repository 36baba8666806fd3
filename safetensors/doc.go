// Package safetensors reads and writes files of named tensors in Hugging Face's safetensors
// format, which PyTorch's tools write as well:
// https://github.com/huggingface/safetensors#format. Read file.go first.
//
// [Save] writes a tree of tensors, such as a model, under the names that package tree
// describes, and [Load] fills one; [SaveSharded] writes several files and their index.
// Files equal, byte for byte, files of Hugging Face's writer for the same tensors, except
// that metadata, which that writer puts in any order, is sorted by key.
//
// The types BOOL, U8, I8, U16, I16, I32, U32, I64, U64, F16, BF16, F32 and F64 can be read;
// reading a tensor of another type is an error. Open checks the whole header, so an invalid file
// gives one error that names the fault.
package safetensors

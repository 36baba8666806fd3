// Package treefile fills trees from files of named tensors, and lists the tensors of a
// tree for a file. Packages of such files, as safetensors and npy, share it.
package treefile

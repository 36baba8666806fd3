// Package shape computes with shapes and indices: broadcasting, axes, and the
// forms by which a kernel's axes say which element of a tensor is meant. All
// functions are pure.
package shape

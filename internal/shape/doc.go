// Package shape computes with shapes and indices: broadcasting, axes, and the affine
// expressions that map the axes of a kernel to elements of a tensor. All functions are pure.
// Read affine.go first, then move.go.
package shape

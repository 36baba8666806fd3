// Package ir is the vocabulary that every part of Tensorken shares: element types, the table
// of operations, and kernels, the small programs that a device runs. Read op.go first, then
// kernel.go.
//
// Operations are data. A row of [Table] describes one: its operands and their types, its
// result's type, its cost, its derivative. The compiler, the interpreter, the printers and
// the derivative rules are tables indexed by [Op], and tests that walk the op table fail
// for an operation that lacks an entry in one of them.
//
// The package is experimental until a second author has written a device
// against it.
package ir

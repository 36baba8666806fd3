// Package ir is the vocabulary that every part of Tensorken shares: element
// types, the table of operations, and kernels, the small programs that a
// device runs.
//
// Operations are data. A row of [Table] says all that is known of one: how
// many operands it takes, which types, what it gives, what it costs, whether
// it is differentiable. The compiler, the interpreter, the printers and the
// derivative rules are tables indexed by [Op], and tests that walk the op
// table fail for an operation that lacks an entry in one of them.
//
// The package is experimental until a second author has written a device
// against it.
package ir

// Package simt runs programs of package shader on the host, as a GPU of many threads would, and
// finds mistakes that a GPU would not report: it is for tests. Verify checks types and names
// before. Read run.go first.
//
// The threads of a workgroup execute statement by statement together, each on its own registers;
// those that a condition leaves out wait. Workgroups run one after the other. A program fails,
// with the names and numbers of the statement and threads, where an access is out of range or
// not aligned, a loop does not end, some threads of a workgroup do not execute a barrier or a
// shuffle, or two threads race: on an element of shared memory between two barriers, or on an
// element of a buffer in a pass, except by atomic operations or by writes of equal values.
//
// A result that the language leaves undefined, such as the quotient by zero, is a strange
// number, always the same. Floats follow IEEE 754; a fused multiplication and addition rounds
// only the sum.
package simt

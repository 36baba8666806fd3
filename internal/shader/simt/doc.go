// Package simt runs programs of package shader on the host, as a GPU of many threads would,
// and finds mistakes that a GPU would not report: it is for tests. Verify checks types and
// names before.
//
// The threads of a workgroup execute statement by statement together, each on its own
// registers; those that a condition leaves out wait. Workgroups run one after the other. A
// program fails, with the names and numbers of the statement and threads, where
//
//   - two threads touch one element of shared memory, one of them writing, with no barrier
//     between, or a thread reads an element that no thread wrote
//   - two threads of a pass write different values to one element of a buffer, or one reads
//     an element that another writes, other than by atomic operations
//   - some threads of a workgroup do not execute a barrier or a shuffle
//   - an access is out of range, or one of four elements not aligned
//   - a loop does not end
//
// A result that the language leaves undefined, such as the quotient by zero, is a strange
// number, always the same. Floats follow IEEE 754; a fused multiplication and addition
// rounds only the sum.
package simt

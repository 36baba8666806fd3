// Package simt runs programs of package shader on the host, as a GPU of many
// threads would, and finds what a GPU would not: it is for tests. Verify checks types
// and names before.
//
// The threads of a workgroup execute statement by statement together, each on
// its own registers; those that a condition leaves out wait. Workgroups run one
// after the other. A program fails, with the names and numbers of what went
// wrong, where
//
//   - two threads touch one element of shared memory, one of them writing, with
//     no barrier between, or a thread reads what no thread wrote
//   - two threads of a pass write different values to one element of a buffer,
//     or one reads what another writes, other than by atomic operations
//   - some threads of a workgroup do not execute a barrier or a shuffle
//   - an access is out of range, or one of four elements not aligned
//   - a loop does not end
//
// What the language leaves undefined, such as the quotient by zero, is a strange
// number, always the same. Floats are those of IEEE 754; of a fused
// multiplication and addition only the sum is rounded.
package simt

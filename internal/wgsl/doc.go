// Package wgsl prints programs of package shader as WGSL, the shading language of WebGPU. Read
// print.go first.
//
// Buffers have the same layout as on the host. Float32, int32 and uint32 are types of WGSL. Smaller
// types are packed in 32-bit words, the first element in the low bits: four bools or 8-bit integers
// to a word, or two elements of a 16-bit type. A thread writes a word of a packed type at once if
// it stores all its elements; otherwise it clears and sets the bits of its elements by atomic
// operations. A 64-bit integer is a pair of words, in buffers and in registers, and the printer
// adds functions that compute with such pairs. The length of a buffer that is bound as a vector
// type must be a multiple of 16 bytes.
//
// WGSL guarantees little about NaN, infinities and the sign of zeros, and its compilers optimize
// as if floats were real numbers. To keep a value from such optimizations, the printer makes it
// depend on a private variable, _zero, which is 0. Names that begin with _ are reserved for the
// printer.
package wgsl

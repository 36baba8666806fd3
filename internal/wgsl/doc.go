// Package wgsl prints programs of package shader as WGSL, the shading language of WebGPU. Read
// print.go first.
//
// In buffers elements lie as on the host: float32, int32 and uint32 as themselves, bool and
// 8-bit integers four to a 32-bit word, other types of 16 bits two, the first in the low bits. A
// thread that stores whole words of a packed type writes them; otherwise it clears and sets its
// own bits by atomic operations. Integers of 64 bits are pairs of words, also in registers:
// functions of the printer compute with them. A buffer that is bound as a vector type has to be
// a multiple of 16 bytes long.
//
// WGSL promises little of NaN, infinities and the sign of zeros, and its compilers reason as if
// floats were real numbers: values that they must not reason about depend on a private word,
// _zero, which is 0. Names that begin with _ are the printer's; programs have none.
package wgsl

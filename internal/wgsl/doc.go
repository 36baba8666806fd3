// Package wgsl prints kernels as WGSL, the shading language of WebGPU. It
// needs no GPU.
//
// In buffers elements lie as on the host: float32, int32 and uint32 as
// themselves, bool and uint8 four to a 32-bit word, float16 and bfloat16 two,
// the first in the low bits. A thread that stores whole words of a packed type
// writes them; otherwise it clears and sets its own bits by atomic operations.
// In registers there are f32, i32, u32 and bool: a uint8 is a u32 below 256.
//
// WGSL promises little of NaN, infinities, integer division and large
// arguments of its functions, so what the design's section "Numbers" settles
// is spelled out: NaN is told by its bits, infinities are made at run time,
// what compilers would simplify as if numbers were real they are kept from
// seeing (see ops.go), and functions that lose accuracy have their own series
// (see helpers).
//
// All work is split by shapes and the target's limits, never by timing, and
// every combination has a fixed order: the same kernel on the same target
// gives the same bits.
//
// A device binds whole buffers and has these things to know of a Program: a
// buffer that is bound as a vector type has to be a multiple of 16 bytes long,
// and a status is noted in two steps, the last of which is the program's last
// pass (see status.go).
package wgsl

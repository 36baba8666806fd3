// Package wgpu is what Tensorken needs of WebGPU, as one small Go interface:
// adapters, a device, buffers, compute pipelines, and a queue that runs lists
// of commands.
//
// [Load] finds a native library with the C interface webgpu.h, such as Dawn,
// and calls it without cgo. Package wgputest has an implementation in memory, and
// a checker that wraps any implementation.
//
// Commands are handed over as data, a whole list at a time, rather than one
// call each: an implementation may then cross into C, or into JavaScript, in
// the way that is cheapest for it.
package wgpu

// Package wgpu is the part of WebGPU that Tensorken uses, as one small Go interface:
// adapters, a device, buffers, compute pipelines, and a queue that runs lists of commands.
// Read wgpu.go first.
//
// [Load] finds a native library with the C interface webgpu.h, such as Dawn,
// and calls it without cgo. On js it returns navigator.gpu, of a browser's page or worker
// or of Node with npm's webgpu; there a method that waits lets the event loop run, so call it
// from a goroutine and not from a callback of JavaScript. Package wgputest has an implementation in memory, and
// a checker that wraps any implementation.
//
// Commands are data, submitted as a list and not by one call each, so that an
// implementation can call C or JavaScript in its cheapest way.
package wgpu

// Package gpu runs kernels on a GPU: a driver.Device over internal/wgpu, with
// shaders from internal/schedule and internal/wgsl.
//
// A run records its dispatches into few command buffers of one pass each.
// Numbers and offsets go up in one piece for each of them, 256 bytes a
// dispatch; pipelines are compiled in the background when a kernel is, and kept
// by their source; groups of buffers are kept as well. Work is handed over when
// Run returns, and work under way is bounded.
//
// A device is for one goroutine at a time, as driver.Device says.
package gpu

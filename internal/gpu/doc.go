// Package gpu runs kernels on a GPU: a driver.Device over internal/wgpu, with shaders from
// internal/schedule and internal/wgsl. Read device.go first, then run.go.
//
// A run records its dispatches into few command buffers of one pass each. The
// parameters of a command buffer, 256 bytes a dispatch, are written at once to the
// device's uniform buffer, unless it has them from an earlier run. All bind groups of
// passes with parameters bind it. Pipelines are compiled in the background when a
// kernel is, and cached by their source; bind groups are cached as well. Run holds the
// last dispatches, at most 127, and the number of submissions under way is bounded.
//
// A device is for one goroutine at a time, as driver.Device says.
package gpu

// Package cuda runs kernels on NVIDIA's GPUs by the driver alone: a driver.Device over
// libcuda, with kernels from internal/schedule and internal/ptx. It needs no toolkit.
//
// The driver compiles PTX text; the code is kept on disk (cache.go). A context belongs to a thread,
// so each method that calls the driver holds its thread and makes the device's context current
// there. All work is in one stream: memory is allocated and freed in the order of the work. Kernels
// of calls that run again are launched by graphs (graph.go). A few kernels are held until there are
// more (hold.go). Copies go through pinned memory (transfer.go). A copy from another GPU is work in
// the streams of both, which wait for each other by events (peer.go).
//
// Source: NVIDIA, CUDA Driver API.
package cuda

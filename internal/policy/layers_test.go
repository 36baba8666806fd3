package policy

import "strings"

// A layer is packages with one subject. Data flow from the last layers, which users type, to the
// first, which devices run.
type layer struct{ name, packages string }

// layers lists the library's packages. A package may import only those that stand before it.
// Commands and examples may import all of them, packages in their own folders, and internal
// packages of the folders above, such as examples/internal; nothing else imports those. Tests are
// free.
//
// A new package is added here and, in the same order, to the table in docs/architecture.md; do
// not move one to make a build pass.
var layers = []layer{
	{"operations and kernels", `
		internal/sorts ir internal/shape internal/loopnest internal/simd
		driver internal/loops`},
	{"system", `
		internal/clock internal/hostmem internal/hostmem/memtest internal/files internal/files/filestest
		internal/limits internal/cachedir internal/terminal internal/interrupt internal/interrupt/interrupttest
		internal/lru internal/goroutine internal/dynlib internal/dynlib/dynlibtest`},
	{"CPU", `internal/cpu`},
	{"schedules and printers", `
		internal/shader internal/shader/simt
		internal/schedule/build internal/schedule/pointwise internal/schedule/reduce internal/schedule/routines
		internal/schedule/product internal/schedule/tiles internal/schedule/contraction internal/schedule/attention
		internal/schedule internal/wgsl internal/ptx internal/ptx/ptxtest internal/tune`},
	{"GPUs", `internal/wgpu internal/wgpu/wgputest internal/gpudevice internal/gpu internal/cuda`},
	{"compiler", `internal/graph internal/interp internal/simplify internal/kernelize internal/compile`},
	{"evaluation", `internal/memory internal/storage internal/capture internal/profile internal/exec`},
	{"tensors", `internal/pytree tensor`},
	{"devices", `webgpu cuda device`},
	{"transformations", `internal/jit tree grad grad/gradtest`},
	{"files", `internal/treefile safetensors npy imageio wav`},
	{"mathematics", `fft linalg solve`},
	{"networks", `nn optim data/table data data/images train models`},
	{"drawings", `plot draw`},
	{"tests", `internal/cases driver/drivertest internal/goldentext internal/golden internal/policy`},
	{"programs", `internal/digits internal/bench`},
}

// order has the packages of all layers.
var order = func() (list []string) {
	for _, l := range layers {
		list = append(list, strings.Fields(l.packages)...)
	}
	return list
}()

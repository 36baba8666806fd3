package policy

import "strings"

// A layer is packages with one subject. Data flow from the last layers, which users type, to the
// first, which devices run. In docs/house.svg a layer stands in a row, counted from the top, between
// two hundredths of its width.
type layer struct {
	name           string
	row, left, end int
	packages       string
}

// layers lists the library's packages. A package may import only those that stand before it.
// Commands and examples may import all of them, packages in their own folders, and internal
// packages of the folders above, such as examples/internal; nothing else imports those. Tests are
// free.
//
// A new package is added here and, in the same order, to the table in docs/architecture.md; do
// not move one to make a build pass.
var layers = []layer{
	{"operations and kernels", 7, 0, 100, `
		internal/sorts ir internal/shape internal/loopnest internal/simd
		driver internal/loops`},
	{"system", 6, 0, 100, `
		internal/clock internal/hostmem internal/hostmem/memtest internal/files internal/files/filestest internal/mapped
		internal/limits internal/cachedir internal/terminal internal/interrupt internal/interrupt/interrupttest
		internal/lru internal/goroutine internal/dynlib internal/dynlib/dynlibtest`},
	{"CPU", 4, 27, 39, `internal/cpu/vector internal/cpu/product internal/cpu/sliding internal/cpu`},
	{"schedules and printers", 5, 37, 100, `
		internal/shader internal/shader/simt
		internal/schedule/build internal/schedule/pointwise internal/schedule/reduce internal/schedule/routines
		internal/schedule/packed internal/schedule/product internal/schedule/tiles internal/schedule/contraction internal/schedule/attention
		internal/schedule internal/wgsl internal/ptx internal/ptx/ptxtest internal/tune`},
	{"GPUs", 4, 40, 100, `internal/wgpu internal/wgpu/wgputest internal/gpudevice internal/gpu internal/cuda`},
	{"compiler", 5, 0, 30, `internal/graph internal/interp internal/simplify internal/kernelize/space internal/kernelize/regions internal/kernelize/masks internal/kernelize/images internal/kernelize/norms internal/kernelize internal/compile internal/compile/blockwise`},
	{"evaluation", 4, 0, 26, `internal/memory internal/storage internal/capture internal/profile internal/exec`},
	{"tensors", 3, 36, 66, `internal/pytree tensor tree`},
	{"devices", 2, 70, 100, `webgpu cuda device`},
	{"transformations", 2, 0, 33, `internal/jit grad grad/gradtest internal/hosttest dist`},
	{"files", 2, 34, 69, `internal/treefile safetensors internal/blocks gguf internal/llamacpp npy imageio wav`},
	{"mathematics", 1, 0, 26, `fft linalg solve`},
	{"networks", 1, 27, 100, `nn optim data/table data data/images train models/sample models/internal/settings models models/parallel`},
	{"language", 0, 21, 59, `internal/pyvalue internal/jinja tokenizer/internal/match tokenizer/internal/norm tokenizer/internal/protobuf tokenizer/internal/subword tokenizer internal/vocabulary llm/hub llm`},
	{"ONNX", 0, 60, 78, `
		onnx/internal/proto onnx/internal/op onnx/internal/ops/core onnx/internal/ops/neural onnx/internal/ops/image
		onnx/internal/ops/quant onnx/internal/ops/signal onnx/internal/ops/host onnx/internal/ops/ml onnx/internal/ops
		onnx/internal/export onnx internal/onnxcase`},
	{"drawings", 0, 79, 100, `plot draw`},
	{"tests", 3, 0, 35, `internal/cases driver/drivertest internal/schedule/scheduletest internal/gpu/gputest internal/property internal/goldentext internal/golden internal/policy`},
	{"programs", 0, 0, 20, `internal/digits internal/bench`},
}

// order has the packages of all layers.
var order = func() (list []string) {
	for _, l := range layers {
		list = append(list, strings.Fields(l.packages)...)
	}
	return list
}()

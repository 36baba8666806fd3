package tensor

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/ir"
)

// A Kernel is an operation of one's own: one kernel, written in Go for the CPU, in WGSL for the
// device webgpu, and in PTX for the device cuda. A device without a text in its language calls Go, on
// the host; without that, reading the result is an error. See [Kernel.Call].
//
// A text is trusted. It stays within its operands and stores every element of the result; on a GPU
// there may be other data behind the last element.
type Kernel struct {
	Name     string   // for errors and [Explain]
	Operands []string // their names in WGSL
	DType    DType    // of the result; by default the first operand's
	Shape    []int    // of the result; nil is the first operand's

	// Go fills the elements of the result, zeros at first. It does not write the operands, and keeps no Data. It depends
	// on nothing else: where a function with variables of its own computes, Jit records nothing.
	Go func(out Array, in []Array) error

	// WGSL is a module with the entry point main, of @workgroup_size(threads). The module is given the
	// bindings: an array for each of Operands, and out for the result, of f32, i32 or u32. It is
	// also given the constants threads and n, the number of elements of out.
	WGSL string
	// PTX is a module with the entry point kernel. Its parameters are the addresses of the operands and of
	// the result, each a .u64, and the number of elements of the result, a .u32: as nvcc -ptx makes it of
	// extern "C" __global__ void kernel(const float *x, float *out, unsigned n).
	PTX string

	Threads int    // of a workgroup, the block of CUDA; by default 256
	Grid    [3]int // workgroups along x, y and z; by default enough along x for a thread per element of the result

	// Batch is the operation for grad.Vmap: it gets operands with one more axis, the first, for the
	// examples, and gives the result with that axis. Nil is an error in Vmap.
	Batch func(operands ...Tensor) Tensor
}

// An Array is the elements of a tensor on the host, in row-major order: see [Elements].
type Array struct {
	DType DType
	Shape []int
	Data  []byte
}

// Elements returns the elements of an array as Go values, not a copy. It panics with an [*Error] if E
// is not the type of a's elements.
func Elements[E Element](a Array) []E {
	if d := dtypeOf[E](); d != a.DType {
		fail("Elements", fmt.Sprintf("the elements are %v, not %v", a.DType, d))
	}
	return elementsOf[E](a.Data)
}

// Call returns the result of the kernel for operands, of any shapes and types. It is computed when it
// is read, as the results of all operations are, between the plans that compute its operands and
// those that read it: nothing is fused with it.
//
// It has no derivative: grad.Custom and grad.CustomJVP give it one. If a text does not compile, reading the
// result is an [*Error] with the line of Call and the compiler's message, with lines of the text.
func (k Kernel) Call(operands ...Tensor) Tensor {
	op := "Kernel " + k.Name
	if len(operands) == 0 || len(operands) != len(k.Operands) {
		fail(op, fmt.Sprintf("it has %d operands and names for %d; there must be one at least", len(operands), len(k.Operands)))
	}
	if k.Go == nil && k.WGSL == "" && k.PTX == "" {
		fail(op, "it has no text: set Go, WGSL or PTX")
	}
	for i, name := range k.Operands {
		if !isWord(name) || slices.Contains(k.Operands[:i], name) || slices.Contains([]string{"out", "threads", "n", "main"}, name) {
			fail(op, fmt.Sprintf("%q is no name for operand %d: it must be an identifier that no other operand has, and not out, threads, n or main", name, i+1))
		}
	}
	src := nodes(op, operands)
	var args []ir.Arg
	for i, n := range src {
		checkDevices(op, src[0], n)
		src[i] = graph.Typed(n)
		args = append(args, ir.Arg{Kind: ir.In, DType: n.DType, Len: n.Len()})
	}
	if k.DType = cmp.Or(k.DType, src[0].DType); !k.DType.Valid() {
		fail(op, "no such type as "+k.DType.String())
	}
	if k.Shape == nil {
		k.Shape = src[0].Shape
	}
	k.Threads = cmp.Or(k.Threads, 256)
	checkShape(op, k.Shape)
	size := graph.Len(k.Shape)
	if k.Grid == [3]int{} {
		k.Grid = [3]int{max(1, ir.CeilDiv(size, k.Threads)), 1, 1}
	}
	if size > math.MaxInt32 || min(k.Threads, k.Grid[0], k.Grid[1], k.Grid[2]) < 1 {
		fail(op, fmt.Sprintf("%d elements, %d threads, a grid of %v: at most 2^31-1 elements, and at least 1 of the others", size, k.Threads, k.Grid), slices.Clone(k.Shape))
	}
	f := &graph.HostFunc{Op: op, Run: k.run(), Key: k.key(), Kernel: &graph.Kernel{
		Texts: map[string]string{"wgsl": k.WGSL, "ptx": k.PTX},
		RawKernel: ir.RawKernel{
			Name: k.Name, Names: append(slices.Clone(k.Operands), "out"), Threads: k.Threads, Grid: k.Grid,
			Args: append(args, ir.Arg{Kind: ir.Out, DType: k.DType, Len: size}, ir.Arg{Kind: ir.Value, DType: ir.Uint32}),
		},
	}}
	if k.Batch != nil {
		f.Kernel.Batch = func(src []*graph.Node) *graph.Node { return k.Batch(tensorsOf(src)...).node(op) }
	}
	return Tensor{n: graph.KernelCall(f, k.DType, slices.Clone(k.Shape), src...)}
}

// isWord reports whether a name is an identifier of ASCII letters, as WGSL and Go have it.
func isWord(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return strings.Trim(name, letters+"0123456789_") == "" && strings.IndexAny(name, letters) == 0
}

// run is Go as a function of package graph's arrays.
func (k Kernel) run() func(out graph.HostArray, in []graph.HostArray) error {
	if k.Go == nil {
		return nil
	}
	return func(out graph.HostArray, in []graph.HostArray) error {
		list := make([]Array, len(in))
		for i, a := range in {
			list[i] = arrayOf(a)
		}
		return k.Go(arrayOf(out), list)
	}
}

// arrayOf gives a function an array whose shape it may change. The elements are the graph's.
func arrayOf(a graph.HostArray) Array { return Array{a.DType, slices.Clone(a.Shape), a.Data} }

// key identifies the kernel, for [graph.HostFunc]; nil if Go may change unseen.
func (k Kernel) key() any {
	type key struct {
		operands, wgsl, ptx string
		code                uintptr
		threads             int
		grid                [3]int
	}
	if pytree.Captures(*(*unsafe.Pointer)(unsafe.Pointer(&k.Go))) {
		return nil
	}
	return key{strings.Join(k.Operands, " "), k.WGSL, k.PTX, reflect.ValueOf(k.Go).Pointer(), k.Threads, k.Grid}
}

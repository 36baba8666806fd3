package linalg

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A hostFunc fills out, zeros at first, for one matrix of a batch. It does not write the
// operands.
type hostFunc func(out []float64, in [][]float64) error

// A hostKey identifies a hostFunc with its settings.
type hostKey struct {
	code     uintptr
	operands [2][2]int // the shapes of the matrices
	settings any
}

// onHost returns the results of f, of an operation op, which runs on the host: for each
// matrix of the operands' batch the given number of elements. Settings are a comparable
// value on which f depends besides the operands and their shapes, or nil.
func onHost(op string, length int, settings any, f hostFunc, operands ...tensor.Tensor) tensor.Tensor {
	flat := make([]tensor.Tensor, len(operands))
	key := hostKey{code: reflect.ValueOf(f).Pointer(), settings: settings}
	for i, t := range operands {
		key.operands[i] = [2]int{t.Dim(-2), t.Dim(-1)}
		flat[i] = t.Reshape(append(batchOf(t), t.Dim(-2)*t.Dim(-1))...)
	}
	run := func(out graph.HostArray, in []graph.HostArray) error { return runBatch(f, out, in) }
	return tensor.Internal.HostCall(graph.Token{}, op, length, key, run, flat...)
}

// cut returns tensors of shapes that lie one after the other along the last axis of t.
func cut(t tensor.Tensor, shapes ...[]int) []tensor.Tensor {
	batch := t.Shape()[:t.Rank()-1]
	out := make([]tensor.Tensor, len(shapes))
	from := 0
	for i, s := range shapes {
		n := graph.Len(s)
		out[i] = t.Slice(-1, from, from+n).Reshape(slices.Concat(batch, s)...)
		from += n
	}
	return out
}

// runBatch calls f for each matrix of a batch, on all cores. It returns the error of the
// first matrix that has one.
func runBatch(f hostFunc, out graph.HostArray, in []graph.HostArray) error {
	batch := out.Shape[:len(out.Shape)-1]
	n := graph.Len(batch)
	var next atomic.Int64
	errs := make([]error, n)
	work := func() {
		var w hostWorker
		defer w.free()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			errs[i] = w.run(f, out, in, i)
		}
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
	for i, pos := range shape.Positions(batch) {
		switch {
		case errs[i] == nil:
		case len(batch) > 0:
			return fmt.Errorf("matrix %v of the batch: %w", pos, errs[i])
		default:
			return errs[i]
		}
	}
	return nil
}

// A hostWorker has memory for float32 operands and results in float64.
type hostWorker struct{ memory *[]float64 }

// free makes the memory available to others.
func (w *hostWorker) free() {
	if w.memory != nil {
		scratches.Put(w.memory)
	}
}

func (w *hostWorker) run(f hostFunc, out graph.HostArray, in []graph.HostArray, i int) (err error) {
	defer recoverTo(&err)
	w.reserve(out, in)
	rest := *w.memory
	operands := make([][]float64, len(in))
	for k, a := range in {
		operands[k], rest = float64sOf(a, i, rest)
		if a.DType == ir.Float32 {
			widen(operands[k], a, i)
		}
	}
	result, _ := float64sOf(out, i, rest)
	if out.DType == ir.Float32 {
		clear(result)
	}
	if err := f(result, operands); err != nil {
		return err
	}
	if out.DType == ir.Float32 {
		narrow(out, i, result)
	}
	return nil
}

// recoverTo turns a panic of allocate or of gonum into an error.
func recoverTo(err *error) {
	r := recover()
	if e, ok := r.(error); ok && errors.Is(e, driver.ErrMemory) {
		*err = e
	} else if r != nil {
		*err = &panicError{r, debug.Stack()}
	}
}

// A panicError is the failure of a function on the host. Its text is one line, for a log; the
// stack, with paths of the machine that built the program, is for a debugger.
type panicError struct {
	value any
	Stack []byte
}

func (e *panicError) Error() string {
	return "it failed: " + strings.Join(strings.Fields(fmt.Sprint(e.value)), " ")
}

// reserve allocates the memory, which is for all matrices of the batch.
func (w *hostWorker) reserve(out graph.HostArray, in []graph.HostArray) {
	total := 0
	for _, a := range append(in[:len(in):len(in)], out) {
		if a.DType == ir.Float32 {
			total += lastOf(a)
		}
	}
	if w.memory == nil {
		w.memory = scratches.Get().(*[]float64)
	}
	grow(w.memory, total)
}

func lastOf(a graph.HostArray) int { return a.Shape[len(a.Shape)-1] }

// float64sOf returns matrix i of a batch where it lies or, for float32, memory for it from the
// start of free; it also returns the rest of free.
func float64sOf(a graph.HostArray, i int, free []float64) (x, rest []float64) {
	n := lastOf(a)
	switch {
	case n == 0:
		return nil, free
	case a.DType == ir.Float32:
		return free[:n:n], free[n:]
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&a.Data[8*i*n])), n), free
}

// widen fills x with the float32s of matrix i of a batch, narrow does the reverse.
func widen(x []float64, a graph.HostArray, i int) {
	if len(x) > 0 {
		simd.Casts[ir.Float32][ir.Float64](unsafe.Pointer(&x[0]), unsafe.Pointer(&a.Data[4*i*len(x)]), len(x))
	}
}

func narrow(a graph.HostArray, i int, x []float64) {
	if len(x) > 0 {
		simd.Casts[ir.Float64][ir.Float32](unsafe.Pointer(&a.Data[4*i*len(x)]), unsafe.Pointer(&x[0]), len(x))
	}
}

// finite returns an error if x has NaN or an infinity, at which iterations do not converge.
func finite(x []float64, cols int) error {
	for i, v := range x {
		if v-v != 0 {
			return fmt.Errorf("element [%d %d] is %v", i/cols, i%cols, v)
		}
	}
	return nil
}

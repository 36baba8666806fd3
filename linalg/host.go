package linalg

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A hostFunc fills out for one matrix of a batch. It may overwrite the operands.
type hostFunc func(out []float64, in [][]float64) error

// onHost returns what f, of an operation op, computes on the host: for each matrix of the
// operands' batch the given number of elements.
func onHost(op string, length int, f hostFunc, operands ...tensor.Tensor) tensor.Tensor {
	flat := make([]tensor.Tensor, len(operands))
	for i, t := range operands {
		flat[i] = t.Reshape(append(batchOf(t), t.Dim(-2)*t.Dim(-1))...)
	}
	run := func(out graph.HostArray, in []graph.HostArray) error { return runBatch(f, out, in) }
	return tensor.Internal.HostCall(graph.Token{}, op, length, run, flat...)
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

// A hostWorker has memory for the operands and the result of one matrix.
type hostWorker struct{ memory []float64 }

func (w *hostWorker) run(f hostFunc, out graph.HostArray, in []graph.HostArray, i int) error {
	total := lastOf(out)
	for _, a := range in {
		total += lastOf(a)
	}
	if w.memory == nil && total > 0 {
		b, err := tensor.Internal.Allocate(graph.Token{}, 8*total)
		if err != nil {
			return err
		}
		w.memory = unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), total)
	}
	rest := w.memory
	take := func(n int) []float64 {
		x := rest[:n:n]
		rest = rest[n:]
		return x
	}
	operands := make([][]float64, len(in))
	for k, a := range in {
		operands[k] = take(lastOf(a))
		decode(operands[k], a, i)
	}
	result := take(lastOf(out))
	clear(result)
	if err := f(result, operands); err != nil {
		return err
	}
	encode(out, i, result)
	return nil
}

func lastOf(a graph.HostArray) int { return a.Shape[len(a.Shape)-1] }

// decode fills x with the elements of matrix i of a batch.
func decode(x []float64, a graph.HostArray, i int) {
	size := a.DType.Size()
	data := a.Data[i*len(x)*size:]
	if a.DType == ir.Float32 {
		for j := range x {
			x[j] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*j:])))
		}
		return
	}
	for j := range x {
		x[j] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*j:]))
	}
}

// encode stores x as matrix i of a batch.
func encode(a graph.HostArray, i int, x []float64) {
	data := a.Data[i*len(x)*a.DType.Size():]
	if a.DType == ir.Float32 {
		for j, v := range x {
			binary.LittleEndian.PutUint32(data[4*j:], math.Float32bits(float32(v)))
		}
		return
	}
	for j, v := range x {
		binary.LittleEndian.PutUint64(data[8*j:], math.Float64bits(v))
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

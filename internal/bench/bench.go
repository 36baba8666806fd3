// Package bench measures the speed of a few operations on square float32 matrices, and
// compares works with other libraries, its peers. Read work.go first.
//
// A time is the median of several runs. Each run builds the operation's graph from inputs
// on the device and evaluates it, so a time includes making the graph, finding its plan,
// submitting it, allocating the result and computing. It does not include compiling, which
// runs before do, nor copies between host and device: the clock stops when the device
// has finished a batch of runs, and no result is read.
package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/tensor"
)

// An Op is an operation to measure.
type Op struct {
	Name   string
	inputs int
	apply  func(x []tensor.Tensor) tensor.Tensor
	// view makes a contiguous input non-contiguous.
	view func(x tensor.Tensor) tensor.Tensor
	// flops counts the operations on n×n inputs.
	flops func(n float64) float64
}

// Ops has all operations.
var Ops = []Op{
	{"exp", 1, func(x []tensor.Tensor) tensor.Tensor { return x[0].Exp() }, reshaped, elements},
	{"add", 2, func(x []tensor.Tensor) tensor.Tensor { return x[0].Add(x[1]) }, reshaped, elements},
	{"mul", 2, func(x []tensor.Tensor) tensor.Tensor { return x[0].Mul(x[1]) }, reshaped, elements},
	{"sum", 1, func(x []tensor.Tensor) tensor.Tensor { return x[0].Sum(0) }, reshaped, elements},
	{"sum_to_scalar", 1, func(x []tensor.Tensor) tensor.Tensor { return x[0].Sum() }, reshaped, elements},
	{"matmul", 2, func(x []tensor.Tensor) tensor.Tensor { return x[0].MatMul(x[1]) }, tensor.Tensor.T,
		func(n float64) float64 { return 2 * n * n * n }},
}

// reshaped returns a view of an n×n matrix as 2n×n/2 with contiguous columns.
func reshaped(x tensor.Tensor) tensor.Tensor { return x.Reshape(x.Dim(0)/2, -1).T() }

func elements(n float64) float64 { return n * n }

// The layouts of inputs.
const (
	Contiguous    = "contiguous"
	NonContiguous = "noncontiguous" // reshaped to n/2×2n and transposed; for matmul, transposed
)

// Layouts has all layouts.
var Layouts = []string{Contiguous, NonContiguous}

// A Cell is an operation on n×n inputs of a layout; n is even.
type Cell struct {
	Op     Op
	N      int
	Layout string
}

// A Row is the time that a device takes for one run of a cell.
type Row struct {
	Op      string  `json:"op"`
	N       int     `json:"n"`
	Layout  string  `json:"layout"`
	Device  string  `json:"device"` // for the caller to fill in
	Seconds float64 `json:"seconds"`
	// One operation for each element of an input, 2n³ for a product.
	FlopsPerS float64 `json:"flops_per_s"`
	// Each input is read once, the result written once.
	BytesPerS float64 `json:"bytes_per_s"`
}

// Measure runs a cell on a device for about the given time, at least three times, after
// runs for half as long.
func Measure(ctx context.Context, c Cell, d *tensor.Device, budget time.Duration) (row Row, err error) {
	defer tensor.Catch(&err)
	if c.N < 2 || c.N%2 != 0 {
		return row, fmt.Errorf("bench: size %d, want an even one", c.N)
	}
	rng := tensor.NewRNG(12345)
	x := make([]tensor.Tensor, c.Op.inputs)
	for i := range x {
		x[i] = rng.Uniform(c.N, c.N).To(d)
	}
	if err := tensor.Eval(x); err != nil {
		return row, err
	}
	build := func() tensor.Tensor {
		in := slices.Clone(x)
		if c.Layout == NonContiguous {
			for i := range in {
				in[i] = c.Op.view(in[i])
			}
		}
		return c.Op.apply(in)
	}
	seconds, err := median(ctx, budget, 3, func() error { return tensor.Eval(build()) }, d.Sync)
	if err != nil {
		return row, err
	}
	n := float64(c.N)
	bytes := 4 * (float64(len(x))*n*n + float64(build().Len()))
	return Row{
		Op: c.Op.Name, N: c.N, Layout: c.Layout,
		Seconds: seconds, FlopsPerS: c.Op.flops(n) / seconds, BytesPerS: bytes / seconds,
	}, nil
}

// median returns the median time of run, in a Scope, in seconds, over batches of runs, each with sync
// at its end: as many as fit into the budget, and at least fewest. Half of the budget before is for
// batches that do not count: caches fill, among them pools of memory, and clocks rise.
func median(ctx context.Context, budget time.Duration, fewest int, run, sync func() error) (float64, error) {
	runtime.GC() // collects garbage of earlier cells
	batch := func(n int) (time.Duration, error) {
		start := clock.Now()
		for range n {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			if err := tensor.Scope(run); err != nil {
				return 0, err
			}
		}
		err := sync()
		return clock.Since(start), err
	}
	if _, err := batch(1); err != nil { // compiles
		return 0, err
	}
	// Batches are long enough to make sync's cost negligible, and short enough to have
	// several of them.
	const batches = 20
	n := 1
	var samples []float64
	for spent := -budget / 2; len(samples) < fewest || spent < budget; {
		warm := spent >= 0
		t, err := batch(n)
		if err != nil {
			return 0, err
		}
		spent += t
		if t < budget/batches/2 {
			n *= 2
			samples = samples[:0]
			continue
		}
		if warm {
			samples = append(samples, t.Seconds()/float64(n))
		}
	}
	slices.Sort(samples)
	return (samples[(len(samples)-1)/2] + samples[len(samples)/2]) / 2, nil
}

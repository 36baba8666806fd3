package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// The tolerance of results: relative, plus absolute times the greatest finite element
// expected. Integers must be equal.
const (
	checkRelative = 1e-4
	checkAbsolute = 1e-5
	checkWide     = 1e-9 // times both, for float64
)

// A checked is the result of a check.
type checked struct {
	name         string
	err          error
	worst        float64       // the greatest error divided by the tolerance
	first, again time.Duration // with compiling, and without
	cpu          time.Duration // the CPU's, without compiling
}

// runCheck runs a check on a device and on the CPU.
func runCheck(c check, d *tensor.Device) (r checked) {
	r.name = c.name
	want, _, cpu, err := c.run(tensor.CPU())
	if err != nil {
		r.err = fmt.Errorf("on the CPU: %w", err)
		return r
	}
	r.cpu = cpu
	got, first, again, err := c.run(d)
	r.first, r.again, r.err = first, again, err
	for i := range got {
		if r.err == nil {
			var worst float64
			worst, r.err = compare(got[i], want[i])
			r.worst = max(r.worst, worst)
		}
	}
	return r
}

// An array holds the elements of a tensor on the host.
type array struct {
	name  string
	dtype tensor.DType
	shape []int
	data  []float64
}

// run computes a check on a device twice, and returns the results and both times.
func (c check) run(d *tensor.Device) (out []array, first, again time.Duration, err error) {
	defer tensor.Catch(&err)
	var results []tensor.Tensor
	var gradients int
	for _, took := range []*time.Duration{&first, &again} {
		rng := tensor.NewRNG(1)
		var x []tensor.Tensor
		for _, in := range c.inputs {
			x = append(x, in(rng).To(d))
		}
		if err := tensor.Eval(x); err != nil {
			return nil, first, again, err
		}
		start := clock.Now()
		if results, gradients = c.results(x); len(results) > 0 {
			err = tensor.Eval(results)
		}
		if err == nil {
			err = d.Sync()
		}
		if *took = clock.Since(start); err != nil {
			return nil, first, again, err
		}
	}
	for i, r := range results {
		a := array{name: fmt.Sprintf("result %d", i+1), dtype: r.DType(), shape: r.Shape()}
		if op := tensor.Internal.Node(graph.Token{}, r).Op; op.Class() == ir.Elementwise || op.Class() == ir.Reduction {
			a.name += fmt.Sprintf(", %v %v", op, r.DType())
		}
		if first := len(results) - gradients; i >= first {
			a.name = fmt.Sprintf("gradient %d", i+1-first)
		}
		if a.data, err = tensor.Data[float64](r.To(tensor.CPU()).Cast(tensor.Float64)); err != nil {
			return nil, first, again, err
		}
		out = append(out, a)
	}
	return out, first, again, nil
}

// results returns the results of the computation, then the gradients and their number.
func (c check) results(x []tensor.Tensor) (out []tensor.Tensor, gradients int) {
	if !c.gradients {
		return c.compute(x), 0
	}
	out, pull := grad.VJP(c.compute, x)
	weights := make([]tensor.Tensor, len(out))
	for i, y := range out {
		// A different cotangent for each element.
		weights[i] = tensor.Arange(y.Len()).Cast(tensor.Float32).Cos().Reshape(y.Shape()...)
	}
	for _, g := range pull(weights) {
		if g.IsValid() { // integers have no gradient
			out, gradients = append(out, g), gradients+1
		}
	}
	return out, gradients
}

// compare returns the greatest error divided by the tolerance, and an error if that is
// more than 1.
func compare(got, want array) (worst float64, err error) {
	if got.dtype != want.dtype || !slices.Equal(got.shape, want.shape) {
		return 0, fmt.Errorf("%s is %v %v, want %v %v", want.name, got.dtype, got.shape, want.dtype, want.shape)
	}
	relative, absolute := 0.0, 0.0
	switch want.dtype {
	case tensor.Float32, tensor.Float64:
		finer := 1.0
		if want.dtype == tensor.Float64 {
			finer = checkWide
		}
		relative = checkRelative * finer
		for _, w := range want.data {
			if w = math.Abs(w); w < 1e30 {
				absolute = max(absolute, checkAbsolute*finer*w)
			}
		}
	case tensor.Float16:
		relative, absolute = 0x1p-10, 0x1p-14 // subnormal numbers may be 0
	case tensor.BFloat16:
		relative, absolute = 0x1p-7, 0x1p-126
	}
	for i, w := range want.data {
		g := got.data[i]
		if g == w || math.IsNaN(g) && math.IsNaN(w) {
			continue
		}
		off := math.Abs(g-w) / (absolute + relative*math.Abs(w))
		if math.IsNaN(off) || math.IsInf(w, 0) {
			off = math.Inf(1)
		}
		if off > 1 && err == nil {
			err = fmt.Errorf("element %d of %s %v is %v, want %v", i, want.name, want.shape, g, w)
		}
		worst = max(worst, off)
	}
	return worst, err
}

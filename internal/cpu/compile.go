package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/internal/cpu/product"
	"github.com/tensorken/tensorken/internal/cpu/sliding"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// routines has the constructor of each routine's runner.
var routines = [ir.Ops]func(s *vector.Space) runner{
	ir.Scatter: func(s *vector.Space) runner { return newScatter(s) },
	ir.Scan:    func(s *vector.Space) runner { return newScan(s) },
	ir.Sort:    func(s *vector.Space) runner { return newSort(s) },
}

// compile prepares a kernel.
func (d *device) compile(k *ir.Kernel) *executable {
	p := &executable{args: k.Args, reach: shape.Reaches(k)}
	p.status = slices.IndexFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status })
	s := &vector.Space{Nest: loopnest.Canonical(k), Tune: &d.Tune}
	if k.Template != ir.Routine {
		s.Limits = s.FindLimits()
	}
	switch k.Template {
	case ir.Pointwise:
		p.runner = vector.NewPointwise(s)
	case ir.Reduce, ir.Contraction:
		p.runner, p.extraBindings = newSums(s)
	default:
		p.runner = routines[k.Routine()](s)
	}
	if len(weighs(k)) > 0 {
		p.runner = newWeigh(k, s, p.runner)
	}
	return p
}

// newSums returns a runner of reductions, and the number of bindings that it adds to the kernel's.
func newSums(s *vector.Space) (r runner, extra int) {
	if d := product.NewDots(s); d != nil {
		return d, 0
	}
	if a := sliding.NewAcross(s); a != nil {
		return a, 0
	}
	if f := sliding.NewFilter(s); f != nil {
		return f, 0
	}
	if c := sliding.NewCorrelation(s); c != nil {
		return c, 0
	}
	if w := product.NewWinograd(s); w != nil {
		return w, 0
	}
	if s.Template == ir.Contraction {
		if c, extra := product.NewContract(s); c != nil {
			return c, extra
		}
	}
	return newReduction(s)
}

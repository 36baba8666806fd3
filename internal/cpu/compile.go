package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// routines has the constructor of each routine's runner.
var routines = [ir.Ops]func(s *space) runner{
	ir.Scatter: func(s *space) runner { return newScatter(s) },
	ir.Scan:    func(s *space) runner { return newScan(s) },
	ir.Sort:    func(s *space) runner { return newSort(s) },
}

// compile prepares a kernel.
func (d *device) compile(k *ir.Kernel) *executable {
	p := &executable{args: k.Args, reach: shape.Reaches(k)}
	p.status = slices.IndexFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status })
	s := &space{Nest: loopnest.Canonical(k), tune: &d.tune}
	if k.Template != ir.Routine {
		s.limits = s.findLimits()
	}
	switch k.Template {
	case ir.Pointwise:
		p.runner = newPointwise(s)
	case ir.Reduce, ir.Contraction:
		p.runner, p.extraBindings = newSums(s)
	default:
		p.runner = routines[k.Routine()](s)
	}
	return p
}

// newSums returns a runner of reductions, and the number of bindings that it adds to the kernel's.
func newSums(s *space) (r runner, extra int) {
	if d := newDots(s); d != nil {
		return d, 0
	}
	if s.Template == ir.Contraction {
		if c, extra := newContract(s); c != nil {
			return c, extra
		}
	}
	return newReduction(s)
}

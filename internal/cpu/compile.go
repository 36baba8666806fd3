package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A space is a kernel's iteration space and how it is cut.
type space struct {
	*loopnest.Nest
	tune   *tuning
	limits []axisLimit
}

// with returns the space with another kernel over the same axes.
func (s *space) with(k *ir.Kernel) *space {
	return &space{&loopnest.Nest{Kernel: k, Rank: s.Rank}, s.tune, s.limits}
}

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

// work estimates the additions that stores take: each instruction counts once for each
// point that it varies over or reduces.
func (s *space) work(stores []int) int {
	work := 0
	for i, needed := range s.Needs(stores, nil) {
		if !needed {
			continue
		}
		in := &s.Body[i]
		n := ir.Table[in.Op].Cost
		for a, axis := range s.Axes {
			if (in.Domain | in.Axes).Has(a) {
				n *= axis.Len
			}
		}
		work += n
	}
	return work
}

// extents lists, for each axis, the greatest length of a box of the tilings: 1 for axes
// that are in none of them.
func (s *space) extents(ts ...*tiling) []int {
	n := make([]int, len(s.Axes))
	for i := range n {
		n[i] = 1
	}
	for _, t := range ts {
		for i, a := range t.axes {
			n[a] = t.box[i]
		}
	}
	return n
}

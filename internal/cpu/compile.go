package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// routines has the constructor of each routine's runner.
var routines = [ir.Ops]func(s *space) runner{
	ir.Scatter: func(s *space) runner { return newScatter(s) },
}

// compile prepares a kernel.
func (d *device) compile(k *ir.Kernel) (*executable, error) {
	p := &executable{args: k.Args, reach: shape.Reaches(k)}
	p.status = slices.IndexFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status })
	s := newSpace(k, &d.tune)
	switch {
	case k.Template == ir.Pointwise:
		p.runner = newMap(s)
	case k.Template == ir.Reduce:
		p.runner, p.extraBindings = newRow(s)
	case k.Template == ir.Contraction:
		if c := newContract(s); c != nil {
			p.runner = c
		} else {
			p.runner, p.extraBindings = newRow(s)
		}
	default:
		p.runner = routines[k.Routine()](s)
	}
	return p, nil
}

// extents lists the greatest length of a box of some tilings along each axis: 1
// along the axes of none.
func (s *space) extents(ts ...*tiling) []int {
	n := make([]int, len(s.axes))
	for i := range n {
		n[i] = 1
	}
	for _, t := range ts {
		for i, a := range t.axes {
			n[a] = t.extent(i)
		}
	}
	return n
}

// stores lists the Store instructions.
func (s *space) stores() []int {
	var list []int
	for i := range s.body {
		if s.body[i].Op == ir.Store {
			list = append(list, i)
		}
	}
	return list
}

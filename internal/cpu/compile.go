package cpu

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// compile prepares a kernel.
func (d *device) compile(k *ir.Kernel) (*program, error) {
	p := &program{args: k.Args, reach: reaches(k)}
	p.status = slices.IndexFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status })
	s := newSpace(k, &d.tune)
	switch {
	case k.Skeleton == ir.Map:
		p.runner = newMap(s)
	case k.Skeleton == ir.Row:
		p.runner, p.extra = newRow(s)
	case k.Skeleton == ir.Contract:
		if c := newContract(s); c != nil {
			p.runner = c
		} else {
			p.runner, p.extra = newRow(s)
		}
	case k.Routine == "scatter":
		p.reach[1].lo, p.reach[1].hi = min(p.reach[1].lo, 0), max(p.reach[1].hi, k.Args[0].Len)
		p.runner = newScatter(s)
	default:
		return nil, fmt.Errorf("cpu: no way to run a %v kernel %q", k.Skeleton, k.Routine)
	}
	return p, nil
}

// reaches gives the elements of each argument that are read or written, as
// far as views without guard and index tell.
func reaches(k *ir.Kernel) []reach {
	list := make([]reach, len(k.Args))
	for i, a := range k.Args {
		switch a.Kind {
		case ir.Out:
			list[i] = reach{0, a.Len}
		case ir.Status:
			list[i] = reach{0, 2}
		}
	}
	for i := range k.Body {
		in := &k.Body[i]
		if in.Op != ir.Load || len(in.View.Guards) > 0 || len(in.Src) > 0 {
			continue
		}
		lo, hi, empty := in.View.Off, in.View.Off, false
		for a, x := range k.Axes {
			if in.Over.Has(a) {
				d := in.View.Coef[a] * (x.Len - 1)
				lo, hi, empty = lo+min(d, 0), hi+max(d, 0), empty || x.Len == 0
			}
		}
		r := &list[in.Arg]
		switch {
		case empty:
		case r.lo == r.hi:
			*r = reach{lo, hi + 1}
		default:
			*r = reach{min(r.lo, lo), max(r.hi, hi+1)}
		}
	}
	return list
}

// extents gives the greatest lengths of blocks made of some tilings' boxes,
// of one position along all other axes.
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

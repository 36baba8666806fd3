package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A term is an axis and its coefficient.
type term struct{ axis, coef int }

// An affine is an affine expression over a block's points, such as the position of
// an element: its value at the first point and a stride along each lane.
type affine struct {
	off   int
	terms []term // axes whose coefficient is not 0
	dims  []term // the register's lanes, outermost first
}

func (a *assembler) affine(off int, coef []int, lanes ir.AxisSet) affine {
	f := affine{off: off}
	for axis, c := range coef {
		if c != 0 {
			f.terms = append(f.terms, term{axis, c})
		}
	}
	f.dims = a.dims(coef, slices.DeleteFunc(slices.Clone(a.schedule.lanes), func(l int) bool { return !lanes.Has(l) }))
	return f
}

// dims lists the coefficients of some axes.
func (a *assembler) dims(coef []int, axes []int) []term {
	d := make([]term, len(axes))
	for i, axis := range axes {
		d[i] = term{axis, coef[axis]}
	}
	return d
}

// pos is the value at the block's first point.
func (x *affine) pos(f *activation) int {
	p := x.off
	for _, t := range x.terms {
		p += t.coef * f.at[t.axis]
	}
	return p
}

// bounds is the least and the greatest value in the block, which is not empty.
func (x *affine) bounds(f *activation) (lo, hi int) {
	lo = x.pos(f)
	hi = lo
	for _, t := range x.dims {
		if d := t.coef * (f.n[t.axis] - 1); d < 0 {
			lo += d
		} else {
			hi += d
		}
	}
	return lo, hi
}

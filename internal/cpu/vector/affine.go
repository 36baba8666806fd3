package vector

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A Term is an axis and its coefficient.
type Term struct{ axis, coef int }

// An Affine is an affine expression over a block's points, such as the position of
// an element: its value at the first point and a stride along each lane.
type Affine struct {
	off   int
	terms []Term // axes whose coefficient is not 0
	dims  []Term // the register's lanes, outermost first
}

func (a *Assembler) Affine(off int, coef []int, lanes ir.AxisSet) Affine {
	f := Affine{off: off}
	for axis, c := range coef {
		if c != 0 {
			f.terms = append(f.terms, Term{axis, c})
		}
	}
	f.dims = a.Dims(coef, slices.DeleteFunc(slices.Clone(a.Schedule.Lanes), func(l int) bool { return !lanes.Has(l) }))
	return f
}

// Dims lists the coefficients of some axes.
func (a *Assembler) Dims(coef []int, axes []int) []Term {
	d := make([]Term, len(axes))
	for i, axis := range axes {
		d[i] = Term{axis, coef[axis]}
	}
	return d
}

// Pos is the value at the block's first point.
func (x *Affine) Pos(f *Activation) int {
	p := x.off
	for _, t := range x.terms {
		p += t.coef * f.At[t.axis]
	}
	return p
}

// bounds is the least and the greatest value in the block, which is not empty.
func (x *Affine) bounds(f *Activation) (lo, hi int) {
	lo = x.Pos(f)
	hi = lo
	for _, t := range x.dims {
		if d := t.coef * (f.N[t.axis] - 1); d < 0 {
			lo += d
		} else {
			hi += d
		}
	}
	return lo, hi
}

package shape

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// The functions of this file compute with affine expressions over the axes of a
// space. An expression may have fewer coefficients than the space has axes: the
// others are 0. Expressions are immutable and may share their coefficients.

// Axis is the position along axis a times a coefficient.
func Axis(a, coef int) ir.AffineExpr {
	c := make([]int, a+1)
	c[a] = coef
	return ir.AffineExpr{Coef: c, Div: 1}
}

// Constant is off at every point.
func Constant(off int) ir.AffineExpr { return ir.AffineExpr{Off: off, Div: 1} }

// Coef is f's coefficient of axis a.
func Coef(f ir.AffineExpr, a int) int {
	if a < len(f.Coef) {
		return f.Coef[a]
	}
	return 0
}

// Equal reports whether f and g are the same expression.
func Equal(f, g ir.AffineExpr) bool {
	if f.Off != g.Off || f.Div != g.Div {
		return false
	}
	for a := range max(len(f.Coef), len(g.Coef)) {
		if Coef(f, a) != Coef(g, a) {
			return false
		}
	}
	return true
}

// Combine is f·p + g·q + off, if the divisions of f and g leave no remainder.
func Combine(f ir.AffineExpr, p int, g ir.AffineExpr, q, off int) ir.AffineExpr {
	div := lcm(f.Div, g.Div)
	p, q = p*(div/f.Div), q*(div/g.Div)
	r := ir.AffineExpr{Off: f.Off*p + g.Off*q + off*div, Div: div, Coef: make([]int, max(len(f.Coef), len(g.Coef)))}
	for a := range r.Coef {
		r.Coef[a] = Coef(f, a)*p + Coef(g, a)*q
	}
	return reduce(r)
}

// Affine is f·p + off.
func Affine(f ir.AffineExpr, p, off int) ir.AffineExpr { return Combine(f, p, Constant(0), 0, off) }

// Divide is f / d, if the division leaves no remainder.
func Divide(f ir.AffineExpr, d int) ir.AffineExpr {
	f.Div *= d
	return reduce(f)
}

// reduce divides all numbers of f by their greatest common divisor.
func reduce(f ir.AffineExpr) ir.AffineExpr {
	if f.Div == 1 {
		return f
	}
	d := GCD(f.Div, f.Off)
	for _, c := range f.Coef {
		d = GCD(d, c)
	}
	if d == 1 {
		return f
	}
	r := ir.AffineExpr{Off: f.Off / d, Div: f.Div / d, Coef: slices.Clone(f.Coef)}
	for a := range r.Coef {
		r.Coef[a] /= d
	}
	return r
}

// GCD is the greatest common divisor of two numbers, 0 for two zeros.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

func lcm(a, b int) int { return a / GCD(a, b) * b }

// Range is the least and greatest numerator of f over a space of axes with
// those lengths, none of them 0.
func Range(f ir.AffineExpr, lens []int) (lo, hi int) {
	lo, hi = f.Off, f.Off
	for a, c := range f.Coef {
		if c > 0 {
			hi += c * (lens[a] - 1)
		} else {
			lo += c * (lens[a] - 1)
		}
	}
	return lo, hi
}

// Always reports whether a guard holds at every point of a space.
func Always(g ir.Guard, lens []int) bool {
	lo, hi := Range(g.AffineExpr, lens)
	return g.Div == 1 && lo >= 0 && hi < g.Len
}

// SplitAxis is f over a space whose axis a was split: the position along it is n
// times that along axis hi, plus that along axis lo.
func SplitAxis(f ir.AffineExpr, a, hi, lo, n int) ir.AffineExpr {
	c := Coef(f, a)
	if c == 0 {
		return f
	}
	r := ir.AffineExpr{Off: f.Off, Div: f.Div, Coef: make([]int, max(len(f.Coef), hi+1, lo+1))}
	copy(r.Coef, f.Coef)
	r.Coef[a] = 0
	r.Coef[hi] += c * n
	r.Coef[lo] += c
	return r
}

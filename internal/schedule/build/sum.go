package build

import (
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// terms is a sum under construction.
type terms struct {
	typ shader.Type  // I32 or I64
	x   *shader.Expr // nil without any
}

func (t *terms) add(coef int, x *shader.Expr) {
	if coef == 0 || x.IsConst(0) {
		return
	}
	x = x.Convert(t.typ)
	scaled := x
	if n := Abs(coef); n != 1 {
		scaled = Number(t.typ, n).Mul(x)
	}
	switch {
	case t.x == nil && coef == -1:
		t.x = x.Neg()
	case t.x == nil:
		t.x = scaled
		if coef < 0 {
			t.x = Number(t.typ, coef).Mul(x)
		}
	case coef < 0:
		t.x = t.x.Sub(scaled)
	default:
		t.x = t.x.Add(scaled)
	}
}

func (t *terms) addNumber(n int) {
	if t.x == nil {
		t.x = Number(t.typ, n)
	} else {
		t.x = t.x.Plus(n)
	}
}

// linear is off + Σ coef[a]·a in every lane.
func (sc *Scope) linear(off int, coef []int) Value {
	return sc.sum(sc.Pass.PositionType(Abs(off)+ReachOf(sc.Pass.Nest.Kernel, coef)), off, coef)
}

// Place is where a view begins to count elements, by guards or an index: off + Σ coef[a]·a +
// Σ more in every lane. Its type has all positions of the view.
func (sc *Scope) Place(v *ir.View, more ...*shader.Expr) Value {
	return sc.sum(sc.placeType(v), v.Off, v.Coef, more...)
}

func (sc *Scope) placeType(v *ir.View) shader.Type {
	return sc.Pass.PositionType(Reach(sc.Pass.Nest.Kernel, v))
}

// sum is off + Σ coef[a]·a + Σ more, of a type, in every lane.
func (sc *Scope) sum(typ shader.Type, off int, coef []int, more ...*shader.Expr) Value {
	lanes, affine := 1, true
	for a, c := range coef {
		if c == 0 {
			continue
		}
		if co, _ := sc.coord(a); len(co.at) > 1 {
			lanes = len(co.at)
			affine = affine && co.step != nil
		}
	}
	of := func(l int) *shader.Expr {
		t := terms{typ: typ}
		for a, c := range coef {
			if c != 0 {
				co, _ := sc.coord(a)
				t.add(c, co.at.Lane(l))
			}
		}
		for _, m := range more {
			t.add(1, m)
		}
		t.addNumber(off)
		return t.x
	}
	v := Value{of(0)}
	for l := 1; l < lanes; l++ {
		if !affine {
			v = append(v, of(l))
			continue
		}
		step := 0
		for a, c := range coef {
			if c == 0 {
				continue
			}
			if co, _ := sc.coord(a); len(co.at) > 1 {
				step += c * co.step[l]
			}
		}
		v = append(v, v[0].Plus(step))
	}
	return v
}

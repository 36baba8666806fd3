package schedule

import "github.com/tensorken/tensorken/internal/shader"

// A sum is an I32 in every lane: base + step[l], or each[l].
type sum struct {
	base *shader.Expr
	step []int
	each value
}

func (x *sum) lanes() int { return max(1, len(x.step), len(x.each)) }

// lane is the sum in lane l, which may be the only one.
func (x *sum) lane(l int) *shader.Expr {
	switch {
	case x.each != nil:
		return x.each.lane(l)
	case x.step == nil || x.step[l] == 0:
		return x.base
	case x.step[l] < 0:
		return x.base.Sub(-x.step[l])
	}
	return x.base.Add(x.step[l])
}

// terms is a sum under construction, nil without any.
type terms struct{ x *shader.Expr }

func (t *terms) add(coef int, x *shader.Expr) {
	if coef == 0 || x.IsConst(0) {
		return
	}
	scaled := x
	if n := abs(coef); n != 1 {
		scaled = number(shader.I32, n).Mul(x)
	}
	switch {
	case t.x == nil && coef == -1:
		t.x = x.Neg()
	case t.x == nil:
		t.x = scaled
		if coef < 0 {
			t.x = number(shader.I32, coef).Mul(x)
		}
	case coef < 0:
		t.x = t.x.Sub(scaled)
	default:
		t.x = t.x.Add(scaled)
	}
}

func (t *terms) addNumber(n int) {
	switch {
	case t.x == nil:
		t.x = number(shader.I32, n)
	case n < 0:
		t.x = t.x.Sub(-n)
	case n > 0:
		t.x = t.x.Add(n)
	}
}

// linear is off + Σ coef[a]·a + Σ more.
func (sc *scope) linear(off int, coef []int, more ...*shader.Expr) sum {
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
		var t terms
		for a, c := range coef {
			if c != 0 {
				co, _ := sc.coord(a)
				t.add(c, co.at.lane(l))
			}
		}
		for _, m := range more {
			t.add(1, m)
		}
		t.addNumber(off)
		return t.x
	}
	switch {
	case lanes == 1:
		return sum{base: of(0)}
	case !affine:
		x := sum{each: make(value, lanes)}
		for l := range x.each {
			x.each[l] = of(l)
		}
		return x
	}
	x := sum{base: of(0), step: make([]int, lanes)}
	for a, c := range coef {
		if c == 0 {
			continue
		}
		if co, _ := sc.coord(a); len(co.at) > 1 {
			for l := range x.step {
				x.step[l] += c * co.step[l]
			}
		}
	}
	return x
}

package loopnest

import "github.com/tensorken/tensorken/ir"

// Collapse merges neighbouring axes that every view steps through as one: a contiguous tensor of any rank becomes a
// single loop. It calls joins before axes a and a+1 become one.
func Collapse(k *ir.Kernel, joins func(a int)) {
	for a := len(k.Axes) - 2; a >= 0; a-- {
		if joinable(k, a) {
			joins(a)
			join(k, a)
		}
	}
}

// eachCoef calls f for all coefficients of the kernel's views.
func eachCoef(k *ir.Kernel, f func(coef *[]int)) {
	for i := range k.Body {
		if v := k.Body[i].View; v != nil {
			if v.Coef != nil {
				f(&v.Coef)
			}
			for g := range v.Guards {
				f(&v.Guards[g].Coef)
			}
		}
	}
}

// joinable reports whether axes a and a+1 can be one.
func joinable(k *ir.Kernel, a int) bool {
	if k.Axes[a].Role != k.Axes[a+1].Role || k.Template == ir.Routine {
		return false
	}
	for i := range k.Body {
		if in := &k.Body[i]; in.Op == ir.Index && (in.Axis == a || in.Axis == a+1) {
			return false
		}
	}
	ok := true
	eachCoef(k, func(coef *[]int) {
		ok = ok && (*coef)[a] == (*coef)[a+1]*k.Axes[a+1].Len
	})
	return ok
}

// join makes axes a and a+1 one.
func join(k *ir.Kernel, a int) {
	k.Axes[a+1].Len *= k.Axes[a].Len
	k.Axes = append(k.Axes[:a], k.Axes[a+1:]...)
	eachCoef(k, func(coef *[]int) {
		*coef = append((*coef)[:a:a], (*coef)[a+1:]...)
	})
	low := ir.AxisSet(1)<<a - 1
	drop := func(s ir.AxisSet) ir.AxisSet { return s&low | s>>1&^low }
	for i := range k.Body {
		in := &k.Body[i]
		in.Domain, in.Axes = drop(in.Domain), drop(in.Axes)
		if in.Op == ir.Index && in.Axis > a {
			in.Axis--
		}
	}
}

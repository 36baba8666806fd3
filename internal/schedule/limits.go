package schedule

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/ir"
)

// WebGPUAdvice is PartsAdvice for WebGPU.
const WebGPUAdvice = PartsAdvice + ", or on the CPU or the device cuda"

// remedy ends errors on sizes that do not fit in the 31 bits that WebGPU has.
const remedy = "and WebGPU counts to 2^31-1: " + WebGPUAdvice

// checkSizes checks that positions, numbers of points and the intermediate results
// of computing them fit in an i32, if the target has no other integers.
func checkSizes(k *ir.Kernel, t *Target) error {
	if t.Wide {
		return nil
	}
	most := t.Positions
	tooLarge := func(format string, args ...any) error { return fmt.Errorf("schedule: "+format+", "+remedy, args...) }
	for _, a := range k.Args {
		if a.Len > most {
			return tooLarge("a result has %d elements of %v", a.Len, a.DType)
		}
	}
	all := k.Roles(ir.Batch, ir.M, ir.N, ir.Parallel, ir.Reduced)
	if k.Template == ir.Attention { // it numbers rows and columns
		all = k.Roles(ir.Batch, ir.M)
	}
	n := 1.0
	for a, axis := range k.Axes {
		if all.Has(a) {
			n *= float64(axis.Len)
		}
	}
	if n > float64(most) {
		return tooLarge("a step goes over %.0f points, %v", n, lengths(k, all))
	}
	for i := range k.Body {
		v := k.Body[i].View
		if v == nil {
			continue
		}
		for _, g := range v.Guards {
			if n := build.Abs(g.Off) + build.ReachOf(k, g.Coef); n > most {
				return tooLarge("a tensor is padded to %d elements along an axis", n)
			}
		}
		if n := build.Reach(k, v); n > most {
			return tooLarge("a step over %v reads a tensor's element %d", lengths(k, k.Body[i].Domain), n)
		}
	}
	return nil
}

// lengths lists the lengths of some axes.
func lengths(k *ir.Kernel, axes ir.AxisSet) []int {
	var list []int
	for a, axis := range k.Axes {
		if axes.Has(a) {
			list = append(list, axis.Len)
		}
	}
	return list
}

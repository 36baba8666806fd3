package kernelize

import (
	"math"

	"github.com/tensorken/tensorken/ir"
)

// offsets moves what all loads of an argument have in common from their views to
// the offset that the kernel is called with: the steps of an unrolled loop, which
// read one slice after the other, then share a kernel. It sets the offsets of args.
func offsets(k *ir.Kernel, args []Arg) {
	if k.Template == ir.Routine || k.Points() == 0 { // a scatter's base has no view
		return
	}
	least := make([]int, len(k.Args))
	for i := range least {
		least[i] = math.MaxInt
	}
	loads := func(do func(v *ir.View, arg int)) {
		for i := range k.Body {
			if in := &k.Body[i]; in.Op == ir.Load {
				do(in.View, in.Arg)
			}
		}
	}
	loads(func(v *ir.View, arg int) {
		if len(v.Guards) > 0 { // its first element may be outside of the buffer
			least[arg] = 0
		}
		least[arg] = min(least[arg], v.Off)
	})
	loads(func(v *ir.View, arg int) {
		if least[arg] > 0 {
			v.Off -= least[arg]
		}
	})
	for i, n := range least {
		if n > 0 && n < math.MaxInt {
			args[i].Offset = n
			a := &k.Args[i]
			a.Align = a.Align && n*a.DType.Size()%16 == 0
		}
	}
}

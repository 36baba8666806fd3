package kernelize

import (
	"math"

	"github.com/tensorken/tensorken/ir"
)

// offsets moves the common offset of all views of an argument to args, with which the
// kernel is called: the steps of an unrolled loop, which read and write one slice
// after the other, then share a kernel.
func offsets(k *ir.Kernel, args []Arg) {
	if k.Template == ir.Routine || k.Points() == 0 { // a scatter's base has no view
		return
	}
	least, most := make([]int, len(k.Args)), make([]int, len(k.Args))
	for i := range least {
		least[i] = math.MaxInt
	}
	views := func(do func(in *ir.Instr)) {
		for i := range k.Body {
			if in := &k.Body[i]; in.Op == ir.Load || in.Op == ir.Store && k.Args[in.Arg].Part {
				do(in)
			}
		}
	}
	views(func(in *ir.Instr) {
		first, arg := in.View.Off, in.Arg
		switch {
		case in.Op == ir.Store:
			var end int
			first, end = k.Extent(in)
			most[arg] = max(most[arg], end)
		case len(in.View.Guards) > 0: // its first element may be outside of the buffer
			first = 0
		}
		least[arg] = min(least[arg], first)
	})
	views(func(in *ir.Instr) {
		if least[in.Arg] > 0 {
			in.View.Off -= least[in.Arg]
		}
	})
	for i, n := range least {
		a := &k.Args[i]
		if a.Part {
			a.Len = most[i] - n
		}
		if n > 0 && n < math.MaxInt {
			args[i].Offset = n
			a.Align = a.Align && a.DType.Aligned(n)
		}
	}
}

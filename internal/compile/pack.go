package compile

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// Pack packs a plan that is kept, so that Go's collector visits a few objects for a kernel and not several
// for each instruction.
func (p *Plan) Pack() {
	packSteps(p.Steps)
	strides := 0
	for _, o := range p.Outputs {
		strides += len(o.Strides)
	}
	allStrides := make([]int, 0, strides)
	for i := range p.Outputs {
		o := &p.Outputs[i]
		o.Strides = moved(o.Strides, &allStrides)
	}
}

func packSteps(steps []Step) {
	args := 0
	for i := range steps {
		args += len(steps[i].Args)
	}
	allArgs := make([]Arg, 0, args)
	for i := range steps {
		s := &steps[i]
		for _, k := range s.Kernels() {
			pack(k)
		}
		s.Args = moved(s.Args, &allArgs)
		packSteps(s.Stages)
	}
}

// pack moves what the instructions of a kernel point to into one array of each type.
func pack(k *ir.Kernel) {
	var numbers, guards, views int
	for i := range k.Body {
		in := &k.Body[i]
		numbers += len(in.Src)
		if in.View == nil {
			continue
		}
		views++
		numbers += len(in.View.Coef)
		guards += len(in.View.Guards)
		for _, g := range in.View.Guards {
			numbers += len(g.Coef)
		}
	}
	allNumbers, allGuards, allViews := make([]int, 0, numbers), make([]ir.Guard, 0, guards), make([]ir.View, 0, views)
	k.Body = slices.Clone(k.Body)
	for i := range k.Body {
		in := &k.Body[i]
		in.Src = moved(in.Src, &allNumbers)
		if in.View == nil {
			continue
		}
		v := &moved([]ir.View{*in.View}, &allViews)[0]
		v.Coef, v.Guards = moved(v.Coef, &allNumbers), moved(v.Guards, &allGuards)
		for g := range v.Guards {
			v.Guards[g].Coef = moved(v.Guards[g].Coef, &allNumbers)
		}
		in.View = v
	}
}

// moved returns a copy of a list at the end of an array that has room for it.
func moved[T any](list []T, array *[]T) []T {
	if list == nil {
		return nil
	}
	n := len(*array)
	*array = append(*array, list...)
	return (*array)[n:len(*array):len(*array)]
}

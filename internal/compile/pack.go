package compile

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// Pack packs a plan that is kept, so that Go's collector visits a few objects for a kernel and not several
// for each instruction.
func (p *Plan) Pack() {
	packSteps(p.Steps)
	moveAll(p.Outputs, func(o *Output) *[]int { return &o.Strides })
}

func packSteps(steps []Step) {
	moveAll(steps, func(s *Step) *[]Arg { return &s.Args })
	for i := range steps {
		s := &steps[i]
		for _, k := range s.Kernels() {
			Pack(k)
		}
		packSteps(s.Stages)
	}
}

// Pack moves the slices and views of a kernel's instructions into one array of each type.
func Pack(k *ir.Kernel) {
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

// moveAll moves a list of each element into one array.
func moveAll[E, T any](elements []E, list func(*E) *[]T) {
	n := 0
	for i := range elements {
		n += len(*list(&elements[i]))
	}
	array := make([]T, 0, n)
	for i := range elements {
		l := list(&elements[i])
		*l = moved(*l, &array)
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

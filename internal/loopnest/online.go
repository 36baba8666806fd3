package loopnest

import (
	"math"

	"github.com/tensorken/tensorken/ir"
)

// An Online says which sums along columns take no second pass over them, as in "Online normalizer
// calculation for softmax" (Milakov, Gimelshein, 2018): sums of terms proportional to eˣ⁻ᵐ, where m
// is the maximum of a row, are scaled when a greater one is found.
type Online struct {
	Max     int    // the reduction of that kind, or -1
	Sums    []int  // reductions of values of rows and columns
	Scaled  []bool // by instruction: it is proportional to eˣ⁻ᵐ
	reduced []bool // by instruction: it depends on a reduction over columns
	columns ir.AxisSet
	// bounded restricts Scaled to eˣ⁻ᵐ of the maximum's own x, times factors of rows: their sum over a
	// part of the columns does not overflow.
	bounded bool
	Shift   int // if bounded, the instruction that exponentials subtract: Max, or that with 0 for infinities
}

func newOnline(k *ir.Kernel, columns ir.AxisSet) Online {
	return Online{Max: -1, Shift: -1, Scaled: make([]bool, len(k.Body)), reduced: make([]bool, len(k.Body)), columns: columns}
}

// NewOnline analyses a kernel of reductions. All Sums are scaled. It reports false without any.
func NewOnline(k *ir.Kernel) (*Online, bool) {
	o := newOnline(k, k.Roles(ir.Reduced))
	o.bounded = true
	for i := range k.Body {
		in := &k.Body[i]
		if o.follow(k, i); in.Op.Class() != ir.Reduction {
			continue
		}
		o.reduced[i] = true
		switch {
		case in.Type != ir.Float32:
		case in.Op == ir.ReduceMax && o.Max < 0 && !o.reduced[in.Src[0]]:
			o.Max = i
		case in.Op == ir.Sum && o.Scaled[in.Src[0]]:
			o.Sums = append(o.Sums, i)
		}
	}
	return &o, len(o.Sums) > 0
}

// follow sets reduced and Scaled of an instruction, by its operands.
func (o *Online) follow(k *ir.Kernel, i int) {
	for _, j := range k.Body[i].Src {
		o.reduced[i] = o.reduced[i] || o.reduced[j]
	}
	o.Scaled[i] = o.scaled(k, i)
}

// adds reports whether the sum of a value can be continued from columns to columns.
func (o *Online) adds(i int) bool { return o.Scaled[i] || !o.reduced[i] }

// scaled reports whether a value of rows and columns is proportional to eˣ⁻ᵐ.
func (o *Online) scaled(k *ir.Kernel, i int) bool {
	in := &k.Body[i]
	if in.Domain&o.columns == 0 {
		return false
	}
	free := func(j int) bool { return !o.reduced[j] }
	switch in.Op {
	case ir.Exp:
		return o.shifts(k, &k.Body[in.Src[0]])
	case ir.Mul:
		return either(in.Src, func(x, y int) bool { return o.Scaled[x] && o.isFactor(k, y) })
	case ir.Div:
		return o.Scaled[in.Src[0]] && o.isFactor(k, in.Src[1])
	case ir.Neg:
		return o.Scaled[in.Src[0]]
	case ir.Add, ir.Sub:
		return o.Scaled[in.Src[0]] && o.Scaled[in.Src[1]]
	case ir.Where:
		x, y := in.Src[1], in.Src[2]
		some := o.Scaled[x] || o.Scaled[y]
		return some && free(in.Src[0]) && (o.Scaled[x] || IsNumber(k, x, 0)) && (o.Scaled[y] || IsNumber(k, y, 0))
	}
	return false
}

// isFactor reports whether a scaled value is still scaled after it is multiplied by another one.
func (o *Online) isFactor(k *ir.Kernel, i int) bool {
	return !o.reduced[i] && !(o.bounded && k.Body[i].Domain&o.columns != 0)
}

// shifts reports whether an instruction is x less the maximum.
func (o *Online) shifts(k *ir.Kernel, in *ir.Instr) bool {
	if in.Op != ir.Sub || o.reduced[in.Src[0]] || !o.isMax(k, in.Src[1]) {
		return false
	}
	if !o.bounded {
		return true
	}
	if o.Shift < 0 {
		o.Shift = in.Src[1]
	}
	return o.Shift == in.Src[1] && in.Src[0] == k.Body[o.Max].Src[0]
}

// isMax reports whether a value is the maximum, or that with 0 in place of -Inf or, if bounded, of both
// infinities.
func (o *Online) isMax(k *ir.Kernel, i int) bool {
	in := &k.Body[i]
	if in.Op != ir.Where {
		return o.Max >= 0 && i == o.Max
	}
	cond := &k.Body[in.Src[0]]
	if cond.Op != ir.Eq || !IsNumber(k, in.Src[1], 0) || in.Src[2] != o.Max {
		return false
	}
	return either(cond.Src, func(x, y int) bool {
		return x == o.Max && IsNumber(k, y, math.Inf(-1)) || o.bounded && o.isMagnitude(k, x) && IsNumber(k, y, math.Inf(1))
	})
}

// isMagnitude reports whether a value is the greater of the maximum and its negative.
func (o *Online) isMagnitude(k *ir.Kernel, i int) bool {
	in := &k.Body[i]
	return in.Op == ir.Max && either(in.Src, func(x, y int) bool {
		return x == o.Max && k.Body[y].Op == ir.Neg && k.Body[y].Src[0] == o.Max
	})
}

// either reports whether two operands, in one order or the other, have a property.
func either(src []int, has func(x, y int) bool) bool {
	return has(src[0], src[1]) || has(src[1], src[0])
}

package schedule

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A bound is a condition on a column: an integer, the sum of terms, is not negative. Where it
// is, the column adds nothing to its row, as its score is -Inf.
type bound struct {
	terms map[int]int // coefficients, by instruction: positions along an axis, and numbers
	off   int
	// lowest lists instructions: numbers that have to be -Inf.
	lowest []int
	last   bool          // it bounds the last column of a row, not the first
	holds  map[int]int64 // conditions that are decided where the bound is not negative: 1 if true
}

// key tells bounds apart.
func (b *bound) key() string { return fmt.Sprint(b.terms, b.off) }

// bounds are those that hold for all that is not neutral, by key.
type bounds map[string]bound

// union returns the bounds of a value that is neutral if one of two values is.
func (x bounds) union(y bounds) bounds {
	z := bounds{}
	maps.Copy(z, x)
	maps.Copy(z, y)
	return z
}

// intersection returns the bounds of a value that is neutral if both of two values are.
func (x bounds) intersection(y bounds) bounds {
	z := bounds{}
	for k, b := range x {
		if c, ok := y[k]; ok {
			b.lowest = slices.Concat(b.lowest, c.lowest)
			b.holds = maps.Clone(b.holds)
			maps.Copy(b.holds, c.holds)
			z[k] = b
		}
	}
	return z
}

// findBounds finds the bounds of the columns that a row needs.
func (a *attention) findBounds() []bound {
	if len(a.n) != 1 {
		return nil
	}
	var all bounds
	meet := func(x bounds) {
		if all == nil {
			all = x
		} else {
			all = all.intersection(x)
		}
	}
	if a.Max >= 0 {
		meet(a.finite(a.k.Body[a.Max].Src[0]))
	}
	for _, i := range a.Sums {
		meet(a.nonzero(a.k.Body[i].Src[0]))
	}
	for _, q := range a.outputs {
		meet(a.nonzero(q.rows.factor))
	}
	var list []bound
	for _, k := range slices.Sorted(maps.Keys(all)) {
		b := all[k]
		switch a.slope(&b) {
		case 1:
			list = append(list, b)
		case -1:
			b.last = true
			list = append(list, b)
		}
	}
	return list
}

// slope is the coefficient of the column in a bound.
func (a *attention) slope(b *bound) int {
	n := 0
	for i, c := range b.terms {
		if in := &a.k.Body[i]; in.Op == ir.Index && in.Axis == a.n[0] {
			n += c
		}
	}
	return n
}

// nonzero returns bounds of where a value may be other than 0.
func (a *attention) nonzero(i int) bounds {
	in := &a.k.Body[i]
	switch in.Op {
	case ir.Mul:
		return a.nonzero(in.Src[0]).union(a.nonzero(in.Src[1]))
	case ir.Div, ir.Neg:
		return a.nonzero(in.Src[0])
	case ir.Add, ir.Sub:
		return a.nonzero(in.Src[0]).intersection(a.nonzero(in.Src[1]))
	case ir.Exp:
		if x := &a.k.Body[in.Src[0]]; x.Op == ir.Sub {
			return a.finite(x.Src[0])
		}
	case ir.Where:
		zero := func(j int) bool { return loopnest.IsNumber(a.k.Kernel, j, 0) }
		switch {
		case zero(in.Src[2]):
			return a.holds(in.Src[0], true).union(a.nonzero(in.Src[1]))
		case zero(in.Src[1]):
			return a.holds(in.Src[0], false).union(a.nonzero(in.Src[2]))
		}
	}
	return nil
}

// finite returns bounds of where a value may be other than -Inf.
func (a *attention) finite(i int) bounds {
	in := &a.k.Body[i]
	switch in.Op {
	case ir.Add:
		return a.finite(in.Src[0]).union(a.finite(in.Src[1]))
	case ir.Where:
		for n, want := range []bool{true, false} {
			other := in.Src[2-n]
			isLowest := loopnest.IsNumber(a.k.Kernel, other, math.Inf(-1))
			if !isLowest && a.k.Body[other].Op != ir.Scalar {
				continue
			}
			found := a.holds(in.Src[0], want)
			if !isLowest {
				for k, b := range found {
					b.lowest = append(slices.Clone(b.lowest), other)
					found[k] = b
				}
			}
			return found.union(a.finite(in.Src[1+n]))
		}
	}
	return nil
}

// holds returns bounds of where a condition is true, or false.
func (a *attention) holds(i int, want bool) bounds {
	in := &a.k.Body[i]
	switch in.Op {
	case ir.Not:
		return a.holds(in.Src[0], !want)
	case ir.And, ir.Or:
		x, y := a.holds(in.Src[0], want), a.holds(in.Src[1], want)
		if want == (in.Op == ir.And) {
			return x.union(y)
		}
		return x.intersection(y)
	case ir.Lt:
		if a.k.Body[in.Src[0]].Type != ir.Int32 {
			return nil
		}
		b := bound{terms: map[int]int{}, off: -1, holds: map[int]int64{i: 1}} // y-x-1 is not negative; or x-y
		x, y := -1, 1
		if !want {
			x, y, b.off, b.holds[i] = 1, -1, 0, 0
		}
		if a.add(&b, in.Src[0], x) && a.add(&b, in.Src[1], y) {
			return bounds{b.key(): b}
		}
	}
	return nil
}

// add adds c times an integer to a bound. It reports false if it is no sum.
func (a *attention) add(b *bound, i, c int) bool {
	in := &a.k.Body[i]
	switch {
	case in.Op == ir.Const:
		b.off += c * int(in.Num.Int64(in.Type))
	case in.Op == ir.Index, in.Domain == 0:
		b.terms[i] += c
	case in.Op == ir.Add:
		return a.add(b, in.Src[0], c) && a.add(b, in.Src[1], c)
	case in.Op == ir.Sub:
		return a.add(b, in.Src[0], c) && a.add(b, in.Src[1], -c)
	default:
		return false
	}
	return true
}

// decided are the conditions that hold in blocks up to the column full of columnsOf.
func decided(list []bound) map[int]int64 {
	all := map[int]int64{}
	for _, b := range list {
		maps.Copy(all, b.holds)
	}
	return all
}

// columnsOf returns the first column that a block of rows needs, at a block's begin, and the one
// after the last. If there is more than that the bounds end, full is where the blocks end in
// which they hold for all rows; else nil.
func (a *attention) columnsOf(list []bound, row *shader.Expr) (first, full, end *shader.Expr) {
	root, n, step, rows := a.p.root, a.k.Size(a.n), a.width, a.height
	if len(list) == 0 {
		return u32(0), nil, u32(n)
	}
	low, high := root.Var("n_low", number(shader.I32, 0)), root.Var("n_high", number(shader.I32, n))
	whole := root.Var("n_whole", number(shader.I32, n))
	lasts := 0
	for i, b := range list {
		most := root.Let(tag("most", i), a.withoutColumn(&b, row, rows, 1))
		sc := root.when(a.allLowest(b.lowest))
		if b.last {
			lasts++
			sc.Set(high, high.Ref().Min(most.Add(1)))
			least := root.Let(tag("least", i), a.withoutColumn(&b, row, rows, -1))
			root.Set(whole, whole.Ref().Min(least.Add(1)))
		} else {
			sc.Set(low, low.Ref().Max(number(shader.I32, 0).Sub(most)))
		}
		sc.end()
	}
	begin := func(x *shader.Expr) *shader.Expr { return x.Convert(shader.U32).Div(step).Mul(step) }
	first = root.Let("n_first", begin(low.Ref().Min(n-1)))
	end = root.Let("n_end", high.Ref().Max(0).Convert(shader.U32))
	if lasts == len(list) {
		full = root.Let("n_full", begin(whole.Ref().Min(high.Ref()).Max(0)))
	}
	return first, full, end
}

// withoutColumn is the greatest value in a block of rows of a bound without its column, or with
// a sign of -1 the least.
func (a *attention) withoutColumn(b *bound, row *shader.Expr, rows, sign int) *shader.Expr {
	sum := number(shader.I32, b.off)
	for _, t := range slices.Sorted(maps.Keys(b.terms)) {
		in, c := &a.k.Body[t], b.terms[t]
		switch {
		case in.Op != ir.Index:
			sum = sum.Add(a.p.root.value(t).lane(0).Mul(c))
		case in.Axis != a.n[0]:
			sum = sum.Add(a.greatest(in.Axis, row, rows, sign*c).Mul(sign))
		}
	}
	return sum
}

// greatest is the greatest value in a block of rows of c times the position along an axis.
func (a *attention) greatest(axis int, row *shader.Expr, rows, c int) *shader.Expr {
	length := a.k.Axes[axis].Len
	if !slices.Contains(a.m, axis) { // a batch
		at, _ := a.p.root.coord(axis)
		return at.at[0].Convert(shader.I32).Mul(c)
	}
	least, most := number(shader.I32, 0), number(shader.I32, length-1)
	if inner := a.m[len(a.m)-1]; axis == inner {
		at := row.Rem(length)
		inside := at.Add(rows).Le(length) // the block has positions of one pass over the axis
		if len(a.m) == 1 {
			inside = at.Lt(length) // it ends with the axis
		}
		least = inside.If(at.Convert(shader.I32), least)
		most = inside.If(at.Add(rows-1).Min(length-1).Convert(shader.I32), most)
	}
	if c > 0 {
		return most.Mul(c)
	}
	return least.Mul(c)
}

// allLowest is the condition that all numbers are -Inf, nil if there are none.
func (a *attention) allLowest(list []int) *shader.Expr {
	var c *shader.Expr
	for _, i := range slices.Compact(slices.Sorted(slices.Values(list))) {
		c = all(c, isLowest(a.p.root.value(i).lane(0)))
	}
	return c
}

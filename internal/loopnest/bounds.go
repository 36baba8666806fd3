package loopnest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A Bound is a condition on a point: an integer, the sum of terms, is not negative.
type Bound struct {
	Terms map[int]int // coefficients, by instruction: positions along an axis, and numbers
	Off   int
	// Lowest lists instructions: numbers that have to be -Inf.
	Lowest []int
	Holds  map[int]int64 // conditions that are decided where the bound is not negative: 1 if true
}

// Slope is the coefficient of the position along an axis.
func (b *Bound) Slope(k *ir.Kernel, axis int) int {
	n := 0
	for i, c := range b.Terms {
		if in := &k.Body[i]; in.Op == ir.Index && in.Axis == axis {
			n += c
		}
	}
	return n
}

// Bounds are some that hold together, by a key that tells them apart.
type Bounds map[string]Bound

// Union returns the bounds of a value that is neutral if one of two values is.
func (x Bounds) Union(y Bounds) Bounds {
	z := Bounds{}
	maps.Copy(z, x)
	maps.Copy(z, y)
	return z
}

// Intersection returns the bounds of a value that is neutral if both of two values are.
func (x Bounds) Intersection(y Bounds) Bounds {
	z := Bounds{}
	for k, b := range x {
		if c, ok := y[k]; ok {
			b.Lowest = slices.Concat(b.Lowest, c.Lowest)
			b.Holds = maps.Clone(b.Holds)
			maps.Copy(b.Holds, c.Holds)
			z[k] = b
		}
	}
	return z
}

// Fixed returns the bounds that hold whatever numbers are.
func (x Bounds) Fixed() Bounds {
	z := maps.Clone(x)
	maps.DeleteFunc(z, func(_ string, b Bound) bool { return len(b.Lowest) > 0 })
	return z
}

// Common intersects bounds: the result is neutral only where all values are.
func Common(list ...Bounds) Bounds {
	if len(list) == 0 {
		return nil
	}
	all := list[0]
	for _, x := range list[1:] {
		all = all.Intersection(x)
	}
	return all
}

// List lists the bounds, in one order.
func (x Bounds) List() []Bound {
	var list []Bound
	for _, k := range slices.Sorted(maps.Keys(x)) {
		list = append(list, x[k])
	}
	return list
}

// Nonzero returns bounds of where an instruction's value may be other than 0.
func Nonzero(k *ir.Kernel, i int) Bounds {
	in := &k.Body[i]
	switch in.Op {
	case ir.Mul:
		return Nonzero(k, in.Src[0]).Union(Nonzero(k, in.Src[1]))
	case ir.Div, ir.Neg:
		return Nonzero(k, in.Src[0])
	case ir.Add, ir.Sub:
		return Nonzero(k, in.Src[0]).Intersection(Nonzero(k, in.Src[1]))
	case ir.Exp:
		if x := &k.Body[in.Src[0]]; x.Op == ir.Sub {
			return Finite(k, x.Src[0])
		}
	case ir.Where:
		switch {
		case IsNumber(k, in.Src[2], 0):
			return holds(k, in.Src[0], true).Union(Nonzero(k, in.Src[1]))
		case IsNumber(k, in.Src[1], 0):
			return holds(k, in.Src[0], false).Union(Nonzero(k, in.Src[2]))
		}
	}
	return nil
}

// Finite returns bounds of where an instruction's value may be other than -Inf.
func Finite(k *ir.Kernel, i int) Bounds {
	in := &k.Body[i]
	switch in.Op {
	case ir.Add:
		return Finite(k, in.Src[0]).Union(Finite(k, in.Src[1]))
	case ir.Where:
		for n, want := range []bool{true, false} {
			other := in.Src[2-n]
			isLowest := IsNumber(k, other, math.Inf(-1))
			if !isLowest && k.Body[other].Op != ir.Scalar {
				continue
			}
			found := holds(k, in.Src[0], want)
			if !isLowest {
				for key, b := range found {
					b.Lowest = append(slices.Clone(b.Lowest), other)
					found[key] = b
				}
			}
			return found.Union(Finite(k, in.Src[1+n]))
		}
	}
	return nil
}

// Holds returns bounds of where a condition may be true.
func Holds(k *ir.Kernel, i int) Bounds { return holds(k, i, true) }

// holds returns bounds of where a condition may be true, or false.
func holds(k *ir.Kernel, i int, want bool) Bounds {
	in := &k.Body[i]
	switch in.Op {
	case ir.Not:
		return holds(k, in.Src[0], !want)
	case ir.And, ir.Or:
		x, y := holds(k, in.Src[0], want), holds(k, in.Src[1], want)
		if want == (in.Op == ir.And) {
			return x.Union(y)
		}
		return x.Intersection(y)
	case ir.Lt:
		if k.Body[in.Src[0]].Type != ir.Int32 {
			return nil
		}
		b := Bound{Terms: map[int]int{}, Off: -1, Holds: map[int]int64{i: 1}} // y-x-1 is not negative; or x-y
		x, y := -1, 1
		if !want {
			x, y, b.Off, b.Holds[i] = 1, -1, 0, 0
		}
		if b.add(k, in.Src[0], x) && b.add(k, in.Src[1], y) && b.fits(k) {
			return Bounds{fmt.Sprint(b.Terms, b.Off): b}
		}
	}
	return nil
}

// MaxNumber is the greatest absolute value that a number counts with in a bound: more does not change its sign.
const MaxNumber = 1 << 30

// fits reports whether the sum of terms is an int32 with numbers up to MaxNumber.
func (b *Bound) fits(k *ir.Kernel) bool {
	most, numbers := max(b.Off, -b.Off), 0
	for i, c := range b.Terms {
		if in := &k.Body[i]; in.Op == ir.Index {
			most += max(c, -c) * k.Axes[in.Axis].Len
		} else {
			numbers += max(c, -c)
		}
	}
	return most <= MaxNumber/2 && numbers <= 1
}

// add adds c times an integer. It reports false if that is no sum of terms.
func (b *Bound) add(k *ir.Kernel, i, c int) bool {
	in := &k.Body[i]
	switch {
	case in.Op == ir.Const:
		b.Off += c * int(in.Num.Int64(in.Type))
	case in.Op == ir.Index, in.Domain == 0:
		b.Terms[i] += c
	case in.Op == ir.Add:
		return b.add(k, in.Src[0], c) && b.add(k, in.Src[1], c)
	case in.Op == ir.Sub:
		return b.add(k, in.Src[0], c) && b.add(k, in.Src[1], -c)
	default:
		return false
	}
	return true
}

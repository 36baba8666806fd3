package ir

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/sorts"
)

// A storeRange is the elements that a Store writes: lo + Σ stride·x over all x from 0
// to below the length of each loop.
type storeRange struct {
	lo, hi int    // from lo to below hi
	loops  []loop // by rising stride
}

// A loop is an axis along which a Store varies.
type loop struct{ stride, len int }

// verifyOutputs checks that stores write every Out argument, and nothing past its
// length. It refuses stores that certainly write one element twice.
func verifyOutputs(k *Kernel) error {
	ranges := make([][]storeRange, len(k.Args))
	written := make([]int, len(k.Args))
	used := make([]bool, len(k.Args))
	for i := range k.Body {
		in := &k.Body[i]
		if r := Routines[in.Op]; r != nil {
			for _, arg := range r.Whole(k) {
				used[arg] = true
			}
		}
		if in.Op != Store {
			continue
		}
		used[in.Arg] = true
		r, err := rangeOf(k, in)
		if err != nil {
			return fmt.Errorf("instruction %d: Store: %w", i, err)
		}
		if slices.ContainsFunc(ranges[in.Arg], r.overlaps) {
			return fmt.Errorf("instruction %d: Store: an element is written twice, also by an earlier Store", i)
		}
		ranges[in.Arg] = append(ranges[in.Arg], r)
		written[in.Arg] += r.count()
	}
	for i, a := range k.Args {
		if a.Kind == Out && (!used[i] || written[i] > a.Len) {
			return fmt.Errorf("argument %d: %d elements stored, of %d", i, written[i], a.Len)
		}
	}
	return nil
}

// rangeOf checks that a store writes different elements at different points, within
// its argument, and returns them.
func rangeOf(k *Kernel, in *Instr) (r storeRange, err error) {
	r.lo, r.hi = k.Extent(in)
	if r.lo == r.hi {
		return r, nil
	}
	if r.lo < 0 || r.hi > k.Args[in.Arg].Len {
		return r, fmt.Errorf("elements %d to %d of %d", r.lo, r.hi-1, k.Args[in.Arg].Len)
	}
	for a, axis := range k.Axes {
		if in.Domain.Has(a) && axis.Len > 1 {
			r.loops = append(r.loops, loop{max(in.View.Coef[a], -in.View.Coef[a]), axis.Len})
		}
	}
	sorts.Stable(r.loops, func(a, b loop) int { return cmp.Compare(a.stride, b.stride) })
	reach := 0
	for _, l := range r.loops { // each has to step over all that the finer ones reach
		if l.stride <= reach {
			return r, errors.New("an element is written twice")
		}
		reach += l.stride * (l.len - 1)
	}
	return r, nil
}

// count is the number of elements.
func (r storeRange) count() int {
	if r.lo == r.hi {
		return 0
	}
	n := 1
	for _, l := range r.loops {
		n *= l.len
	}
	return n
}

// overlaps reports whether r and s certainly share an element. It is exact if their
// loops are equal; otherwise it finds only overlaps of two dense ranges.
func (r storeRange) overlaps(s storeRange) bool {
	if max(r.lo, s.lo) >= min(r.hi, s.hi) {
		return false
	}
	if !slices.Equal(r.loops, s.loops) {
		return r.count() == r.hi-r.lo && s.count() == s.hi-s.lo
	}
	// Is the distance a sum of stride·x, each x between -len and len? From the widest
	// stride down, the finer loops have to reach the rest, so x is the quotient rounded
	// down or up.
	reach, rests := r.hi-1-r.lo, []int{s.lo - r.lo}
	for _, l := range slices.Backward(r.loops) {
		reach -= l.stride * (l.len - 1)
		var next []int
		for _, d := range rests {
			for _, x := range []int{d / l.stride, d/l.stride + cmp.Compare(d, 0)} {
				rest := d - x*l.stride
				if max(x, -x) < l.len && max(rest, -rest) <= reach && !slices.Contains(next, rest) {
					next = append(next, rest)
				}
			}
		}
		rests = next
	}
	return len(rests) > 0
}

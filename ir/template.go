package ir

import (
	"errors"
	"fmt"
	"slices"
)

// The promises of each template beyond a valid body.

// long returns the axes of a length other than 1: to vary over one of length 1
// makes no difference.
func (k *Kernel) long() AxisSet {
	var s AxisSet
	for i, a := range k.Axes {
		if a.Len != 1 {
			s |= 1 << i
		}
	}
	return s
}

// verifyOps checks that no instruction is a routine, that every reduction is
// over the given axes, and that every store covers one of the sets of axes,
// ignoring axes of length 1. It returns the number of reductions.
func verifyOps(k *Kernel, reduced AxisSet, covers ...AxisSet) (reductions int, err error) {
	long := k.long()
	for i := range k.Body {
		in := &k.Body[i]
		switch {
		case Routines[in.Op] != nil:
			return 0, fmt.Errorf("instruction %d: %v", i, in.Op)
		case in.Op.Class() == Reduction:
			if reductions++; in.Axes != reduced {
				return 0, fmt.Errorf("instruction %d: %v over %v, not %v", i, in.Op, in.Axes, reduced)
			}
		case in.Op == Store:
			ok := false
			for _, s := range covers {
				ok = ok || in.Domain&long == s&long
			}
			if !ok {
				return 0, fmt.Errorf("instruction %d: Store over %v, not %v", i, in.Domain, covers)
			}
		}
	}
	return reductions, nil
}

func verifyPointwise(k *Kernel) error {
	n, err := verifyOps(k, 0, k.Roles(Parallel))
	if err == nil && n > 0 {
		err = errors.New("a reduction")
	}
	return err
}

func verifyReduce(k *Kernel) error {
	parallel, reduced := k.Roles(Parallel), k.Roles(Reduced)
	n, err := verifyOps(k, reduced, parallel, parallel|reduced)
	if err == nil && n == 0 {
		err = errors.New("no reduction")
	}
	return err
}

func verifyContraction(k *Kernel) error {
	left, right, result := k.Roles(Batch, M, K), k.Roles(Batch, N, K), k.Roles(Batch, M, N)
	n, err := verifyOps(k, k.Roles(K), result)
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("%d reductions", n)
	}
	var sum int
	for i := range k.Body {
		if k.Body[i].Op.Class() == Reduction {
			sum = i
		}
	}
	product := k.Body[sum].Src[0]
	if k.Body[sum].Op != Sum || k.Body[product].Op != Mul {
		return fmt.Errorf("%v of %v, not Sum of Mul", k.Body[sum].Op, k.Body[product].Op)
	}
	x, y := k.Body[k.Body[product].Src[0]].Domain, k.Body[k.Body[product].Src[1]].Domain
	if !(within(x, left) && within(y, right)) && !(within(x, right) && within(y, left)) {
		return fmt.Errorf("a product over %v and %v, not %v and %v", x, y, left, right)
	}
	// An instruction that computes no factor comes after the sum, and varies over
	// axes of the result only.
	before := make([]bool, len(k.Body))
	before[product] = true
	for i := product; i >= 0; i-- {
		if before[i] {
			for _, j := range k.Body[i].Src {
				before[j] = true
			}
		}
	}
	for i := range k.Body {
		if !before[i] && !within(k.Body[i].Domain, result) {
			return fmt.Errorf("instruction %d: %v over %v is no part of a factor", i, k.Body[i].Op, k.Body[i].Domain)
		}
		if before[i] && k.Body[i].Op == Load && k.Args[k.Body[i].Arg].Kind == Out {
			return fmt.Errorf("instruction %d: a factor that the result replaces", i)
		}
		if i != sum && slices.Contains(k.Body[i].Src, product) {
			return fmt.Errorf("instruction %d: %v of the product", i, k.Body[i].Op)
		}
	}
	return nil
}

func verifyAttention(k *Kernel) error {
	rows, columns := k.Roles(Batch, M), k.Roles(Batch, N)
	deep, across := k.Roles(K), k.Roles(Width)
	points := rows | columns
	factor := make([]bool, len(k.Body)) // it is part of one
	product := make([]bool, len(k.Body))
	for i := len(k.Body) - 1; i >= 0; i-- {
		in := &k.Body[i]
		factor[i] = factor[i] || product[i]
		if in.Op.Class() == Reduction {
			over, other := in.Axes, AxisSet(0)
			switch {
			case within(over, deep) && over != 0:
				other = rows | over
			case over == k.Roles(N) && within(k.Body[in.Src[0]].Domain, points):
				continue
			case over == k.Roles(N):
				other = points
				over = across
			default:
				return fmt.Errorf("instruction %d: %v over %v, not the columns or a depth", i, in.Op, in.Axes)
			}
			p := in.Src[0]
			if in.Op != Sum || k.Body[p].Op != Mul {
				return fmt.Errorf("instruction %d: %v of %v, not Sum of Mul", i, in.Op, k.Body[p].Op)
			}
			x, y := k.Body[p].Src[0], k.Body[p].Src[1]
			if !(within(k.Body[x].Domain, other) && within(k.Body[y].Domain, columns|over)) {
				return fmt.Errorf("instruction %d: a product over %v and %v", i, k.Body[x].Domain, k.Body[y].Domain)
			}
			product[p] = true
			if in.Axes != k.Roles(N) {
				factor[x] = true
			}
			factor[y] = true
			continue
		}
		if factor[i] {
			for _, j := range in.Src {
				factor[j] = factor[j] || !product[i] && k.Body[j].Op.Class() != Reduction
			}
			continue
		}
		if !within(in.Domain, points) && !within(in.Domain, rows|across) {
			return fmt.Errorf("instruction %d: %v over %v", i, in.Op, in.Domain)
		}
		if in.Op == Store && (in.Domain&rows&k.long() != rows&k.long() || !within(in.Domain, rows|across)) {
			return fmt.Errorf("instruction %d: Store over %v", i, in.Domain)
		}
	}
	return nil
}

func within(s, of AxisSet) bool { return s&^of == 0 }

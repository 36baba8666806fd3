package shape

import "github.com/tensorken/tensorken/ir"

// The functions of this file take the coordinates at which a movement
// operation's result is read to those at which its operand is read: one form
// an axis. Attributes are as in package ir.

// Permute reads through ir.Permute.
func Permute(at []ir.AffineExpr, order []int) []ir.AffineExpr {
	src := make([]ir.AffineExpr, len(at))
	for i, a := range order {
		src[a] = at[i]
	}
	return src
}

// Expand reads through ir.Expand of an operand of shape from.
func Expand(at []ir.AffineExpr, from []int) []ir.AffineExpr {
	src := make([]ir.AffineExpr, len(at))
	for i, n := range from {
		src[i] = at[i]
		if n == 1 {
			src[i] = Constant(0)
		}
	}
	return src
}

// Crop reads through ir.Crop.
func Crop(at []ir.AffineExpr, ints []int) []ir.AffineExpr {
	src := make([]ir.AffineExpr, len(at))
	for i := range at {
		src[i] = at[i]
		if start, step := ints[2*i], ints[2*i+1]; start != 0 || step != 1 {
			src[i] = Affine(at[i], step, start)
		}
	}
	return src
}

// Flip reads through ir.Flip of a tensor of that shape.
func Flip(at []ir.AffineExpr, axes, shape []int) []ir.AffineExpr {
	src := append([]ir.AffineExpr(nil), at...)
	for _, a := range axes {
		src[a] = Affine(at[a], -1, shape[a]-1)
	}
	return src
}

// Pad reads through ir.Pad of an operand of shape from: at the coordinates
// where the guards hold, elsewhere the fill is read.
func Pad(at []ir.AffineExpr, ints, from, lens []int) (src []ir.AffineExpr, guards []ir.Guard) {
	src = append([]ir.AffineExpr(nil), at...)
	for i := range at {
		before, after, interior := ints[3*i], ints[3*i+1], ints[3*i+2]
		if before == 0 && after == 0 && interior == 0 {
			continue
		}
		src[i] = Divide(Affine(at[i], 1, -before), interior+1)
		if g := (ir.Guard{AffineExpr: src[i], Len: from[i]}); !Always(g, lens) {
			guards = append(guards, g)
		}
	}
	return src, guards
}

// Window reads through ir.Window.
func Window(at []ir.AffineExpr, ints []int) []ir.AffineExpr {
	i, k, s, d := ints[0], ints[1], ints[2], ints[3]
	src := append([]ir.AffineExpr(nil), at...)
	src[i] = Combine(at[i], s, at[k], d, 0)
	return src
}

// Unwindow reads through ir.Unwindow of an operand of shape from.
func Unwindow(at []ir.AffineExpr, ints, from, lens []int) (src []ir.AffineExpr, guards []ir.Guard) {
	i, k, s, d := ints[0], ints[1], ints[2], ints[3]
	src = append([]ir.AffineExpr(nil), at...)
	src[i] = Divide(Combine(at[i], 1, at[k], -d, 0), s)
	if g := (ir.Guard{AffineExpr: src[i], Len: from[i]}); !Always(g, lens) {
		guards = append(guards, g)
	}
	return src, guards
}

// A Split says that an axis of the space should be two: the inner one of
// length Inner.
type Split struct{ Axis, Inner int }

// Reshape reads through ir.Reshape from shape from to shape to. Where the
// coordinates cannot be told apart by forms, ok is false, and split is the
// axis whose splitting would help, if there is one.
func Reshape(at []ir.AffineExpr, from, to, lens []int) (src []ir.AffineExpr, split *Split, ok bool) {
	src = make([]ir.AffineExpr, len(from))
	for i := range src {
		src[i] = Constant(0)
	}
	for _, g := range Groups(from, to) {
		flat := Constant(0)
		for i := g.To[0]; i < g.To[1]; i++ {
			if to[i] != 1 {
				flat = Combine(flat, to[i], at[i], 1, 0)
			}
		}
		for i := g.From[1] - 1; i >= g.From[0]; i-- {
			n := from[i]
			if n == 1 {
				continue
			}
			if last := product(from[g.From[0]:i]) == 1; last {
				src[i] = flat
				break
			}
			if flat.Div != 1 {
				return nil, nil, false
			}
			var rest ir.AffineExpr
			if rest, src[i], split, ok = divmod(flat, n, lens); !ok {
				return nil, split, false
			}
			flat = rest
		}
	}
	return src, nil, true
}

// divmod splits f into f div n and f mod n, where both are forms.
func divmod(f ir.AffineExpr, n int, lens []int) (div, mod ir.AffineExpr, split *Split, ok bool) {
	mod = ir.AffineExpr{Off: ((f.Off % n) + n) % n, Div: 1, Coef: make([]int, len(f.Coef))}
	div = ir.AffineExpr{Off: (f.Off - mod.Off) / n, Div: 1, Coef: make([]int, len(f.Coef))}
	for a, c := range f.Coef {
		if c%n == 0 {
			div.Coef[a] = c / n
			continue
		}
		mod.Coef[a] = c
		if size := max(c, -c); split == nil && size*(lens[a]-1) >= n && n%size == 0 && lens[a]%(n/size) == 0 {
			split = &Split{a, n / size}
		}
	}
	lo, hi := Range(mod, lens)
	return div, mod, split, lo >= 0 && hi < n
}

// A Group is a run of axes of two shapes with as many elements in both:
// from From[0] up to From[1] of the one, To[0] up to To[1] of the other.
type Group struct{ From, To [2]int }

// Groups parts two shapes of as many elements, none of them 0, into the
// shortest runs of axes that correspond.
func Groups(from, to []int) []Group {
	var groups []Group
	i, j := 0, 0
	for i < len(from) || j < len(to) {
		g := Group{[2]int{i, i}, [2]int{j, j}}
		p, q := 1, 1
		if i < len(from) {
			p = from[i]
			i++
		}
		if j < len(to) {
			q = to[j]
			j++
		}
		for p != q {
			if p < q {
				p *= from[i]
				i++
			} else {
				q *= to[j]
				j++
			}
		}
		g.From[1], g.To[1] = i, j
		groups = append(groups, g)
	}
	return groups
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

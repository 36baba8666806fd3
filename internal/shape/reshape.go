package shape

import (
	"iter"

	"github.com/tensorken/tensorken/ir"
)

func pushReshape(m Move, at []ir.AffineExpr, lens []int) Source {
	src := make([]ir.AffineExpr, len(m.From))
	for i := range src {
		src[i] = Constant(0)
	}
	for g := range Groups(m.From, m.To) {
		flat := Constant(0)
		for i := g.To[0]; i < g.To[1]; i++ {
			if m.To[i] != 1 {
				flat = Combine(flat, m.To[i], at[i], 1, 0)
			}
		}
		for i := g.From[1] - 1; i >= g.From[0]; i-- {
			n := m.From[i]
			if n == 1 {
				continue
			}
			if last := product(m.From[g.From[0]:i]) == 1; last {
				src[i] = flat
				break
			}
			if flat.Div != 1 {
				return Source{Opaque: true}
			}
			div, mod, split, ok := divmod(flat, n, lens)
			if !ok {
				return Source{Opaque: true, Split: split}
			}
			flat, src[i] = div, mod
		}
	}
	return Source{At: src}
}

// divmod splits f into f div n and f mod n, if both are affine expressions.
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

// Groups yields the shortest runs of axes of two shapes that correspond, in order.
// The shapes have as many elements, none of them 0.
func Groups(from, to []int) iter.Seq[Group] {
	return func(yield func(Group) bool) {
		for i, j := 0, 0; i < len(from) || j < len(to); {
			g := group(from, to, i, j)
			if !yield(g) {
				return
			}
			i, j = g.From[1], g.To[1]
		}
	}
}

// group returns the group that begins at axis i of the one shape, j of the other.
func group(from, to []int, i, j int) Group {
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
	return g
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

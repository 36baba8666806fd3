package shape

import "github.com/tensorken/tensorken/ir"

// A Reach is a range [Lo, Hi) of elements, counted from the offset of an argument,
// that a kernel accesses.
type Reach struct{ Lo, Hi int }

// Within reports whether the offset, and r from there, are in a buffer of n elements.
func (r Reach) Within(offset, n int) bool {
	return offset >= 0 && offset <= n && (r.Lo == r.Hi || r.Lo >= -offset && r.Hi <= n-offset)
}

// Reaches returns the reach of each argument of a kernel. Loads with guards or an
// index do not count: which elements they read is known only when they run.
func Reaches(k *ir.Kernel) []Reach {
	list := make([]Reach, len(k.Args))
	for i, a := range k.Args {
		switch a.Kind {
		case ir.Out:
			list[i] = Reach{0, a.Len}
		case ir.Status:
			list[i] = Reach{0, ir.StatusLen}
		}
	}
	if r := ir.Routines[k.Routine()]; r != nil {
		for _, arg := range r.Whole(k) {
			list[arg] = Reach{0, k.Args[0].Len}
		}
	}
	for i := range k.Body {
		in := &k.Body[i]
		if in.Op != ir.Load || len(in.View.Guards) > 0 || len(in.Src) > 0 {
			continue
		}
		lo, hi := k.Extent(in)
		r := &list[in.Arg]
		switch {
		case lo == hi:
		case r.Lo == r.Hi:
			*r = Reach{lo, hi}
		default:
			*r = Reach{min(r.Lo, lo), max(r.Hi, hi)}
		}
	}
	return list
}

package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Cost is the bytes that a kernel reads and writes at least, each element once, and
// its operations: 1 for each element of an elementwise operation, 1 for each element that
// is reduced, so 2 for a product that is added.
type Cost struct{ Read, Written, FLOPs int }

// Cost estimates the cost of the step. Temporaries of a loop are not read or written. A user's kernel
// counts as reading its operands once, and its operations are unknown.
func (s *Step) Cost() (c Cost) {
	if s.Raw != nil {
		for _, a := range s.Raw.Args {
			c.Read += a.Len * a.DType.Size()
		}
		c.Written = s.Raw.Result().Len * s.Raw.Result().DType.Size()
		c.Read -= c.Written
		return c
	}
	for _, x := range s.stages() {
		moved := func(arg int) bool {
			a := x.Args[arg]
			return s.Loop == nil || slices.ContainsFunc(s.Args, func(b Arg) bool { return a.Leaf == b.Leaf && a.Index == b.Index && b.Kind != ir.Value })
		}
		c.add(x.Kernel, moved)
	}
	return c
}

// add adds the cost of a kernel, which reads or writes memory for those arguments that are
// moved.
func (c *Cost) add(k *ir.Kernel, moved func(arg int) bool) {
	points := func(s ir.AxisSet) int { return loopnest.Size(k, s) }
	read := make([]reach, len(k.Args))
	for i := range k.Body {
		in := &k.Body[i]
		switch class := in.Op.Class(); {
		case in.Op == ir.Load && !moved(in.Arg), in.Op == ir.Store && !moved(in.Arg):
		case in.Op == ir.Load:
			read[in.Arg].add(reachOf(k, in))
		case in.Op == ir.Store:
			c.Written += points(in.Domain) * k.Args[in.Arg].DType.Size()
		case ir.Routines[in.Op] != nil:
			c.FLOPs += points(in.Domain)
			n, kept := k.Args[in.Arg].Len, k.Args[in.Arg].Kept // written
			if !ir.Routines[in.Op].Indexed || kept {
				n = min(n, points(in.Domain))
			}
			if kept && moved(in.Arg) {
				read[in.Arg].add(reach{n, 0, n})
			}
			for _, arg := range ir.Routines[in.Op].Whole(k) {
				switch {
				case !moved(arg):
				case k.Args[arg].Kind == ir.Out:
					c.Written += n * k.Args[arg].DType.Size()
				default:
					read[arg].add(reach{n, 0, n})
				}
			}
		case class == ir.Elementwise:
			c.FLOPs += points(in.Domain)
		case class == ir.Reduction:
			c.FLOPs += points(in.Domain | in.Axes)
		}
	}
	for i, r := range read {
		c.Read += k.Args[i].DType.Bytes(min(r.n, r.hi-r.lo))
	}
}

// A reach is at most n elements of an argument, all in [lo, hi).
type reach struct{ n, lo, hi int }

func (r *reach) add(s reach) {
	switch {
	case s.n == 0:
	case r.n == 0:
		*r = s
	default:
		*r = reach{r.n + s.n, min(r.lo, s.lo), max(r.hi, s.hi)}
	}
}

// reachOf is the elements that a load reads. A guard of two axes, as a padded window has,
// does not narrow it.
func reachOf(k *ir.Kernel, in *ir.Instr) reach {
	v := in.View
	r := reach{n: 1}
	if r.lo, r.hi = k.Extent(in); r.lo == r.hi {
		return reach{}
	}
	lens := make([]int, len(k.Axes))
	for a, axis := range k.Axes {
		lens[a] = axis.Len
	}
	positions := slices.Clone(lens) // along each axis, at which guards may hold
	for _, g := range v.Guards {
		lo, hi := shape.Range(g.AffineExpr, lens)
		first, last := max(ir.CeilDiv(lo, g.Div), 0), min(hi/g.Div, g.Len-1) // quotients
		n := last - first + 1
		if hi < 0 || n <= 0 {
			return reach{}
		}
		r.lo += min(g.Stride*first, g.Stride*last)
		r.hi += max(g.Stride*first, g.Stride*last)
		if g.Stride != 0 {
			r.n *= n
		} else if a, ok := onlyAxis(g.Coef); ok {
			positions[a] = min(positions[a], n)
		}
	}
	if in.UsesIndex() {
		r.n = loopnest.Size(k, in.Domain)
		d := v.Stride * (v.Len - 1)
		r.lo, r.hi = r.lo+min(d, 0), r.hi+max(d, 0)
		return r
	}
	for a, n := range positions {
		if v.Coef[a] != 0 {
			r.n *= n
		}
	}
	return r
}

// onlyAxis is the only axis with a coefficient.
func onlyAxis(coef []int) (axis int, ok bool) {
	some := func(c int) bool { return c != 0 }
	axis = slices.IndexFunc(coef, some)
	return axis, axis >= 0 && !slices.ContainsFunc(coef[axis+1:], some)
}

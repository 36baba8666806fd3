package cpu

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A space is a kernel's iteration space, normalized for memory: axes of length 1
// are gone, the others are ordered by stride, neighbours that every view treats as
// one are merged, and domains are minimal. Instruction i is the kernel's
// instruction i.
type space struct {
	args []ir.Arg
	axes []ir.Axis
	body []ir.Instr
	rank []int // ir.Kernel.CheckStrides
	tune *tuning
}

// A form is the coefficients of a linear form over the kernel's axes.
type form []int

func newSpace(k *ir.Kernel, t *tuning) *space {
	s := &space{args: k.Args, tune: t, body: slices.Clone(k.Body)}
	rank := k.CheckStrides()
	groups, merged := mergeAxes(k, orderAxes(k), allForms(k, rank))

	// groups[i] lists the kernel's axes that are merged into axis i. Their last
	// one gives its stride.
	to := make([]int, len(k.Axes))
	for i := range to {
		to[i] = -1
	}
	for i, g := range groups {
		for _, a := range g {
			to[a] = i
		}
		s.axes = append(s.axes, ir.Axis{Len: merged[i], Role: k.Axes[g[0]].Role})
	}
	project := func(c []int) []int {
		p := make([]int, len(groups))
		for i, g := range groups {
			p[i] = c[g[len(g)-1]]
		}
		return p
	}
	s.rank = project(rank)
	for i := range s.body {
		in := &s.body[i]
		if in.View != nil {
			v := *in.View
			if in.Op != ir.InBounds {
				v.Coef = project(v.Coef)
			}
			v.Guards = slices.Clone(v.Guards)
			for j := range v.Guards {
				v.Guards[j].Coef = project(v.Guards[j].Coef)
			}
			in.View = &v
		}
		if in.Op == ir.Index {
			in.Axis = to[in.Axis] // -1: the position is 0
			if in.Axis < 0 {
				*in = ir.Instr{Op: ir.Const, Type: ir.Int32}
			}
		}
		var axes ir.AxisSet
		for a := range k.Axes {
			if in.Axes.Has(a) && to[a] >= 0 {
				axes |= 1 << to[a]
			}
		}
		in.Axes = axes
		in.Domain = s.varies(i)
	}
	return s
}

// varies is the domain of instruction i.
func (s *space) varies(i int) ir.AxisSet {
	in := &s.body[i]
	var domain ir.AxisSet
	for _, j := range in.Src {
		domain |= s.body[j].Domain
	}
	if in.Op == ir.Scatter {
		return s.all()
	}
	return domain&^in.Axes | in.Positions()
}

// all is the set of all axes.
func (s *space) all() ir.AxisSet { return 1<<len(s.axes) - 1 }

// roles lists the axes of one of the roles, in order.
func (s *space) roles(roles ...ir.Role) []int {
	var axes []int
	for i, a := range s.axes {
		if slices.Contains(roles, a.Role) {
			axes = append(axes, i)
		}
	}
	return axes
}

// points is the number of points over some axes.
func (s *space) points(axes []int) int {
	n := 1
	for _, a := range axes {
		n *= s.axes[a].Len
	}
	return n
}

// work estimates the additions that stores take: those of each instruction at each
// point that it varies over or reduces.
func (s *space) work(stores []int) int {
	work := 0
	for i, needed := range s.needs(stores, nil) {
		if !needed {
			continue
		}
		in := &s.body[i]
		n := ir.Table[in.Op].Cost
		for a, axis := range s.axes {
			if (in.Domain | in.Axes).Has(a) {
				n *= axis.Len
			}
		}
		work += n
	}
	return work
}

// allForms lists the linear forms that the kernel computes from positions. Axes are
// merged where every form allows it.
func allForms(k *ir.Kernel, rank []int) []form {
	var forms []form
	status := slices.ContainsFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status })
	if status {
		forms = append(forms, rank)
	}
	for i := range k.Body {
		in := &k.Body[i]
		if in.View != nil {
			if in.Op != ir.InBounds {
				forms = append(forms, in.View.Coef)
			}
			for _, g := range in.View.Guards {
				forms = append(forms, g.Coef)
			}
		}
		switch in.Op {
		case ir.Index:
			f := make(form, len(k.Axes))
			f[in.Axis] = 1
			forms = append(forms, f)
		case ir.ArgMax:
			forms = append(forms, ir.RowMajor(k.Axes, in.Axes))
		}
	}
	return forms
}

// orderAxes lists the axes longer than 1 by role, and within a role by falling
// stride. A routine needs all axes in the kernel's order, ArgMax the reduced ones.
func orderAxes(k *ir.Kernel) []int {
	var axes []int
	for a, x := range k.Axes {
		if x.Len != 1 {
			axes = append(axes, a)
		}
	}
	if k.Template == ir.Routine {
		return axes
	}
	fixed := slices.ContainsFunc(k.Body, func(in ir.Instr) bool { return in.Op == ir.ArgMax })
	stride := make([]int, len(k.Axes))
	for _, v := range byWeight(k) {
		for a, c := range v.Coef {
			if stride[a] == 0 {
				stride[a] = max(c, -c)
			}
		}
	}
	slices.SortStableFunc(axes, func(a, b int) int {
		if c := cmp.Compare(k.Axes[a].Role, k.Axes[b].Role); c != 0 {
			return c
		}
		if fixed && k.Axes[a].Role == ir.Reduced {
			return 0
		}
		return cmp.Compare(stride[b], stride[a])
	})
	return axes
}

// byWeight lists the views of stores and loads by falling number of points, stores
// before loads of as many.
func byWeight(k *ir.Kernel) []*ir.View {
	type weighted struct {
		view   *ir.View
		points float64
	}
	var views []weighted
	for _, op := range []ir.Op{ir.Store, ir.Load} {
		for i := range k.Body {
			in := &k.Body[i]
			if in.Op != op {
				continue
			}
			n := 1.0
			for a, x := range k.Axes {
				if in.Domain.Has(a) {
					n *= float64(x.Len)
				}
			}
			views = append(views, weighted{in.View, n})
		}
	}
	slices.SortStableFunc(views, func(a, b weighted) int { return cmp.Compare(b.points, a.points) })
	list := make([]*ir.View, len(views))
	for i, v := range views {
		list[i] = v.view
	}
	return list
}

// mergeAxes merges neighbouring axes where all forms allow it, and returns the
// groups and their lengths.
func mergeAxes(k *ir.Kernel, axes []int, forms []form) (groups [][]int, lens []int) {
	for _, a := range axes {
		n := k.Axes[a].Len
		if last := len(groups) - 1; last >= 0 {
			g := groups[last]
			b := g[len(g)-1]
			ok := k.Axes[b].Role == k.Axes[a].Role
			for _, f := range forms {
				ok = ok && f[b] == f[a]*n
			}
			if ok {
				groups[last] = append(g, a)
				lens[last] *= n
				continue
			}
		}
		groups = append(groups, []int{a})
		lens = append(lens, n)
	}
	return groups, lens
}

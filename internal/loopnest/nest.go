package loopnest

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// A Nest is a kernel with axes in canonical form: axes of length 1 are gone, the others are
// sorted by role, and within a role by falling stride, and neighbours that every view
// treats as one are merged. Instruction i is the kernel's instruction i.
type Nest struct {
	*ir.Kernel
	// Rank is the ir.Kernel.CheckStrides of the original axes, for these.
	Rank []int
}

// Canonical brings a kernel's axes into canonical form.
func Canonical(k *ir.Kernel) *Nest {
	rank := k.CheckStrides()
	groups, axes := mergeAxes(k, orderAxes(k), strides(k, rank))

	r := NewRewriter(k, k.Template, 0)
	for i, g := range groups {
		r.AddAxis(g[len(g)-1], axes[i]) // the last of the axes that are merged gives the stride
	}
	for i := range k.Body {
		r.Instr(i)
	}
	return &Nest{r.To, r.Coefs(rank)}
}

// List lists the axes of one of the roles, in order.
func (n *Nest) List(roles ...ir.Role) []int {
	var axes []int
	for a, x := range n.Axes {
		if slices.Contains(roles, x.Role) {
			axes = append(axes, a)
		}
	}
	return axes
}

// Size is the number of points along some axes.
func (n *Nest) Size(axes []int) int {
	size := 1
	for _, a := range axes {
		size *= n.Axes[a].Len
	}
	return size
}

// Stores lists the Store instructions that vary over some of the given axes, or over
// none of them.
func (n *Nest) Stores(over ir.AxisSet, some bool) []int {
	return n.instrs(func(i int) bool { return n.Body[i].Op == ir.Store && (n.Body[i].Domain&over != 0) == some })
}

// Reductions lists the reductions of a level, of those that [Levels] gives.
func (n *Nest) Reductions(levels []int, level int) []int {
	return n.instrs(func(i int) bool { return n.Body[i].Op.Class() == ir.Reduction && levels[i] == level })
}

// Loads lists the loads that roots depend on.
func (n *Nest) Loads(roots ...int) []int {
	need := n.Needs(roots, nil)
	return n.instrs(func(i int) bool { return need[i] && n.Body[i].Op == ir.Load })
}

func (n *Nest) instrs(listed func(i int) bool) []int {
	var list []int
	for i := range n.Body {
		if listed(i) {
			list = append(list, i)
		}
	}
	return list
}

// Needs marks the instructions that roots depend on, down to the given ones.
func (n *Nest) Needs(roots, given []int) []bool {
	need := make([]bool, len(n.Body))
	for _, r := range roots {
		need[r] = true
	}
	for i := len(need) - 1; i >= 0; i-- {
		if need[i] && !slices.Contains(given, i) {
			for _, j := range n.Body[i].Src {
				need[j] = true
			}
		}
	}
	return need
}

// strides lists the strides along the axes of everything that the kernel computes
// from positions. Axes are merged where all of them allow it.
func strides(k *ir.Kernel, rank []int) [][]int {
	var list [][]int
	if slices.ContainsFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status }) {
		list = append(list, rank)
	}
	for i := range k.Body {
		in := &k.Body[i]
		if in.View != nil {
			if in.Op != ir.InBounds {
				list = append(list, in.View.Coef)
			}
			for _, g := range in.View.Guards {
				list = append(list, g.Coef)
			}
		}
		switch in.Op {
		case ir.Index:
			f := make([]int, len(k.Axes))
			f[in.Axis] = 1
			list = append(list, f)
		case ir.ArgMax:
			list = append(list, ir.DenseStrides(k.Axes, in.Axes))
		}
	}
	return list
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
	for _, in := range byWeight(k) {
		for a, c := range in.View.Coef {
			if stride[a] == 0 {
				stride[a] = abs(c)
			}
		}
	}
	slices.SortStableFunc(axes, func(a, b int) int {
		role := k.Axes[a].Role
		if role != k.Axes[b].Role || fixed && role == ir.Reduced {
			return cmp.Compare(role, k.Axes[b].Role)
		}
		return cmp.Compare(stride[b], stride[a])
	})
	return axes
}

// byWeight lists stores and loads by falling number of points, stores before loads
// of as many.
func byWeight(k *ir.Kernel) []*ir.Instr {
	var list []*ir.Instr
	for _, op := range []ir.Op{ir.Store, ir.Load} {
		for i := range k.Body {
			if k.Body[i].Op == op {
				list = append(list, &k.Body[i])
			}
		}
	}
	sorts.Stable(list, func(a, b *ir.Instr) int { return cmp.Compare(Points(k.Axes, b.Domain), Points(k.Axes, a.Domain)) })
	return list
}

// Points is the number of points along the axes in a set.
func Points(axes []ir.Axis, in ir.AxisSet) float64 {
	n := 1.0
	for a, x := range axes {
		if in.Has(a) {
			n *= float64(x.Len)
		}
	}
	return n
}

// mergeAxes merges neighbouring axes where all strides allow it, and returns the
// groups and the axes that they become.
func mergeAxes(k *ir.Kernel, order []int, strides [][]int) (groups [][]int, axes []ir.Axis) {
	for _, a := range order {
		x := k.Axes[a]
		if last := len(groups) - 1; last >= 0 && axes[last].Role == x.Role {
			b := groups[last][len(groups[last])-1]
			if !slices.ContainsFunc(strides, func(f []int) bool { return f[b] != f[a]*x.Len }) {
				groups[last] = append(groups[last], a)
				axes[last].Len *= x.Len
				continue
			}
		}
		groups, axes = append(groups, []int{a}), append(axes, x)
	}
	return groups, axes
}

// Package norms computes reductions of a vector in the kernel that reads them, where kernels run one after the other. The
// norm of a token is such a reduction, of a few thousand elements: a kernel of its own would leave a GPU idle, and the
// product that follows reads the vector anyway.
package norms

import (
	"reflect"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/images"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A vector is a kernel that reduces one vector, and stores numbers or a vector of these.
type vector struct {
	images.Kernel
	results []*graph.Node
}

// sharedRows is the least number of rows for which a workgroup computes a reduction once.
const sharedRows = 8

// A Limit is the most buffers and numbers of a kernel.
type Limit struct{ Buffers, Numbers int }

// Move moves kernels that reduce a vector into the only kernel that reads their results. In the list they become zero.
func Move(kernels []images.Kernel, results []*graph.Node, m ir.Machine, most Limit) {
	readers := map[*graph.Node][]int{}
	for i, k := range kernels {
		for a, n := range k.Nodes {
			if k.Args[a].Kind == ir.In && n != nil && !slices.Contains(readers[n], i) {
				readers[n] = append(readers[n], i)
			}
		}
	}
	for _, n := range results {
		readers[n] = append(readers[n], -1)
	}
	for i := range kernels {
		v := vector{Kernel: kernels[i]}
		if !v.isOne() {
			continue
		}
		v.results = nodes(&v.Kernel, ir.Out)
		to := readers[v.results[0]]
		if len(to) != 1 || to[0] < 0 || slices.ContainsFunc(v.results, func(n *graph.Node) bool { return !slices.Equal(readers[n], to) }) {
			continue
		}
		k := &kernels[to[0]]
		if !v.fits(k, m) {
			continue
		}
		if y := v.within(k); most.holds(y.Args) && shares(y.Kernel) {
			kernels[to[0]], kernels[i] = y, images.Kernel{}
		}
	}
}

// holds reports whether a kernel may have these arguments.
func (l Limit) holds(args []ir.Arg) bool {
	numbers := 0
	for _, a := range args {
		if a.Kind == ir.Value {
			numbers++
		}
	}
	return numbers <= l.Numbers && len(args)-numbers <= l.Buffers
}

// shares reports whether rows of a kernel share reductions: a kernel that also has products of another vector would compute
// them for each row.
func shares(k *ir.Kernel) bool {
	_, levels := loopnest.SharedLevels(k)
	return levels > 0
}

// isOne reports whether the kernel is one.
func (k *vector) isOne() bool {
	for i, a := range k.Args {
		if report := a.Kind == ir.In && k.Nodes[i] == nil; report || a.Kind == ir.Status || a.Undefined || a.Part {
			return false
		}
	}
	return k.Template == ir.Reduce && len(k.Axes) == 1 && k.Axes[0].Role == ir.Reduced && k.Args[0].Kind == ir.Out
}

// nodes lists the nodes of arguments of a kind.
func nodes(k *images.Kernel, kind ir.ArgKind) (list []*graph.Node) {
	for i, a := range k.Args {
		if a.Kind == kind {
			list = append(list, k.Nodes[i])
		}
	}
	return list
}

// fits reports whether k, which reads the numbers, reduces each of its rows along the same axis,
// and whether the work that workgroups repeat takes less time than a launch.
func (v *vector) fits(k *images.Kernel, m ir.Machine) bool {
	last := len(k.Axes) - 1
	if k.Template != ir.Reduce || last < 1 || k.Axes[last] != v.Axes[0] || k.Axes[last-1].Role == ir.Reduced {
		return false
	}
	if slices.ContainsFunc(k.Args, func(a ir.Arg) bool { return a.Kind == ir.Status }) {
		return false
	}
	for _, in := range k.Body {
		if in.Op == ir.Load && slices.Contains(v.results, k.Nodes[in.Arg]) {
			along := v.Body[v.store(k.Nodes[in.Arg])].View.Coef[0]
			if in.View.Off != 0 || len(in.View.Guards) > 0 || len(in.Src) > 0 || in.View.Coef[last] != along || along > 1 || in.Domain&^ir.Axes(last) != 0 {
				return false
			}
		}
	}
	rows := loopnest.Points(k.Axes, k.Roles(ir.Parallel))
	return m.IsWithinLaunch(m.AddTime(int(rows) / sharedRows * v.Axes[0].Len * len(v.Body)))
}

// store finds the store of a result.
func (v *vector) store(n *graph.Node) int {
	return slices.IndexFunc(v.Body, func(s ir.Instr) bool { return s.Op == ir.Store && v.Nodes[s.Arg] == n })
}

// within returns k with the reductions in the place of loads of their results.
func (v *vector) within(k *images.Kernel) images.Kernel {
	y := &mover{}
	y.Rewriter = loopnest.NewRewriter(k.Kernel, ir.Reduce, 1<<len(k.Axes)-1)
	y.To.Args = nil
	for i, a := range k.Args { // those written come first
		if a.Kind != ir.In || !slices.Contains(v.results, k.Nodes[i]) {
			y.arg(a, k.Nodes[i])
		}
	}
	x := loopnest.NewRewriter(v.Kernel.Kernel, ir.Reduce, 0)
	x.To, x.Axis = y.To, []int{len(k.Axes) - 1}
	x.Lower = func(in ir.Instr) int { return y.add(x, &v.Kernel, in) }
	y.Lower = func(in ir.Instr) int {
		if in.Op == ir.Load && slices.Contains(v.results, k.Nodes[in.Arg]) {
			return x.Instr(v.Body[v.store(k.Nodes[in.Arg])].Src[0])
		}
		return y.add(y.Rewriter, k, in)
	}
	for i := range k.Body {
		if k.Body[i].Op == ir.Store {
			y.Instr(i)
		}
	}
	return images.Kernel{Kernel: y.To, Nodes: y.nodes}
}

// A mover copies instructions of two kernels to one.
type mover struct {
	*loopnest.Rewriter
	nodes []*graph.Node // of arguments
}

// arg finds or adds an argument.
func (y *mover) arg(a ir.Arg, n *graph.Node) int {
	for i, b := range y.To.Args {
		if b.Kind == a.Kind && y.nodes[i] == n {
			return i
		}
	}
	y.To.Args, y.nodes = append(y.To.Args, a), append(y.nodes, n)
	return len(y.nodes) - 1
}

// add adds an instruction of a kernel that r copies, or finds a load that is there.
func (y *mover) add(r *loopnest.Rewriter, k *images.Kernel, in ir.Instr) int {
	switch in.Op {
	case ir.Load, ir.Store, ir.Scalar:
		in.Arg = y.arg(k.Args[in.Arg], k.Nodes[in.Arg])
	}
	id := r.Copy(in)
	if in.Op != ir.Load {
		return id
	}
	if same := slices.IndexFunc(y.To.Body, func(b ir.Instr) bool { return reflect.DeepEqual(b, y.To.Body[id]) }); same < id {
		y.To.Body = y.To.Body[:id]
		return same
	}
	return id
}

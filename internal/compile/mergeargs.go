package compile

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

func padded(coef []int, n int) []int { return append(slices.Clone(coef), make([]int, n-len(coef))...) }

// dropArgs removes the arguments that no instruction uses, and sorts buffers before numbers.
func (m *merger) dropArgs() {
	k := m.step.Kernel
	used := make([]bool, len(k.Args))
	uses := func(in *ir.Instr) bool { return in.Op == ir.Scalar || in.Op == ir.Load || in.Op == ir.Store }
	for i := range k.Body {
		if in := &k.Body[i]; uses(in) {
			used[in.Arg] = true
		}
	}
	var order []int
	for i := range used {
		if used[i] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(k.Args[a].Kind, k.Args[b].Kind) })
	args, likes := make([]Arg, len(order)), make([]ir.Arg, len(order))
	to := make([]int, len(k.Args))
	for n, i := range order {
		args[n], likes[n], to[i] = m.step.Args[i], k.Args[i], n
	}
	for i := range k.Body {
		if in := &k.Body[i]; uses(in) {
			in.Arg = to[in.Arg]
		}
	}
	m.step.Args, k.Args = args, likes
}

// joinOutputs makes one argument of those that are parts of one buffer: few devices take a buffer
// that is written as several.
func (m *merger) joinOutputs() {
	k := m.step.Kernel
	for i := range k.Body {
		in := &k.Body[i]
		if in.Op != ir.Store {
			continue
		}
		a, part := m.step.Args[in.Arg], k.Args[in.Arg]
		n := slices.IndexFunc(m.step.Args, func(b Arg) bool {
			b.Offset = a.Offset
			return a == b
		})
		if n == in.Arg {
			continue
		}
		all, joined := &m.step.Args[n], &k.Args[n]
		least := min(all.Offset, a.Offset)
		joined.Len = max(all.Offset+joined.Len, a.Offset+part.Len) - least
		joined.Part, joined.Align = true, joined.Align && part.Align
		in.View.Off += a.Offset - least
		for j := range k.Body {
			if s := &k.Body[j]; s.Op == ir.Store && s.Arg == n {
				s.View.Off += all.Offset - least
			}
		}
		in.Arg, all.Offset = n, least
	}
}

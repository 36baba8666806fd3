package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/ir"
)

// String returns the plan as text: a line for the whole and one for each
// kernel, with the bytes it reads and writes at least, each element once, and
// the floating-point and integer operations it does.
func (p *Plan) String() string {
	var b strings.Builder
	var bytes, flops int
	for _, s := range p.Steps {
		c := s.Cost()
		bytes += c.Read + c.Written
		flops += c.FLOPs
	}
	fmt.Fprintf(&b, "%s, %s moved, %s\n", count(len(p.Steps), "kernel"), hostmem.Size(bytes), operations(flops))
	for i, s := range p.Steps {
		c := s.Cost()
		fmt.Fprintf(&b, "%3d %-11s %-24s reads %s, writes %s, %s: %s\n", i+1, s.Kind(), s.space(),
			hostmem.Size(c.Read), hostmem.Size(c.Written), operations(c.FLOPs), strings.Join(s.work(), " "))
	}
	return b.String()
}

// Name describes the step in a few words: the lengths of its axes, the type that it stores
// and its operations, each once.
func (s *Step) Name() string {
	if s.Raw != nil {
		return fmt.Sprintf("[%d] %v %s", s.Raw.Result().Len, s.Raw.Result().DType, s.Raw.Name)
	}
	const maxOps = 8
	var ops []string
	for _, op := range s.work() {
		switch {
		case slices.Contains(ops, op):
		case len(ops) == maxOps:
			return s.nameOf(append(ops, "…"))
		default:
			ops = append(ops, op)
		}
	}
	if len(ops) == 0 {
		ops = []string{"copy"}
	}
	return s.nameOf(ops)
}

func (s *Step) nameOf(ops []string) string {
	last := s.stages()[len(s.stages())-1].Kernel
	out := slices.IndexFunc(last.Args, func(a ir.Arg) bool { return a.Kind == ir.Out })
	return fmt.Sprintf("%s %v %s", s.space(), last.Args[out].DType, strings.Join(ops, " "))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// operations is a number of operations in the unit that suits it.
func operations(n int) string {
	units, u, x := []string{"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"}, 0, float64(n)
	for ; x >= 1000 && u < len(units)-1; u++ {
		x /= 1000
	}
	return fmt.Sprintf("%.4g %s", x, units[u])
}

// Kind is the routine of the step, or its template, "loop", or "kernel" for a user's.
func (s *Step) Kind() string {
	switch {
	case s.Loop != nil:
		return "loop"
	case s.Raw != nil:
		return "kernel"
	}
	if s.Collective() >= 0 {
		return "collective"
	}
	if op := s.Kernel.Routine(); op != 0 {
		return strings.ToLower(op.String())
	}
	return s.Kernel.Template.String()
}

// stages lists the steps of a loop, of others the step itself.
func (s *Step) stages() []Step {
	if s.Loop == nil {
		return []Step{*s}
	}
	return s.Stages
}

// space is the lengths of the axes, with the reduced ones after a bar. Of a loop it is the
// number of rows, in all and in a block.
func (s *Step) space() string {
	if s.Loop != nil {
		return fmt.Sprintf("[%d by %d]", s.Loop.Rows, s.Loop.Block)
	}
	var others, reduced []string
	for _, a := range s.Kernel.Axes {
		if a.Role == ir.Reduced || a.Role == ir.K {
			reduced = append(reduced, fmt.Sprint(a.Len))
		} else {
			others = append(others, fmt.Sprint(a.Len))
		}
	}
	text := strings.Join(others, "×")
	if len(reduced) > 0 {
		text += " | " + strings.Join(reduced, "×")
	}
	return "[" + text + "]"
}

// work lists the operations of the body, without loads, stores and positions.
func (s *Step) work() []string {
	var out []string
	for _, x := range s.stages() {
		for _, in := range x.Kernel.Body {
			switch in.Op {
			case ir.Load, ir.Store, ir.Const, ir.Scalar, ir.Index, ir.InBounds:
			default:
				out = append(out, in.Op.String())
			}
		}
	}
	return out
}

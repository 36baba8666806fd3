package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A Part makes a kernel of some of the instructions of a step, over some of its axes or others.
type Part struct {
	*loopnest.Rewriter
	Args []ir.StageArg // of the new kernel: by default an Index is among the arguments of the step
	// Locate returns an argument of From in the form of Args, and as one of the new kernel.
	Locate func(arg int) (ir.StageArg, ir.Arg)
}

// NewPart starts a part of a kernel, of a template and over some axes.
func NewPart(k *ir.Kernel, template ir.Template, axes ir.AxisSet) *Part {
	p := &Part{Rewriter: loopnest.NewRewriter(k, template, axes)}
	p.To.Args = nil
	p.Locate = func(arg int) (ir.StageArg, ir.Arg) { return ir.StageArg{Index: arg}, k.Args[arg] }
	p.Lower = func(in ir.Instr) int {
		if in.Op == ir.Scalar || in.Op == ir.Load || in.Op == ir.Store {
			in.Arg = p.Arg(p.Locate(in.Arg))
		}
		return p.Copy(in)
	}
	return p
}

// Arg returns the number of an argument of the new kernel.
func (p *Part) Arg(a ir.StageArg, like ir.Arg) int {
	for i, b := range p.Args {
		if a.Temp == b.Temp && a.Index == b.Index && p.To.Args[i].Kind == like.Kind && slices.Equal(a.Steps, b.Steps) {
			return i
		}
	}
	p.Args = append(p.Args, a)
	p.To.Args = append(p.To.Args, like)
	return len(p.Args) - 1
}

// Part returns the step of a part of its kernel, with the indices among the part's instructions. Args are
// the arguments that the part's refer to.
func (s *Step) Part(c *Part, args []Arg) Step {
	p := Step{Kernel: c.To, Node: s.Node}
	for _, x := range s.Indices {
		at := c.Moved[x.Instr]
		if at < 0 || !c.To.Body[at].UsesIndex() {
			continue
		}
		x.Instr = at
		if e := x.Element; e != nil {
			x.Element = &ir.AffineExpr{Off: e.Off, Coef: c.Coefs(e.Coef), Div: e.Div}
		}
		p.Indices, p.Redundant = append(p.Indices, x), s.Redundant
	}
	for i, a := range s.Args {
		if a.Kind == ir.Status && p.Indices != nil {
			c.Arg(c.Locate(i))
		}
	}
	for i, a := range c.Args {
		arg := args[a.Index]
		arg.Kind = c.To.Args[i].Kind
		p.Args = append(p.Args, arg)
	}
	return p
}

package compile

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A slicer makes a stage of a loop: a kernel over a block of rows.
type slicer struct {
	*rows
	from  *ir.Kernel
	to    *ir.Kernel
	args  []ir.StageArg
	block int   // rows
	axis  []int // where axes are in the new kernel; -1 if the block is at one position
	moved []int // where instructions are in the new body; -1 if they are not
	// locate returns an argument of from as an argument of the stage in the loop, and as
	// an argument of to.
	locate func(arg int) (ir.StageArg, ir.Arg)
	// rowStride is the distance between rows of a temporary that is an argument of from.
	rowStride func(arg int) int
}

// newSlicer starts a kernel of a template with the instructions of k. The caller sets
// locate and the axes.
func newSlicer(r *rows, k *ir.Kernel, template ir.Template) *slicer {
	s := &slicer{rows: r, from: k, to: &ir.Kernel{Template: template}, axis: make([]int, len(k.Axes)), moved: make([]int, len(k.Body))}
	for i := range s.moved {
		s.moved[i] = -1
	}
	for a := range s.axis {
		s.axis[a] = -1
	}
	return s
}

// cut gives the kernel the axes of a block of n rows.
func (s *slicer) cut(n int) {
	s.block = n
	for a, x := range s.from.Axes {
		if s.stride[a] > 0 {
			if x.Len = s.length(s.from, a, n); x.Len == 0 {
				continue
			}
		}
		s.axis[a] = len(s.to.Axes)
		s.to.Axes = append(s.to.Axes, x)
	}
}

func (s *slicer) add(in ir.Instr) int {
	s.to.Body = append(s.to.Body, in)
	last := len(s.to.Body) - 1
	s.to.Body[last].Domain = s.to.Varies(last)
	return last
}

// arg returns the number of an argument of the new kernel.
func (s *slicer) arg(a ir.StageArg, like ir.Arg) int {
	for i, b := range s.args {
		if a.Temp == b.Temp && a.Index == b.Index && s.to.Args[i].Kind == like.Kind && slices.Equal(a.Steps, b.Steps) {
			return i
		}
	}
	s.args = append(s.args, a)
	s.to.Args = append(s.to.Args, like)
	return len(s.args) - 1
}

// steps returns the steps of an offset from block to block, given the coefficients of the
// axes of from.
func (s *slicer) steps(coef []int) []ir.RowStep {
	var list []ir.RowStep
	for a, stride := range s.stride {
		if stride > 0 && coef[a] != 0 && !s.whole(s.from, a, s.block) {
			list = append(list, ir.RowStep{Mod: stride * s.from.Axes[a].Len, Div: stride, Mul: coef[a]})
		}
	}
	return list
}

// aligned reports whether all offsets are multiples of 16 bytes, or of a block.
func aligned(steps []ir.RowStep, d ir.DType) bool {
	return !slices.ContainsFunc(steps, func(s ir.RowStep) bool { return !d.Aligned(s.Mul) })
}

// coefs returns the coefficients of the new kernel's axes.
func (s *slicer) coefs(coef []int) []int {
	c := make([]int, len(s.to.Axes))
	for a, to := range s.axis {
		if to >= 0 && a < len(coef) {
			c[to] = coef[a]
		}
	}
	return c
}

func (s *slicer) view(v *ir.View) *ir.View {
	c := *v
	c.Coef = s.coefs(v.Coef)
	c.Guards = slices.Clone(v.Guards)
	for i := range c.Guards {
		c.Guards[i].Coef = s.coefs(c.Guards[i].Coef)
	}
	return &c
}

// instr copies instruction i after its operands, and returns its number.
func (s *slicer) instr(i int) int {
	if s.moved[i] < 0 {
		in := s.from.Body[i]
		in.Src = slices.Clone(in.Src)
		for k, j := range in.Src {
			in.Src[k] = s.instr(j)
		}
		s.moved[i] = s.lower(in)
	}
	return s.moved[i]
}

func (s *slicer) lower(in ir.Instr) int {
	switch {
	case in.Op == ir.Scalar:
		in.Arg = s.arg(s.locate(in.Arg))
	case in.Op == ir.Load || in.Op == ir.Store:
		a, like := s.locate(in.Arg)
		coef := in.View.Coef
		in.View = s.view(in.View)
		if a.Temp {
			for from, to := range s.axis {
				if to >= 0 && s.stride[from] > 0 {
					in.View.Coef[to] = s.stride[from] * s.rowStride(in.Arg)
				}
			}
		} else {
			a.Steps = slices.Concat(a.Steps, s.steps(coef))
			like.Align = like.Align && aligned(a.Steps, like.DType)
		}
		in.Arg = s.arg(a, like)
	case in.Op == ir.InBounds:
		in.View = s.view(in.View)
		in.View.Coef = nil
	case in.Op == ir.Index && s.stride[in.Axis] > 0 && !s.whole(s.from, in.Axis, s.block):
		coef := make([]int, len(s.from.Axes))
		coef[in.Axis] = 1
		a := ir.StageArg{Index: -1, Steps: s.steps(coef)}
		first := s.add(ir.Instr{Op: ir.Scalar, Type: ir.Int32, Arg: s.arg(a, ir.Arg{Kind: ir.Value, DType: ir.Int32})})
		if s.axis[in.Axis] < 0 {
			return first
		}
		in.Axis = s.axis[in.Axis]
		return s.add(ir.Instr{Op: ir.Add, Type: ir.Int32, Src: []int{s.add(in), first}})
	case in.Op == ir.Index:
		in.Axis = s.axis[in.Axis]
	}
	var axes ir.AxisSet
	for a, to := range s.axis {
		if in.Axes.Has(a) && to >= 0 {
			axes |= 1 << to
		}
	}
	in.Axes = axes
	return s.add(in)
}

// stage returns the kernel, with the lengths of the buffers that it writes.
func (s *slicer) stage() ir.Stage {
	for i := range s.to.Args {
		if s.to.Args[i].Kind == ir.Out {
			s.to.Args[i].Len = 0
		}
	}
	for i := range s.to.Body {
		if in := &s.to.Body[i]; in.Op == ir.Store {
			_, hi := s.to.Extent(in)
			s.to.Args[in.Arg].Len = max(s.to.Args[in.Arg].Len, hi)
		}
	}
	s.fixTemplate()
	return ir.Stage{Kernel: s.to, Args: s.args}
}

// fixTemplate makes a reduce kernel without a reduction pointwise. If a kernel stores the
// operand of its reduction too, such as a dropout mask, a stage may store only the
// operand.
func (s *slicer) fixTemplate() {
	reduces := func(in ir.Instr) bool { return in.Op.Class() == ir.Reduction }
	if s.to.Template != ir.Reduce || slices.ContainsFunc(s.to.Body, reduces) {
		return
	}
	s.to.Template = ir.Pointwise
	for i := range s.to.Axes {
		s.to.Axes[i].Role = ir.Parallel
	}
}

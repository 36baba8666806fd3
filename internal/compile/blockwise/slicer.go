package blockwise

import (
	"slices"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/ir"
)

// A slicer makes a stage of a loop: a kernel over a block of rows.
type slicer struct {
	*rows
	*compile.Part
	block int // rows
	// rowStride is the distance between rows of a temporary that is an argument of From.
	rowStride func(arg int) int
}

// newSlicer starts a kernel over a block of n rows with the instructions of k. The caller sets Locate
// and rowStride.
func newSlicer(r *rows, k *ir.Kernel, n int) *slicer {
	s := &slicer{rows: r, Part: compile.NewPart(k, k.Template, 0), block: n}
	for a, x := range k.Axes {
		if s.stride[a] > 0 {
			if x.Len = s.length(k, a, n); x.Len == 0 {
				continue
			}
		}
		s.AddAxis(a, x)
	}
	s.Lower = s.lower
	return s
}

// steps returns the steps of an offset from block to block, given the coefficients of the
// axes of from.
func (s *slicer) steps(coef []int) []ir.RowStep {
	var list []ir.RowStep
	for a, stride := range s.stride {
		if stride > 0 && coef[a] != 0 && !s.whole(s.From, a, s.block) {
			list = append(list, ir.RowStep{Mod: stride * s.From.Axes[a].Len, Div: stride, Mul: coef[a]})
		}
	}
	return list
}

// aligned reports whether all offsets are multiples of 16 bytes, or of a block.
func aligned(steps []ir.RowStep, d ir.DType) bool {
	return !slices.ContainsFunc(steps, func(s ir.RowStep) bool { return !d.Aligned(s.Mul) })
}

func (s *slicer) lower(in ir.Instr) int {
	switch {
	case in.Op == ir.Scalar:
		in.Arg = s.Arg(s.Locate(in.Arg))
	case in.Op == ir.Load || in.Op == ir.Store:
		a, like := s.Locate(in.Arg)
		if a.Temp {
			v := *in.View
			v.Coef = slices.Clone(v.Coef)
			for from, stride := range s.stride {
				if stride > 0 {
					v.Coef[from] = stride * s.rowStride(in.Arg)
				}
			}
			in.View = &v
		} else {
			a.Steps = slices.Concat(a.Steps, s.steps(in.View.Coef))
			like.Align = like.Align && aligned(a.Steps, like.DType)
		}
		in.Arg = s.Arg(a, like)
	case in.Op == ir.Index && s.stride[in.Axis] > 0 && !s.whole(s.From, in.Axis, s.block):
		coef := make([]int, len(s.From.Axes))
		coef[in.Axis] = 1
		a := ir.StageArg{Index: -1, Steps: s.steps(coef)}
		first := s.Add(ir.Instr{Op: ir.Scalar, Type: ir.Int32, Arg: s.Arg(a, ir.Arg{Kind: ir.Value, DType: ir.Int32})})
		if s.Axis[in.Axis] < 0 {
			return first
		}
		return s.Add(ir.Instr{Op: ir.Add, Type: ir.Int32, Src: []int{s.Copy(in), first}})
	}
	return s.Copy(in)
}

// stage returns the kernel, with the lengths of the buffers that it writes.
func (s *slicer) stage() ir.Stage {
	for i := range s.To.Args {
		if s.To.Args[i].Kind == ir.Out {
			s.To.Args[i].Len = 0
		}
	}
	for i := range s.To.Body {
		if in := &s.To.Body[i]; in.Op == ir.Store {
			_, hi := s.To.Extent(in)
			s.To.Args[in.Arg].Len = max(s.To.Args[in.Arg].Len, hi)
		}
	}
	s.fixTemplate()
	return ir.Stage{Kernel: s.To, Args: s.Args}
}

// fixTemplate makes a reduce kernel without a reduction pointwise. If a kernel stores the
// operand of its reduction too, such as a dropout mask, a stage may store only the
// operand.
func (s *slicer) fixTemplate() {
	reduces := func(in ir.Instr) bool { return in.Op.Class() == ir.Reduction }
	if s.To.Template != ir.Reduce || slices.ContainsFunc(s.To.Body, reduces) {
		return
	}
	s.To.Template = ir.Pointwise
	for i := range s.To.Axes {
		s.To.Axes[i].Role = ir.Parallel
	}
}

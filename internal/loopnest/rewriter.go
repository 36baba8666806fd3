package loopnest

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A Rewriter copies instructions of a kernel to another one, which may have other axes, operands,
// views and more instructions.
type Rewriter struct {
	From, To *ir.Kernel
	Axis     []int // by axis of From: its number in To; -1 if To is at one position along it
	Moved    []int // by instruction of From: its number in To; -1 if it is not there
	// Lower adds an instruction of From, with operands of To. By default that is Copy.
	Lower func(in ir.Instr) int
}

// NewRewriter starts a kernel of a template over some axes of k. It shares k's arguments.
func NewRewriter(k *ir.Kernel, template ir.Template, axes ir.AxisSet) *Rewriter {
	r := &Rewriter{From: k, To: &ir.Kernel{Template: template, Args: k.Args, Body: make([]ir.Instr, 0, len(k.Body)+2)}}
	numbers := slices.Repeat([]int{-1}, len(k.Axes)+len(k.Body))
	r.Axis, r.Moved = numbers[:len(k.Axes):len(k.Axes)], numbers[len(k.Axes):]
	for a := range k.Axes {
		if axes.Has(a) {
			r.AddAxis(a, k.Axes[a])
		}
	}
	r.Lower = r.Copy
	return r
}

// AddAxis adds an axis that stands for one of From.
func (r *Rewriter) AddAxis(from int, x ir.Axis) {
	r.Axis[from] = len(r.To.Axes)
	r.To.Axes = append(r.To.Axes, x)
}

// Add appends an instruction, and returns its number.
func (r *Rewriter) Add(in ir.Instr) int {
	r.To.Body = append(r.To.Body, in)
	last := len(r.To.Body) - 1
	r.To.Body[last].Domain = r.To.Varies(last)
	return last
}

// Instr copies instruction i after its operands, and returns its number.
func (r *Rewriter) Instr(i int) int {
	if r.Moved[i] < 0 {
		in := r.From.Body[i]
		for k, j := range in.Src {
			if to := r.Instr(j); to != in.Src[k] {
				in.Src = slices.Clone(in.Src)
				in.Src[k] = to
			}
		}
		r.Moved[i] = r.Lower(in)
	}
	return r.Moved[i]
}

// Copy adds an instruction of From, with operands of To.
func (r *Rewriter) Copy(in ir.Instr) int {
	if in.View != nil {
		in.View = in.View.Mapped(r.Coefs)
	}
	if in.Op == ir.Index {
		if in.Axis = r.Axis[in.Axis]; in.Axis < 0 {
			in = ir.Instr{Op: ir.Const, Type: in.Type}
		}
	}
	if in.Axes != 0 {
		var axes ir.AxisSet
		for a, to := range r.Axis {
			if in.Axes.Has(a) && to >= 0 {
				axes |= 1 << to
			}
		}
		in.Axes = axes
	}
	return r.Add(in)
}

// Coefs converts coefficients of the axes of From to coefficients of To's.
func (r *Rewriter) Coefs(coef []int) []int {
	c := make([]int, len(r.To.Axes))
	for a, to := range r.Axis {
		if to >= 0 && a < len(coef) {
			c[to] = coef[a]
		}
	}
	return c
}

// Loaded returns k with a load of one more argument in place of instruction i.
func Loaded(k *ir.Kernel, i int, view *ir.View) *ir.Kernel {
	c := *k
	typ := k.Body[i].Type
	c.Args = append(slices.Clone(k.Args), ir.Arg{Kind: ir.In, DType: typ})
	c.Body = slices.Clone(k.Body)
	c.Body[i] = ir.Instr{Op: ir.Load, Type: typ, Arg: len(k.Args), View: view, Domain: k.Body[i].Domain}
	return &c
}

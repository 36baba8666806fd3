package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Fallback gives an output the elements of a leaf, of the same type and shape, in a run
// in which an index was out of range.
type Fallback struct {
	Output, Leaf int
	Strides      []int // of the leaf
}

// addFallbacks rewrites the kernels that store the outputs of fallbacks: each of
// them reads the reports of all checks, and stores the leaf's element if one has
// failed. It reports false, and changes nothing, if a kernel cannot: one that checks
// indices or that a check depends on, one that stores by a Scatter, one that stores
// in another order than the leaf has, or one that has no room for more buffers than
// the reports.
//
// A device that runs ahead of its caller learns of a bad index after the fact.
// With fallbacks, a step of an optimizer then leaves the model as it was.
func (p *Plan) addFallbacks(roots []*graph.Node, fallbacks []Fallback, bindings int) bool {
	leaf := map[int]int{} // of a buffer
	for _, f := range fallbacks {
		o, dims := p.Outputs[f.Output], roots[f.Output].Shape
		if o.Leaf { // nothing computes it
			continue
		}
		other, twice := leaf[o.Index]
		whole := o.Offset == 0 && shape.IsRowMajor(dims, o.Strides) && shape.IsRowMajor(dims, f.Strides)
		if !whole || p.Buffers[o.Index].Len != graph.Len(dims) || twice && other != f.Leaf {
			return false
		}
		leaf[o.Index] = f.Leaf
	}
	var checks []int                      // of the steps whose check is not redundant
	after := make([]bool, len(p.Buffers)) // whether a buffer depends on one that falls back
	stores, steps := map[int]bool{}, map[int]Step{}
	for i := range p.Steps {
		s := &p.Steps[i]
		for b := range s.buffers(ir.Out) {
			if _, ok := leaf[b]; ok {
				stores[i] = true
			}
		}
		follows := stores[i]
		for b := range s.buffers(ir.In) {
			follows = follows || after[b]
		}
		for b := range s.buffers(ir.Out) {
			after[b] = after[b] || follows
		}
		if c := s.Check(); c >= 0 {
			if stores[i] {
				return false
			}
			if s.Redundant {
				continue
			}
			if slices.ContainsFunc(s.Args, func(a Arg) bool { return a.Kind == ir.In && !a.Leaf && after[a.Index] }) {
				return false // it would wait for itself
			}
			checks = append(checks, c)
		}
	}
	if len(checks) == 0 {
		return false // nothing to read before
	}
	reports := Arg{Kind: ir.In, Report: true, Index: checks[0]}
	if len(checks) > 1 {
		reports = Arg{Kind: ir.In, Index: len(p.Buffers)}
	}
	for i := range stores {
		s := withFallbacks(p.Steps[i], leaf, reports)
		if bindings > 0 && s.bindings() > bindings+1 {
			return false
		}
		steps[i] = s
	}
	for i, s := range steps {
		p.Steps[i] = s
	}
	if len(checks) > 1 {
		p.Buffers = append(p.Buffers, Buffer{DType: ir.Int32, Len: 1})
		p.Steps = append(p.Steps, reportsStep(p.Checks, reports.Index))
	}
	return true
}

// bindings is how many buffers the step is called with.
func (s *Step) bindings() int {
	n := 0
	for _, a := range s.Args {
		if a.Kind != ir.Value {
			n++
		}
	}
	return n
}

// Check is the number of the step's check, -1 if it has none.
func (s *Step) Check() int {
	for _, a := range s.Args {
		if a.Kind == ir.Status {
			return a.Index
		}
	}
	return -1
}

// reportsStep stores in a buffer the greatest first word of all reports: 0 if no
// index was out of range.
func reportsStep(checks, buffer int) Step {
	k := &ir.Kernel{
		Template: ir.Reduce,
		Axes:     []ir.Axis{{Len: checks, Role: ir.Reduced}},
		Args:     []ir.Arg{{Kind: ir.Out, DType: ir.Int32, Len: 1, Align: true}, {Kind: ir.In, DType: ir.Int32}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Int32, Arg: 1, View: &ir.View{Coef: []int{ir.StatusLen}}},
			{Op: ir.ReduceMax, Type: ir.Int32, Src: []int{0}, Axes: 1},
			{Op: ir.Store, Type: ir.Int32, Src: []int{1}, View: &ir.View{Coef: []int{0}}},
		},
	}
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	return Step{Kernel: k, Args: []Arg{{Kind: ir.Out, Index: buffer}, {Kind: ir.In, Report: true}}, Node: -1}
}

// withFallbacks returns s, a step without checks, with a fallback for each store to a
// buffer that has a leaf.
func withFallbacks(s Step, leaf map[int]int, reports Arg) Step {
	old := s.Kernel
	k := &ir.Kernel{Template: old.Template, Axes: old.Axes, Args: slices.Clone(old.Args)}
	out := Step{Kernel: k, Args: slices.Clone(s.Args), Node: s.Node}
	arg := func(a Arg, d ir.DType) int {
		if i := slices.Index(out.Args, a); i >= 0 {
			return i
		}
		out.Args = append(out.Args, a)
		k.Args = append(k.Args, ir.Arg{Kind: ir.In, DType: d})
		return len(out.Args) - 1
	}
	add := func(in ir.Instr) int {
		k.Body = append(k.Body, in)
		last := len(k.Body) - 1
		k.Body[last].Domain = k.Varies(last)
		return last
	}
	failed := -1
	moved := make([]int, len(old.Body)) // where the instructions are in the new body
	for i, in := range old.Body {
		in.Src = slices.Clone(in.Src)
		for n, src := range in.Src {
			in.Src[n] = moved[src]
		}
		if in.Op == ir.Store {
			if from, ok := leaf[s.Args[in.Arg].Index]; ok {
				if failed < 0 {
					report := add(ir.Instr{Op: ir.Load, Type: ir.Int32, Arg: arg(reports, ir.Int32), View: &ir.View{Coef: make([]int, len(k.Axes))}})
					failed = add(ir.Instr{Op: ir.Cast, Type: ir.Bool, Src: []int{report}})
				}
				kept := add(ir.Instr{Op: ir.Load, Type: in.Type, Arg: arg(Arg{Kind: ir.In, Leaf: true, Index: from, Offset: s.Args[in.Arg].Offset}, k.Args[in.Arg].DType), View: in.View})
				in.Src[0] = add(ir.Instr{Op: ir.Where, Type: in.Type, Src: []int{failed, kept, in.Src[0]}})
			}
		}
		moved[i] = add(in)
	}
	return out
}

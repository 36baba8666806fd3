// Package compile turns a graph into a plan: kernels in order, each with its arguments, and the
// memory of their results. Package kernelize makes the kernels; this package orders them
// (schedule.go) and assigns memory (liveness.go). Package blockwise makes loops of attention's. It opens no
// device. Read compile.go first.
package compile

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A Plan is a sequence of kernel calls that computes tensors from others.
type Plan struct {
	Steps     []Step
	Buffers   []Buffer
	Outputs   []Output // one for each root
	Checks    int      // how many steps check indices
	Depends   []Set    // by output: the checks that it depends on, by number, and the leaves, by Checks + number
	FallsBack bool     // outputs have their old elements if a check fails
	// LeafMemory is, by leaf, the first of the leaves in the same memory, for those whose memory a
	// result may take; nil if no two share it.
	LeafMemory []int
}

// A Step is one call of a kernel, or of a loop.
type Step struct {
	Kernel  *ir.Kernel // nil if Loop or Raw is not
	Loop    *ir.Loop
	Raw     *ir.RawKernel // of a profile alone: no plan has kernels of users
	Stages  []Step        // of a loop, each over all rows. They name temporaries by the plan's buffers, which Args leaves out
	Args    []Arg
	Node    int     // the number of the node that the step is named after, or -1
	Indices []Index // that its instructions check, in their order
	// Redundant says that other steps check all indices that this one does.
	Redundant bool
}

// An Arg names a step's argument: by Kind a number, the report of a check, or a
// buffer. A buffer is a leaf, one of the plan's or, if Report is set, the reports of
// all checks from number Index on.
type Arg struct {
	Kind         ir.ArgKind
	Leaf, Report bool
	Index        int
	Offset       int // in elements, of a buffer that is read or of a part that is written
}

// IsBuffer reports whether the argument is one of the plan's buffers.
func (a *Arg) IsBuffer() bool { return (a.Kind == ir.In || a.Kind == ir.Out) && !a.Leaf && !a.Report }

// An Index is an instruction that uses an index.
type Index struct {
	Instr int
	Node  int // the number of the node that it computes: graph.Node.Number
	// Element is the index's row-major number, over the kernel's axes, among the Len
	// of the tensor of indices; nil if it is not known.
	Element *ir.AffineExpr
	Len     int
}

// A Buffer is memory that the plan needs: Len elements of type DType.
type Buffer struct {
	DType ir.DType
	Len   int
	Gaps  int // elements that nothing stores
}

// An Output is where a root's elements are: a view of a leaf or of a buffer
// of the plan.
type Output struct {
	Leaf    bool
	Index   int
	Offset  int
	Strides []int
}

// verify makes Graph check every kernel; tests set it.
var verify = false

// Verify makes Graph check every kernel from now on, for tests.
func Verify() { verify = true }

// Graph compiles roots, which package simplify has made of graph.Leaf, graph.Param and
// constants. Old is nil or has, for each root, the leaf whose elements it gets if a check
// fails, nil for none: see Plan.FallsBack.
func Graph(roots []*graph.Node, o kernelize.Options, old []*graph.Node) (*Plan, error) {
	var p *Plan
	if old != nil {
		p = newPlan(withFallbacks(roots, old), o)
		p.FallsBack = p.bindFailure()
	}
	if p == nil || !p.FallsBack {
		p = newPlan(roots, o)
	}
	p.Depends = p.depends()
	return p, p.Reorder()
}

// Reorder puts the steps of a plan that was changed into an order that needs less memory.
func (p *Plan) Reorder() error {
	p.schedule(false)
	if verify {
		return p.verify()
	}
	return nil
}

// newPlan returns the plan of roots, its steps in the order of the graph.
func newPlan(roots []*graph.Node, o kernelize.Options) *Plan {
	kernels, outputs := kernelize.Graph(roots, o)
	p := &Plan{Steps: make([]Step, 0, len(kernels))}
	var index graph.Numbers                                              // of the buffers
	first, indices := map[checked]int{}, make([][]checked, len(kernels)) // the first step that checks all; the checks of each step
	buffer := func(n *graph.Node) int {
		i, ok := index.Get(n)
		if !ok {
			i = len(p.Buffers)
			index.Set(n, i)
			p.Buffers = append(p.Buffers, Buffer{DType: n.DType, Len: n.Len()})
		}
		return i
	}
	for _, k := range kernels {
		s := Step{Kernel: k.Kernel, Args: make([]Arg, 0, len(k.Args)), Node: int(k.Node.Number)}
		for _, x := range k.Indices {
			s.Indices = append(s.Indices, Index{x.Instr, int(x.Node.Number), x.Element, x.Len})
		}
		last := len(k.Indices) - 1
		isTranspose := last >= 0 && k.Indices[last].Node.Op == ir.Scatter && len(k.Indices[last].Node.Ints) > 1 // of a Gather
		for _, x := range k.Indices {
			c, all := checks(k.Kernel, x)
			indices[len(p.Steps)] = append(indices[len(p.Steps)], c)
			if _, ok := first[c]; all && !ok && !isTranspose {
				first[c] = len(p.Steps)
			}
		}
		for _, a := range k.Args {
			arg := Arg{Kind: a.Kind, Offset: a.Offset}
			switch {
			case a.Kind == ir.In && a.Node == nil:
				arg = failure
			case a.Kind == ir.Status:
				arg.Index = p.Checks
				p.Checks++
			case a.Kind == ir.Value:
				arg.Index = a.Node.Ints[0]
			case a.Node.Op == ir.Buffer:
				arg.Leaf, arg.Index = true, int(a.Node.Num)
			default:
				arg.Index = buffer(a.Node)
			}
			s.Args = append(s.Args, arg)
		}
		p.Steps = append(p.Steps, s)
	}
	for i, list := range indices {
		p.Steps[i].Redundant = len(list) > 0 && !slices.ContainsFunc(list, func(c checked) bool { k, ok := first[c]; return !ok || k == i })
	}
	for _, o := range outputs {
		out := Output{Leaf: o.Node.Op == ir.Buffer, Offset: o.View.Offset, Strides: o.View.Strides}
		if out.Leaf {
			out.Index = int(o.Node.Num)
		} else {
			out.Index = buffer(o.Node)
		}
		p.Outputs = append(p.Outputs, out)
	}
	return p
}

// A checked is a tensor of indices and the length of the axis that they index.
type checked struct {
	index *graph.Node
	n     int
}

// checks returns the tensor of indices that an instruction checks, and whether it checks
// all of it.
func checks(k *ir.Kernel, x kernelize.Index) (c checked, all bool) {
	n, axis := x.Node, x.Node.Ints[0]
	c = checked{n.Operand(1), n.Operand(0).Shape[axis]}
	all = n.Op == ir.Gather && len(k.Body[x.Instr].View.Guards) == 0 && loopnest.Size(k, ir.IndexDomain(k.Body, x.Instr)) == x.Len
	return c, all
}

// verify checks every kernel, and that earlier steps have stored all elements of a
// buffer that a step reads or that is an output. It counts them, as parts of a
// buffer may interleave.
func (p *Plan) verify() error {
	stored := make([]int, len(p.Buffers)) // elements
	complete := func(b int) error {
		if want := p.Buffers[b].Len - p.Buffers[b].Gaps; stored[b] != want {
			return fmt.Errorf("buffer %d: %d elements stored, of %d", b, stored[b], want)
		}
		return nil
	}
	for i, s := range p.Steps {
		for _, k := range s.Kernels() {
			if err := ir.Verify(k); err != nil {
				return fmt.Errorf("step %d: %w in\n%v", i, err, k)
			}
		}
		for b := range s.Buffers(ir.In) {
			if err := complete(b); err != nil {
				return fmt.Errorf("step %d reads what is not written: %w, in\n%v", i, err, s.Kernels()[0])
			}
		}
		if s.Loop != nil {
			s.countStores(stored)
			continue
		}
		for k := range s.Kernel.Body {
			switch in := &s.Kernel.Body[k]; {
			case in.Op == ir.Store:
				stored[s.Args[in.Arg].Index] += loopnest.Size(s.Kernel, in.Domain)
			case ir.Routines[in.Op] != nil:
				stored[s.Args[in.Arg].Index] += s.Kernel.Args[in.Arg].Len
			}
		}
	}
	for i, o := range p.Outputs {
		if !o.Leaf {
			if err := complete(o.Index); err != nil {
				return fmt.Errorf("output %d: %w", i, err)
			}
		}
	}
	return nil
}

// Collective is the number of the graph's collective that the step is; -1 for a kernel or loop.
func (s *Step) Collective() int {
	if s.Kernel == nil || s.Kernel.Routine() != ir.HostCall {
		return -1
	}
	return int(s.Kernel.Body[len(s.Kernel.Body)-1].Num)
}

// Operands lists the arguments of a step that are the operands of its routine, a collective.
func (s *Step) Operands() (args []int) {
	for _, i := range s.Kernel.Body[len(s.Kernel.Body)-1].Src {
		args = append(args, s.Kernel.Body[i].Arg)
	}
	return args
}

// Kernels lists the kernels of the step.
func (s *Step) Kernels() []*ir.Kernel {
	if s.Loop == nil {
		return []*ir.Kernel{s.Kernel}
	}
	var list []*ir.Kernel
	for _, stages := range [][]ir.Stage{s.Loop.Body, s.Loop.Last} {
		for _, x := range stages {
			list = append(list, x.Kernel)
		}
	}
	return list
}

// countStores adds the elements that a loop stores, by buffer.
func (s *Step) countStores(stored []int) {
	l := s.Loop
	for _, c := range l.Clears {
		stored[s.Args[c.Arg.Index].Index] += c.Len * l.Rows / l.Matrix * l.Parts()
	}
	count := func(stages []ir.Stage, rows int) {
		for range l.Starts(rows) {
			for _, x := range stages {
				for i := range x.Kernel.Body {
					in := &x.Kernel.Body[i]
					if in.Op != ir.Store {
						continue
					}
					a := &x.Args[in.Arg]
					cleared := slices.ContainsFunc(l.Clears, func(c ir.Clear) bool { return c.Arg.Index == a.Index })
					if !a.Temp && !cleared {
						stored[s.Args[a.Index].Index] += loopnest.Size(x.Kernel, in.Domain)
					}
				}
			}
		}
	}
	count(l.Body, l.Block)
	count(l.Last, l.Matrix%l.Block)
}

// Package compile turns a graph into a plan: kernels in order, and what each
// is called with. It opens no device.
package compile

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/fuse"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/lower"
	"github.com/tensorken/tensorken/ir"
)

// A Plan is what computes some tensors from others.
type Plan struct {
	Steps     []Step
	Buffers   []Buffer
	Outputs   []Output // one for each root
	Checks    int      // how many steps check indices
	FallsBack bool     // outputs with a Fallback hold it if a check fails
}

// A Step is one call of a kernel.
type Step struct {
	Kernel  *ir.Kernel
	Args    []Arg
	Indices []Index // what its instructions check, in their order
	// Redundant says that other steps check all indices that this one does.
	Redundant bool
}

// An Arg is what a step's argument is, by Kind: a number, the report of a check,
// or a buffer. A buffer is a leaf, the plan's own or, to be read, the reports
// from that of a check on.
type Arg struct {
	Kind         ir.ArgKind
	Leaf, Report bool
	Index        int
	Offset       int // of a buffer that is read, in elements
}

// An Index is an instruction that uses an index.
type Index struct {
	Instr int
	Node  int // the number of the node that it computes: graph.Node.Number
	// Element is the index's row-major number, over the kernel's axes, among the Len
	// of the tensor of indices; nil if it is not known.
	Element *ir.AffineExpr
	Len     int
}

// A Buffer is one that the plan needs: Len elements of type DType.
type Buffer struct {
	DType ir.DType
	Len   int
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

// Verify makes every kernel be checked from now on, for tests.
func Verify() { verify = true }

// Graph compiles roots, which package simplify has made of graph.Leaf, graph.Param
// and constants. Bindings is the most buffers a kernel may have, 0 for no limit.
// Fallbacks are what outputs hold if a check fails; see Plan.FallsBack.
func Graph(roots []*graph.Node, bindings int, fallbacks []Fallback) (*Plan, error) {
	fusion := fuse.Nodes(roots, bindings)
	p := &Plan{}
	index := map[*graph.Node]int{} // of the buffers
	gathered, transposes := map[checked]bool{}, map[int]checked{}
	buffer := func(n *graph.Node) int {
		i, ok := index[n]
		if !ok {
			i = len(p.Buffers)
			index[n] = i
			p.Buffers = append(p.Buffers, Buffer{n.DType, n.Len()})
		}
		return i
	}
	for _, g := range fusion.Groups {
		k, args, indices := lower.Group(fusion, g)
		s := Step{Kernel: k}
		for _, x := range indices {
			s.Indices = append(s.Indices, Index{x.Instr, x.Node.Number, x.Element, x.Len})
			if c, all := checks(k, x); all {
				gathered[c] = true
			}
		}
		if n := g.Scatter; n != nil && len(n.Ints) > 1 { // the transpose of a Gather
			transposes[len(p.Steps)], _ = checks(k, indices[0])
		}
		for _, a := range args {
			arg := Arg{Kind: a.Kind, Offset: a.Offset}
			switch {
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
	for i, c := range transposes {
		p.Steps[i].Redundant = gathered[c]
	}
	for _, r := range roots {
		b := fusion.Stored(r)
		v, ok := fuse.ViewOf(r, b)
		if !ok {
			return nil, fmt.Errorf("compile: %v of %v is not stored", r.Op, r.Shape)
		}
		o := Output{Offset: v.Offset, Strides: v.Strides}
		if b.Op == ir.Buffer {
			o.Leaf, o.Index = true, int(b.Num)
		} else {
			o.Index = buffer(b)
		}
		p.Outputs = append(p.Outputs, o)
	}
	p.FallsBack = len(fallbacks) > 0 && p.Checks > 0 && p.addFallbacks(roots, fallbacks, bindings)
	p.schedule()
	if verify {
		return p, p.verify()
	}
	return p, nil
}

// A checked is a tensor of indices and the length of the axis they are for.
type checked struct {
	index *graph.Node
	n     int
}

// checks is what an instruction checks, and whether it checks all of it.
func checks(k *ir.Kernel, x lower.Index) (c checked, all bool) {
	n, axis := x.Node, x.Node.Ints[0]
	c = checked{n.Src()[1], n.Src()[0].Shape[axis]}
	all = n.Op == ir.Gather && len(k.Body[x.Instr].View.Guards) == 0 && points(k, ir.IndexDomain(k.Body, x.Instr)) == x.Len
	return c, all
}

// verify checks every kernel, and that what a step reads is written by an
// earlier one.
func (p *Plan) verify() error {
	written := make([]bool, len(p.Buffers))
	for i, s := range p.Steps {
		if err := ir.Verify(s.Kernel); err != nil {
			return fmt.Errorf("step %d: %w in\n%v", i, err, s.Kernel)
		}
		for _, a := range s.Args {
			if a.Kind == ir.In && !a.Leaf && !a.Report && !written[a.Index] {
				return fmt.Errorf("step %d reads buffer %d before it is written, in\n%v", i, a.Index, s.Kernel)
			}
		}
		for _, a := range s.Args {
			if a.Kind == ir.Out {
				written[a.Index] = true
			}
		}
	}
	return nil
}

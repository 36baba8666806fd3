// Package compile turns a graph into a plan: kernels in order, and what each
// is called with. It opens no device.
package compile

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/fuse"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/lower"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

// A Plan is what computes some tensors from others.
type Plan struct {
	Steps   []Step
	Buffers []Buffer
	Outputs []Output // one for each root
	Checks  int      // how many steps may note a bad index
}

// A Step is one call of a kernel.
type Step struct {
	Kernel *ir.Kernel
	Args   []Arg
}

// An Arg is what a step's argument is: by Kind the number, the place to note a
// bad index, or a buffer: the leaf or the plan's own, by Index.
type Arg struct {
	Kind  ir.ArgKind
	Leaf  bool
	Index int
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

// Graph compiles roots, whose sources are graph.Leaf, graph.Param and
// constants. Bindings is the most buffers a kernel may have, 0 for no limit.
func Graph(roots []*graph.Node, bindings int) (*Plan, error) {
	roots = simplify.Nodes(roots)
	fusion := fuse.Nodes(roots, bindings)
	p := &Plan{}
	index := map[*graph.Node]int{} // of the buffers
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
		k, args := lower.Group(fusion, g)
		s := Step{Kernel: k}
		for _, a := range args {
			arg := Arg{Kind: a.Kind}
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
	p.schedule()
	if verify {
		return p, p.verify()
	}
	return p, nil
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
			if a.Kind == ir.In && !a.Leaf && !written[a.Index] {
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

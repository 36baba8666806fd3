package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/images"
	"github.com/tensorken/tensorken/internal/kernelize/norms"
	"github.com/tensorken/tensorken/internal/kernelize/regions"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Kernel is a kernel with the nodes of its arguments and of its instructions that
// use an index.
type Kernel struct {
	*ir.Kernel
	Args    []Arg
	Indices []Index
	Node    *graph.Node // that the kernel is named after: see group.main
}

// An Arg says which node an argument of a kernel holds.
type Arg struct {
	Kind ir.ArgKind
	// Node is a leaf or a stored node for In, nil for the report that Failed is read from;
	// the target of a store for Out, the Scalar for Value.
	Node   *graph.Node
	Offset int // in elements, from which the kernel's views of it count
}

// An Index says which node an instruction that uses an index computes, a Gather
// or a Scatter, and which element of the tensor of indices it uses.
type Index struct {
	Instr int
	Node  *graph.Node
	// Element is its row-major number, over the kernel's axes, in the tensor of
	// indices before it was expanded; nil if no affine expression gives it.
	Element *ir.AffineExpr
	Len     int // of that tensor
}

// An Output locates the elements of a root: a view of a leaf or of a node that a kernel
// stores.
type Output struct {
	Node *graph.Node
	View shape.Strided
}

// failed is the index of the Param that is Failed.
const failed = -1

// Failed is a node of a graph to be compiled: whether a check of its plan has failed. Kernels read
// it from a report.
func Failed(shape []int) *graph.Node { return graph.Param(ir.Bool, shape, failed) }

// joinIndices rewrites the elements of indices where axes a and a+1 become one, or drops them.
func (k *Kernel) joinIndices(a int) {
	for i := range k.Indices {
		x := &k.Indices[i]
		if x.Element == nil {
			continue
		}
		if c := x.Element.Coef; c[a] == c[a+1]*k.Axes[a+1].Len {
			x.Element.Coef = append(c[:a:a], c[a+1:]...)
		} else {
			x.Element = nil
		}
	}
}

// isFailed reports whether n is Failed.
func isFailed(n *node) bool { return n.Op == ir.Scalar && n.Ints[0] == failed }

// Options are the conditions, besides the graph, on which kernels depend.
type Options struct {
	Bindings int // the most buffers of a kernel; 0 is no limit
	Machine  ir.Machine
	Loops    ir.LoopLimits
}

// Graph returns the kernels that compute roots, nodes of a simplified graph, and where each
// root is stored. A kernel reads only leaves and stores of earlier kernels.
func Graph(roots []*graph.Node, o Options) (kernels []Kernel, outputs []Output) {
	p := placed(roots, o)
	p.cutStores()
	if o.Loops.Serial {
		p.mergeProducts()
	}
	w := &writer{}
	kernels = make([]Kernel, len(p.groups))
	for i, g := range p.groups {
		kernels[i] = w.kernel(g)
	}
	for _, r := range roots {
		outputs = append(outputs, p.outputs[r])
	}
	p.improve(kernels, outputs)
	kernels = slices.DeleteFunc(kernels, func(k Kernel) bool { return k.Kernel == nil })
	for i := range kernels {
		k := &kernels[i]
		loopnest.Collapse(k.Kernel, k.joinIndices)
		offsets(k.Kernel, k.Args)
	}
	return kernels, outputs
}

// improve chooses the order in memory of images that kernels pass to each other, or moves kernels into others.
func (p *placer) improve(kernels []Kernel, outputs []Output) {
	list, results := make([]images.Kernel, len(kernels)), make([]*graph.Node, len(outputs))
	for i, k := range kernels {
		list[i].Kernel = k.Kernel
		for _, a := range k.Args {
			list[i].Nodes = append(list[i].Nodes, a.Node)
		}
	}
	for i, o := range outputs {
		results[i] = o.Node
	}
	images.Order(list, results, p.Machine)
	if !p.Loops.Serial {
		return
	}
	norms.Move(list, results, p.Machine, norms.Limit{Buffers: p.maxArgs, Numbers: maxScalars})
	for i := range kernels {
		if k := &kernels[i]; k.Kernel != list[i].Kernel {
			k.Kernel, k.Args = list[i].Kernel, nil
			for a, n := range list[i].Nodes {
				k.Args = append(k.Args, Arg{Kind: k.Kernel.Args[a].Kind, Node: n})
			}
		}
	}
}

// placed assigns the nodes that roots depend on to groups. Where groups should store other
// members than those that are read, the graph is placed again, with these choices. Few graphs
// have groups of more buffers than a device binds; those are placed again, with ends that
// split the groups.
func placed(roots []*graph.Node, o Options) *placer {
	d := decisions{ends: map[*graph.Node]end{}, refused: regions.Nodes{}}
	for {
		p, refused := tryPlace(roots, o, d)
		for _, e := range refused {
			d.refused[e.sum.Node] = true
		}
		if len(refused) > 0 {
			continue
		}
		if d.choices == nil {
			if d.choices = p.rematerialize(); len(d.choices) > 0 {
				continue
			}
		}
		more := p.split(o.Bindings)
		if len(more) == 0 {
			return p
		}
		for n, e := range more {
			d.ends[n.Node] = e
		}
	}
}

// decisions are the decisions of earlier placements of a graph.
type decisions struct {
	ends    map[*graph.Node]end
	choices map[*graph.Node]choice
	refused regions.Nodes // products that kernels of attention do not compute
}

// tryPlace places the nodes that roots depend on. It returns the products of attention that it could not place so.
func tryPlace(roots []*graph.Node, o Options, d decisions) (p *placer, refused refusal) {
	defer func() {
		if err := recover(); err != nil {
			r, ok := err.(refusal)
			if !ok {
				panic(err)
			}
			refused = r
		}
	}()
	p = place(roots, o, d)
	p.refuseMisfits()
	return p, nil
}

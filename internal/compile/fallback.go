package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/ir"
)

// withFallbacks returns roots that have the elements of old, where old is not nil, in a run in
// which an index was out of range. Nodes that read a root read it with its fallback, so that a plan
// stores it once.
//
// A device that runs ahead of its caller learns of a bad index after the fact. With fallbacks, a
// step of an optimizer then leaves the model as it was.
func withFallbacks(roots, old []*graph.Node) []*graph.Node {
	fallBack := func(n, to *graph.Node) *graph.Node {
		w := graph.Elementwise(ir.Where, kernelize.Failed(n.Shape), to, n)
		w.Number = n.Number
		return w
	}
	kept := map[*graph.Node]*graph.Node{}
	for i, n := range roots {
		if old[i] != nil && n.Op.Class() != ir.Source { // other nodes read a constant as it is
			kept[n] = old[i]
		}
	}
	nodes, number := graph.Numbered(roots)
	done := slices.Clone(nodes)
	find := func(n *graph.Node) *graph.Node {
		i, _ := number.Get(n)
		return done[i]
	}
	for i, n := range nodes {
		if src := n.Src().Append(nil); len(src) > 0 {
			for k, s := range src {
				src[k] = find(s)
			}
			done[i] = graph.WithOperands(n, src...)
		}
		if to := kept[n]; to != nil {
			done[i] = fallBack(done[i], to)
		}
	}
	list := make([]*graph.Node, len(roots))
	for i, n := range roots {
		list[i] = find(n)
		if to := old[i]; to != nil && to != n && to != kept[n] {
			list[i] = fallBack(list[i], to)
		}
	}
	return list
}

// failure is the argument that is kernelize.Failed, until bindFailure.
var failure = Arg{Kind: ir.In, Report: true, Index: -1}

// bindFailure gives steps that fall back the report of the only check, or the greatest of several,
// which another step computes. It reports false if such a step checks an index, or if a check
// depends on one: it would wait for itself.
func (p *Plan) bindFailure() bool {
	var checks []int                      // of the steps whose check is not redundant
	after := make([]bool, len(p.Buffers)) // whether a buffer depends on a fallback
	for i := range p.Steps {
		s := &p.Steps[i]
		reads := slices.Contains(s.Args, failure)
		follows := reads
		for b := range s.Buffers(ir.In) {
			follows = follows || after[b]
		}
		for b := range s.Buffers(ir.Out) {
			after[b] = after[b] || follows
		}
		switch c := s.Check(); {
		case c < 0 || s.Redundant && !reads:
		case follows:
			return false
		default:
			checks = append(checks, c)
		}
	}
	if len(checks) == 0 {
		return false
	}
	report := Arg{Kind: ir.In, Report: true, Index: checks[0]}
	if len(checks) > 1 {
		report = Arg{Kind: ir.In, Index: len(p.Buffers)}
		p.Buffers = append(p.Buffers, Buffer{DType: ir.Int32, Len: 1})
	}
	for i := range p.Steps {
		if k := slices.Index(p.Steps[i].Args, failure); k >= 0 {
			p.Steps[i].Args[k] = report
		}
	}
	if len(checks) > 1 {
		all := graph.Leaf(ir.Int32, []int{p.Checks}, 0, []int{0, ir.StatusLen})
		kernels, _ := kernelize.Graph([]*graph.Node{graph.Reduce(ir.ReduceMax, all, []int{0})}, kernelize.Options{})
		p.Steps = append(p.Steps, Step{Kernel: kernels[0].Kernel, Args: []Arg{{Kind: ir.Out, Index: report.Index}, {Kind: ir.In, Report: true}}, Node: -1})
	}
	return true
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

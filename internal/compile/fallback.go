package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/ir"
)

// withFallbacks returns roots that have the elements of old, where that is not nil, in a run in
// which an index was out of range. What is computed from such a root is computed from what it has
// then: one kernel stores both or another loads the root.
//
// A device that runs ahead of its caller learns of a bad index after the fact. With fallbacks, a
// step of an optimizer then leaves the model as it was.
func withFallbacks(roots, old []*graph.Node) []*graph.Node {
	kept := map[*graph.Node]*graph.Node{}
	for i, n := range old {
		if n != nil && roots[i].Op.Class() != ir.Source {
			kept[roots[i]] = n
		}
	}
	fallBack := func(n, to *graph.Node) *graph.Node {
		w := graph.Elementwise(ir.Where, kernelize.Failed(n.Shape), to, n)
		w.Number = n.Number
		return w
	}
	nodes, number := graph.Numbered(roots)
	plain, done := make([]*graph.Node, len(nodes)), make([]*graph.Node, len(nodes))
	for i, n := range nodes {
		src := n.Src().Append(nil)
		for k, s := range src {
			j, _ := number.Get(s)
			src[k] = done[j]
		}
		plain[i] = n
		if !slices.Equal(src, n.Src().Append(nil)) {
			plain[i] = graph.WithOperands(n, src...)
		}
		if done[i] = plain[i]; kept[n] != nil {
			done[i] = fallBack(plain[i], kept[n])
		}
	}
	with := make([]*graph.Node, len(roots))
	for i, n := range roots {
		j, _ := number.Get(n)
		if with[i] = done[j]; i < len(old) && old[i] != kept[n] {
			with[i] = fallBack(plain[j], old[i])
		}
	}
	return with
}

// failure is the argument of kernelize.Failed until bindFailure.
var failure = Arg{Kind: ir.In, Report: true, Index: -1}

// bindFailure gives the kernels with fallbacks the report of the only check, or the greatest of
// all, which a step more computes. It reports false if one of them checks an index, or if a check
// depends on one: it would wait for itself.
func (p *Plan) bindFailure() bool {
	var checks []int                      // whose steps are not redundant
	after := make([]bool, len(p.Buffers)) // whether a buffer depends on one that falls back
	for i := range p.Steps {
		s := &p.Steps[i]
		reads := slices.Contains(s.Args, failure)
		follows := reads
		for b := range s.buffers(ir.In) {
			follows = follows || after[b]
		}
		for b := range s.buffers(ir.Out) {
			after[b] = after[b] || follows
		}
		if c := s.Check(); c >= 0 && reads || c >= 0 && follows && !s.Redundant {
			return false
		} else if c >= 0 && !s.Redundant {
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
		for k, a := range p.Steps[i].Args {
			if a == failure {
				p.Steps[i].Args[k] = report
			}
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

package nn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A Report lists each layer of a model with its cost for an input: see [SummaryOf].
type Report struct {
	Layers []LayerReport // the model first, then its layers in the order of its fields
	Steps  []StepReport  // the flow of data, operands before their uses
}

// A LayerReport is a line of a [Report].
type LayerReport struct {
	Name   string // as in files: "blocks.0.attn.q"; "" for the model
	Type   string // "nn.Linear"
	Depth  int    // 0 for the model
	Output []int  // the shape of its first result; nil if it was not used
	Params int    // elements of its parameters and state
	Bytes  int    // of these
	FLOPs  int    // as [tensor.Explain] counts them: a product that is added is two
	// Activations is the number of bytes of the results of the layers in it, or of its own.
	Activations int
}

// A StepReport is the result of a layer that has no layers in it, of operations between
// layers, or an input.
type StepReport struct {
	Layer  int // the layer, or the smallest layer that holds the operations; -1 for an input
	What   string
	Output []int
	DType  tensor.DType
	Inputs []int // positions of steps
}

// SummaryOf returns the cost of a model's layers in a call of f: shapes, floating-point
// operations and memory. Printed, it is a table.
//
//	fmt.Println(nn.SummaryOf(net, func(net Net) tensor.Tensor { return net.Apply(x) }))
//
// It only builds the graph of operations: nothing is computed unless f reads a value, and a
// model whose tensors are tensor.Zeros needs no memory. The input is made before the call.
// While f runs, layers of a [Sequential] are replaced by others, which record them.
//
// Operations belong to the layer whose parameters they use, and operations whose results only
// these use, in the same call, too; in a [Sequential], to the layer that made them; others,
// such as a residual sum, to the smallest part of the model around them.
func SummaryOf[M, R any](model M, f func(M) R) *Report {
	if f == nil {
		fail("SummaryOf", "the function is nil: want one that applies the model")
	}
	t, err := newTrace(model, f)
	if err != nil {
		fail("SummaryOf", "%v", err)
	}
	r := &Report{}
	for _, p := range t.parts {
		l := LayerReport{Name: p.name, Type: p.typ, Depth: p.depth}
		for _, x := range p.params {
			l.Params += x.Len()
			l.Bytes += x.Len() * x.DType().Size()
		}
		r.Layers = append(r.Layers, l)
	}
	for _, n := range t.nodes {
		if x := t.info[n]; x.kind == value || x.kind == weight {
			for i := x.owner; i >= 0; i = t.parts[i].parent {
				r.Layers[i].FLOPs += flops(n)
			}
		}
	}
	r.addSteps(t)
	return r
}

// addSteps groups operations to steps: one for each layer without layers in it, and one for
// each other call of the program.
func (r *Report) addSteps(t *trace) {
	g := grouping{trace: t, step: map[*graph.Node]int{}}
	for _, n := range t.nodes {
		if t.info[n].kind != weight {
			g.add(r, n)
		}
	}
	for _, s := range r.Steps {
		if s.Layer < 0 {
			continue
		}
		bytes := graph.Len(s.Output) * s.DType.Size()
		for i := s.Layer; i >= 0; i = t.parts[i].parent {
			if l := &r.Layers[i]; t.parts[s.Layer].leaf {
				l.Activations += bytes
				if l.Output == nil {
					l.Output = s.Output
				}
			}
		}
	}
	r.setOutputs(t)
}

// A grouping puts nodes into steps.
type grouping struct {
	*trace
	step   map[*graph.Node]int
	before []map[int]bool // of each step, those that it depends on
	last   []*graph.Node  // of each step
}

// add adds a node to a step, or makes one for it.
func (g *grouping) add(r *Report, n *graph.Node) {
	x := g.info[n]
	var from []int
	if x.kind == value {
		for _, s := range n.Src().All() {
			if i, ok := g.step[s]; ok && !slices.Contains(from, i) {
				from = append(from, i)
			}
		}
	}
	between := x.kind == value && !g.parts[x.owner].leaf // of a part that has layers, or of none
	if view := n.Op.Class() == ir.Movement || n.Op.Class() == ir.Alias; between && view && len(from) == 1 {
		g.step[n] = from[0]
		if s := from[0]; g.callOf(n).at == g.callOf(g.last[s]).at {
			r.Steps[s].Output, g.last[s] = n.Shape, n
		}
		return
	}
	at := g.joins(r, n, from)
	if at < 0 {
		at = len(r.Steps)
		s := StepReport{Layer: x.owner, What: g.parts[max(x.owner, 0)].name}
		switch {
		case x.kind == input:
			s.Layer, s.What = -1, "input"
		case between:
			s.What = cmp.Or(strings.TrimPrefix(g.callOf(n).callee, "tensor.Tensor."), n.Op.String())
		}
		r.Steps, g.before, g.last = append(r.Steps, s), append(g.before, map[int]bool{}), append(g.last, n)
	}
	g.step[n], g.last[at] = at, n
	s := &r.Steps[at]
	s.Output, s.DType = n.Shape, n.DType
	for _, i := range from {
		if i != at && !slices.Contains(s.Inputs, i) {
			s.Inputs = append(s.Inputs, i)
			g.before[at][i] = true
			maps.Copy(g.before[at], g.before[i])
		}
	}
}

// joins returns the last step that a node can join, or -1: of its owner, and of its call if
// the owner is more than a layer. No operand may depend on the step.
func (g *grouping) joins(r *Report, n *graph.Node, from []int) int {
	x := g.info[n]
	if x.kind != value {
		return -1
	}
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if r.Steps[i].Layer == x.owner && (g.parts[x.owner].leaf || g.callOf(n).at == g.callOf(g.last[i]).at) {
			if slices.ContainsFunc(from, func(s int) bool { return s != i && g.before[s][i] }) {
				return -1
			}
			return i
		}
	}
	return -1
}

// setOutputs gives parts that have parts the shape of their last result.
func (r *Report) setOutputs(t *trace) {
	for i := range r.Layers {
		if t.parts[i].leaf {
			continue
		}
		r.Layers[i].Output = nil
		for _, n := range t.nodes {
			if x := t.info[n]; x.kind == value && t.holds(i, x.owner) {
				r.Layers[i].Output = n.Shape
			}
		}
	}
}

// String returns a table, with the totals in its last lines.
func (r *Report) String() string {
	if len(r.Layers) == 0 {
		return "an empty report: make it with nn.SummaryOf"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "layer\ttype\toutput\tparameters\tFLOPs\n")
	path := []string{""} // the names of the layers that hold the next
	for _, l := range r.Layers {
		name, depth := "(model)", min(max(l.Depth, 0), len(path))
		if depth > 0 {
			path = append(path[:depth], l.Name+".")
			name = strings.TrimPrefix(l.Name, path[depth-1])
		}
		output := "not used"
		if l.Output != nil {
			output = fmt.Sprint(l.Output)
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\n", strings.Repeat("  ", depth), name, l.Type, output, grouped(l.Params), grouped(l.FLOPs))
	}
	w.Flush()
	total := r.Layers[0]
	fmt.Fprintf(&b, "%s parameters of %s bytes, results of layers of %s bytes, %s FLOPs",
		grouped(total.Params), grouped(total.Bytes), grouped(total.Activations), grouped(total.FLOPs))
	return b.String()
}

// grouped formats a number with its digits in groups of three; "-" for 0.
func grouped(n int) string {
	if n == 0 {
		return "-"
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

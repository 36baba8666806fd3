package exec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A program computes a graph in steps over numbered values: its arguments, then the results of
// the steps.
type program struct {
	steps   []step
	results []operand
	dead    [][]int // by step: the values that nothing reads after it, results of steps and arguments that are given away

	givenAway []*storage.GoneError // by argument: nil if it stays
	replacing int                  // the first results, which replace arguments
}

// A step of a program is a plan (planStep), a recurrence (repeatStep), a Go function (hostStep), a user's
// kernel (rawStep) or a collective of ranks (collectiveStep). Elements are copied to another device when a plan of that device reads them.
type step interface {
	// run computes the results from the values and numbers of the program.
	run(j *storage.Journal, values []*graph.Node, numbers []ir.Number) ([]*graph.Node, error)
	// placeholders returns computed nodes without elements, in the layouts of the results.
	placeholders() []*graph.Node
	// String explains the step.
	String() string
	// equal reports whether two steps differ in the values of numbers alone, and in leaves on
	// the host that have equal elements.
	equal(step) bool
}

// An operand is a value of a program, by its number, or a node computed outside of it.
type operand struct {
	number int // -1 for the node
	node   *graph.Node
}

// among returns operands as nodes.
func among(values []*graph.Node, operands []operand) []*graph.Node {
	nodes := make([]*graph.Node, len(operands))
	for i, o := range operands {
		if nodes[i] = o.node; o.number >= 0 {
			nodes[i] = values[o.number]
		}
	}
	return nodes
}

func valuesOf(nodes []*graph.Node) []*graph.Value {
	values := make([]*graph.Value, len(nodes))
	for i, n := range nodes {
		values[i] = n.Value()
	}
	return values
}

func equalOperands(a, b []operand) bool {
	return slices.EqualFunc(a, b, func(x, y operand) bool {
		return x.number == y.number && (x.number >= 0 || storage.SameElements(x.node, y.node))
	})
}

// run returns the results for arguments and numbers.
func (p *program) run(j *storage.Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	values := slices.Clone(args)
	for i, s := range p.steps {
		results, err := s.run(j, values, numbers)
		if err != nil {
			return nil, err
		}
		if i == len(p.steps)-1 && p.returns(len(values), len(results)) {
			return results, nil
		}
		values = append(values, results...)
		p.drop(values, p.dead[i])
	}
	results := among(values, p.results)
	p.noteReplacing(args, results)
	return results, nil
}

// returns reports whether the results are n values, from number first on.
func (p *program) returns(first, n int) bool {
	for i, o := range p.results {
		if o.number != first+i {
			return false
		}
	}
	return n == len(p.results)
}

func (p *program) String() string {
	var text strings.Builder
	for _, s := range p.steps {
		text.WriteString(s.String())
	}
	return text.String()
}

func (p *program) equal(o *program) bool {
	return slices.EqualFunc(p.steps, o.steps, step.equal) && equalOperands(p.results, o.results)
}

// Explain returns the plans that Eval would run, as text.
func Explain(def *Device, roots []*graph.Node) string {
	var p program
	if err := newBuilder(&p, 0, new(builder)).record(def, roots, nil); err != nil {
		return err.Error()
	}
	return p.String()
}

// A Recording is the program of a graph, made once for arguments of certain layouts. It runs
// without the graph being made again. Any number of goroutines may run it.
type Recording struct {
	program
	device *Device // that computes nodes committed to none
}

// Record makes the program of the graph of roots. Args are of [capture.Layout.Placeholder], or nil;
// numbers are Scalars of the graph whose values Run gets. For old see [Step]: it has the
// arguments that the first roots replace, nil for none. Groups has numbers of roots: first
// come those whose memory is freed together, group by group.
func Record(def *Device, args, numbers, roots, old []*graph.Node, groups []int) (*Recording, error) {
	r := &Recording{device: def}
	b := newBuilder(&r.program, len(args), new(builder))
	b.replayed, b.numbers, b.slabs = true, numbers, map[*graph.Node]int{}
	r.givenAway, r.replacing = make([]*storage.GoneError, len(args)), len(old)
	for i, n := range args {
		if n != nil {
			b.index[n.Value().Store] = i
			r.givenAway[i] = storage.Of(n.Value()).Donated()
		}
	}
	first := 0
	for k, n := range groups {
		for _, root := range roots[first : first+n] {
			b.slabs[root] = cmp.Or(b.slabs[root], k+1)
		}
		first += n
	}
	return r, b.record(def, roots, old)
}

// Run computes the roots for arguments of the layouts that were recorded. It returns a
// computed node for each.
func (r *Recording) Run(j *storage.Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	results, err := r.run(j, args, numbers)
	return results, r.device.memory.Failed(err)
}

// Repeats reports whether other arguments, numbers, roots and old for [Record] are of the
// same graph: one that differs in the values of numbers alone, and in leaves on the host
// that have equal elements.
func (r *Recording) Repeats(args, numbers, roots, old []*graph.Node) bool {
	again, err := Record(r.device, args, numbers, roots, old, nil)
	return err == nil && r.equal(&again.program)
}

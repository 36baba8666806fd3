package exec

import (
	"cmp"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

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
	for i, n := range args {
		if n != nil {
			b.index[n.Value().Store] = i
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

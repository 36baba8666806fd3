package graph

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/ir"
)

// A Recurrence computes a body several times, each step from the carries of the step before.
//
// The arguments of the body are carries, then inputs, then constants. An input of a step is a
// slice of an operand along its first axis; a constant is the same in each step. The results of
// the body are the next carries, then outputs, which are stacked along a new first axis.
type Recurrence struct {
	Steps           int
	Reverse         bool    // the first step takes the last slices of operands
	Carries, Inputs int     // the numbers of such arguments
	Args            []*Node // placeholders for the arguments of the body

	mu      sync.Mutex
	results []*Node // of the body
}

// NewRecurrence returns a recurrence with the results of its body.
func NewRecurrence(r *Recurrence, results []*Node) *Recurrence {
	r.results = slices.Clone(results)
	return r
}

// IsInput reports whether an argument of the body is an input.
func (r *Recurrence) IsInput(arg int) bool { return arg >= r.Carries && arg < r.Carries+r.Inputs }

// Position is the index of a step along the first axis of inputs and outputs.
func (r *Recurrence) Position(step int) int {
	if r.Reverse {
		return r.Steps - 1 - step
	}
	return step
}

// Results are the results of the body.
func (r *Recurrence) Results() []*Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.results
}

// AddOutput makes a node of the body an output, unless it is one already, and returns its index
// among the results.
func (r *Recurrence) AddOutput(n *Node) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.results[r.Carries:], n); i >= 0 {
		return r.Carries + i
	}
	r.results = append(r.results[:len(r.results):len(r.results)], n)
	return len(r.results) - 1
}

// Recur returns a node for all results of a recurrence; Pick takes one of them. src has an operand
// for each argument of the body; those for carries are the carries of the first step.
func Recur(r *Recurrence, src ...*Node) *Node {
	n := makeNode(ir.Recur, ir.Bool, []int{}, nil, src...)
	n.setCall(r)
	return n
}

// RecurrenceOf returns the recurrence of a Recur.
func RecurrenceOf(n *Node) *Recurrence { return n.Call().(*Recurrence) }

// Pick returns the i-th result of a Recur: the last value of a carry, or the stack of an output.
func Pick(n *Node, i int) *Node {
	r := RecurrenceOf(n)
	results := r.Results()
	return makeNode(ir.Pick, results[i].DType, r.Dims(results, i), []int{i}, n)
}

// Dims is the shape of the i-th result of the recurrence. results are the body's results.
func (r *Recurrence) Dims(results []*Node, i int) []int {
	dims := results[i].Shape
	if i >= r.Carries {
		dims = append([]int{r.Steps}, dims...)
	}
	return dims
}

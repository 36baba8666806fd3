package graph

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/ir"
)

// A Recurrence computes the same body several times, each step from the carries of the step
// before. The body's arguments are carries, then inputs, then constants, which are the same
// in each step. Its results are the next carries, then outputs, which are stacked along a
// new first axis. Inputs are slices of tensors with that axis.
type Recurrence struct {
	Steps           int
	Reverse         bool // the last step is the first
	Carries, Inputs int
	Args            []*Node // of the body: placeholders

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

// Position is where along the first axis of inputs and outputs a step is.
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

// AddOutput makes a node of the body an output, unless it is one, and returns its number
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

// Recur is all results of a recurrence of operands, as one node. The operands for carries
// are the first carries.
func Recur(r *Recurrence, src ...*Node) *Node {
	n := makeNode(ir.Recur, ir.Bool, []int{}, nil, src...)
	n.setCall(r)
	return n
}

// RecurrenceOf returns the recurrence of a Recur.
func RecurrenceOf(n *Node) *Recurrence { return n.Call().(*Recurrence) }

// Pick is the i-th result of a Recur: the last value of a carry, or a stack of outputs.
func Pick(n *Node, i int) *Node {
	r := RecurrenceOf(n)
	results := r.Results()
	return makeNode(ir.Pick, results[i].DType, r.Dims(results, i), []int{i}, n)
}

// Dims is the shape of the i-th result, of all results of the body.
func (r *Recurrence) Dims(results []*Node, i int) []int {
	dims := results[i].Shape
	if i >= r.Carries {
		dims = append([]int{r.Steps}, dims...)
	}
	return dims
}

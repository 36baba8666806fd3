package tensor

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/internal/storage"
)

// Donate gives away the memory of the computed tensors in the given trees: the next evaluation
// that reads one may store its results there. After that the tensor is gone, with all others that
// have its elements, such as views: a read is an [*Error] that names the line of Donate. A
// tensor that is not computed yet has no memory to give away; StopGradient of a computed one
// stands for that.
//
//	tensor.Donate(state)
//	state = state.Mul(0.9).Add(x) // in place
//
// In a function that grad.Jit records, Donate of an argument donates the argument of each call.
func Donate(trees ...any) {
	storage.Donate(roots("Donate", trees), gone("tensor.Donate", "donate it after its last use, or keep a copy, which tree.Copy makes"))
}

// gone is the error of tensors whose memory op gives away in the caller's line.
func gone(op, help string) *storage.GoneError {
	return &storage.GoneError{Op: op, Pos: *graph.NewCallSite(), Help: help}
}

// Donate is [Donate] on behalf of op; help says how to keep the tensors.
func (internal) Donate(_ graph.Token, op, help string, ts ...Tensor) {
	storage.Donate(validNodes(ts), gone(op, help))
}

// DonateRecorded donates the nodes that a recorded step replaces, if Step or an earlier call made them.
func (internal) DonateRecorded(_ graph.Token, op, help string, ns []*graph.Node) {
	e := gone(op, help)
	e.Replaced = true
	storage.Donate(ns, e)
}

// FreeReplaced frees the memory of tensors that Step or a recorded step has made, but that which others
// have too, on behalf of op.
func (internal) FreeReplaced(_ graph.Token, op, help string, ts, others []Tensor) {
	storage.DonateReplaced(validNodes(ts), validNodes(others), gone(op, help))(false)
}

// Outlive takes tensors out of the Scopes that they were made in.
func (internal) Outlive(_ graph.Token, ts ...Tensor) {
	if graph.CurrentRegion() != nil {
		storage.Outlive(validNodes(ts)...)
	}
}

// Copy returns t in memory of its own, once computed.
func (internal) Copy(_ graph.Token, t Tensor) Tensor { return Tensor{n: graph.Copy(t.n)} }

// validNodes returns the nodes of the tensors that are not absent.
func validNodes(ts []Tensor) (ns []*graph.Node) {
	for _, t := range ts {
		if t.n != nil {
			ns = append(ns, t.n)
		}
	}
	return ns
}

// Scope calls f and returns its result: a tree, or a value without tensors. Before it returns, it
// frees the memory of the tensors that f has computed, except those that the result has or reads. A
// loop of Scopes uses the same memory in each iteration. Without one, Go's collector has to find first
// which tensors are dead.
//
//	for range steps {
//		loss := tensor.Scope(func() float64 { return model.Loss(batch()).Item() })
//		…
//	}
//
// A tensor that f has made and computed, and that escapes through a variable, is gone: a read is an
// [*Error] that names the line of Scope. Tensors that were made before f, or by other goroutines, stay,
// and so do the tensors that optimizers keep. Scopes nest. If f panics, Scope frees as well.
func Scope[T any](f func() T) T {
	if f == nil {
		fail("Scope", "the function is nil")
	}
	e := &storage.GoneError{Op: "tensor.Scope", Pos: graph.DirectSite(), Help: "return it from the function that Scope calls"}
	r := graph.EnterRegion()
	var results []*graph.Node
	defer func() {
		r.Leave()
		storage.EndRegion(r, results, e)
		r.Release()
	}()
	result := f()
	switch x := any(result).(type) {
	case nil, error: // no tree
	case Tensor:
		results = validNodes([]Tensor{x})
	default:
		leaves, err := pytree.Values[Tensor](result)
		if err != nil {
			fail("Scope", err.Error(), fmt.Sprintf("a result of type %T", result))
		}
		results = validNodes(leaves)
	}
	return result
}

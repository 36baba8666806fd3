package tensor

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/internal/storage"
)

// Donate gives away the memory of the computed tensors in the given trees: the next evaluation
// that reads one may store its results there. After that the tensor is gone, and so are all that
// share its elements, such as views: a read is an [*Error] that names the line of Donate. Donate
// does nothing with a tensor that is not computed yet. For StopGradient of a computed tensor it
// donates that tensor.
//
//	tensor.Donate(state)
//	state = state.Mul(0.9).Add(x) // in place
//
// In a function that grad.Jit records, Donate of an argument donates the argument of each call.
func Donate(trees ...any) {
	storage.Donate(roots("Donate", trees), gone("tensor.Donate", "donate it after its last use, or keep a copy, which tree.Copy makes"))
}

// gone is the error for reads of tensors whose memory op gave away, at the caller's line.
func gone(op, help string) *storage.GoneError {
	return &storage.GoneError{Op: op, Pos: *graph.NewCallSite(), Help: help}
}

// Donate is [Donate] on behalf of op; help says how to keep the tensors.
func (internal) Donate(_ graph.Token, op, help string, ts ...Tensor) {
	storage.Donate(validNodes(ts), gone(op, help))
}

// DonateRecorded donates the old state that a recorded step replaces. It skips tensors that the user
// made: only memory made by Step or by an earlier call of the recorded step is given away.
func (internal) DonateRecorded(_ graph.Token, op, help string, ns []*graph.Node) {
	e := gone(op, help)
	e.Replaced = true
	storage.Donate(ns, e)
}

// FreeReplaced frees, on behalf of op, the memory of those tensors that Step or a recorded step has
// made, except memory that tensors in live share.
func (internal) FreeReplaced(_ graph.Token, op, help string, ts, live []Tensor) {
	end := storage.DonateReplaced(validNodes(ts), validNodes(live), gone(op, help))
	end(false) // nothing failed: free them now
}

// Outlive lets tensors outlive the Scopes that they were made in.
func (internal) Outlive(_ graph.Token, ts ...Tensor) {
	if graph.CurrentRegion() != nil {
		storage.Outlive(validNodes(ts)...)
	}
}

// Copy returns a copy of t, which has its own memory once it is computed.
func (internal) Copy(_ graph.Token, t Tensor) Tensor { return Tensor{n: graph.Copy(t.n)} }

// validNodes returns the nodes of tensors, without absent ones.
func validNodes(ts []Tensor) (ns []*graph.Node) {
	for _, t := range ts {
		if t.n != nil {
			ns = append(ns, t.n)
		}
	}
	return ns
}

// Scope calls f and returns its result: a tree, or a value without tensors. Before it returns, it
// frees the memory of all tensors that f has computed, except the tensors that the result contains or
// depends on. A loop that calls Scope uses the same memory in each iteration. Without Scope, memory is
// free only after Go's garbage collector has found the tensor dead.
//
//	for range steps {
//		loss := tensor.Scope(func() float64 { return model.Loss(batch()).Item() })
//		…
//	}
//
// A computed tensor that escapes from f through a variable, instead of the result, is gone: a read is
// an [*Error] that names the line of Scope. Tensors that were made before f or by other goroutines stay,
// and so do the tensors that optimizers keep. Scopes nest. Scope also frees if f panics.
func Scope[T any](f func() T) T {
	if f == nil {
		fail("Scope", "the function is nil")
	}
	escaped := &storage.GoneError{Op: "tensor.Scope", Pos: graph.DirectSite(), Help: "return it from the function that Scope calls"}
	region := graph.EnterRegion()
	var results []*graph.Node
	defer func() {
		region.Leave() // first: from here on the goroutine makes nothing in the region
		storage.EndRegion(region, results, escaped)
		region.Release() // last: another goroutine may take the region at once
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

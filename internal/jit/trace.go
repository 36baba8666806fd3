package jit

import (
	"cmp"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A Trace describes F's results for their recording.
type Trace struct {
	// Numbers are Scalars whose values change from call to call. Values returns the values
	// of a call, ok false if the call has another graph. It is nil without Numbers.
	Numbers []*graph.Node
	Values  func() (values []ir.Number, ok bool, err error)
	// Previous makes the results a transaction, see exec.Step: it has for some of them the
	// tensors of the argument that they replace.
	Previous map[*graph.Node]*graph.Node
}

// A traced has F's results for placeholders.
type traced[R any] struct {
	result                            R
	placeholders, numbers, roots, old []*graph.Node // as exec.Record gets them
	wide                              []wideLayout  // of the last placeholders
	values                            func() ([]ir.Number, bool, error)
	tensors                           []tensor.Tensor // of the results, without the roots
	planned                           []bool          // which of them are roots
	lists, groups                     []int           // the number from each list, and the number of roots among them
	rngs                              []tensor.RNG    // of the argument
	draws                             []*graph.Draws  // of each of them
}

// equal reports whether two traces differ in their roots alone.
func (t *traced[R]) equal(u *traced[R]) bool {
	draws := func(a, b *graph.Draws) bool { return len(a.Words) == len(b.Words) }
	if !slices.EqualFunc(t.wide, u.wide, wideLayout.sameArgument) || !slices.Equal(t.planned, u.planned) || !slices.Equal(t.lists, u.lists) || !slices.EqualFunc(t.draws, u.draws, draws) {
		return false
	}
	a, b := signer.Sign(&t.result), signer.Sign(&u.result)
	return a.Equal(b) && a.KeepsEqual(b) && slices.EqualFunc(t.tensors, u.tensors, func(x, y tensor.Tensor) bool {
		a, b := node(x), node(y)
		return a == b || a != nil && b != nil && storage.SameElements(a, b)
	})
}

// trace runs F.
func (f *Func[P, R]) trace(p P, args *arguments, layouts []capture.Layout, listed int) (*traced[R], error) {
	scope := &graph.Scope{PlaceholdersOf: f.Op}
	defer scope.Close()
	t := &traced[R]{placeholders: make([]*graph.Node, len(args.nodes)), rngs: leaves[tensor.RNG](f.Op, &p)}
	given := make([]tensor.Tensor, len(args.nodes))
	var failed error // to compute an argument in float64
	for i, n := range args.nodes {
		if n == nil {
			continue
		}
		t.placeholders[i] = layouts[i].Placeholder()
		x := graph.Argument(t.placeholders[i], scope)
		if isWidened(x) {
			graph.Table(x, sync.OnceValue(func() *graph.Node {
				w, err := args.inFloat64(f.Op, i)
				if err != nil {
					failed = err
					return graph.Typed(graph.Cast(x, ir.Float64))
				}
				t.wide = append(t.wide, wideLayout{i, capture.LayoutOf(w)})
				t.placeholders = append(t.placeholders, t.wide[len(t.wide)-1].layout.Placeholder())
				return graph.Argument(t.placeholders[len(t.placeholders)-1], scope)
			}))
		}
		given[i] = tensor.Internal.Tensor(graph.Token{}, x)
	}
	t.draws = make([]*graph.Draws, len(t.rngs))
	recorders := slices.Clone(t.rngs)
	for i := range recorders {
		if tensor.Internal.HasKey(graph.Token{}, &recorders[i]) {
			tensor.Internal.Misuse(graph.Token{}, f.Op, "the argument has an RNG made by KeyRNG: pass the key, and make the RNG inside")
		}
		t.draws[i] = &graph.Draws{Name: func(n *graph.Node) *graph.Node { return graph.Argument(n, scope) }}
		tensor.Internal.SetDraws(graph.Token{}, &recorders[i], t.draws[i])
	}
	var trace Trace
	var err error
	var lists [][]tensor.Tensor
	if t.result, lists, err = f.F(rebuild(f.Op, rebuild(f.Op, p, given[listed:]), recorders), given[:listed], &trace); cmp.Or(failed, err) != nil {
		return nil, cmp.Or(failed, err)
	}
	scope.Close()
	for _, list := range lists {
		t.tensors, t.lists = append(t.tensors, list...), append(t.lists, len(list))
	}
	t.tensors = append(t.tensors, leaves[tensor.Tensor](f.Op, &t.result)...)
	if err := t.findRoots(&trace); err != nil {
		return nil, err
	}
	tensor.Internal.DonateRecorded(graph.Token{}, f.Op, f.Keep, slices.DeleteFunc(slices.Clone(t.old), func(n *graph.Node) bool { return n == nil }))
	first := 0
	for _, n := range t.lists {
		roots := 0
		for _, planned := range t.planned[first : first+n] {
			if planned {
				roots++
			}
		}
		t.groups, first = append(t.groups, roots), first+n
	}
	t.numbers, t.values = trace.Numbers, trace.Values
	for _, d := range t.draws {
		t.numbers = append(t.numbers, d.Words...)
	}
	return t, nil
}

// findRoots finds the tensors of the result that a plan computes, and the nodes that they replace.
func (t *traced[R]) findRoots(trace *Trace) error {
	t.planned = make([]bool, len(t.tensors))
	transaction := 0 // the number of roots up to the last that replaces something
	for i, x := range t.tensors {
		n := node(x)
		switch {
		case n == nil || n.Value() != nil:
		case n.Traced(): // tensors that F captures are being differentiated
			return ErrUnrecorded
		default:
			t.roots = append(t.roots, n)
			t.tensors[i], t.planned[i] = tensor.Tensor{}, true
			var old *graph.Node
			if previous := trace.Previous[n]; previous != nil {
				old, transaction = previous.Operand(0), len(t.roots)
			}
			t.old = append(t.old, old)
		}
	}
	t.old = t.old[:transaction]
	return nil
}

// template returns a result without its tensors, and where its RNGs come from: which of
// the argument's they go on from.
func (f *Func[P, R]) template(r R, rngs []tensor.RNG, draws []*graph.Draws) (R, []source) {
	results := leaves[tensor.RNG](f.Op, &r)
	sources := make([]source, len(results))
	for i := range results {
		s := source{rng: slices.Index(draws, tensor.Internal.Draws(graph.Token{}, &results[i]))}
		if s.rng >= 0 {
			s.keys = results[i].Count - rngs[s.rng].Count
		}
		sources[i] = s
		tensor.Internal.SetDraws(graph.Token{}, &results[i], nil)
	}
	empty := make([]tensor.Tensor, len(leaves[tensor.Tensor](f.Op, &r)))
	return rebuild(f.Op, rebuild(f.Op, r, empty), results), sources
}

// A source says that an RNG of a result goes on from one of the argument, after some keys.
type source struct {
	rng  int // -1 if it does not
	keys uint64
}

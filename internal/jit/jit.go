// Package jit records functions of trees of tensors and replays them: a function runs once
// for all arguments of one form, and its plan runs for each.
package jit

import (
	"errors"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A Func is a function from trees to trees that is recorded. Any number of goroutines may
// call it.
type Func[P, R any] struct {
	// Op names the function in errors: "grad.Jit".
	Op string
	// F is the function, called to record it with a private copy of the argument, whose
	// tensors have no value. A function that cannot be recorded returns ErrUnrecorded. Many
	// tensors are better in lists, given and returned besides the trees, which it takes time
	// to walk. The memory of a returned list is freed at once, when all its tensors are dead.
	F func(p P, list []tensor.Tensor, t *Trace) (r R, lists [][]tensor.Tensor, err error)
	// Keep says how a caller keeps the tensors that a transaction replaces and whose memory it takes.
	Keep string
	// OnSecondUse records the function for a form when an argument has it the second time, and
	// traces it once more at the first replay: if it reads variables that have changed since,
	// it is not replayed.
	OnSecondUse bool

	mu    sync.Mutex
	forms []*form[P, R] // the last used first
}

// ErrUnrecorded says that a function is not recorded for an argument.
var ErrUnrecorded = errors.New("jit: the function is not recorded")

// maxForms is the number of forms for which a function is recorded: the last ones used.
const maxForms = 64

// maxGraphs is the number of graphs that are recorded for one form, where [Trace.Values] says
// that they differ. A function with more is not worth it.
const maxGraphs = 8

// A form is a function recorded for arguments of one form. It does not change once it is in
// [Func.forms].
type form[P, R any] struct {
	like    *pytree.Signature
	layouts []capture.Layout // of the list, then of the tree
	wide    []wideLayout     // of the arguments that F has in float64 too
	device  *tensor.Device   // the default one
	tried   bool             // to record the function

	plan    *exec.Recording // nil if the function is not recorded
	values  func() ([]ir.Number, bool, error)
	draws   []int           // the number of keys drawn from each RNG of the argument
	result  R               // without its tensors
	tensors []tensor.Tensor // of the results, the lists first, except the plan's outputs
	planned []bool          // which of them are the plan's
	lists   []int           // the number from each list
	rngs    []source        // of the RNGs of the result
	first   *traced[R]      // the recorded trace, if the first replay compares it with another
	keeps   bool            // the result keeps slices or maps of the argument
}

var signer = pytree.NewSigner(pytree.LeafTypeFor[tensor.Tensor](), pytree.LeafTypeFor[tensor.RNG]())

// Call returns F of p, computed. The journal notes a transaction. It fails with
// ErrUnrecorded if F is not recorded for p: then the caller computes it. Tensors that
// are placeholders, or that are differentiated, give that error too.
func (f *Func[P, R]) Call(p P, list []tensor.Tensor, j *storage.Journal) (r R, lists [][]tensor.Tensor, err error) {
	args, err := newArguments(f.Op, nodes(list, leaves[tensor.Tensor](f.Op, &p)))
	if err != nil {
		return r, nil, err
	}
	like := signer.Borrow(&p)
	defer like.Return()
	x, values, graphs := f.find(like, args.nodes)
	switch {
	case x == nil && graphs >= maxGraphs:
		return r, nil, ErrUnrecorded
	case x == nil || !x.tried:
		seen := x
		x = f.newForm(like, args)
		if seen != nil || !f.OnSecondUse {
			if err := f.record(x, p, args, len(list)); err != nil {
				return r, nil, err
			}
			if x.values != nil {
				var ok bool
				if values, ok, err = x.values(); err != nil {
					return r, nil, err
				}
				if !ok { // not even with the values of this call
					x.plan, x.first = nil, nil
				}
			}
		}
		f.keep(x, seen)
	case x.first != nil:
		recorded := x
		x = new(*recorded)
		x.first = nil
		same, err := f.repeats(x, recorded.first, p, args, len(list))
		if !same {
			x.plan = nil
		}
		f.keep(x, recorded)
		if err != nil {
			return r, nil, err
		}
	}
	if x.plan == nil {
		return r, nil, ErrUnrecorded
	}
	return f.replay(x, p, args, j, values)
}

// Saw counts a use of arguments that the caller has computed, as [Func.Call] counts one that it does not record.
func (f *Func[P, R]) Saw(p P, list []tensor.Tensor) {
	args, err := newArguments(f.Op, nodes(list, leaves[tensor.Tensor](f.Op, &p)))
	if err != nil {
		return
	}
	like := signer.Borrow(&p)
	defer like.Return()
	if x, _, graphs := f.find(like, args.nodes); x == nil && graphs == 0 {
		f.keep(f.newForm(like, args), nil)
	}
}

// newForm returns the form of arguments, without a recording.
func (f *Func[P, R]) newForm(like *pytree.Signature, args *arguments) *form[P, R] {
	return &form[P, R]{layouts: layoutsOf(args.nodes), device: tensor.Default(), like: like.Clone()}
}

// repeats traces F once more and reports whether its graph and results still equal a form's
// plan and trace t.
func (f *Func[P, R]) repeats(x *form[P, R], t *traced[R], p P, args *arguments, listed int) (bool, error) {
	u, err := f.trace(p, args, x.layouts, listed)
	if err != nil {
		return false, ignore(err)
	}
	return x.plan.Repeats(u.placeholders, u.numbers, u.roots, u.old) && t.equal(u), nil
}

// find returns the recording for arguments like p and the values of its numbers. Without
// one it returns a form of the arguments that has no recording, or nil, and how many graphs
// were recorded for the form.
func (f *Func[P, R]) find(like *pytree.Signature, args []*graph.Node) (found *form[P, R], values []ir.Number, graphs int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, x := range f.forms {
		if x.device != tensor.Default() || !slices.EqualFunc(x.layouts, args, capture.Layout.IsOf) || !x.like.Equal(like) || x.keeps && !x.like.KeepsEqual(like) {
			continue
		}
		if x.plan == nil {
			found = x
			continue
		}
		graphs++
		if x.values != nil {
			var ok bool
			var err error
			if values, ok, err = x.values(); err != nil || !ok {
				continue
			}
		}
		copy(f.forms[1:i+1], f.forms[:i])
		f.forms[0] = x
		return x, values, graphs
	}
	return found, nil, graphs
}

// keep adds a form in place of another, nil for none.
func (f *Func[P, R]) keep(x, old *form[P, R]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forms = slices.DeleteFunc(f.forms, func(y *form[P, R]) bool { return y == old })
	f.forms = slices.Insert(f.forms[:min(len(f.forms), maxForms-1)], 0, x)
}

// record records F for arguments of a form. It traces F twice: where the second graph
// differs, as it does if F draws from an RNG that is not in its argument, F is not recorded, nor
// if the argument may change unseen.
func (f *Func[P, R]) record(x *form[P, R], p P, args *arguments, listed int) error {
	x.tried = true
	if x.like.Opaque() {
		return nil
	}
	t, err := f.trace(p, args, x.layouts, listed)
	if err != nil || len(t.roots) == 0 {
		return ignore(err)
	}
	x.plan, err = tensor.Internal.Record(graph.Token{}, f.Op, t.placeholders, t.numbers, t.roots, t.old, t.groups)
	if err != nil {
		return err
	}
	same, err := f.repeats(x, t, p, args, listed)
	if !same {
		x.plan = nil
		return err
	}
	x.wide, x.values, x.tensors, x.planned, x.lists = t.wide, t.values, t.tensors, t.planned, t.lists
	storage.Outlive(nodes(slices.DeleteFunc(slices.Clone(t.tensors), func(t tensor.Tensor) bool { return !t.IsValid() }))...)
	for _, d := range t.draws {
		x.draws = append(x.draws, len(d.Words)/2)
	}
	x.result, x.rngs = f.template(t.result, t.rngs, t.draws)
	x.keeps = signer.Sign(&x.result).Keeps()
	if f.OnSecondUse {
		x.first = t
	}
	return nil
}

// ignore returns err unless it is ErrUnrecorded.
func ignore(err error) error {
	if errors.Is(err, ErrUnrecorded) {
		return nil
	}
	return err
}

// replay runs a recording.
func (f *Func[P, R]) replay(x *form[P, R], p P, args *arguments, j *storage.Journal, numbers []ir.Number) (r R, lists [][]tensor.Tensor, err error) {
	given := args.nodes
	for _, w := range x.wide {
		n, err := args.inFloat64(f.Op, w.of)
		switch {
		case err != nil:
			return r, nil, err
		case !w.layout.IsOf(n):
			return r, nil, ErrUnrecorded
		}
		given = append(given[:len(given):len(given)], n)
	}
	var rngs []tensor.RNG
	if len(x.draws) > 0 {
		rngs, numbers = f.draw(x, p, numbers)
	}
	values, err := tensor.Internal.Replay(graph.Token{}, f.Op, x.plan, j, given, numbers)
	if err != nil {
		return r, nil, err
	}
	results := slices.Clone(x.tensors)
	for i, planned := range x.planned {
		if planned {
			results[i] = tensor.Internal.Tensor(graph.Token{}, values[0])
			values = values[1:]
		}
	}
	lists = make([][]tensor.Tensor, 0, len(x.lists))
	for _, n := range x.lists {
		lists, results = append(lists, results[:n:n]), results[n:]
	}
	r = rebuild(f.Op, x.result, results)
	if len(x.rngs) == 0 {
		return r, lists, nil
	}
	next := leaves[tensor.RNG](f.Op, &r)
	for i, s := range x.rngs {
		if s.rng >= 0 {
			next[i] = rngs[s.rng]
			next[i].Count += s.keys
		}
	}
	return rebuild(f.Op, r, next), lists, nil
}

// draw returns the RNGs of an argument as they were, and numbers with the keys drawn from them.
func (f *Func[P, R]) draw(x *form[P, R], p P, numbers []ir.Number) (rngs []tensor.RNG, all []ir.Number) {
	all = slices.Clone(numbers)
	check(f.Op, pytree.Each(&p, func(rng *tensor.RNG) {
		k := len(rngs)
		rngs = append(rngs, *rng)
		all = append(all, tensor.Internal.Draw(graph.Token{}, rng, x.draws[k])...)
	}))
	return rngs, all
}

func node(t tensor.Tensor) *graph.Node { return tensor.Internal.Node(graph.Token{}, t) }

// leaves returns the leaves of a tree, including absent tensors.
func leaves[L any](op string, tree any) []L {
	values, err := pytree.Values[L](tree)
	check(op, err)
	return values
}

// layoutsOf returns the layouts of computed nodes, the zero one of nil.
func layoutsOf(args []*graph.Node) []capture.Layout {
	layouts := make([]capture.Layout, len(args))
	for i, n := range args {
		if n != nil {
			layouts[i] = capture.LayoutOf(n)
		}
	}
	return layouts
}

// nodes returns the nodes of tensors, nil for absent ones.
func nodes(lists ...[]tensor.Tensor) []*graph.Node {
	n := 0
	for _, ts := range lists {
		n += len(ts)
	}
	ns := make([]*graph.Node, 0, n)
	for _, ts := range lists {
		for _, t := range ts {
			ns = append(ns, node(t))
		}
	}
	return ns
}

// rebuild returns a copy of a tree with other leaves.
func rebuild[T, L any](op string, tree T, ls []L) T {
	out, err := pytree.Rebuild(tree, ls)
	check(op, err)
	return out
}

// check panics if a tree could not be walked.
func check(op string, err error) {
	if err != nil {
		tensor.Internal.Misuse(graph.Token{}, op, err.Error())
	}
}

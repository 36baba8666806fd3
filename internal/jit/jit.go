// Package jit records functions of trees of tensors and replays them: a function runs once
// for all arguments of one form, and its plan runs for each.
package jit

import (
	"reflect"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A Func is a function from trees to trees that is recorded. Any number of goroutines may
// call it.
type Func[P, R any] struct {
	// Op names the function in errors: "grad.Jit".
	Op string
	// F is the function. While it is recorded it gets a private copy of the argument,
	// whose tensors have no value. In other calls t is nil.
	F func(p P, t *Trace) R

	mu    sync.Mutex
	forms []*form[P, R] // the last used first
}

// A Trace is what a function says while it is recorded.
type Trace struct {
	// Numbers are Scalars whose values change from call to call.
	Numbers []*graph.Node
	// Previous makes the results a transaction, see exec.Step: it has for some of them the
	// tensors of the argument that they replace.
	Previous map[*graph.Node]*graph.Node
}

// maxForms is the number of forms for which a function is recorded: the last ones used.
const maxForms = 64

// A form is a function recorded for arguments of one form.
type form[P, R any] struct {
	like    P // without its tensors
	layouts []exec.Layout
	device  *tensor.Device // the default one

	plan    *exec.Recording // nil if the function is not recorded
	numbers []ir.Number     // of the trace
	draws   []int           // the number of keys drawn from each RNG of the argument
	result  R               // without its tensors
	tensors []tensor.Tensor // of the result, without those of the plan
	planned []bool          // which of them are the plan's
	rngs    []source        // of the RNGs of the result
}

// A source says that an RNG of a result goes on from one of the argument, after some keys.
type source struct {
	rng  int // -1 if it does not
	keys uint64
}

var leafTypes = []reflect.Type{reflect.TypeFor[tensor.Tensor](), reflect.TypeFor[tensor.RNG]()}

// Call returns F of p, computed. The journal notes a transaction. Numbers returns values
// for Trace.Numbers; without it they are those of the trace. A call of tensors that stand
// for others, or that are differentiated, is F itself.
func (f *Func[P, R]) Call(p P, j *exec.Journal, numbers func() []ir.Number) (r R, err error) {
	args := nodes(f.Op, p)
	for _, n := range args {
		if of, _ := n.StandIn(); of != "" || n.Traced() {
			return f.F(p, nil), nil
		}
	}
	if err := tensor.Internal.Evaluate(graph.Token{}, f.Op, args); err != nil {
		return r, err
	}
	layouts := make([]exec.Layout, len(args))
	for i, n := range args {
		layouts[i] = exec.LayoutOf(n)
	}
	x := f.find(p, layouts)
	if x == nil {
		if x, err = f.record(p, args, layouts); err != nil {
			return r, err
		}
	}
	if x.plan == nil {
		return f.F(p, nil), nil
	}
	values := x.numbers
	if numbers != nil {
		values = numbers()
	}
	return f.replay(x, p, args, j, values)
}

// find returns the recording for arguments like p, nil if there is none.
func (f *Func[P, R]) find(p P, layouts []exec.Layout) *form[P, R] {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, x := range f.forms {
		if x.device == tensor.Default() && slices.EqualFunc(x.layouts, layouts, exec.Layout.Equal) && pytree.EqualExcept(&x.like, &p, leafTypes...) {
			copy(f.forms[1:i+1], f.forms[:i])
			f.forms[0] = x
			return x
		}
	}
	return nil
}

// keep adds a recording.
func (f *Func[P, R]) keep(x *form[P, R]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forms = slices.Insert(f.forms[:min(len(f.forms), maxForms-1)], 0, x)
}

// record runs F for arguments of one form and records what it computes.
func (f *Func[P, R]) record(p P, args []*graph.Node, layouts []exec.Layout) (*form[P, R], error) {
	scope := &graph.Scope{StandIn: f.Op}
	defer scope.Close()
	stands, given := make([]*graph.Node, len(args)), make([]*graph.Node, len(args))
	for i, n := range args {
		stands[i] = layouts[i].Stand()
		stands[i].Device = n.Device
		given[i] = graph.Argument(stands[i], scope)
	}
	rngs := leaves[tensor.RNG](f.Op, &p)
	draws := make([]*graph.Draws, len(rngs))
	recorders := slices.Clone(rngs)
	for i := range recorders {
		if tensor.Internal.HasKey(graph.Token{}, &recorders[i]) {
			tensor.Internal.Misuse(graph.Token{}, f.Op, "the argument has an RNG made by KeyRNG: pass the key, and make the RNG inside")
		}
		draws[i] = &graph.Draws{Name: func(n *graph.Node) *graph.Node { return graph.Argument(n, scope) }}
		tensor.Internal.SetDraws(graph.Token{}, &recorders[i], draws[i])
	}
	trace := &Trace{}
	r := f.F(rebuild(f.Op, replaced(f.Op, p, given), recorders), trace)
	scope.Close()

	x := &form[P, R]{layouts: layouts, device: tensor.Default(), like: replaced(f.Op, p, make([]*graph.Node, len(args)))}
	x.tensors = leaves[tensor.Tensor](f.Op, &r)
	x.planned = make([]bool, len(x.tensors))
	var roots, old []*graph.Node
	for i, t := range x.tensors {
		n := node(t)
		switch {
		case n == nil || n.Value() != nil:
		case n.Traced(): // what F captures is being differentiated
			return x, nil
		default:
			roots = append(roots, n)
			x.tensors[i], x.planned[i] = tensor.Tensor{}, true
			if trace.Previous != nil {
				old = append(old, argument(trace.Previous[n]))
			}
		}
	}
	numbers := slices.Clone(trace.Numbers)
	for _, n := range numbers {
		x.numbers = append(x.numbers, n.Num)
	}
	for _, d := range draws {
		numbers = append(numbers, d.Words...)
		x.draws = append(x.draws, len(d.Words)/2)
	}
	if len(roots) > 0 {
		var err error
		if x.plan, err = tensor.Internal.Record(graph.Token{}, f.Op, stands, numbers, roots, old); err != nil {
			return nil, err
		}
	}
	x.result, x.rngs = f.template(r, rngs, draws)
	f.keep(x)
	return x, nil
}

// argument returns the stand that a tensor of the argument is a name of, nil for nil.
func argument(n *graph.Node) *graph.Node {
	if n == nil {
		return nil
	}
	return n.Operand(0)
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

// replay runs a recording.
func (f *Func[P, R]) replay(x *form[P, R], p P, args []*graph.Node, j *exec.Journal, numbers []ir.Number) (r R, err error) {
	var rngs []tensor.RNG
	if len(x.draws) > 0 {
		check(f.Op, pytree.Each(&p, func(rng *tensor.RNG) {
			k := len(rngs)
			rngs = append(rngs, *rng)
			numbers = append(numbers[:len(numbers):len(numbers)], tensor.Internal.Draw(graph.Token{}, rng, x.draws[k])...)
		}))
	}
	values, err := tensor.Internal.Replay(graph.Token{}, f.Op, x.plan, j, args, numbers)
	if err != nil {
		return r, err
	}
	results := slices.Clone(x.tensors)
	for i, planned := range x.planned {
		if planned {
			results[i] = tensor.Internal.Tensor(graph.Token{}, values[0])
			values = values[1:]
		}
	}
	r = rebuild(f.Op, x.result, results)
	if len(x.rngs) == 0 {
		return r, nil
	}
	next := leaves[tensor.RNG](f.Op, &r)
	for i, s := range x.rngs {
		if s.rng >= 0 {
			next[i] = rngs[s.rng]
			next[i].Count += s.keys
		}
	}
	return rebuild(f.Op, r, next), nil
}

func node(t tensor.Tensor) *graph.Node { return tensor.Internal.Node(graph.Token{}, t) }

// leaves returns the leaves of a tree, of which absent tensors are some.
func leaves[L any](op string, tree any) []L {
	values, err := pytree.Values[L](tree)
	check(op, err)
	return values
}

// nodes returns the nodes of a tree's tensors, without absent ones.
func nodes(op string, tree any) []*graph.Node {
	var ns []*graph.Node
	for _, t := range leaves[tensor.Tensor](op, tree) {
		if n := node(t); n != nil {
			ns = append(ns, n)
		}
	}
	return ns
}

// replaced returns a copy of a tree with nodes in place of the tensors that nodes finds.
func replaced[T any](op string, tree T, ns []*graph.Node) T {
	ts := leaves[tensor.Tensor](op, tree)
	for i, t := range ts {
		if node(t) != nil {
			ts[i] = tensor.Internal.Tensor(graph.Token{}, ns[0])
			ns = ns[1:]
		}
	}
	return rebuild(op, tree, ts)
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

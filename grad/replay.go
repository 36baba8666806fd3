package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A replay makes the nodes of a tape once more, from other arguments.
type replay struct {
	tape         *tape
	level        int32                       // is added to their RematLevel
	replacements []*graph.Node               // of the tape's calls
	captured     map[*graph.Node]*graph.Node // the replacements of other nodes
	customs      map[*graph.CustomCall]*graph.CustomCall
	coOutputs    map[*graph.CoOutputs]*graph.CoOutputs

	// operand returns the replacement of a node that is an operand.
	operand func(*graph.Node) *graph.Node
	// remake returns c on other operands.
	remake func(c *call, src []*graph.Node) *graph.Node
	// differentiate sets the derivatives of k from the derivatives of old, the call that k replaces.
	differentiate func(k, old *graph.CustomCall)
}

func newReplay(t *tape) *replay {
	return &replay{
		tape:         t,
		replacements: make([]*graph.Node, len(t.calls)),
		customs:      map[*graph.CustomCall]*graph.CustomCall{},
		coOutputs:    map[*graph.CoOutputs]*graph.CoOutputs{},
	}
}

// run makes the nodes.
func (r *replay) run(args []*graph.Node) {
	copy(r.replacements, args)
	for i := r.tape.args; i < len(r.replacements); i++ {
		r.replacements[i] = r.make(&r.tape.calls[i])
	}
	for old, c := range r.coOutputs {
		c.Nodes = r.all(old.Nodes)
	}
}

func (r *replay) make(c *call) *graph.Node {
	switch c.Op {
	case ir.Argument: // of a transformation that has ended
		return r.operand(c.src[0])
	case ir.CallResult:
		old := c.custom
		k := r.custom(old.CustomCall)
		n := k.Result(old.Index, r.operand(c.src[0]))
		n.RematLevel = c.RematLevel + r.level
		return n
	}
	return r.remake(c, mapped(c.src, r.operand))
}

// find returns the replacement of n: itself if it is neither of the tape nor captured. It
// may be an example of a batch around this replay, which becomes all of them there.
func (r *replay) find(n *graph.Node) *graph.Node {
	if i, ok := r.tape.index.Get(n); ok {
		return r.replacements[i]
	}
	if m := r.captured[n]; m != nil {
		return m
	}
	return n
}

func (r *replay) all(ns []*graph.Node) []*graph.Node { return mapped(ns, r.find) }

// custom returns the replacement of a custom call.
func (r *replay) custom(old *graph.CustomCall) *graph.CustomCall {
	k := r.customs[old]
	if k == nil {
		k = &graph.CustomCall{Args: r.all(old.Args), Outs: make([]*graph.Node, len(old.Outs)), Function: old.Function}
		r.differentiate(k, old)
		r.customs[old] = k
	}
	return k
}

// coOutputsOf returns the replacement of a node's CoOutputs, which run fills in; nil stays
// nil.
func (r *replay) coOutputsOf(old *graph.CoOutputs) *graph.CoOutputs {
	if old == nil {
		return nil
	}
	if r.coOutputs[old] == nil {
		r.coOutputs[old] = new(graph.CoOutputs)
	}
	return r.coOutputs[old]
}

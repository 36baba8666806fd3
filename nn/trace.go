package nn

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A trace has the nodes that a function makes from a model, and the model's part that makes
// each.
//
// Operations on a parameter belong to the parameter's part. So do others of the same call of a
// layer's method that only this part uses, as the mean of a norm, and all between input and
// output of a layer in a Sequential. Each other operation belongs to the smallest part in
// which its operands and uses are.
type trace struct {
	parts []part
	nodes []*graph.Node // that depend on parameters or inputs, operands before their uses
	info  map[*graph.Node]*traced
	names map[uintptr]string // of functions
}

// A traced is a node's kind and owner.
type traced struct {
	kind  nodeKind
	owner int // a part; -1 before it is known
	base  int // the smallest part that is known to hold it
	uses  []*graph.Node
}

type nodeKind uint8

const (
	constant nodeKind = iota
	weight            // computed of parameters and constants
	input             // made before the function was called
	value
)

// newTrace calls f on a model whose tensors are arguments of no value.
func newTrace[M, R any](model M, f func(M) R) (*trace, error) {
	parts, err := partsOf(model)
	if err != nil {
		return nil, err
	}
	leaves, err := pytree.Flatten[tensor.Tensor](model)
	if err != nil {
		return nil, err
	}
	scope := &graph.Scope{}
	defer scope.Close()
	t := &trace{parts: parts, info: map[*graph.Node]*traced{}, names: map[uintptr]string{}}
	arguments := make([]tensor.Tensor, len(leaves))
	for i, l := range leaves {
		if l.Value.IsValid() {
			a := graph.Argument(nodeOf(l.Value), scope)
			arguments[i] = tensorOf(a)
			t.info[a] = &traced{kind: weight, owner: partOf(parts, l.Name)}
		}
	}
	copied, err := pytree.Rebuild(model, arguments)
	if err != nil {
		return nil, err
	}
	var runs []probed
	if err := insertProbes(&copied, &runs); err != nil {
		return nil, err
	}
	stop := graph.RecordStacks()
	results, err := pytree.Flatten[tensor.Tensor](f(copied))
	stop()
	if err != nil {
		return nil, err
	}
	var roots []*graph.Node
	for _, l := range results {
		if l.Value.IsValid() {
			roots = append(roots, nodeOf(l.Value))
		}
	}
	t.collect(roots, scope)
	if !slices.ContainsFunc(roots, func(n *graph.Node) bool { return t.info[n].kind == value }) {
		return nil, errors.New("no result depends on a tensor made before the call: make the input before it, in the type of the model")
	}
	t.assignRuns(runs)
	t.extend()
	t.assignRest()
	return t, nil
}

// collect finds the nodes and their kinds.
func (t *trace) collect(roots []*graph.Node, scope *graph.Scope) {
	graph.Walk(roots, func(n *graph.Node) (graph.Operands, bool) {
		if t.info[n] != nil {
			return graph.Operands{}, false
		}
		if n.In(scope) || n.Stack() != nil {
			return n.Src(), true
		}
		t.info[n] = &traced{kind: input, owner: -1}
		t.nodes = append(t.nodes, n)
		return graph.Operands{}, false
	}, func(n *graph.Node, src graph.Operands) {
		if t.info[n] != nil {
			return
		}
		x := &traced{owner: -1}
		owners := []int{}
		for _, s := range src.All() {
			o := t.info[s]
			o.uses = append(o.uses, n)
			x.kind = max(x.kind, min(o.kind, value))
			if o.kind == weight {
				owners = append(owners, o.owner)
			}
		}
		if x.kind == input {
			x.kind = value
		}
		if len(owners) > 0 {
			x.owner = t.common(owners)
		}
		t.info[n] = x
		t.nodes = append(t.nodes, n)
	})
	t.nodes = slices.DeleteFunc(t.nodes, func(n *graph.Node) bool { return t.info[n].kind == constant })
}

// common returns the smallest part that holds all of some parts; negative ones do not count.
func (t *trace) common(of []int) int {
	c := -1
	for _, i := range of {
		switch {
		case i < 0:
		case c < 0:
			c = i
		default:
			for !t.holds(c, i) {
				c = t.parts[c].parent
			}
		}
	}
	return c
}

// holds reports whether part i is in part c, or is it.
func (t *trace) holds(c, i int) bool {
	for i >= 0 && i != c {
		i = t.parts[i].parent
	}
	return i == c
}

// assignRuns gives the operations of a Sequential's layers to them. Inner ones ran first.
func (t *trace) assignRuns(runs []probed) {
	for _, r := range runs {
		p := partOf(t.parts, r.name)
		graph.Walk([]*graph.Node{r.y}, func(n *graph.Node) (graph.Operands, bool) {
			x := t.info[n]
			return n.Src(), n != r.x && x != nil && x.kind == value && x.base == 0
		}, func(n *graph.Node, _ graph.Operands) {
			x := t.info[n]
			if x.base = p; x.owner < 0 && t.parts[p].leaf {
				x.owner = p
			}
		})
	}
}

// A call is the place of the call of an operation: in a method of a layer of this package, or in the
// program.
type call struct {
	at     uintptr
	layer  uintptr // where the layer's method was called; 0 in the program
	callee string  // the function that was called, such as "tensor.Tensor.Exp"; "" if unknown
}

func (t *trace) callOf(n *graph.Node) call {
	stack := n.Stack()
	var c call
	for i, pc := range stack {
		c.at = pc
		if i+1 < len(stack) && isMethod(t.function(pc)) {
			c.layer = stack[i+1]
			break
		}
		if name := t.function(pc); i+1 < len(stack) && isExported(name) {
			c.callee = name
		}
	}
	return c
}

// isExported reports whether a function or method can be called from other packages.
func isExported(function string) bool {
	for part := range strings.SplitSeq(function[strings.Index(function, ".")+1:], ".") {
		if r, _ := utf8.DecodeRuneInString(strings.Trim(part, "(*)")); !unicode.IsUpper(r) {
			return false
		}
	}
	return true
}

// joins reports whether two operations were called in one place, or by one call of a layer's
// method.
func (c call) joins(d call) bool {
	return c.at != 0 && c.at == d.at || c.layer != 0 && c.layer == d.layer
}

// function returns the name of a call's function, such as "tensor.Tensor.Exp".
func (t *trace) function(pc uintptr) string {
	name, ok := t.names[pc]
	if !ok {
		name = graph.FunctionAt(pc)
		name, _, _ = strings.Cut(name[strings.LastIndex(name, "/")+1:], "[") // without type arguments
		t.names[pc] = name
	}
	return name
}

// isMethod reports whether a function is a method of this package, as "nn.Linear.Apply", and not
// a function in one, as "nn.Linear.Apply.func1", or in a function, as "nn.normalize.func1".
func isMethod(function string) bool {
	name, ok := strings.CutPrefix(function, "nn.")
	_, method, found := strings.Cut(name, ".")
	return ok && found && !strings.Contains(method, ".") && !strings.HasPrefix(method, "func")
}

// extend gives an operation's owner also the operations of the same call of a layer's method
// that only read it, or that only it reads.
func (t *trace) extend() {
	for _, n := range t.nodes { // the sum of products, and the view that drops its axes
		x := t.info[n]
		if x.kind != value || x.owner >= 0 || n.Src().Len() != 1 {
			continue
		}
		o := n.Operand(0)
		from, follows := t.info[o], n.Op.Class() == ir.Reduction || n.Op == ir.Reshape && o.Op.Class() != ir.Elementwise
		if follows && from.kind == value && from.base == x.base && t.callOf(n).joins(t.callOf(o)) {
			x.owner = from.owner
		}
	}
	for _, n := range t.nodes { // operations of a layer's own method on the layer's results
		if x := t.info[n]; x.kind == value && x.owner < 0 {
			x.owner = t.ownerOfOperands(n)
		}
	}
	for _, n := range slices.Backward(t.nodes) {
		x := t.info[n]
		if x.kind != value || x.owner >= 0 || len(x.uses) == 0 {
			continue
		}
		owner := t.info[x.uses[0]].owner
		if owner < 0 || !slices.ContainsFunc(x.uses, func(u *graph.Node) bool { return t.callOf(n).joins(t.callOf(u)) }) {
			continue
		}
		if !slices.ContainsFunc(x.uses, func(u *graph.Node) bool { return t.info[u].owner != owner || t.info[u].base != x.base }) {
			x.owner = owner
		}
	}
}

// ownerOfOperands returns the layer that computed all operands of n that belong to a layer, if n
// was made in the same call of the layer's method; -1 otherwise.
func (t *trace) ownerOfOperands(n *graph.Node) int {
	owner := -1
	var of *graph.Node
	for _, s := range n.Src().All() {
		switch o := t.info[s]; {
		case o.kind != value || o.owner < 0 || o.owner == owner:
		case owner < 0 && t.parts[o.owner].leaf && o.base == t.info[n].base:
			owner, of = o.owner, s
		default:
			return -1
		}
	}
	if owner < 0 || !t.inMethod(n.Stack(), t.parts[owner].typ) || t.recursion(n, owner) < t.recursion(of, owner) {
		return -1
	}
	if t.isViewForNext(n, owner) {
		return -1
	}
	return owner
}

// isViewForNext reports whether n is a view that only other layers of a layer's type compute
// with: the method that made it may be theirs.
func (t *trace) isViewForNext(n *graph.Node, layer int) bool {
	uses := t.info[n].uses
	return n.Op.Class() == ir.Movement && len(uses) > 0 && !slices.ContainsFunc(uses, func(u *graph.Node) bool {
		o := t.info[u].owner
		return o == layer || o >= 0 && t.parts[o].typ != t.parts[layer].typ || o < 0 && !t.isViewForNext(u, layer)
	})
}

// inMethod reports whether a stack has a call of a method of a type.
func (t *trace) inMethod(stack []uintptr, typ string) bool {
	return slices.ContainsFunc(stack, func(pc uintptr) bool { return strings.HasPrefix(t.function(pc), typ+".") })
}

// recursion returns how often the outermost method of a layer's type is in the stack of n: once
// more in the layer than in another of its type that called it.
func (t *trace) recursion(n *graph.Node, layer int) int {
	method, calls := "", 0
	for _, pc := range slices.Backward(n.FullStack()) {
		name := t.function(pc)
		if method == "" && strings.HasPrefix(name, t.parts[layer].typ+".") {
			method = name
		}
		if name == method && method != "" {
			calls++
		}
	}
	return calls
}

// assignRest gives each remaining operation to the smallest part that holds its operands
// and uses.
func (t *trace) assignRest() {
	above, below := map[*graph.Node]int{}, map[*graph.Node]int{}
	for _, n := range t.nodes {
		above[n] = t.info[n].owner
		if above[n] < 0 && t.info[n].kind == value {
			var owners []int
			for _, s := range n.Src().All() {
				if o := t.info[s]; o.kind == value {
					owners = append(owners, above[s])
				}
			}
			above[n] = t.common(owners)
		}
	}
	for _, n := range slices.Backward(t.nodes) {
		x := t.info[n]
		below[n] = x.owner
		if x.owner < 0 {
			owners := []int{}
			for _, u := range x.uses {
				owners = append(owners, below[u])
			}
			if len(owners) == 0 {
				owners = []int{0} // a result
			}
			below[n] = t.common(owners)
		}
	}
	for _, n := range t.nodes {
		x := t.info[n]
		if x.kind != value || x.owner >= 0 {
			continue
		}
		if x.owner = t.common([]int{above[n], below[n]}); x.owner < 0 || above[n] < 0 {
			x.owner = 0
		}
		for t.parts[x.owner].leaf && x.owner > 0 { // it is between two calls of a layer
			x.owner = t.parts[x.owner].parent
		}
		if t.holds(x.owner, x.base) {
			x.owner = x.base
		}
	}
}

// flops counts 1 for each element of an elementwise operation and for each element that is
// reduced, as tensor.Explain does, so 2 for a product that is added. A recurrence counts its
// body for each step.
func flops(n *graph.Node) int {
	switch {
	case n.Op == ir.Recur:
		r, sum := graph.RecurrenceOf(n), 0
		counted := map[*graph.Node]bool{}
		graph.Walk(r.Results(), func(n *graph.Node) (graph.Operands, bool) {
			return n.Src(), !counted[n]
		}, func(n *graph.Node, _ graph.Operands) {
			if !counted[n] {
				counted[n] = true
				sum += flops(n)
			}
		})
		return r.Steps * sum
	case n.Op == ir.Cast || n.Op == ir.Bitcast:
		return 0
	case n.Op.Class() == ir.Elementwise:
		return n.Len()
	case n.Op.Class() == ir.Reduction:
		return n.Operand(0).Len()
	}
	return 0
}

package export

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Versions of the standard and of its files.
const (
	opset     = 21
	irVersion = 10
)

// A Function is a function to be exported, traced on placeholders.
type Function struct {
	Name            string
	Inputs, Results []Named
	Params          map[*graph.Node]string // names of computed nodes that the graph may use
}

// A Named is a node with the name of an input or a result.
type Named struct {
	Name string
	Node *graph.Node
}

// A refusal is the reason why a node cannot be exported.
type refusal struct{ text string }

// refuse stops the export at a node, with the line of the call that made it.
func refuse(n *graph.Node, format string, args ...any) {
	text := fmt.Sprintf("%v: ", n.Op) + fmt.Sprintf(format, args...)
	if pos := n.CallSite().Pos(); pos != "" {
		text = pos + ": " + text
	}
	panic(refusal{text})
}

// Model returns the function as a model, for proto.Encode.
func (f *Function) Model() (m *proto.Model, err error) {
	defer func() {
		if r := recover(); r != nil {
			x, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%s", x.text)
		}
	}()
	w := newWriter(nil)
	w.params, w.table = f.Params, &writers
	var inputs, results []*value
	for _, in := range f.Inputs {
		v := &value{name: in.Name, elem: op.ElemOf(in.Node.DType), shape: in.Node.Shape}
		inputs = append(inputs, v)
		w.done[in.Node] = whole(w.cast(w.add(v), elemOf(in.Node.DType)))
		w.source[in.Node] = given
	}
	roots := nodesOf(f.Results)
	w.walk(roots)
	for i, n := range roots {
		v := w.cast(w.full(w.done[n], n.Shape), op.ElemOf(n.DType))
		v = w.owned(v)
		v.name = f.Results[i].Name
		results = append(results, v)
	}
	if err := tensor.Eval(w.captured); err != nil {
		return nil, err
	}
	g := w.graph(f.Name, inputs, results, namesOf(f))
	return &proto.Model{IRVersion: irVersion, Producer: "Tensorken", Opsets: []proto.Opset{{Version: opset}}, Graph: g}, nil
}

func nodesOf(list []Named) []*graph.Node {
	var nodes []*graph.Node
	for _, x := range list {
		nodes = append(nodes, x.Node)
	}
	return nodes
}

// A value is a tensor of the model.
type value struct {
	id       int
	name     string // "" until the end, unless it is given
	elem     op.Elem
	shape    []int
	from     *call    // nil for an input or an initializer
	elements op.Value // of an initializer
	home     *writer
	needed   bool
}

// A call is a node of the model.
type call struct {
	op    string
	in    []*value
	attrs []*proto.Attr
	out   []*value // nil for a result that is not used
	body  *body

	refused *refusal // why there is no such node
}

// A body is the graph of a Scan.
type body struct {
	*writer
	inputs, results []*value
}

// A writer has the nodes of a graph of the model, in order.
type writer struct {
	outer    *writer // of a body, the graph around it
	table    *table
	params   map[*graph.Node]string
	done     map[*graph.Node]view
	picks    map[*graph.Node][]*value // results of recurrences
	source   map[*graph.Node]source
	known    map[string]*value // values that have been made, by operator, operands and attributes
	calls    []*call
	stored   []*value // initializers, all of them in the outermost graph
	captured []tensor.Tensor
	ids      int
}

func newWriter(outer *writer) *writer {
	w := &writer{
		outer: outer, done: map[*graph.Node]view{}, picks: map[*graph.Node][]*value{},
		source: map[*graph.Node]source{}, known: map[string]*value{},
	}
	if outer != nil {
		w.table = outer.table
	}
	return w
}

// root is the writer of the outermost graph.
func (w *writer) root() *writer {
	for w.outer != nil {
		w = w.outer
	}
	return w
}

// A source is a kind of values on which a node depends: the greatest of its operands'.
type source uint8

const (
	numbers  source = iota // on constants of the program
	captures               // on elements that the function captures, or on random bits
	given                  // on inputs or named parameters
)

// walk writes the nodes that roots depend on.
func (w *writer) walk(roots []*graph.Node) {
	w.findSources(roots)
	graph.Walk(roots, func(n *graph.Node) (graph.Operands, bool) {
		switch {
		case w.isDone(n):
			return graph.Operands{}, false
		case w.isLeaf(n):
			w.done[n] = w.leaf(n)
			return graph.Operands{}, false
		}
		return n.Src(), true
	}, func(n *graph.Node, _ graph.Operands) {
		if n.Op == ir.Recur {
			w.picks[n] = w.recur(n)
			return
		}
		w.done[n] = w.write(n)
	})
}

// isDone reports whether n is written, in this graph or in one around it.
func (w *writer) isDone(n *graph.Node) bool {
	for o := w; o != nil; o = o.outer {
		if x, ok := o.done[n]; ok {
			w.done[n] = x
			return true
		}
		if x, ok := o.picks[n]; ok {
			w.picks[n] = x
			return true
		}
	}
	return false
}

func (w *writer) findSources(roots []*graph.Node) {
	graph.Walk(roots, func(n *graph.Node) (graph.Operands, bool) {
		if _, seen := w.source[n]; seen {
			return graph.Operands{}, false
		}
		_, named := w.root().params[n]
		switch {
		case named:
			w.source[n] = given
		case n.Op == ir.Buffer || n.Value() != nil:
			w.source[n] = captures
		default:
			return n.Src(), true
		}
		return graph.Operands{}, false
	}, func(n *graph.Node, src graph.Operands) {
		s := numbers
		if n.Op == ir.Threefry || n.Op == ir.HostCall {
			s = captures
		}
		for _, x := range src.All() {
			s = max(s, w.source[x])
		}
		w.source[n] = s
	})
}

// isLeaf reports whether the elements of n are part of the model. A view of stored elements is written as
// a movement of them, so that the model is no larger than they are.
func (w *writer) isLeaf(n *graph.Node) bool {
	_, named := w.root().params[n]
	moves := n.Op.Class() == ir.Movement || n.Op.Class() == ir.Alias || n.Op == ir.Cast || n.Op == ir.Recur
	return named || n.Op == ir.Buffer || n.Value() != nil || w.source[n] == captures && !moves
}

// leaf returns the elements of n as an initializer.
func (w *writer) leaf(n *graph.Node) view {
	r := w.root()
	if x, ok := r.done[n]; ok {
		return x
	}
	t := tensor.Internal.Tensor(graph.Token{}, n)
	r.captured = append(r.captured, t)
	v := &value{name: r.params[n], elem: op.ElemOf(n.DType), shape: n.Shape, elements: op.Of(t)}
	r.done[n] = whole(r.cast(r.add(v), elemOf(n.DType)))
	return r.done[n]
}

// write returns the value of a node whose operands have theirs. One that cannot be written stops the export
// if results need it in the end.
func (w *writer) write(n *graph.Node) (x view) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			c := &call{refused: &r}
			w.calls = append(w.calls, c)
			c.out = []*value{w.add(&value{elem: elemOf(n.DType), shape: n.Shape, from: c})}
			x = whole(c.out[0])
		default:
			panic(r)
		}
	}()
	if n.Op.Class() == ir.Alias {
		return w.done[n.Operand(0)]
	}
	if n.Len() == 0 {
		return whole(w.constant(elemOf(n.DType), n.Shape, nil))
	}
	f := w.table[n.Op]
	switch {
	case formulas[n.Op] != nil:
		return elementwise(w, n)
	case f == nil:
		refuse(n, "%s", refused[n.Op])
	}
	return f(w, n)
}

// add adds an input or an initializer.
func (w *writer) add(v *value) *value {
	r := w.root()
	r.ids++
	v.id, v.home = r.ids, w
	if v.elements.Kind == op.TensorKind {
		v.home = r
		r.stored = append(r.stored, v)
	}
	return v
}

// call adds a node with one result, or finds the same one.
func (w *writer) call(name string, elem op.Elem, shape []int, in []*value, attrs ...*proto.Attr) *value {
	return w.callResult(name, 0, elem, shape, in, attrs...)
}

// callResult is call of a node whose result with an index is used.
func (w *writer) callResult(name string, index int, elem op.Elem, shape []int, in []*value, attrs ...*proto.Attr) *value {
	key := fmt.Appendf(nil, "%s %d %d", name, index, elem)
	for _, x := range in {
		key = fmt.Appendf(key, " %d", x.id)
	}
	for _, a := range attrs {
		key = fmt.Appendf(key, " %s=%d %g %q %d", a.Name, a.I, a.F, a.S, a.Ints)
	}
	if v := w.known[string(key)]; v != nil {
		return v
	}
	c := &call{op: name, in: in, attrs: attrs, out: make([]*value, index+1)}
	w.calls = append(w.calls, c)
	c.out[index] = w.add(&value{elem: elem, shape: shape, from: c})
	w.known[string(key)] = c.out[index]
	return c.out[index]
}

// owned returns v as a value that can be a result of this graph, with a name of its own.
func (w *writer) owned(v *value) *value {
	if v.from != nil && v.home == w && v.name == "" {
		v.name = "result" // until it gets its name
		return v
	}
	c := &call{op: "Identity", in: []*value{v}, out: make([]*value, 1)}
	w.calls = append(w.calls, c)
	c.out[0] = w.add(&value{elem: v.elem, shape: v.shape, from: c, name: "result"})
	return c.out[0]
}

// constant adds an initializer with elements that the exporter knows.
func (w *writer) constant(e op.Elem, shape []int, elements []byte) *value {
	r := w.root()
	key := fmt.Sprintf("constant %d %d %x", e, shape, elements)
	v := r.known[key]
	if v == nil {
		v = r.add(&value{elem: e, shape: shape, elements: op.Of(tensor.FromBytes(e.DType(), shape, elements))})
		r.known[key] = v
	}
	return v
}

// ints is a constant list of int64.
func (w *writer) ints(list ...int) *value {
	var b []byte
	for _, i := range list {
		b = ir.Int(ir.Int64, int64(i)).Append(b, ir.Int64)
	}
	return w.constant(op.Int64, []int{len(list)}, b)
}

// number is a constant without axes.
func (w *writer) number(e op.Elem, x float64) *value {
	return w.constant(e, nil, ir.Float(e.DType(), x).Append(nil, e.DType()))
}

func intAttr(name string, v int) *proto.Attr {
	return &proto.Attr{Name: name, Type: proto.AttrInt, I: int64(v)}
}

func intsAttr(name string, v []int) *proto.Attr {
	a := &proto.Attr{Name: name, Type: proto.AttrInts}
	for _, i := range v {
		a.Ints = append(a.Ints, int64(i))
	}
	return a
}

func textAttr(name, v string) *proto.Attr {
	return &proto.Attr{Name: name, Type: proto.AttrString, S: v}
}

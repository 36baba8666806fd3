package onnx

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// An execution is one interpretation of a model.
type execution struct {
	m         *Model
	ctx       context.Context
	at        int  // the node of the model's graph
	recording bool // inputs have no elements
	rng       *tensor.RNG
	lazy      bool                              // without stages
	observe   func(n *node, in, out []op.Value) // of nodes of the model's graph; may be nil
}

// A frame has the values of a run of a graph or a function.
type frame struct {
	*execution
	outer  *frame // of the graph around; nil in a function
	caller *frame // of the node that has the graph or calls the function
	depth  int    // callers
	of     *program
	vars   map[string]op.Value
	attrs  map[string]*proto.Attr // of the function
}

func (f *frame) lookup(name string) op.Value {
	if name == "" {
		return op.Value{}
	}
	for ; f != nil; f = f.outer {
		if v, ok := f.vars[name]; ok {
			return v
		}
		if v, ok := f.of.consts[name]; ok {
			return v
		}
	}
	return op.Value{}
}

// run interprets the program, whose inputs are set.
func (f *frame) run() []op.Value {
	f.goOn()
	for i, n := range f.of.nodes {
		f.goOn()
		if f.caller == nil {
			f.at = i
		}
		f.step(n)
	}
	return f.results()
}

// goOn ends the run if its context is done. The body of a loop may have no nodes.
func (f *frame) goOn() {
	if err := f.ctx.Err(); err != nil {
		panic(stopped{err})
	}
}

func (f *frame) results() []op.Value {
	out := make([]op.Value, len(f.of.outputs))
	for i, name := range f.of.outputs {
		out[i] = f.lookup(name)
	}
	return out
}

// step interprets a node and drops the values that it was the last to read.
func (f *frame) step(n *node) {
	f.m.steps.Add(1)
	in := make([]op.Value, len(n.Inputs))
	for i, name := range n.Inputs {
		in[i] = f.lookup(name)
	}
	defer func() {
		if r := recover(); r != nil {
			if e := n.failed(r, in); e != nil {
				r = e
			}
			panic(r)
		}
	}()
	var out []op.Value
	switch {
	case n.function != nil:
		out = f.call(n, in)
	case n.found:
		out = n.row.F(&op.Call{Op: n.Op, Domain: n.domain, Opset: n.opset, In: in, Outputs: n.Outputs, Attrs: n.Attrs, Frame: f.attrs, Runner: f})
		if !n.draws && !n.captures {
			fold(in, out)
		}
	default:
		panic(n.fault("there is no such operator"))
	}
	if f.observe != nil && f.caller == nil {
		f.observe(n, in, out)
	}
	origins := f.origins(n)
	for i, name := range n.Outputs {
		switch {
		case name == "":
		case i < len(out):
			f.vars[name] = op.From(out[i], origins)
		default:
			panic(n.fault("it has %d results, not %d", len(out), len(n.Outputs)))
		}
	}
	for _, name := range n.drops {
		delete(f.vars, name)
	}
}

// origins returns the origins of all values that a node reads.
func (f *frame) origins(n *node) (all uint64) {
	if n.draws {
		return op.Elsewhere
	}
	for _, name := range n.reads {
		all |= f.lookup(name).Origins()
	}
	return all
}

// maxFrames is the greatest depth of runs in runs. A graph that refers to an attribute by name may run itself.
const maxFrames = 1 << 10

// below returns the depth of a run that f calls.
func (f *frame) below() int {
	if f.depth == maxFrames {
		panic(&op.Failure{Reason: fmt.Sprintf("graphs and functions run each other more than %d deep", maxFrames)})
	}
	return f.depth + 1
}

// call interprets the body of a function.
func (f *frame) call(n *node, in []op.Value) []op.Value {
	fn := n.function
	inner := &frame{execution: f.execution, caller: f, depth: f.below(), of: fn.program, vars: make(map[string]op.Value, len(fn.Nodes)), attrs: map[string]*proto.Attr{}}
	for _, a := range fn.Defaults {
		inner.attrs[a.Name] = a
	}
	for _, a := range n.Attrs {
		name := a.Name // of the function called, whatever its caller's attribute is named
		if a.Ref != "" {
			if a = f.attrs[a.Ref]; a == nil {
				continue
			}
		}
		inner.attrs[name] = a
	}
	for i, name := range fn.Inputs {
		if i < len(in) {
			inner.vars[name] = in[i]
		}
	}
	return inner.run()
}

// Body runs a graph of an attribute.
func (f *frame) Body(g *proto.Graph, in []op.Value) []op.Value {
	p := f.m.bodies[g]
	if len(in) > len(p.inputs) {
		panic(&op.Failure{Reason: "its graph has fewer inputs than it is given"})
	}
	inner := &frame{execution: f.execution, outer: f, caller: f, depth: f.below(), of: p, vars: make(map[string]op.Value, len(p.nodes)+len(in)), attrs: f.attrs}
	for i, v := range in {
		inner.vars[p.inputs[i]] = v
	}
	return inner.run()
}

// Again runs the nodes between some names, which have other values, and a name that they lead to.
func (f *frame) Again(name string, with map[string]op.Value) op.Value {
	if _, ok := f.vars[name]; !ok {
		panic(&op.Failure{Reason: fmt.Sprintf("no node before it in its graph computes %q", name)})
	}
	p := &program{outputs: []string{name}}
	changed := map[string]bool{}
	for given := range with {
		changed[given] = true
	}
	for _, n := range f.of.nodes {
		isChanged := func(name string) bool { return changed[name] }
		if !slices.ContainsFunc(n.reads, isChanged) || slices.ContainsFunc(n.Outputs, isChanged) {
			continue
		}
		if n.draws {
			panic(&op.Failure{Reason: fmt.Sprintf("node %s between draws random numbers, which would be other ones", nodeName(n.Node))})
		}
		p.nodes = append(p.nodes, n)
		for _, out := range n.Outputs {
			changed[out] = true
		}
		if changed[name] {
			break // nodes after it may ask again
		}
	}
	inner := &frame{execution: f.execution, outer: f, caller: f, depth: f.below(), of: p, vars: maps.Clone(with), attrs: f.attrs}
	return inner.run()[0]
}

// Bytes returns the elements of a tensor. If they are not known yet, all values that are pending are
// computed with it, in one plan, so that none is computed twice. See [Model.asked].
func (f *frame) Bytes(v op.Value) []byte {
	if !v.IsKnown() {
		f.m.asked(v, f.at)
		if f.recording {
			panic(stopped{errAsked})
		}
		if tensor.Internal.Node(graph.Token{}, v.Tensor).Value() == nil {
			f.evaluate(v.Tensor)
		}
	}
	b, err := v.Tensor.Bytes()
	if err != nil {
		panic(stopped{err})
	}
	return b
}

// evaluate computes a tensor, and all others of this frame and those around it that may be read later.
func (f *frame) evaluate(t tensor.Tensor) {
	pending := []tensor.Tensor{t}
	for ; f != nil; f = f.caller {
		for _, v := range f.vars {
			if !v.IsKnown() {
				pending = appendTensors(pending, v)
			}
		}
	}
	if err := tensor.Eval(pending); err != nil {
		panic(stopped{err})
	}
}

// RNG returns the execution's source of random bits.
func (f *frame) RNG() *tensor.RNG { return f.rng }

// maxFolded is the number of elements up to which known values are computed on the host, one by one.
const maxFolded = 1024

// fold marks results of known inputs as known, and computes small ones on the host.
func fold(in, out []op.Value) {
	known := !slices.ContainsFunc(in, func(v op.Value) bool { return !v.IsKnown() })
	small := known && !slices.ContainsFunc(in, func(v op.Value) bool {
		return v.Kind == op.SequenceKind || v.Kind == op.TensorKind && v.Tensor.Len() > maxFolded
	})
	for i, v := range out {
		if known {
			out[i] = op.Known(v)
		}
		if small && v.Kind == op.TensorKind && v.Tensor.Len() <= maxFolded {
			out[i].Tensor = onHost(v.Tensor)
		}
	}
}

// onHost returns t computed on the host, node by node, without a plan.
func onHost(t tensor.Tensor) tensor.Tensor {
	n := tensor.Internal.Node(graph.Token{}, t)
	if n.Value() != nil {
		return t
	}
	arrays, err := interp.Eval([]*graph.Node{n}, func(n *graph.Node) (*interp.Array, error) {
		b, err := tensor.Internal.Tensor(graph.Token{}, n).Bytes()
		if err != nil {
			return nil, err
		}
		a := &interp.Array{DType: n.DType, Shape: n.Shape, Elems: make([]ir.Number, n.Len())}
		for i := range a.Elems {
			a.Elems[i] = ir.Decode(n.DType, b[i*n.DType.Size():])
		}
		return a, nil
	})
	if err != nil {
		return t // its plan says what is wrong
	}
	b := make([]byte, 0, n.Len()*n.DType.Size())
	for _, x := range arrays[0].Elems {
		b = x.Append(b, n.DType)
	}
	return tensor.FromBytes(n.DType, n.Shape, b)
}

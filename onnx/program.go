package onnx

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/ops"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// A program is a graph, or the body of a function, ready to be interpreted. It does not change.
type program struct {
	nodes   []*node
	inputs  []string
	outputs []string
	consts  map[string]op.Value             // initializers
	views   map[string]func() tensor.Tensor // of consts that are laid out, views that others may evaluate
	bodies  []*program                      // graphs that are defaults of a function's attributes
	draws   bool                            // a node draws random numbers
	walk    walk
}

// walk says how far markDraws is with a program.
type walk uint8

const (
	walking walk = iota + 1
	walked
)

// A node is a call of an operator or of a function of the model.
type node struct {
	*proto.Node
	domain   string
	opset    int
	row      op.Row
	function *function // instead of row
	found    bool      // an operator or function was found
	reads    []string  // names that it reads, in its graphs too
	drops    []string  // names that nothing reads later
	captures bool      // its graphs read names that are not its inputs
	draws    bool      // results of equal inputs may differ
}

// A function is a function of the model.
type function struct {
	*proto.Function
	program *program
	opsets  map[string]int
}

// A builder makes programs.
type builder struct {
	m         *Model
	functions map[[3]string]*function
	opsets    map[string]int
	external  op.External
}

// domainOf returns the name of a domain in the table.
func domainOf(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func versions(list []proto.Opset) map[string]int {
	m := map[string]int{}
	for _, o := range list {
		m[domainOf(o.Domain)] = int(o.Version)
	}
	return m
}

// Memory of a part of a model beside its messages: in lists that grow, and in maps by its name.
const (
	perPart = 512
	perAxis = 128
)

// checkGraph fails if there is too little memory for the program of a graph.
func checkGraph(g *proto.Graph) error {
	axes := 0
	for _, v := range slices.Concat(g.Inputs, g.Outputs) {
		if v.Type != nil {
			axes += len(v.Type.Dims)
		}
	}
	if err := hostmem.Check(axes, perAxis); err != nil {
		return err
	}
	return hostmem.Check(1+len(g.Inputs)+len(g.Outputs)+len(g.Initializers)+len(g.Sparse), perPart)
}

// checkNodes fails if there is too little memory for nodes in a program.
func checkNodes(list []*proto.Node) error {
	parts := len(list)
	for _, n := range list {
		parts += len(n.Inputs) + len(n.Outputs) + len(n.Attrs)
	}
	return hostmem.Check(parts, perPart)
}

// graph makes the program of a graph; outer has the names that it may capture.
func (b *builder) graph(g *proto.Graph, outer names) (*program, error) {
	if err := checkGraph(g); err != nil {
		return nil, err
	}
	p := &program{consts: map[string]op.Value{}}
	own := names{outer: outer.list()}
	for _, in := range g.Inputs {
		p.inputs = append(p.inputs, in.Name)
		if err := own.define(in.Name, "input"); err != nil {
			return nil, err
		}
	}
	add := func(name string, decode func() (op.Value, error)) error {
		if _, ok := p.consts[name]; ok {
			return fmt.Errorf("onnx: two initializers are named %q", name)
		}
		v, err := decode()
		if err != nil {
			return fmt.Errorf("onnx: initializer %q: %w", name, err)
		}
		p.consts[name] = v
		if !slices.Contains(p.inputs, name) {
			return own.define(name, "initializer")
		}
		return nil
	}
	for _, t := range g.Initializers {
		if err := add(t.Name, func() (v op.Value, err error) {
			v, err = op.Decode(t, b.external)
			t.Decoded = v
			return v, err
		}); err != nil {
			return nil, err
		}
	}
	for _, s := range g.Sparse {
		if s.Values == nil {
			return nil, fmt.Errorf("onnx: a sparse initializer has no values")
		}
		if err := add(s.Values.Name, func() (v op.Value, err error) {
			v, err = op.DecodeSparse(s, b.external)
			if err == nil {
				s.Values.Decoded, s.Indices.Decoded = nil, nil
			}
			return v, err
		}); err != nil {
			return nil, err
		}
	}
	for _, out := range g.Outputs {
		p.outputs = append(p.outputs, out.Name)
	}
	return p, b.body(p, g.Nodes, &own)
}

// maxCalls is the greatest depth of functions that call functions.
const maxCalls = 128

// markDraws notes which nodes draw random numbers, in their graphs or functions too. It fails if a
// function calls itself. A program is looked at once, however often it is called.
func (m *Model) markDraws(p *program, depth int) error {
	p.walk = walking
	for _, q := range p.bodies {
		if err := m.markDraws(q, depth+1); err != nil {
			return err
		}
		p.draws = p.draws || q.draws
	}
	for _, n := range p.nodes {
		n.draws = n.row.Random
		var inner []*program
		if f := n.function; f != nil {
			switch {
			case f.program.walk == walking:
				return n.fault("the function calls itself")
			case depth == maxCalls:
				return n.fault("functions call functions more than %d deep", maxCalls)
			}
			inner = append(inner, f.program)
		}
		for _, a := range n.Attrs {
			for _, g := range append(slices.Clone(a.Graphs), a.G) {
				if g != nil {
					inner = append(inner, m.bodies[g])
				}
			}
		}
		for _, q := range inner {
			if q.walk == 0 {
				if err := m.markDraws(q, depth+1); err != nil {
					return err
				}
			}
			n.draws = n.draws || q.draws
		}
		p.draws = p.draws || n.draws
	}
	p.walk = walked
	return nil
}

// body adds nodes to a program, so that each comes after those that it reads.
func (b *builder) body(p *program, list []*proto.Node, own *names) error {
	if err := checkNodes(list); err != nil {
		return err
	}
	for _, pn := range ordered(list, own) {
		n, err := b.node(pn, own)
		if err != nil {
			return err
		}
		for _, name := range n.reads {
			if !own.has(name) {
				if slices.ContainsFunc(list, func(o *proto.Node) bool { return slices.Contains(o.Outputs, name) }) {
					return n.fault("input %q is computed from a result of the node: nodes are in a cycle", name)
				}
				return n.fault("nothing has the name of input %q", name)
			}
		}
		for _, out := range pn.Outputs {
			if out != "" {
				if err := own.define(out, "result"); err != nil {
					return n.fault("%v", err)
				}
			}
		}
		p.nodes = append(p.nodes, n)
	}
	for _, out := range p.outputs {
		if !own.has(out) {
			return fmt.Errorf("onnx: nothing has the name of output %q", out)
		}
	}
	p.markDrops()
	return nil
}

// markDrops notes the last reader of each name.
func (p *program) markDrops() {
	kept := map[string]bool{"": true}
	for _, out := range p.outputs {
		kept[out] = true
	}
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := p.nodes[i]
		for _, name := range slices.Concat(n.reads, n.Outputs) {
			if !kept[name] {
				kept[name] = true
				n.drops = append(n.drops, name)
			}
		}
	}
}

// node resolves a node: its operator, and its graphs.
func (b *builder) node(pn *proto.Node, own *names) (*node, error) {
	n := &node{Node: pn, domain: domainOf(pn.Domain)}
	n.opset = b.opsets[n.domain]
	for _, name := range freeNames(nil, pn) {
		if name != "" && !slices.Contains(n.reads, name) {
			n.reads = append(n.reads, name)
			n.captures = n.captures || !slices.Contains(pn.Inputs, name)
		}
	}
	if n.function = b.functions[[3]string{n.domain, pn.Op, pn.Overload}]; n.function == nil {
		n.row, n.found = ops.Find(n.domain, pn.Op, n.opset)
	} else {
		n.found = true
	}
	if _, ok := b.opsets[n.domain]; !ok && n.found && n.function == nil {
		return nil, n.fault("the file does not say which version of the operators of %q it has", cmp.Or(n.domain, "ai.onnx"))
	}
	b.m.count(n)
	if n.row.Again {
		n.captures = true
		n.reads = slices.AppendSeq(n.reads, maps.Keys(own.mine))
		slices.Sort(n.reads)
		n.reads = slices.Compact(n.reads)
	}
	_, err := b.attrs(pn.Attrs, own, func(format string, args ...any) error { return n.fault(format, args...) })
	return n, err
}

// attrs reads the tensors of attributes, and returns the programs of their graphs.
func (b *builder) attrs(list []*proto.Attr, own *names, fault func(string, ...any) error) (bodies []*program, err error) {
	for _, a := range list {
		if err := b.tensors(a); err != nil {
			return nil, fault("attribute %s: %v", a.Name, err)
		}
		for _, g := range append(slices.Clone(a.Graphs), a.G) {
			if g == nil {
				continue
			}
			p, err := b.graph(g, *own)
			if err != nil {
				return nil, err
			}
			b.m.bodies[g] = p
			bodies = append(bodies, p)
		}
	}
	return bodies, nil
}

// tensors reads the tensors of an attribute.
func (b *builder) tensors(a *proto.Attr) (err error) {
	list := slices.Clone(a.Tensors)
	if a.T != nil {
		list = append(list, a.T)
	}
	if s := a.Sparse; s != nil && s.Values != nil && s.Indices != nil {
		list = append(list, s.Values, s.Indices)
	}
	for _, t := range list {
		if t.Decoded, err = op.Decode(t, b.external); err != nil {
			return err
		}
	}
	return nil
}

// names are those that a graph defines, and those around it.
type names struct {
	outer []map[string]bool
	mine  map[string]bool
}

func (s *names) list() []map[string]bool {
	if s.mine == nil {
		return s.outer
	}
	return append(slices.Clone(s.outer), s.mine)
}

func (s *names) has(name string) bool {
	return s.mine[name] || slices.ContainsFunc(s.outer, func(m map[string]bool) bool { return m[name] })
}

func (s *names) define(name, what string) error {
	if s.mine[name] {
		return fmt.Errorf("the name of %s %q is in use", what, name)
	}
	if s.mine == nil {
		s.mine = map[string]bool{}
	}
	s.mine[name] = true
	return nil
}

// functionsOf makes the programs of a model's functions.
func (b *builder) functionsOf(list []*proto.Function) error {
	b.functions = map[[3]string]*function{}
	if err := hostmem.Check(len(list), 2*perPart); err != nil {
		return err
	}
	for _, pf := range list {
		key := [3]string{domainOf(pf.Domain), pf.Name, pf.Overload}
		if b.functions[key] != nil {
			return fmt.Errorf("onnx: two functions are named %q", qualified(pf.Domain, pf.Name))
		}
		b.functions[key] = &function{Function: pf}
	}
	for _, f := range b.functions {
		if err := hostmem.Check(len(f.Inputs)+len(f.Opsets), perPart); err != nil {
			return err
		}
		f.opsets = versions(f.Opsets)
		if err := checkOpset(f.opsets); err != nil {
			return fmt.Errorf("function %s: %w", qualified(f.Domain, f.Name), err)
		}
		own := names{mine: map[string]bool{}}
		for _, in := range f.Inputs {
			if err := own.define(in, "input"); err != nil {
				return err
			}
		}
		f.program = &program{inputs: f.Inputs, outputs: f.Outputs}
		inner := *b
		inner.opsets = f.opsets
		var err error
		if f.program.bodies, err = inner.attrs(f.Defaults, &names{}, fmt.Errorf); err == nil {
			err = inner.body(f.program, f.Nodes, &own)
		}
		if err != nil {
			return fmt.Errorf("function %s: %w", qualified(f.Domain, f.Name), err)
		}
	}
	return nil
}

package onnx

import (
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// ordered returns nodes in their order in the file, but each after those whose results it reads: some
// converters append nodes that others read. Nodes in a cycle keep an order that cannot be run.
func ordered(list []*proto.Node, own *names) []*proto.Node {
	from := map[string]int{}
	for i, n := range list {
		for _, out := range n.Outputs {
			if out != "" && !own.has(out) {
				from[out] = i
			}
		}
	}
	sorted := make([]*proto.Node, 0, len(list))
	began, ended := make([]bool, len(list)), make([]bool, len(list))
	for i := range list {
		for stack := []int{i}; len(stack) > 0; {
			k := stack[len(stack)-1]
			if began[k] {
				stack = stack[:len(stack)-1]
				if !ended[k] {
					ended[k] = true
					sorted = append(sorted, list[k])
				}
				continue
			}
			began[k] = true
			names := freeNames(nil, list[k])
			for _, a := range list[k].Attrs {
				if list[k].Op == "Gradient" && a.Name == "y" { // it asks for y by name
					names = append(names, a.S)
				}
			}
			for _, name := range slices.Backward(names) {
				if j, ok := from[name]; ok && !began[j] {
					stack = append(stack, j)
				}
			}
		}
	}
	return sorted
}

// freeNames appends the names that a node reads, in its graphs too.
func freeNames(list []string, n *proto.Node) []string {
	list = append(list, n.Inputs...)
	for _, a := range n.Attrs {
		for _, g := range append(slices.Clone(a.Graphs), a.G) {
			if g != nil {
				list = append(list, freeNamesOf(g)...)
			}
		}
	}
	return list
}

// freeNamesOf returns the names that a graph reads and does not define.
func freeNamesOf(g *proto.Graph) (list []string) {
	defined := map[string]bool{}
	for _, in := range g.Inputs {
		defined[in.Name] = true
	}
	for _, t := range g.Initializers {
		defined[t.Name] = true
	}
	for _, s := range g.Sparse {
		if s.Values != nil {
			defined[s.Values.Name] = true
		}
	}
	for _, n := range g.Nodes {
		list = freeNames(list, n)
		for _, out := range n.Outputs {
			defined[out] = true
		}
	}
	for _, out := range g.Outputs {
		list = append(list, out.Name)
	}
	return slices.DeleteFunc(list, func(name string) bool { return defined[name] })
}

package interp

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// recur runs a recurrence. The elements of its node are all results, one after the other.
func recur(n *graph.Node, src []*Array) (*Array, error) {
	r := graph.RecurrenceOf(n)
	results := r.Results()
	carries := slices.Clone(src[:r.Carries])
	stacks := make([][]ir.Number, len(results))
	for i, x := range results[r.Carries:] {
		stacks[r.Carries+i] = make([]ir.Number, r.Steps*x.Len())
	}
	for step := range r.Steps {
		at := r.Position(step)
		given, arrays := map[*graph.Node]*graph.Node{}, map[*graph.Node]*Array{}
		for i, a := range r.Args {
			x := src[i]
			switch {
			case i < r.Carries:
				x = carries[i]
			case r.IsInput(i):
				x = &Array{a.DType, a.Shape, x.Elems[at*a.Len():][:a.Len()]}
			}
			given[a] = graph.Buffer(a.DType, a.Shape, &graph.Value{})
			arrays[given[a]] = x
		}
		next, err := Eval(graph.Substitute(results, given), func(n *graph.Node) (*Array, error) { return arrays[n], nil })
		if err != nil {
			return nil, err
		}
		copy(carries, next)
		for i, x := range next[r.Carries:] {
			copy(stacks[r.Carries+i][at*len(x.Elems):], x.Elems)
		}
	}
	all := &Array{DType: n.DType, Shape: n.Shape}
	for i, x := range carries {
		stacks[i] = x.Elems
	}
	for _, elems := range stacks {
		all.Elems = append(all.Elems, elems...)
	}
	return all, nil
}

// pick returns a result of a recurrence from the elements of all.
func pick(n *graph.Node, recur *graph.Node, all *Array) *Array {
	r, from := graph.RecurrenceOf(recur), 0
	for i, x := range r.Results()[:n.Ints[0]] {
		if i >= r.Carries {
			from += r.Steps * x.Len()
		} else {
			from += x.Len()
		}
	}
	return &Array{n.DType, n.Shape, all.Elems[from:][:n.Len()]}
}

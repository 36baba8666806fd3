package grad

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// forward returns the tangents of results, given the tangents of the arguments. Nil is
// zero, in and out.
func (t *tape) forward(results, tangents []*graph.Node) []*graph.Node {
	all := make([]*graph.Node, len(t.calls))
	copy(all, tangents)
	customs := make(map[*graph.CustomCall][]*graph.Node)
	for i := t.args; i < len(t.calls); i++ {
		c := &t.calls[i]
		if !c.active {
			continue
		}
		src := t.each(c.src, all)
		switch r := c.custom; {
		case !slices.ContainsFunc(src, isPresent):
		case r == nil:
			all[i] = c.jvp(src)
		default:
			if customs[r.CustomCall] == nil {
				customs[r.CustomCall] = r.JVP(r.Args, r.Outs, src)
			}
			all[i] = customs[r.CustomCall][r.Index]
		}
	}
	return t.each(results, all)
}

// jvp returns the tangent of c, given the tangents of its operands, not all nil.
func (c *call) jvp(tangents []*graph.Node) *graph.Node {
	r := &rules[c.Op]
	switch {
	case r.transpose != nil:
		return c.apply(tangents)
	case r.modes != nil:
		return r.modes.forward(c, tangents[0])
	}
	var sum *graph.Node
	for i, t := range tangents {
		if t == nil {
			continue
		}
		p := c.partial(i)
		if p == nil {
			continue
		}
		part := collect(c, c.timesPartial(t, p, i, false), i)
		if sum != nil {
			part = add(sum, part)
		}
		sum = part
	}
	return sum
}

// collect is the transpose of spread: it adds up the contributions of operand i's elements
// to each element of c's result.
func collect(c *call, x *graph.Node, i int) *graph.Node {
	switch {
	case c.Op.Class() == ir.Reduction:
		return graph.Reduce(ir.Sum, x, c.Ints)
	case c.Op == ir.Scatter && i == 2:
		return c.gatherTranspose(x, c.Shape[c.Ints[0]])
	}
	return x
}

// apply applies the linear operation c to tangents.
func (c *call) apply(tangents []*graph.Node) *graph.Node {
	switch c.Op {
	case ir.Argument, ir.CoOutput: // names of the value, not of its tangent
		return tangents[0]
	case ir.StopGradient:
		return nil
	case ir.Add, ir.Sub:
		x, y := tangents[0], tangents[1]
		switch {
		case y == nil:
			return x
		case x == nil && c.Op == ir.Add:
			return y
		case x == nil:
			return neg(y)
		}
	}
	src := slices.Clone(c.src)
	for i, s := range src {
		switch {
		case !linearIn(c, i):
		case tangents[i] == nil:
			src[i] = like(s, 0)
		default:
			src[i] = tangents[i]
		}
	}
	n := graph.WithOperands(c.Node, src...)
	n.Num = 0 // the padding is constant
	return n
}

// linearIn reports whether a linear operation is linear in operand i: it is not
// in conditions and indices.
func linearIn(c *call, i int) bool {
	return !(c.Op == ir.Where && i == 0 || c.Op == ir.Gather && i == 1)
}

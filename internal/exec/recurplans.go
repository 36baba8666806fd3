package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// recurByPlans runs a recurrence step by step, for a body that no single plan computes.
func (d *Device) recurByPlans(r *graph.Recurrence, results, src []*graph.Node) ([]*graph.Value, error) {
	carries := slices.Clone(src[:r.Carries])
	stacks := make([][]*graph.Node, len(results)-r.Carries)
	for step := range r.Steps {
		at := r.Position(step)
		given := map[*graph.Node]*graph.Node{}
		for i, n := range r.Args {
			switch {
			case i < r.Carries:
				given[n] = carries[i]
			case r.IsInput(i):
				v := src[i].Value()
				given[n] = graph.Buffer(n.DType, n.Shape, &graph.Value{Store: v.Store, Err: v.Err, Offset: v.Offset + at*v.Strides[0], Strides: v.Strides[1:]})
			default:
				given[n] = src[i]
			}
		}
		next := graph.Substitute(results, given)
		if err := Eval(d, next); err != nil {
			return nil, err
		}
		copy(carries, next)
		for k, n := range next[r.Carries:] {
			stacks[k] = append(stacks[k], graph.Reshape(n, append([]int{1}, n.Shape...)))
		}
	}
	for k, parts := range stacks {
		if r.Reverse {
			slices.Reverse(parts)
		}
		of := results[r.Carries+k]
		whole := graph.Fill(of.DType, 0, append([]int{0}, of.Shape...))
		if len(parts) > 0 {
			whole = graph.Cat(0, parts)
		}
		carries = append(carries, whole)
	}
	if err := Eval(d, carries); err != nil {
		return nil, err
	}
	values := make([]*graph.Value, len(carries))
	for i, n := range carries {
		values[i] = n.Value()
	}
	return values, nil
}

// explainRecurrence returns the plan of the body, as text.
func explainRecurrence(def *Device, c *call) string {
	r := graph.RecurrenceOf(c.node)
	given := map[*graph.Node]*graph.Node{}
	for i, n := range r.Args {
		v := &graph.Value{Store: FromHost(nil), Strides: shape.RowMajor(n.Shape)}
		given[n] = graph.Buffer(n.DType, n.Shape, v)
		given[n].Device = c.src[i].Device
	}
	body := strings.TrimSuffix(Explain(def, graph.Substitute(r.Results(), given)), "\n")
	return fmt.Sprintf("%d times:\n  %s\n", r.Steps, strings.ReplaceAll(body, "\n", "\n  "))
}

// newBody captures a graph whose arguments have the given values, such as the body of a
// recurrence; its last outputs are stacked.
func newBody(d *Device, roots []*graph.Node, given map[*graph.Node]*graph.Value, stacked int) *capture {
	c := captures.Get().(*capture)
	c.device, c.computed, c.isBody, c.stacked = d, computed{given: given}, true, stacked
	c.key = append(c.key, 0xff) // no operation: other keys begin with one
	c.keyInt(stacked)
	c.roots = append(c.roots, roots...)
	for _, n := range roots {
		c.walk(n)
	}
	for _, n := range roots {
		c.addOutput(n)
	}
	c.keyOutputs()
	return c
}

package interp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// An Array holds a tensor's elements in row-major order.
type Array struct {
	DType ir.DType
	Shape []int
	Elems []ir.Number
}

// An IndexError is an index of a Gather or Scatter that is out of range.
type IndexError struct {
	Index     int64
	Len, Axis int
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %d out of range for axis %d of length %d", e.Index, e.Axis, e.Len)
}

// Eval evaluates nodes one at a time. leaf returns the elements of a node that has a
// value or is a Buffer. An index out of range reads 0 or writes nothing; the first one is
// returned as an [*IndexError] with the results. Other errors come without results.
func Eval(roots []*graph.Node, leaf func(*graph.Node) (*Array, error)) ([]*Array, error) {
	type visit struct {
		node *graph.Node
		src  []*graph.Node // the operands, read once
		next int           // the first operand not evaluated yet
	}
	var bad error
	done := map[*graph.Node]*Array{}
	var stack []visit
	push := func(n *graph.Node) error {
		if done[n] != nil {
			return nil
		}
		state := n.State()
		if n.Op == ir.Buffer || state.Value != nil {
			a, err := leaf(n)
			if err != nil {
				return err
			}
			if a.DType != n.DType || !slices.Equal(a.Shape, n.Shape) || len(a.Elems) != n.Len() {
				return fmt.Errorf("interp: %d elements, %v %v, for %v %v of %v", len(a.Elems), a.DType, a.Shape, n.DType, n.Shape, n.Op)
			}
			done[n] = a
			return nil
		}
		stack = append(stack, visit{node: n, src: state.Src})
		return nil
	}
	results := make([]*Array, len(roots))
	for i, root := range roots {
		if err := push(root); err != nil {
			return nil, err
		}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next < len(top.src) {
				top.next++
				if err := push(top.src[top.next-1]); err != nil {
					return nil, err
				}
				continue
			}
			a, err := evaluate(top.node, top.src, done)
			if e := (*IndexError)(nil); errors.As(err, &e) {
				if bad == nil {
					bad = err
				}
			} else if err != nil {
				return nil, err
			}
			done[top.node] = a
			stack = stack[:len(stack)-1]
		}
		results[i] = done[root]
	}
	return results, bad
}

// evaluate returns the elements of a node whose operands are done.
func evaluate(n *graph.Node, src []*graph.Node, done map[*graph.Node]*Array) (*Array, error) {
	f := evaluatorOf(n.Op)
	if f == nil {
		return nil, fmt.Errorf("interp: no evaluator of %v", n.Op)
	}
	operands := make([]*Array, len(src))
	for i, s := range src {
		operands[i] = done[s]
	}
	out := &Array{n.DType, n.Shape, make([]ir.Number, n.Len())}
	return out, f(n, operands, out.Elems)
}

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
	var bad, failed error
	done := map[*graph.Node]*Array{}
	enter := func(n *graph.Node) (graph.Operands, bool) {
		src, v := n.State()
		if failed != nil || done[n] != nil {
			return src, false
		}
		if n.Op != ir.Buffer && v == nil {
			return src, true
		}
		a, err := leaf(n)
		switch {
		case err != nil:
			failed = err
		case a.DType != n.DType || !slices.Equal(a.Shape, n.Shape) || len(a.Elems) != n.Len():
			failed = fmt.Errorf("interp: %d elements, %v %v, for %v %v of %v", len(a.Elems), a.DType, a.Shape, n.DType, n.Shape, n.Op)
		default:
			done[n] = a
		}
		return src, false
	}
	leave := func(n *graph.Node, src graph.Operands) {
		if failed != nil {
			return
		}
		a, err := evaluate(n, src.Append(nil), done)
		if e := (*IndexError)(nil); !errors.As(err, &e) {
			failed = err
		} else if bad == nil {
			bad = err
		}
		done[n] = a
	}
	graph.Walk(roots, enter, leave)
	if failed != nil {
		return nil, failed
	}
	results := make([]*Array, len(roots))
	for i, root := range roots {
		results[i] = done[root]
	}
	return results, bad
}

// evaluate returns the elements of a node whose operands are done.
func evaluate(n *graph.Node, src []*graph.Node, done map[*graph.Node]*Array) (*Array, error) {
	operands := make([]*Array, len(src))
	for i, s := range src {
		operands[i] = done[s]
	}
	switch n.Op { // of which the results are no one array
	case ir.Recur:
		return recur(n, operands)
	case ir.Pick:
		return pick(n, src[0], operands[0]), nil
	}
	f := evaluatorOf(n.Op)
	if f == nil {
		return nil, fmt.Errorf("interp: no evaluator of %v", n.Op)
	}
	out := &Array{n.DType, n.Shape, make([]ir.Number, n.Len())}
	return out, f(n, operands, out.Elems)
}

package interp

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An evaluator fills out with the elements of a node, in row-major order.
type evaluator func(n *graph.Node, src []*Array, out []ir.Number) error

// evaluators has the ops that are not functions of numbers.
var evaluators = [ir.Ops]evaluator{
	ir.Const:  fill,
	ir.Scalar: fill,
	ir.Iota:   iota,
	ir.Buffer: noValue,

	ir.Reshape:  same,
	ir.Permute:  move(permute),
	ir.Expand:   move(expand),
	ir.Pad:      move(pad),
	ir.Crop:     move(crop),
	ir.Flip:     move(flip),
	ir.Window:   move(window),
	ir.Unwindow: move(unwindow),
	ir.Cat:      cat,
	ir.Copy:     same,

	ir.Gather:  gather,
	ir.Scatter: scatter,
	ir.Scan:    scan,
	ir.Sort:    sort,

	ir.HostCall: hostCall,
}

// evaluatorOf returns the evaluator of an op, nil if it has none.
func evaluatorOf(op ir.Op) evaluator {
	switch {
	case op.Class() == ir.Alias:
		return same
	case functions[op] == nil:
		return evaluators[op]
	case op.Class() == ir.Reduction:
		return reduce
	}
	return elementwise
}

func fill(n *graph.Node, _ []*Array, out []ir.Number) error {
	for i := range out {
		out[i] = n.Num
	}
	return nil
}

func iota(n *graph.Node, _ []*Array, out []ir.Number) error {
	for i, pos := range shape.Positions(n.Shape) {
		out[i] = ir.Int(n.DType, int64(pos[n.Ints[0]]))
	}
	return nil
}

func noValue(n *graph.Node, _ []*Array, _ []ir.Number) error {
	return fmt.Errorf("interp: %v without a value", n.Op)
}

func elementwise(n *graph.Node, src []*Array, out []ir.Number) error {
	x := make([]ir.Number, len(src))
	for i := range out {
		for j, s := range src {
			x[j] = s.Elems[i]
		}
		if weighs(n.Op, n.Kind, n.DType, x) {
			out[i] = 0
			continue
		}
		out[i] = functions[n.Op](n.DType, src[len(src)-1].DType, x)
	}
	return nil
}

// weighs reports whether an operation is a product by a weight of 0.
func weighs(op, kind ir.Op, d ir.DType, x []ir.Number) bool {
	return op == ir.Mul && kind == ir.Where && x[0].Float64(d) == 0
}

func reduce(n *graph.Node, src []*Array, out []ir.Number) error {
	x := src[0]
	groups := make([][]ir.Number, len(out))
	for i := range groups {
		groups[i] = make([]ir.Number, 0, len(x.Elems)/len(out))
	}
	kept := make([]int, len(x.Shape))
	for i, pos := range shape.Positions(x.Shape) {
		copy(kept, pos)
		for _, a := range n.Ints {
			kept[a] = 0
		}
		r := shape.Rank(n.Shape, kept)
		groups[r] = append(groups[r], x.Elems[i])
	}
	for i, g := range groups {
		out[i] = functions[n.Op](n.DType, x.DType, g)
	}
	return nil
}

func same(_ *graph.Node, src []*Array, out []ir.Number) error {
	copy(out, src[0].Elems)
	return nil
}

// A source changes the position pos of an element of a node to its position in the
// operand, of shape x, or reports false if the element is the fill.
type source func(n *graph.Node, x, pos []int) bool

// move returns the evaluator of an op that only moves elements.
func move(p source) evaluator {
	return func(n *graph.Node, src []*Array, out []ir.Number) error {
		x := src[0]
		from := make([]int, len(n.Shape))
		for i, pos := range shape.Positions(n.Shape) {
			copy(from, pos)
			if !p(n, x.Shape, from) {
				out[i] = n.Num
				continue
			}
			for a, j := range from {
				if j < 0 || j >= x.Shape[a] {
					return fmt.Errorf("interp: %v %v of %v to %v reads outside at %v", n.Op, n.Ints, x.Shape, n.Shape, pos)
				}
			}
			out[i] = x.Elems[shape.Rank(x.Shape, from)]
		}
		return nil
	}
}

func permute(n *graph.Node, _, pos []int) bool {
	var from [8]int // enough for most, without memory of its own
	for i, j := range append(from[:0], pos...) {
		pos[n.Ints[i]] = j
	}
	return true
}

func expand(_ *graph.Node, x, pos []int) bool {
	for a, l := range x {
		if l == 1 {
			pos[a] = 0
		}
	}
	return true
}

func pad(n *graph.Node, x, pos []int) bool {
	for a := range pos {
		before, step := n.Ints[3*a], n.Ints[3*a+2]+1
		j := pos[a] - before
		if j < 0 || j%step != 0 || j/step >= x[a] {
			return false
		}
		pos[a] = j / step
	}
	return true
}

func crop(n *graph.Node, _, pos []int) bool {
	for a := range pos {
		pos[a] = n.Ints[2*a] + n.Ints[2*a+1]*pos[a]
	}
	return true
}

func flip(n *graph.Node, x, pos []int) bool {
	for _, a := range n.Ints {
		pos[a] = x[a] - 1 - pos[a]
	}
	return true
}

func window(n *graph.Node, _, pos []int) bool {
	i, k, s, d := n.Ints[0], n.Ints[1], n.Ints[2], n.Ints[3]
	pos[i] = pos[i]*s + pos[k]*d
	return true
}

func unwindow(n *graph.Node, x, pos []int) bool {
	i, k, s, d := n.Ints[0], n.Ints[1], n.Ints[2], n.Ints[3]
	h := pos[i] - pos[k]*d
	if h < 0 || h%s != 0 || h/s >= x[i] {
		return false
	}
	pos[i] = h / s
	return true
}

func cat(n *graph.Node, src []*Array, out []ir.Number) error {
	axis, start := n.Ints[0], 0
	for _, x := range src {
		to := make([]int, len(x.Shape))
		for i, pos := range shape.Positions(x.Shape) {
			copy(to, pos)
			to[axis] += start
			out[shape.Rank(n.Shape, to)] = x.Elems[i]
		}
		start += x.Shape[axis]
	}
	return nil
}

// at replaces a position's coordinate along an axis of x by an index, and returns the
// element's row-major number.
func at(x *Array, pos []int, axis int, index *Array, i int) (int, error) {
	v := index.Elems[i].Int64(index.DType)
	if v < 0 || v >= int64(x.Shape[axis]) {
		return 0, &IndexError{v, x.Shape[axis], axis}
	}
	was := pos[axis]
	pos[axis] = int(v)
	number := shape.Rank(x.Shape, pos)
	pos[axis] = was
	return number, nil
}

func gather(n *graph.Node, src []*Array, out []ir.Number) (bad error) {
	x, index := src[0], src[1]
	for i, pos := range shape.Positions(index.Shape) {
		j, err := at(x, pos, n.Ints[0], index, i)
		if err == nil {
			out[i] = x.Elems[j]
		} else if bad == nil {
			bad = err
		}
	}
	return bad
}

// combine returns an element of type d with an update, by the kind of a Scatter.
func combine(kind ir.Op, d ir.DType, old, update ir.Number) ir.Number {
	if kind == ir.Copy {
		return update
	}
	return Apply(kind, d, d, old, update)
}

func scatter(n *graph.Node, src []*Array, out []ir.Number) (bad error) {
	base, index, update := src[0], src[1], src[2]
	copy(out, base.Elems)
	for i, pos := range shape.Positions(index.Shape) {
		j, err := at(base, pos, n.Ints[0], index, i)
		if err == nil {
			out[j] = combine(n.Kind, n.DType, out[j], update.Elems[i])
		} else if bad == nil {
			bad = err
		}
	}
	return bad
}

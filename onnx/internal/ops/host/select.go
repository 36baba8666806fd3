package host

import (
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Selections has the operators whose results have as many elements as their inputs say.
var Selections = []op.Row{
	op.New("Compress", op.Move(compress)),
	op.New("NonZero", op.One(nonZero)),
	op.New("Unique", uniqueOf),
}

// compress selects by bools along an axis, or of all elements.
func compress(c *op.Call) T {
	x := c.Tensor(0)
	axis := 0
	if c.Attr("axis") != nil {
		axis = c.Axis(c.Int("axis", 0), x.Rank())
	} else {
		x = x.Reshape(-1)
	}
	var at []int64
	for i, b := range c.Ints(1) {
		if b != 0 && i < x.Dim(axis) {
			at = append(at, int64(i))
		}
	}
	return x.Take(axis, tensor.New(at, len(at)))
}

// nonZero returns the positions of elements other than 0, a row for each axis.
func nonZero(c *op.Call) T {
	s := c.Value(0).Dims()
	rows := make([][]int64, len(s))
	n := 0
	for i, x := range c.Floats(0) {
		if x == 0 {
			continue
		}
		n++
		for a := len(s) - 1; a >= 0; a-- {
			rows[a] = append(rows[a], int64(i%s[a]))
			i /= s[a]
		}
	}
	var data []int64
	for _, r := range rows {
		data = append(data, r...)
	}
	return tensor.New(data, len(s), n)
}

// uniqueOf is unique, of strings by codes in their order.
func uniqueOf(c *op.Call) []op.Value {
	v := c.Value(0)
	if v.Kind != op.StringKind {
		return op.Many(unique)(c)
	}
	pool, d := op.Pool{}, *c
	pool.Codes(op.Texts(slices.Sorted(slices.Values(v.Strings)), len(v.Strings)))
	d.In = []op.Value{pool.Codes(v)}
	out := op.Many(unique)(&d)
	out[0] = pool.Texts(c, out[0].Tensor)
	return out
}

// unique returns the distinct elements, or slices along an axis, with the position of the first of each,
// the number of each element's, and counts.
func unique(c *op.Call) []T {
	x := c.Tensor(0)
	axis, whole := 0, c.Attr("axis") == nil
	if whole {
		x = x.Reshape(-1)
	} else {
		axis = c.Axis(c.Int("axis", 0), x.Rank())
	}
	n := x.Dim(axis)
	rows := rowsOf(c, x, axis, n)
	order := firsts(rows, c.Bool("sorted", true))
	number := map[string]int64{}
	first := make([]int64, len(order))
	for k, i := range order {
		first[k] = int64(i)
		number[key(rows[i])] = int64(k)
	}
	inverse, counts := make([]int64, n), make([]int64, len(order))
	for i, r := range rows {
		inverse[i] = number[key(r)]
		counts[inverse[i]]++
	}
	at := tensor.New(first, len(first))
	return []T{x.Take(axis, at), at, tensor.New(inverse, n), tensor.New(counts, len(counts))}
}

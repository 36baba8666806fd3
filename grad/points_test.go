package grad_test

import (
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A point is a function whose derivatives are compared with finite
// differences, at operands drawn at random.
type point struct {
	name   string
	shapes [][]int
	lo, hi float64 // of the operands; 0 and 0 are -2 and 2
	f      func(x []*graph.Node) *graph.Node
}

// unary is the point of an elementwise op of one operand.
func unary(op ir.Op, lo, hi float64) []point {
	return []point{{"", [][]int{{2, 3}}, lo, hi, func(x []*graph.Node) *graph.Node { return graph.Unary(op, x[0]) }}}
}

// binary is the points of an elementwise op of two operands: different ones,
// and one twice.
func binary(op ir.Op, lo, hi float64) []point {
	return []point{
		{"two", [][]int{{2, 3}, {2, 3}}, lo, hi, func(x []*graph.Node) *graph.Node { return graph.Binary(op, x[0], x[1]) }},
		{"const left", [][]int{{2, 3}}, lo, hi, func(x []*graph.Node) *graph.Node { return graph.Binary(op, fill(x[0], 1.5), x[0]) }},
		{"const right", [][]int{{2, 3}}, lo, hi, func(x []*graph.Node) *graph.Node { return graph.Binary(op, x[0], fill(x[0], 1.5)) }},
	}
}

func fill(x *graph.Node, v float64) *graph.Node { return graph.Fill(x.DType, v, x.Shape) }

func square(x *graph.Node) *graph.Node { return graph.Binary(ir.Mul, x, x) }

// ints is a rank-2 int32 node of the values, computed from positions because
// a graph has no other numbers of its own: idx[i][j] = values[i][j].
func ints(values [][]int) *graph.Node {
	shape := []int{len(values), len(values[0])}
	row, col := graph.Iota(shape, 0), graph.Iota(shape, 1)
	c := func(v int) *graph.Node { return graph.Const(ir.Int32, ir.Int(ir.Int32, int64(v)), shape) }
	n := c(0)
	for i := range values {
		for j, v := range values[i] {
			here := graph.Binary(ir.And, graph.Binary(ir.Eq, row, c(i)), graph.Binary(ir.Eq, col, c(j)))
			n = graph.Where(here, c(v), n)
		}
	}
	return n
}

// reduce is the points of a reduction.
func reduce(op ir.Op) []point {
	over := func(name string, shape []int, axes ...int) point {
		return point{name, [][]int{shape}, 0, 0, func(x []*graph.Node) *graph.Node { return graph.Reduce(op, x[0], axes) }}
	}
	return []point{
		over("last", []int{3, 5}, 1),
		over("first", []int{3, 5}, 0),
		over("outer", []int{2, 3, 2}, 0, 2),
		over("all", []int{2, 3}, 0, 1),
		over("none", []int{2, 3}),
		over("one element", []int{3, 1}, 1),
	}
}

// move is a point of a movement op, of the operand's square so that the
// second derivative is not zero.
func move(name string, shape []int, f func(x *graph.Node) *graph.Node) point {
	return point{name, [][]int{shape}, 0, 0, func(x []*graph.Node) *graph.Node { return square(f(square(x[0]))) }}
}

// scan is the points of a Scan, of the operand's square so that the second derivative
// of a sum is not zero.
func scan(kind ir.Op) []point {
	along := func(shape []int, axis int) point {
		return move(kind.String(), shape, func(x *graph.Node) *graph.Node { return graph.Scan(kind, x, axis) })
	}
	return []point{along([]int{5}, 0), along([]int{2, 3}, 1), along([]int{4, 2}, 0), along([]int{2, 1}, 1)}
}

// scatter is the points of a Scatter: several updates meet in an element, and
// one element gets none.
func scatter(kind ir.Op) []point {
	return []point{
		{kind.String() + " axis 0", [][]int{{4, 2}, {3, 2}}, 0, 0, func(x []*graph.Node) *graph.Node {
			return graph.Scatter(kind, x[0], ints([][]int{{3, 0}, {1, 0}, {3, 0}}), x[1], 0)
		}},
		{kind.String() + " axis 1", [][]int{{2, 3}, {2, 4}}, 0, 0, func(x []*graph.Node) *graph.Node {
			return graph.Scatter(kind, square(x[0]), ints([][]int{{2, 0, 2, 2}, {1, 1, 0, 1}}), square(x[1]), 1)
		}},
		{kind.String() + " of one update", [][]int{{3, 2}, {1, 2}}, 0, 0, func(x []*graph.Node) *graph.Node {
			return graph.Scatter(kind, square(x[0]), ints([][]int{{2, 0}}), square(x[1]), 0)
		}},
	}
}

// points has at least one point for every differentiable op.
var points = [ir.Ops][]point{
	ir.Exp:      unary(ir.Exp, 0, 0),
	ir.Expm1:    unary(ir.Expm1, 0, 0),
	ir.Log:      unary(ir.Log, 0.5, 3),
	ir.Log1p:    unary(ir.Log1p, -0.5, 3),
	ir.Log2:     unary(ir.Log2, 0.5, 3),
	ir.Sin:      unary(ir.Sin, 0, 0),
	ir.Cos:      unary(ir.Cos, 0, 0),
	ir.Atan:     unary(ir.Atan, 0, 0),
	ir.Sqrt:     unary(ir.Sqrt, 0.5, 3),
	ir.Tanh:     unary(ir.Tanh, 0, 0),
	ir.Erf:      unary(ir.Erf, 0, 0),
	ir.Erfc:     unary(ir.Erfc, 0, 0),
	ir.Neg:      {move("", []int{2, 3}, func(x *graph.Node) *graph.Node { return graph.Unary(ir.Neg, x) })},
	ir.Argument: {move("", []int{2, 3}, func(x *graph.Node) *graph.Node { return graph.Argument(x, new(graph.Scope)) })},
	ir.StopGradient: {move("", []int{2, 3}, func(x *graph.Node) *graph.Node { // of zeros
		return graph.Binary(ir.Mul, x, graph.StopGradient(graph.Binary(ir.Sub, x, x)))
	})},
	ir.ToDevice: {move("", []int{2, 3}, func(x *graph.Node) *graph.Node { return node(tensorOf(x).To(tensor.CPU())) })},
	ir.CallResult: {move("", []int{2, 3}, func(x *graph.Node) *graph.Node {
		sin := grad.CustomJVP(tensor.Tensor.Sin, func(at, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			return at.Sin(), at.Cos().Mul(v)
		})
		return node(sin(tensorOf(x)))
	})},
	ir.CoOutput: {move("", []int{2, 3}, func(x *graph.Node) *graph.Node { return graph.CoOutput(x, new(graph.CoOutputs)) })},
	ir.Cast: {{"", [][]int{{2, 3}}, 0, 0, func(x []*graph.Node) *graph.Node {
		wide := ir.Float64 // and back: the check's tolerance depends on the operand's type
		if x[0].DType == ir.Float16 {
			wide = ir.Float32
		}
		return graph.Cast(square(graph.Cast(x[0], wide)), x[0].DType)
	}}},

	ir.Add: binary(ir.Add, 0, 0),
	ir.Sub: binary(ir.Sub, 0, 0),
	ir.Mul: binary(ir.Mul, 0, 0),
	ir.Div: binary(ir.Div, 0.5, 3),
	// It jumps where the quotient is a whole number.
	ir.Rem: append(binary(ir.Rem, 0.8, 1.4), point{"more than once", [][]int{{2, 3}, {2, 3}}, 0, 0, func(x []*graph.Node) *graph.Node {
		tenth := func(x *graph.Node) *graph.Node { return graph.Binary(ir.Mul, x, fill(x, 0.1)) }
		return graph.Binary(ir.Rem, graph.Binary(ir.Add, tenth(x[0]), fill(x[0], 5.5)), graph.Binary(ir.Add, tenth(x[1]), fill(x[1], 2)))
	}}),
	ir.Pow: append(binary(ir.Pow, 0.5, 3),
		constPow("square", 2, 0, 0), constPow("cube", 3, 0, 0), constPow("identity", 1, 0, 0), constPow("one", 0, 0, 0), constPow("reciprocal", -1, -3, -0.5)),
	ir.Atan2: append(binary(ir.Atan2, -3, -0.5), binary(ir.Atan2, 0.5, 3)...),
	ir.Max:   binary(ir.Max, -2.2, 1.8),
	ir.Min:   binary(ir.Min, -2.2, 1.8),
	ir.Where: {{"", [][]int{{2, 3}, {2, 3}}, 0, 0, func(x []*graph.Node) *graph.Node {
		return graph.Where(graph.Binary(ir.Lt, x[0], fill(x[0], 0.3)), square(x[0]), graph.Binary(ir.Mul, x[0], x[1]))
	}}},

	ir.Sum:       reduce(ir.Sum),
	ir.ReduceMax: reduce(ir.ReduceMax),
	ir.Prod:      reduce(ir.Prod),

	ir.Reshape: {move("", []int{2, 6}, func(x *graph.Node) *graph.Node { return graph.Reshape(x, []int{3, 1, 4}) })},
	ir.Permute: {move("", []int{2, 3, 4}, func(x *graph.Node) *graph.Node { return graph.Permute(x, []int{2, 0, 1}) })},
	ir.Expand: {
		move("one axis", []int{2, 1}, func(x *graph.Node) *graph.Node { return graph.Expand(x, []int{2, 3}) }),
		move("two axes", []int{1, 3, 1}, func(x *graph.Node) *graph.Node { return graph.Expand(x, []int{2, 3, 4}) }),
		move("to nothing", []int{2, 1}, func(x *graph.Node) *graph.Node { return graph.Expand(x, []int{2, 0}) }),
	},
	ir.Pad: {
		move("around", []int{2, 3}, func(x *graph.Node) *graph.Node {
			return graph.Pad(x, ir.Float(ir.Float64, 7), []graph.Padding{{Before: 1}, {Before: 2, After: 1}})
		}),
		move("interior", []int{2, 3}, func(x *graph.Node) *graph.Node {
			return graph.Pad(x, 0, []graph.Padding{{Interior: 2}, {Before: 1, After: 2, Interior: 1}})
		}),
		move("nothing", []int{0, 3}, func(x *graph.Node) *graph.Node {
			return graph.Pad(x, 0, []graph.Padding{{Before: 1, After: 1, Interior: 1}, {}})
		}),
	},
	ir.Crop: {
		move("part", []int{4, 5}, func(x *graph.Node) *graph.Node {
			return graph.Crop(x, []graph.Span{{Start: 1, Step: 1, Len: 2}, {Start: 0, Step: 1, Len: 5}})
		}),
		move("steps", []int{4, 7}, func(x *graph.Node) *graph.Node {
			return graph.Crop(x, []graph.Span{{Start: 0, Step: 3, Len: 2}, {Start: 1, Step: 2, Len: 2}})
		}),
		move("to nothing", []int{4, 5}, func(x *graph.Node) *graph.Node {
			return graph.Crop(x, []graph.Span{{Start: 1, Step: 2, Len: 0}, {Start: 0, Step: 1, Len: 5}})
		}),
	},
	ir.Flip: {move("", []int{2, 3}, func(x *graph.Node) *graph.Node { return graph.Flip(x, []int{0, 1}) })},
	ir.Window: {
		move("window", []int{7, 3}, func(x *graph.Node) *graph.Node { return graph.Window(x, 0, 1, 1, 1, 5) }),
		move("strided", []int{3, 9}, func(x *graph.Node) *graph.Node { return graph.Window(x, 1, 0, 2, 3, 2) }),
		move("convolution", []int{6, 1}, func(x *graph.Node) *graph.Node {
			return graph.Window(graph.Expand(x, []int{6, 3}), 0, 1, 1, 1, 4)
		}),
	},
	ir.Unwindow: {
		move("window", []int{5, 3}, func(x *graph.Node) *graph.Node { return graph.Unwindow(x, 0, 1, 1, 1, 7) }),
		move("strided", []int{3, 2}, func(x *graph.Node) *graph.Node { return graph.Unwindow(x, 1, 0, 2, 3, 9) }),
		move("longer", []int{2, 2}, func(x *graph.Node) *graph.Node { return graph.Unwindow(x, 0, 1, 2, 1, 6) }),
		move("shorter", []int{5, 3}, func(x *graph.Node) *graph.Node { return graph.Unwindow(x, 0, 1, 1, 1, 4) }),
	},
	ir.Cat: {{"", [][]int{{2, 3}, {2, 1}, {2, 0}}, 0, 0, func(x []*graph.Node) *graph.Node {
		return square(graph.Cat(1, []*graph.Node{x[0], square(x[1]), x[2], x[0]}))
	}}},

	ir.Gather: {
		{"axis 0", [][]int{{4, 2}}, 0, 0, func(x []*graph.Node) *graph.Node {
			return square(graph.Gather(square(x[0]), ints([][]int{{3, 0}, {1, 0}, {3, 0}}), 0))
		}},
		{"axis 1", [][]int{{2, 3}}, 0, 0, func(x []*graph.Node) *graph.Node {
			return square(graph.Gather(square(x[0]), ints([][]int{{2, 0, 2, 2}, {1, 1, 0, 1}}), 1))
		}},
	},
	ir.Scan:    slices.Concat(scan(ir.Add), scan(ir.Mul), scan(ir.Max), scan(ir.Min)),
	ir.Scatter: slices.Concat(scatter(ir.Add), scatter(ir.Mul), scatter(ir.Max), scatter(ir.Min), scatter(ir.Copy)),
}

// constPow is x to a constant power, also of negative numbers.
func constPow(name string, e, lo, hi float64) point {
	return point{name, [][]int{{2, 3}}, lo, hi, func(x []*graph.Node) *graph.Node {
		return graph.Binary(ir.Pow, x[0], fill(x[0], e))
	}}
}

package tensor

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// Outer returns the products of each element along t's last axis with each along o's:
// [... m] and [... n] give [... m n]. The axes before are broadcast.
func (t Tensor) Outer(o Tensor) Tensor {
	x, y := factors("Outer", t, o)
	if len(x.Shape) == 0 || len(y.Shape) == 0 {
		fail("Outer", "each operand needs at least one axis: Unsqueeze adds one", x, y)
	}
	x, y = broadcast("Outer", insert(x, len(x.Shape)), insert(y, len(y.Shape)-1))
	return Tensor{n: mul(x, y)}
}

// Kron returns the Kronecker product: t with each element replaced by its product with all
// of o. Axis i of the result is as long as axes i of both together; the operand of lower
// rank is given leading axes of length 1.
func (t Tensor) Kron(o Tensor) Tensor {
	x, y := factors("Kron", t, o)
	rank := max(len(x.Shape), len(y.Shape))
	a, b, joined := ones(2*rank), ones(2*rank), ones(rank)
	for i, n := range x.Shape {
		a[2*(rank-len(x.Shape)+i)] = n
	}
	for i, n := range y.Shape {
		b[2*(rank-len(y.Shape)+i)+1] = n
	}
	for i := range rank {
		joined[i] = a[2*i] * b[2*i+1]
	}
	p, q := broadcast("Kron", graph.Reshape(x, a), graph.Reshape(y, b))
	return Tensor{n: graph.Reshape(mul(p, q), joined)}
}

// TensorDot returns the sum of products over pairs of axes, axis a[i] of t with axis b[i]
// of o, which must be of one length. The result has t's other axes, then o's. The product
// over t's last n axes and o's first n has a = -n, …, -1 and b = 0, …, n-1.
func (t Tensor) TensorDot(o Tensor, a, b []int) Tensor {
	x, y := factors("TensorDot", t, o)
	if len(a) != len(b) {
		fail("TensorDot", fmt.Sprintf("%s and %s: want pairs", shape.Count(len(a), "axis"), shape.Count(len(b), "axis")), x, y)
	}
	var keptX, keptY, summed []int // lengths
	ax, ay := make([]int, len(x.Shape)), make([]int, len(y.Shape))
	for i := range ax {
		ax[i] = -1
	}
	for i := range ay {
		ay[i] = -1
	}
	for i := range a {
		p, q := axisOf("TensorDot", x, a[i]), axisOf("TensorDot", y, b[i])
		if ax[p] >= 0 || ay[q] >= 0 {
			fail("TensorDot", "an axis occurs twice", x, y, a, b)
		}
		if x.Shape[p] != y.Shape[q] {
			fail("TensorDot", fmt.Sprintf("the lengths %d and %d of axes %d and %d differ", x.Shape[p], y.Shape[q], p, q), x, y)
		}
		ax[p], ay[q] = i, i
		summed = append(summed, x.Shape[p])
	}
	number := func(axes, s []int, first int) (kept []int) {
		for i := range axes {
			if axes[i] < 0 {
				axes[i] = first + len(kept)
				kept = append(kept, s[i])
			} else {
				axes[i] += len(x.Shape) + len(y.Shape) - 2*len(a)
			}
		}
		return kept
	}
	keptX = number(ax, x.Shape, 0)
	keptY = number(ay, y.Shape, len(keptX))
	s := slices.Concat(keptX, keptY, summed)
	checkLen("TensorDot", s, x, y)
	return Tensor{n: contract(x, ax, y, ay, s, len(summed))}
}

// Rot90 turns t by k quarter turns in the plane of two axes, from axis a towards axis b.
func (t Tensor) Rot90(k, a, b int) Tensor {
	x := t.node("Rot90")
	i, j := axisOf("Rot90", x, a), axisOf("Rot90", x, b)
	if i == j {
		fail("Rot90", "the axes are the same", x)
	}
	switch k & 3 {
	case 1:
		return Tensor{n: swap(graph.Flip(x, []int{j}), i, j)}
	case 2:
		return Tensor{n: graph.Flip(x, []int{min(i, j), max(i, j)})}
	case 3:
		return Tensor{n: graph.Flip(swap(x, i, j), []int{j})}
	}
	return t
}

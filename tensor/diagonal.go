package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
)

// Tril returns t with zeros above diagonal k of its last two axes; 0 is the
// main diagonal, 1 the one above.
func (t Tensor) Tril(k int) Tensor {
	x := t.node("Tril")
	row, col := diagonalColumns("Tril", x, k)
	return Tensor{n: graph.Where(lt(row, col), fill(x, 0), x)}
}

// Triu returns t with zeros below diagonal k of its last two axes; 0 is the
// main diagonal, 1 the one above.
func (t Tensor) Triu(k int) Tensor {
	x := t.node("Triu")
	row, col := diagonalColumns("Triu", x, k)
	return Tensor{n: graph.Where(lt(col, row), fill(x, 0), x)}
}

// diagonalColumns returns, for each element of x, the column in which its row meets
// diagonal k, and its own column.
func diagonalColumns(op string, x *graph.Node, k int) (meets, col *graph.Node) {
	rank := matrix(op, x)
	rows, cols := x.Shape[rank-2], x.Shape[rank-1]
	k = min(max(k, -rows), cols) // diagonals further out are outside too
	checkPositions(op, x, rows+max(k, 0), cols)
	return shifted(graph.Iota(x.Shape, rank-2), float64(k)), graph.Iota(x.Shape, rank-1)
}

// Diag returns, for t with one axis, the square matrix with t on diagonal k and zeros
// elsewhere. For t with more axes it returns diagonal k of the last two, as one axis.
// Diagonal 0 is the main one, 1 the one above.
func (t Tensor) Diag(k int) Tensor {
	x := t.node("Diag")
	switch len(x.Shape) {
	case 0:
		fail("Diag", "it needs at least one axis: Unsqueeze adds one", x)
	case 1:
		return Tensor{n: onDiagonal("Diag", x, k)}
	}
	a := len(x.Shape) - 2
	if k < -x.Shape[a] || k > x.Shape[a+1] {
		fail("Diag", fmt.Sprintf("there is no diagonal %d", k), x)
	}
	top, left := max(0, -k), max(0, k)
	n := min(x.Shape[a]-top, x.Shape[a+1]-left)
	x = graph.Slice(graph.Slice(x, a, top, n), a+1, left, n)
	return Tensor{n: diagonal(x, a, a+1)}
}

// diagonal returns y[..j..] = x[..j..j..] for axes a and b of one length, without axis
// a.
func diagonal(x *graph.Node, a, b int) *graph.Node {
	return drop(graph.Window(x, a, b, 1, 1, 1), a)
}

// DiagEmbed returns square matrices with the elements along t's last axis on diagonal k and
// zeros elsewhere: [... n] gives [... n+|k| n+|k|].
func (t Tensor) DiagEmbed(k int) Tensor {
	x := t.node("DiagEmbed")
	if len(x.Shape) == 0 {
		fail("DiagEmbed", "it needs at least one axis: Unsqueeze adds one", x)
	}
	return Tensor{n: onDiagonal("DiagEmbed", x, k)}
}

// Trace returns the sum of the main diagonal of the last two axes, which it drops. Sums of
// bools and of integers of 8 and 16 bits are int32.
func (t Tensor) Trace() Tensor {
	matrix("Trace", t.node("Trace"))
	return t.Diag(0).Sum(-1).Squeeze(-1)
}

// onDiagonal returns square matrices with the last axis of x on diagonal k.
func onDiagonal(op string, x *graph.Node, k int) *graph.Node {
	a := len(x.Shape) - 1
	n, off := x.Shape[a], max(k, -k)
	if off < 0 || off > math.MaxInt32 {
		fail(op, fmt.Sprintf("diagonal %d is too far out", k), x)
	}
	checkLen(op, append(slices.Clone(x.Shape[:a]), n+off+1, n+off), x)
	square := skew(pad(insert(x, a+1), a+1, 0, n))
	if k > 0 {
		return pad(pad(square, a+1, off, 0), a, 0, off)
	}
	return pad(pad(square, a, off, 0), a+1, 0, off)
}

// skew returns [... n n] from rows [... n n+1], with row i shifted right by i elements: it
// reads the elements of rows in order, n a row. So column 0 of rows becomes the diagonal.
func skew(rows *graph.Node) *graph.Node {
	a := len(rows.Shape) - 2
	n, batch := rows.Shape[a], rows.Shape[:a]
	line := graph.Reshape(rows, append(slices.Clone(batch), n*(n+1)))
	return graph.Reshape(graph.Slice(line, a, 0, n*n), append(slices.Clone(batch), n, n))
}

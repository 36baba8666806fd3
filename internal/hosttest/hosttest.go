// Package hosttest has a function that computes on the host, with derivatives and a failure on
// the elements, for tests of packages below linalg.
package hosttest

import (
	"errors"
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Inv returns the inverse of a square matrix of float32s or float64s. A singular matrix is an
// error when the result is read.
func Inv(a tensor.Tensor) tensor.Tensor {
	return grad.CustomJVP(func(a tensor.Tensor) tensor.Tensor {
		n := a.Dim(0)
		return tensor.Internal.HostCall(graph.Token{}, "hosttest.Inv", n*n, n, eliminate, a.Flatten(0)).Reshape(n, n)
	}, func(a, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		x := Inv(a)
		return x, x.MatMul(v).MatMul(x).Neg()
	})(a)
}

// eliminate inverts a batch of matrices.
func eliminate(out graph.HostArray, in []graph.HostArray) error {
	d, data := out.DType, in[0].Data
	length := out.Shape[len(out.Shape)-1]
	n := int(math.Sqrt(float64(length)))
	encoded := out.Data[:0]
	for len(data) > 0 {
		rows := make([][]float64, n) // of the matrix and the identity beside it
		for i := range rows {
			rows[i] = make([]float64, 2*n)
			for j := range n {
				rows[i][j] = ir.Decode(d, data).Float64(d)
				data = data[d.Size():]
			}
			rows[i][n+i] = 1
		}
		if !reduce(rows) {
			return errors.New("the matrix is singular")
		}
		for _, row := range rows {
			for _, x := range row[n:] {
				encoded = ir.Float(d, x).Append(encoded, d)
			}
		}
	}
	return nil
}

// reduce turns the square on the left of rows into the identity, by elimination with pivots. It
// returns false if the square has no inverse.
func reduce(rows [][]float64) bool {
	for c := range rows {
		at := c
		for i := range rows {
			if i > c && math.Abs(rows[i][c]) > math.Abs(rows[at][c]) {
				at = i
			}
		}
		rows[c], rows[at] = rows[at], rows[c]
		pivot := rows[c]
		if pivot[c] == 0 {
			return false
		}
		scale := 1 / pivot[c]
		for j := range pivot {
			pivot[j] *= scale
		}
		for i, row := range rows {
			if times := row[c]; i != c {
				for j := range row {
					row[j] -= times * pivot[j]
				}
			}
		}
	}
	return true
}

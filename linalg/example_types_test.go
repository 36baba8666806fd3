package linalg_test

import (
	"fmt"

	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// Cholesky factors a covariance; CholeskySolve uses the factor for many right sides.
func ExampleCholesky() {
	a := tensor.From([][]float64{{4, 2}, {2, 5}})
	l := linalg.Cholesky(a)
	fmt.Printf("%.3f\n", l)
	fmt.Printf("%.3f\n", linalg.CholeskySolve(l, tensor.New([]float64{8, 12}))) // a·x = b
	// Output:
	// [[2.000 0.000]
	//  [1.000 2.000]]
	// [1.000 2.000]
}

func ExampleQR() {
	a := tensor.From([][]float64{{3, 1}, {4, 2}})
	q, r := linalg.QR(a)
	fmt.Printf("%.2f\n", r.Abs())
	fmt.Printf("%.2f\n", q.MatMul(r))
	// Output:
	// [[5.00 2.20]
	//  [0.00 0.40]]
	// [[3.00 1.00]
	//  [4.00 2.00]]
}

// The largest singular value is the two-norm; their ratio is the condition number.
func ExampleSVD() {
	a := tensor.From([][]float64{{3, 0}, {0, 0.5}, {0, 0}})
	u, s, vt := linalg.SVD(a)
	fmt.Println(u.Shape(), s.Shape(), vt.Shape())
	fmt.Printf("%.3f %.3f %d\n", linalg.SVDVals(a), linalg.Cond(a), linalg.MatrixRank(a))
	// Output:
	// [3 2] [2] [2 2]
	// [3.000 0.500] 6.000 2
}

// A rotation by a right angle has the eigenvalues ±i.
func ExampleEig() {
	w, _ := linalg.Eig(tensor.From([][]float64{{0, -1}, {1, 0}}))
	fmt.Printf("%.3f %.3f\n", w.Im.Abs(), w.Re.Abs())
	fmt.Printf("%.3f\n", linalg.Eigvalsh(tensor.From([][]float64{{2, 1}, {1, 2}})))
	// Output:
	// [1.000 1.000] [0.000 0.000]
	// [1.000 3.000]
}

// Inverses of a matrix, of one without an inverse, and powers.
func ExampleInv() {
	a := tensor.From([][]float64{{1, 1}, {0, 2}})
	fmt.Printf("%.3f\n", linalg.Inv(a))
	fmt.Printf("%.3f\n", linalg.PInv(tensor.From([][]float64{{2, 0}, {0, 0}})).Abs())
	fmt.Println(linalg.MatrixPower(a, 3))
	// Output:
	// [[ 1.000 -0.500]
	//  [ 0.000  0.500]]
	// [[0.500 0.000]
	//  [0.000 0.000]]
	// [[1 7]
	//  [0 8]]
}

func ExampleExpm() {
	turn := tensor.From([][]float64{{0, -1}, {1, 0}})
	fmt.Printf("%.3f\n", linalg.Expm(turn)) // cos 1 and sin 1
	// Output:
	// [[ 0.540 -0.841]
	//  [ 0.841  0.540]]
}

// An Order names a norm of a matrix.
func ExampleOrder() {
	a := tensor.From([][]float64{{3, 0}, {0, -4}})
	for _, o := range []linalg.Order{linalg.Frobenius, linalg.Nuclear, linalg.Two, linalg.One} {
		fmt.Printf("%.3f\n", linalg.Norm(a, o))
	}
	// Output:
	// 5.000
	// 7.000
	// 4.000
	// 4.000
}

// Only the triangle that is named is read.
func ExampleTriangle() {
	a := tensor.From([][]float64{{2, 1}, {9, 4}})
	b := tensor.New([]float64{4, 8})
	fmt.Println(linalg.SolveTriangular(a, b, linalg.Triangle{Upper: true}))
	fmt.Println(linalg.SolveTriangular(a, b, linalg.Triangle{Unit: true}))
	// Output:
	// [1 2]
	// [4 -28]
}

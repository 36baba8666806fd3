// Package linalg has linear algebra: systems of equations, factorizations, eigenvalues, and
// functions of matrices. Read solve.go first, then host.go.
//
// A matrix is the last two axes of a tensor. The axes before them are a batch: each function
// works on all matrices as on one. Functions that turn a matrix into a number (Det, Norm,
// Cond, MatrixRank) drop the two axes. Matrices may be empty, wide or tall where that makes
// sense. Elements are float32 or float64; of other types it is an error: Cast first.
//
// # Where it is computed
//
// Factorizations and solves are computed on the host, in float64, by blocks on this library's
// matrix product; for float32 they are rounded at the end. Of gonum's LAPACK are [Eig] and the
// reductions to tridiagonal and bidiagonal matrices that Eigh and SVD begin with.
// They are lazy, as all operations are: reading a value computes their operands in a plan,
// calls the host, and goes on with the plan that reads them. Tensors on a GPU are copied to
// the host and back. Products, norms and all derivatives are operations of tensors, on the
// tensor's device. A batch is divided among the cores.
//
// # Derivatives
//
// All functions but [Eig] have derivatives of all orders in both modes, and work inside of
// grad.Vmap and grad.Checkpoint. [Cholesky], [CholeskySolve], [Eigh] and [Eigvalsh] are
// functions of a symmetric matrix, for which they take the mean of the argument and its
// transpose; so the gradient is symmetric.
//
// The vectors of [Eigh] and [SVD] have no derivative where two of their values are equal.
// The terms in which their difference is a divisor are left out there, for values that differ
// by no more than rounding, of the greatest in float64 or of their own in their type, so gradients stay finite; they are right for functions
// of the values alone, and of u·vt. Second derivatives are right for the sum of singular values, and
// not for other functions of equal values.
// [PInv], [LstSq] and MatrixRank take singular values up to a tolerance for 0, and
// derivatives are those at constant rank. [Det] has the right gradient for singular
// matrices, not the second derivative; the derivative of [SlogDet] is infinite there.
//
// # Errors
//
// Shapes and types that do not fit panic with a [tensor.Error]. Mistakes in elements, such
// as a singular matrix in [Solve] or NaN in [SVD], are found when a value is read: the read
// fails with a [tensor.Error] that names the call, and the matrix of the batch.
package linalg

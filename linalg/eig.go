package linalg

import (
	"errors"

	"gonum.org/v1/gonum/lapack"

	"github.com/tensorken/tensorken/fft"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Eig returns the eigenvalues w [... n] of square matrices a [... n n], in no order, and
// eigenvectors of length 1, the columns of v [... n n]. Eigenvalues that are not real come
// in conjugate pairs. For symmetric matrices see [Eigh]. NaN or an infinity in a is an error when
// a result is read. Eig has no derivative: differentiating it panics.
func Eig(a tensor.Tensor) (w, v fft.Complex) {
	const op = "linalg.Eig"
	n := square(op, a)
	never := func(args, _, _ tensors) tensors {
		tensor.Internal.Misuse(graph.Token{}, op, "it has no derivative: use grad.StopGradient on its argument or, for symmetric matrices, linalg.Eigh", tensor.Internal.Node(graph.Token{}, args[0]))
		return nil
	}
	outs := withRules(op, func(args tensors) tensors {
		return cut(onHost(op, 2*n+2*n*n, nil, func(out []float64, in [][]float64) error {
			return complexEigen(out, in[0], n)
		}, args[0]), []int{n}, []int{n}, []int{n, n}, []int{n, n})
	}, never, never, a)
	return fft.Complex{Re: outs[0], Im: outs[1]}, fft.Complex{Re: outs[2], Im: outs[3]}
}

// complexEigen fills out with the real and imaginary parts of the eigenvalues, then of the
// eigenvectors.
func complexEigen(out, a []float64, n int) error {
	if err := finite(a, n); err != nil || n == 0 {
		return err
	}
	a = append(allocate(n * n)[:0], a...)
	values, vectors := out[:2*n], out[2*n:]
	re, im := vectors[:n*n], vectors[n*n:]
	work := make([]float64, 1)
	call := func(lwork int) int {
		return solver.Dgeev(lapack.LeftEVNone, lapack.RightEVCompute, n, a, n, values[:n], values[n:], nil, 1, re, n, work, lwork)
	}
	call(-1)
	work = make([]float64, int(work[0]))
	if call(len(work)) != 0 {
		return errors.New("the eigenvalues did not converge")
	}
	// Columns j and j+1 are the real and the imaginary part of a pair.
	for j := 0; j < n; j++ {
		if values[n+j] == 0 {
			continue
		}
		for i := range n {
			re[i*n+j+1], im[i*n+j], im[i*n+j+1] = re[i*n+j], re[i*n+j+1], -re[i*n+j+1]
		}
		j++
	}
	return nil
}

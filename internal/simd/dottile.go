package simd

import "unsafe"

// A DotTile multiplies up to Rows rows by a transposed matrix, which it reads where it is and once:
// c[i·ldc+j] = Σ a[i·lda+p]·b[j·ldb+p] for i in [0, m), j in [0, n), over p in [0, k). It adds the
// sum to c unless add is 0. m is at least 1.
type DotTile struct {
	Rows int
	Dots func(c, a, b unsafe.Pointer, m, n, k, ldc, lda, ldb, add int)
}

// plainDotRows is the number of rows for which Go's code reads b in one pass.
const plainDotRows = 16

func dotTile[W any, T float](widen func(W) T) func(c, a, b unsafe.Pointer, m, n, k, ldc, lda, ldb, add int) {
	return func(c, a, b unsafe.Pointer, m, n, k, ldc, lda, ldb, add int) {
		size, sizeB := int(unsafe.Sizeof(*new(T))), int(unsafe.Sizeof(*new(W)))
		column := make([]T, k)
		for j := range n {
			for p, w := range vec[W](unsafe.Add(b, j*ldb*sizeB), k) {
				column[p] = widen(w)
			}
			for i := range m {
				sum := dot(vec[T](unsafe.Add(a, i*lda*size), k), column)
				to := &vec[T](unsafe.Add(c, (i*ldc+j)*size), 1)[0]
				if add != 0 {
					sum += *to
				}
				*to = sum
			}
		}
	}
}

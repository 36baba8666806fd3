package simd

import "unsafe"

// A Product adds a product of matrices to a third:
// c[i·ldc+j] += Σ a[i·lda+p·sa]·b[p·ldb+j] for i in [0, m), j in [0, n), over
// p in [0, k). The order of the sum depends neither on i nor on j.
type Product func(c, a, b unsafe.Pointer, m, n, k, ldc, lda, sa, ldb int)

// product updates a row of c by four rows of b at a time. The compiler does not
// keep larger tiles in registers.
func product[T number](c, a, b unsafe.Pointer, m, n, k, ldc, lda, sa, ldb int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	cs, as, bs := vec[T](c, (m-1)*ldc+n), vec[T](a, (m-1)*lda+(k-1)*sa+1), vec[T](b, (k-1)*ldb+n)
	for i := range m {
		row := cs[i*ldc:][:n]
		x := as[i*lda:]
		p := 0
		for ; p+4 <= k; p += 4 {
			x0, x1, x2, x3 := x[p*sa], x[(p+1)*sa], x[(p+2)*sa], x[(p+3)*sa]
			b0, b1, b2, b3 := bs[p*ldb:][:n], bs[(p+1)*ldb:][:n], bs[(p+2)*ldb:][:n], bs[(p+3)*ldb:][:n]
			for j := range row {
				row[j] += (x0*b0[j] + x1*b1[j]) + (x2*b2[j] + x3*b3[j])
			}
		}
		for ; p < k; p++ {
			x0, b0 := x[p*sa], bs[p*ldb:][:n]
			for j := range row {
				row[j] += x0 * b0[j]
			}
		}
	}
}

package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A Product computes a product of matrices by tiles of up to Rows by Cols elements.
// It sums in one order, whatever the tile's size and an element's place in it.
type Product struct {
	Rows, Cols int
	Speed      int // the additions for which it needs the time of one
	Tile       ProductTile
	Indexed    IndexedTile
	Packing    *Packing // of the factors, or nil if the tile reads them as they are
}

// Depth is the depth of the tile's factors, for k positions.
func (p *Product) Depth(k int) int {
	if p.Packing == nil {
		return k
	}
	return p.Packing.groups(k)
}

// A ProductTile gives c[i·ldc+j] = Σ a[i·lda+p·sa]·b[p·ldb+j] for i in [0, m), j in
// [0, n), over p in [0, k). Unless add is nil, it adds the sum to the elements at add, whose rows are addStep bytes apart:
// they are c's, or memory apart from c. m and n are at least 1.
// The strides of both factors may have any sign. For each p it may read the memory at ahead, which it moves by step
// bytes, into the second-level cache: the panel that is used next, or any address.
type ProductTile func(c, a, b unsafe.Pointer, m, n, k, ldc, lda, sa, ldb int, add unsafe.Pointer, addStep, ahead, step int)

// An IndexedTile is a ProductTile whose columns of a are at any positions, as in windows:
// c[i·ldc+j] = Σ a[i·lda+at[p]]·b[p·ldb+j]. There are k ints at at. It sums in the same order.
type IndexedTile func(c, a, b unsafe.Pointer, m, n, k, ldc, lda int, at unsafe.Pointer, ldb int, add unsafe.Pointer, addStep, ahead, step int)

// plainProduct has long rows, which the compiler's code is best at.
func plainProduct[T number]() Product {
	return Product{128, 512, 1, product[T], indexedProduct[T], nil}
}

func product[T number](c, a, b unsafe.Pointer, m, n, k, ldc, lda, sa, ldb int, add unsafe.Pointer, addStep, _, _ int) {
	multiply[T](c, a, b, m, n, k, ldc, lda, ldb, add, addStep, func(p int) int { return p * sa })
}

func indexedProduct[T number](c, a, b unsafe.Pointer, m, n, k, ldc, lda int, at unsafe.Pointer, ldb int, add unsafe.Pointer, addStep, _, _ int) {
	columns := vec[int](at, k)
	multiply[T](c, a, b, m, n, k, ldc, lda, ldb, add, addStep, func(p int) int { return columns[p] })
}

// multiply updates a row of c by four rows of b at a time. The compiler does not
// keep larger tiles in registers.
func multiply[T number](c, a, b unsafe.Pointer, m, n, k, ldc, lda, ldb int, add unsafe.Pointer, addStep int, column func(p int) int) {
	cs := vec[T](c, (m-1)*ldc+n)
	if add != c {
		for i := range m {
			clear(cs[i*ldc:][:n])
		}
	}
	size := int(unsafe.Sizeof(*new(T)))
	rowB := func(p int) []T { return vec[T](unsafe.Add(b, p*ldb*size), n) }
	for i := range m {
		row := cs[i*ldc:][:n]
		x := func(p int) T { return at[T](unsafe.Add(a, (i*lda+column(p))*size)) }
		p := 0
		for ; p+4 <= k; p += 4 {
			x0, x1, x2, x3 := x(p), x(p+1), x(p+2), x(p+3)
			b0, b1, b2, b3 := rowB(p), rowB(p+1), rowB(p+2), rowB(p+3)
			for j := range row {
				row[j] += (x0*b0[j] + x1*b1[j]) + (x2*b2[j] + x3*b3[j])
			}
		}
		for ; p < k; p++ {
			x0, b0 := x(p), rowB(p)
			for j := range row {
				row[j] += x0 * b0[j]
			}
		}
		if add != nil && add != c {
			for j, v := range vec[T](unsafe.Add(add, i*addStep), n) {
				row[j] += v
			}
		}
	}
}

// A Filter adds up to Cols windows in one pass: c[j] = Σ w[p]·a[at[p]+j] for j in [0, n), over p in
// [0, k). It adds the sum to c unless add is 0. There are k ints at at; n is at least 1. Each sum is
// in the order of p.
type Filter struct {
	Cols int
	Tile func(c, a, w, at unsafe.Pointer, n, k, add int)
	// Across adds up windows of Lanes planes, which have weights of their own, or is nil. The elements and the
	// weights of the planes lie beside each other: c[l] = Σ w[p·Lanes+l]·a[at[p]+l] for l in [0, Lanes), where a
	// moves by step bytes with each of n positions, at most Places, and c by apart. Positions are stored in order.
	Across func(c, a, w, at unsafe.Pointer, n, k, step, apart int)
	Lanes  int
	Places int
}

// ApplyAcross computes the windows of Lanes planes at any number of positions.
func (f *Filter) ApplyAcross(c, a, w, at unsafe.Pointer, n, k, step, apart int) {
	if n <= 0 {
		return
	}
	some := ir.CeilDiv(n, ir.CeilDiv(n, f.Places))
	for j := 0; j < n; j += some {
		f.Across(unsafe.Add(c, j*apart), unsafe.Add(a, j*step), w, at, min(some, n-j), k, step, apart)
	}
}

// Apply computes any number of windows.
func (f *Filter) Apply(c, a, w, at unsafe.Pointer, n, k, size int) {
	if n <= 0 {
		return
	}
	passes := (n + f.Cols - 1) / f.Cols
	cols := ((n+passes-1)/passes + 15) &^ 15
	for j := 0; j < n; j += cols {
		f.Tile(unsafe.Add(c, j*size), unsafe.Add(a, j*size), w, at, min(cols, n-j), k, 0)
	}
}

func plainFilter[T float]() Filter { return Filter{Cols: 512, Tile: filter[T]} }

func filter[T float](c, a, w, at unsafe.Pointer, n, k, add int) {
	sums, weights, positions := vec[T](c, n), vec[T](w, k), vec[int](at, k)
	if add == 0 {
		clear(sums)
	}
	size := int(unsafe.Sizeof(*new(T)))
	row := func(p int) []T { return vec[T](unsafe.Add(a, positions[p]*size), n) }
	p := 0
	for ; p+3 <= k; p += 3 {
		w0, w1, w2 := weights[p], weights[p+1], weights[p+2]
		x0, x1, x2 := row(p), row(p+1), row(p+2)
		for j := range sums {
			sums[j] = sums[j] + w0*x0[j] + w1*x1[j] + w2*x2[j]
		}
	}
	for ; p < k; p++ {
		w0, x0 := weights[p], row(p)
		for j := range sums {
			sums[j] += w0 * x0[j]
		}
	}
}

// A WinogradTransform transforms n matrices that lie beside each other, as simd.Winograd says. An element of a small matrix
// is at from[y·row + x·column + i] or to[y·row + x·column + i], one of a tile of 4 by 4 at to[(4y+x)·plane + i] or
// from[(4y+x)·plane + i], for i in [0, n). Distances may have any sign.
type WinogradTransform func(to, from unsafe.Pointer, n, plane, row, column int)

// Winograd has the transforms of Winograd's algorithm F(2×2, 3×3) for float32, after Lavin and Gray: Input of 4 by 4 elements,
// Weights of 3 by 3 and Output to 2 by 2 sums of windows. The operand of Output is the products of the elements of Input
// and Weights. An infinity, or numbers near the greatest, may become NaN. It is empty
// where products are in assembly and transforms would be in Go, which would take the time that they save.
var Winograd = WinogradTransforms{winogradInput, winogradWeights, winogradOutput}

type WinogradTransforms struct{ Input, Weights, Output WinogradTransform }

// elementAt returns element i at p.
func elementAt(p unsafe.Pointer, i int) *float32 { return (*float32)(unsafe.Add(p, 4*i)) }

func winogradInput(to, from unsafe.Pointer, n, plane, row, column int) {
	for i := range n {
		var t [4][4]float32
		for x := range 4 {
			at := func(y int) float32 { return *elementAt(from, y*row+x*column+i) }
			t[0][x], t[1][x], t[2][x], t[3][x] = at(0)-at(2), at(1)+at(2), at(2)-at(1), at(1)-at(3)
		}
		for y, t := range t {
			for x, v := range [4]float32{t[0] - t[2], t[1] + t[2], t[2] - t[1], t[1] - t[3]} {
				*elementAt(to, (4*y+x)*plane+i) = v
			}
		}
	}
}

func winogradWeights(to, from unsafe.Pointer, n, plane, row, column int) {
	// A sum and a difference have halves of the outer elements and of the inner one.
	spread := func(a, b, c float32) [4]float32 {
		outer, inner := (a+c)*0.5, b*0.5
		return [4]float32{a, outer + inner, outer - inner, c}
	}
	for i := range n {
		var t [3][4]float32
		for x := range t {
			at := func(y int) float32 { return *elementAt(from, y*row+x*column+i) }
			t[x] = spread(at(0), at(1), at(2))
		}
		for y := range 4 {
			for x, v := range spread(t[0][y], t[1][y], t[2][y]) {
				*elementAt(to, (4*y+x)*plane+i) = v
			}
		}
	}
}

func winogradOutput(to, from unsafe.Pointer, n, plane, row, column int) {
	for i := range n {
		var t [2][4]float32
		for x := range 4 {
			at := func(y int) float32 { return *elementAt(from, (4*y+x)*plane+i) }
			t[0][x], t[1][x] = at(0)+(at(1)+at(2)), (at(1)-at(2))-at(3)
		}
		for y, t := range t {
			*elementAt(to, y*row+i) = t[0] + (t[1] + t[2])
			*elementAt(to, y*row+column+i) = (t[1] - t[2]) - t[3]
		}
	}
}

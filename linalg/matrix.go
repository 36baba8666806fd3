package linalg

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A matrix is a matrix on the host: element [i j] is data[i·stride+j].
type matrix struct {
	rows, cols, stride int
	data               []float64
}

func (a matrix) row(i int) []float64 { return a.data[i*a.stride:][:a.cols] }

func (a matrix) at(i, j int) float64 { return a.data[i*a.stride+j] }

// part is rows i to i1 and columns j to j1.
func (a matrix) part(i, i1, j, j1 int) matrix {
	p := matrix{i1 - i, j1 - j, a.stride, nil}
	if p.rows > 0 && p.cols > 0 {
		p.data = a.data[i*a.stride+j:]
	}
	return p
}

// newMatrix returns a matrix of zeros.
func newMatrix(rows, cols int) matrix {
	return matrix{rows, cols, cols, allocate(rows * cols)}
}

// clone returns a copy of a.
func clone(a matrix) matrix {
	c := newMatrix(a.rows, a.cols)
	for i := range a.rows {
		copy(c.row(i), a.row(i))
	}
	return c
}

// newPadded is newMatrix with a stride at which rows do not compete for the same lines of the
// cache.
func newPadded(rows, cols int) matrix {
	return matrix{rows, cols, cols + 8, allocate(rows * (cols + 8))}
}

// A factor is a matrix as a factor of a product, perhaps transposed: element [i j] is
// data[i·down+j·right].
type factor struct {
	down, right int
	data        []float64
}

func (a matrix) plain() factor      { return factor{a.stride, 1, a.data} }
func (a matrix) transposed() factor { return factor{1, a.stride, a.data} }

// The sizes of the panels of a product: depth elements of each row of both factors, and
// strips of rows of the left one.
const (
	panelDepth = 256
	stripRows  = 56
)

var scratches = sync.Pool{New: func() any { return new([]float64) }}

// scratch returns memory for n numbers, and the function that frees it.
func scratch(n int) (x []float64, free func()) {
	p := scratches.Get().(*[]float64)
	grow(p, n)
	return *p, func() { scratches.Put(p) }
}

// grow makes *p n numbers long.
func grow(p *[]float64, n int) {
	if cap(*p) < n {
		*p = allocate(n)
	}
	*p = (*p)[:n]
}

// allocate returns n zeros. It panics with an error if the host has too little memory, which
// hostWorker.run recovers.
func allocate(n int) []float64 {
	b, err := tensor.Internal.Allocate(graph.Token{}, 8*n)
	if err != nil {
		panic(err)
	}
	if n == 0 {
		return []float64{}
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// addProduct adds scale·a·b, with a sum over depth elements, to c: to all of it or, if upper
// is set, at least to its upper triangle.
func addProduct(c matrix, scale float64, a, b factor, depth int, upper bool) {
	if c.rows == 0 || c.cols == 0 || depth == 0 {
		return
	}
	product := &simd.Products[ir.Float64]
	panels := ir.CeilDiv(c.cols, product.Cols)
	packed, free := scratch(panels * product.Cols * min(depth, panelDepth))
	defer free()
	strips := ir.CeilDiv(c.rows, stripRows)
	for from := 0; from < depth; from += panelDepth {
		p := &panelProduct{c: c, scale: scale, a: a, from: from, depth: min(panelDepth, depth-from), upper: upper, Product: product, packed: packed}
		p.pack(b)
		parallel(strips, c.rows*c.cols*p.depth, p.strip)
	}
}

// A panelProduct adds the products over one panel of the depth.
type panelProduct struct {
	c           matrix
	scale       float64
	a           factor
	from, depth int
	upper       bool
	*simd.Product
	packed []float64 // of the right factor: panels of Cols columns, row by row
}

// pack copies the right factor.
func (p *panelProduct) pack(b factor) {
	for j := 0; j < p.c.cols; j += p.Cols {
		n := min(p.Cols, p.c.cols-j)
		for k := range p.depth {
			dst := p.packed[j*p.depth+k*p.Cols:][:n]
			at := (p.from+k)*b.down + j*b.right
			if b.right == 1 {
				copy(dst, b.data[at:])
				continue
			}
			for i := range dst {
				dst[i] = b.data[at+i*b.right]
			}
		}
	}
}

// strip computes a strip of rows: rows of the left factor are copied times scale.
func (p *panelProduct) strip(i int) {
	left, free := scratch(stripRows * panelDepth)
	defer free()
	first := i * stripRows
	rows := min(stripRows, p.c.rows-first)
	for r := range rows {
		dst := left[r*p.depth:][:p.depth]
		at := (first+r)*p.a.down + p.from*p.a.right
		for k := range dst {
			dst[k] = p.scale * p.a.data[at+k*p.a.right]
		}
	}
	j := 0
	if p.upper {
		j = first / p.Cols * p.Cols
	}
	for ; j < p.c.cols; j += p.Cols {
		n := min(p.Cols, p.c.cols-j)
		for r := 0; r < rows; r += p.Rows {
			m := min(p.Rows, rows-r)
			panel := unsafe.Pointer(&p.packed[j*p.depth])
			c := unsafe.Pointer(&p.c.data[(first+r)*p.c.stride+j])
			p.Tile(c, unsafe.Pointer(&left[r*p.depth]), panel, m, n, p.depth, p.c.stride, p.depth, 1, p.Cols, c, p.c.stride*8, int(uintptr(panel)), 0)
		}
	}
}

// parallel calls task for 0 to n-1, on several cores if the work, in multiplications, is worth
// it.
func parallel(n, work int, task func(int)) {
	threads := min(n, runtime.GOMAXPROCS(0), work>>17)
	var next atomic.Int64
	loop := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			task(i)
		}
	}
	var group sync.WaitGroup
	for range threads - 1 {
		group.Go(loop)
	}
	loop()
	group.Wait()
}

// multiply returns a·b.
func multiply(a, b matrix) matrix {
	c := newMatrix(a.rows, b.cols)
	addProduct(c, 1, a.plain(), b.plain(), a.cols, false)
	return c
}

package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Blocks has the routines of a format. Dot, Fixed and Codes may be nil.
type Blocks struct {
	// Decode decodes n blocks at b to y.
	Decode func(y, b unsafe.Pointer, n int)
	// Dot multiplies a row by columns of n blocks, ldb bytes apart: c[j] = Σ a[p]·b_j[p]. It adds the sum
	// to c unless add is 0.
	Dot func(c, a, b unsafe.Pointer, columns, n, ldb, add int)
	// Fixed is Dot of rows in fixed point, results of Fix, ldc and lda bytes apart. It needs FixedScratch bytes at scratch.
	Fixed func(c, a, b, scratch unsafe.Pointer, rows, columns, n, ldc, lda, ldb int)
	// Codes converts n blocks at b to runs of FixedProduct.
	Codes   func(y, b unsafe.Pointer, n int)
	offsets bool // runs have offsets
}

// Fix converts n runs of 32 float32 to fixed point, in which a run is 32 integers times a scale. They are
// of 16 bits: the error of a number is at most 1/65,000 of the run's largest absolute value, or 2⁻¹¹⁶. A run
// with a number that is not finite has a scale that is not. The result takes FixedBytes: two bytes for each
// number, the upper bytes of two runs before the lower ones, the scales, and the sums of each run and of its halves. Fix is nil where no format has Fixed.
var Fix func(y, a unsafe.Pointer, n int)

// FixedBytes is the memory for numbers in fixed point; their number is a multiple of 32.
func FixedBytes(numbers int) int { return (numbers+32)/64*128 + numbers/32*(4+4+8) }

// FixedStride is a distance of rows in fixed point, not longer than rows of float32 of 64 numbers or more: an odd number of lines of the cache,
// so that rows do not compete for the same sets.
func FixedStride(numbers int) int {
	return min((FixedBytes(numbers)+63)/64*64|64, 4*numbers)
}

// blocks has the routines in assembly, by the name of the format.
var blocks = map[string]Blocks{}

// fixed has the routines of Blocks.Fixed.
var fixed = map[string]fixedDots{}

// fixedDots are a format's routines for rows in fixed point: dot for one of them, and for more panel, which unpacks
// n blocks of 16 columns, ldb bytes apart, for a panelDot.
type fixedDots struct {
	dot   func(c, a, b unsafe.Pointer, columns, n, ldb int)
	panel func(y, b unsafe.Pointer, n, ldb int)
	runs  int // of a block
	bytes int // of a block
	parts int // of a run, with a scale each
}

// A panelDot multiplies m rows of k runs by a panel of n columns: digits at a, scales at s and sums at u, which are lda bytes
// apart. With each run it reads step bytes ahead into the cache. It adds the sums to c, ldc bytes apart, unless add is 0.
type panelDot func(c, a, s, u, p unsafe.Pointer, ahead uintptr, m, n, k, ldc, lda, step, add int)

// panelDots has the routines by the parts of a run.
var panelDots [3]panelDot

const (
	panelColumns = 16
	panelRows    = 8
	// panelRuns is the number of runs of a panel, which stays in the first-level cache.
	panelRuns  = 8
	panelBytes = panelRuns * 2 * 64 * (4 + 2)
	// FixedScratch is the memory for a panel and for blocks of fewer than 16 columns.
	FixedScratch = 64 + panelBytes + panelColumns*panelRuns*64
)

// multiply is Blocks.Fixed.
func (f *fixedDots) multiply(c, a, b, scratch unsafe.Pointer, rows, columns, n, ldc, lda, ldb int) {
	switch rows {
	case 0:
		return
	case 1:
		f.dot(c, a, b, columns, n, ldb)
		return
	}
	panel := unsafe.Add(scratch, -uintptr(scratch)&63)
	runs, most, height := n*f.runs, panelRuns/f.runs, ir.CeilDiv(rows, ir.CeilDiv(rows, panelRows))
	for j := 0; j < columns; j += panelColumns {
		some := min(panelColumns, columns-j)
		for at := 0; at < n; at += most {
			blocks := min(most, n-at)
			from, distance := unsafe.Add(b, j*ldb+at*f.bytes), ldb
			if some < panelColumns {
				to := unsafe.Add(panel, panelBytes)
				distance = blocks * f.bytes
				for i := range panelColumns {
					copy(vec[byte](unsafe.Add(to, i*distance), distance), vec[byte](unsafe.Add(from, min(i, some-1)*ldb), distance))
				}
				from = to
			}
			f.panel(panel, from, blocks, distance)
			ahead := uintptr(b) + uintptr((j+panelColumns)*ldb+panelColumns*at*f.bytes) // the next columns, if they are adjacent
			first := at * f.runs
			for i := 0; i < rows; i += height {
				row := unsafe.Add(a, i*lda)
				scales := unsafe.Add(row, (runs+1)/2*128)
				sums := unsafe.Add(scales, 4*runs)
				if f.parts == 2 {
					sums = unsafe.Add(sums, 4*runs)
				}
				panelDots[f.parts](unsafe.Add(c, i*ldc+4*j), unsafe.Add(row, 64*first), unsafe.Add(scales, 4*first), unsafe.Add(sums, 4*first*f.parts), panel, ahead,
					min(height, rows-i), some, blocks*f.runs, ldc, lda, panelColumns*f.bytes/f.runs, at)
			}
		}
	}
}

// codes has the routines of Blocks.Codes.
var codes = map[string]codesRow{}

// BlocksOf returns the routines of a format.
func BlocksOf(f *ir.Format) Blocks {
	if b, ok := blocks[f.Name]; ok {
		b.Codes, b.offsets = codes[f.Name].f, codes[f.Name].offsets
		if dots, ok := fixed[f.Name]; ok {
			b.Fixed = dots.multiply
		}
		return b
	}
	return Blocks{Decode: func(y, b unsafe.Pointer, n int) {
		f.Decode(vec[float32](y, n*f.Len), vec[byte](b, n*f.Bytes))
	}}
}

// FixedProduct multiplies rows in fixed point by columns in a block format; Tile is nil where the level has
// none. Both factors are runs of 32 numbers along the depth, of 18 elements of 4 bytes: 32 integers of 16 bits,
// the scale that they are multiples of, and the sum of a row's numbers or an offset of a column's. A row is off
// by at most 2⁻¹⁶ of the largest absolute value of a run, or 2⁻¹¹⁶; codes of a format are exact. A run with a
// number that is not finite has a scale that is not. The right factor is PackFixed's, whose rows are contiguous
// for each tile; ldb is the one that it returns.
var FixedProduct Product

// runLen is the numbers of a run, and runElements its elements.
const runLen, runElements = 32, 18

func fixedProduct(tile ProductTile, fix func(y, a unsafe.Pointer, n int)) Product {
	p := &Packing{Group: runLen, Elements: runElements}
	p.Left = func(dst, a unsafe.Pointer, m, k, lda int) int {
		groups := p.groups(k)
		for i := range m {
			fix(unsafe.Add(dst, i*groups*4), unsafe.Add(a, i*lda*4), k/runLen)
		}
		return groups
	}
	return Product{6, 32, 28, tile, nil, p}
}

// columnsAhead is how far columns are read into the cache ahead of their turn: processors by themselves prefetch
// only contiguous memory.
const columnsAhead = 8

// PackFixed copies n columns of k numbers, column j of which has some bytes at column(j), to the right factor of FixedProduct:
// panels of the tile's columns, one after the other, whose rows are contiguous. The memory at scratch is for one
// panel. ldb is 0 if no number has an offset.
func (b *Blocks) PackFixed(dst, scratch unsafe.Pointer, n, k, blockLen, bytes int, column func(j int) unsafe.Pointer) (ldb int) {
	cols, groups := FixedProduct.Cols, FixedProduct.Packing.groups(k)
	for j := 0; j < n; j += cols {
		part := min(cols, n-j)
		for i := range part {
			if next := j + i + columnsAhead; next < n {
				Prefetch(uintptr(column(next)), bytes)
			}
			b.Codes(unsafe.Add(scratch, i*groups*4), column(j+i), k/blockLen)
		}
		for i := part; i%8 != 0; i++ { // transposers take multiples of 8
			clear(vec[int32](unsafe.Add(scratch, i*groups*4), groups))
		}
		Movers[4](unsafe.Add(dst, j*groups*4), scratch, groups, cols, 1, (part+7)&^7, 1, groups)
	}
	if !b.offsets {
		return 0
	}
	return cols
}

// FixedBytesOf is the memory of the right factor of n columns of k numbers, with scratch for one panel.
func FixedBytesOf(n, k int) (panels, scratch int) {
	cols, groups := FixedProduct.Cols, FixedProduct.Packing.groups(k)
	return (n + cols - 1) / cols * cols * groups * 4, cols * groups * 4
}

package simd

import (
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Routines has a level's routines, which replace others in the tables. A nil field, or a table
// without a row, leaves the Go routine.
type routines struct {
	unaries    []unaryRow
	binaries   []binaryRow
	wheres     []whereRow
	clamps     []clampRow
	casts      []castRow
	reductions []reductionRow
	wideSums   []reductionRow
	dots       []dotRow
	finds      []findRow
	fills      []fillRow
	products   []productRow
	dotTiles   []dotTileRow
	filters    []filterRow
	blocks     []blocksRow
	fixed      []fixedRow
	panelDots  []panelDotRow
	fix        func(y, a unsafe.Pointer, n int)
	codes      []codesRow
	fixRuns    func(y, a unsafe.Pointer, n int)
	threefry   Quaternary

	runsProduct ProductTile
	moveRows    func(dst, src unsafe.Pointer, rows, bytes, d, s int)
	chain       func(dst, src, links unsafe.Pointer, count, n int)
	everyOther  func(dst, src unsafe.Pointer, rows, n, d, s int)
	transposers [9]transposer
	prefetch    func(p uintptr, bytes int)
	winograd    WinogradTransforms
}

type unaryRow struct {
	op  ir.Op
	typ ir.DType
	f   Unary
}

type binaryRow struct {
	op  ir.Op
	typ ir.DType
	f   Modes
}

type whereRow struct {
	size int
	f    Choices
}

type clampRow struct {
	typ ir.DType
	f   Clamp
}

type castRow struct {
	from, to ir.DType
	f        Unary
}

type reductionRow struct {
	op            ir.Op
	typ           ir.DType
	along, across func(acc, x unsafe.Pointer, rows, n int)
}

type dotRow struct {
	typ ir.DType
	f   Dot
}

// A find returns the position of the first element of x that equals the one at y, or n; the
// routine nan finds a NaN.
type findRow struct {
	typ        ir.DType
	value, nan func(x, y unsafe.Pointer, n int) int
}

// A fill sets n elements to the one at x.
type fillRow struct {
	size int
	f    Unary
}

type productRow struct {
	typ ir.DType
	f   Product
}

type dotTileRow struct {
	typ ir.DType
	f   DotTile
}

type filterRow struct {
	typ ir.DType
	f   Filter
}

type blocksRow struct {
	format string
	f      Blocks
}

type fixedRow struct {
	format string
	f      fixedDots
}

type panelDotRow struct {
	parts int
	f     panelDot
}

type codesRow struct {
	format  string
	f       func(y, b unsafe.Pointer, n int)
	offsets bool
}

func (r routines) install() {
	for _, row := range r.unaries {
		Unaries[row.op][row.typ] = row.f
	}
	for _, row := range r.binaries {
		Binaries[row.op][row.typ] = row.f
	}
	for _, row := range r.wheres {
		for d := range Wheres {
			if Wheres[d].VV != nil && ir.DType(d).Size() == row.size {
				Wheres[d] = row.f
			}
		}
	}
	for _, row := range r.clamps {
		Clamps[row.typ] = row.f
	}
	for _, row := range r.casts {
		Casts[row.from][row.to] = row.f
	}
	for _, row := range r.reductions {
		f := &Reductions[row.op][row.typ]
		f.Along, f.Across = row.along, row.across
	}
	for _, row := range r.wideSums {
		f := &WideSums[row.typ]
		f.Along, f.Across = row.along, row.across
	}
	for _, row := range r.dots {
		Dots[row.typ] = row.f
	}
	for _, row := range r.finds {
		ArgMaxes[row.typ].Along = argMaxBy(Reductions[ir.ReduceMax][row.typ].Along, row.value, row.nan)
	}
	if r.threefry != nil {
		Threefry = r.threefry
	}
	for _, row := range r.fills {
		fills[row.size] = row.f
	}
	if r.chain != nil {
		Chain = r.chain
	}
	if r.moveRows != nil {
		moveRows, everyOther, Prefetch = r.moveRows, r.everyOther, r.prefetch
	}
	r.installProducts()
}

func (r routines) installProducts() {
	for _, row := range r.products {
		Products[row.typ] = row.f
		if row.typ == ir.Float32 {
			Winograd = r.winograd
		}
	}
	for _, row := range r.dotTiles {
		DotTiles[row.typ] = row.f
	}
	for _, row := range r.filters {
		Filters[row.typ] = row.f
	}
	for _, row := range r.blocks {
		blocks[row.format] = row.f
	}
	for _, row := range r.fixed {
		fixed[row.format] = row.f
	}
	for _, row := range r.panelDots {
		panelDots[row.parts] = row.f
	}
	for _, row := range r.codes {
		codes[row.format] = row
	}
	if r.fix != nil {
		Fix = r.fix
	}
	if r.runsProduct != nil {
		FixedProduct = fixedProduct(r.runsProduct, r.fixRuns)
	}
	for size, f := range r.transposers {
		if f != nil {
			transposers[size] = f
		}
	}
}

// argMaxBy returns ArgMax.Along of float32: it computes the greatest element of a row and
// then looks for it, or for the NaN.
func argMaxBy(greatest func(acc, x unsafe.Pointer, rows, n int), value, nan func(x, y unsafe.Pointer, n int) int) func(val, pos, x unsafe.Pointer, rows, n, first int) {
	return func(val, pos, x unsafe.Pointer, rows, n, first int) {
		if n == 0 {
			return
		}
		v, p := vec[float32](val, rows), vec[int32](pos, rows)
		for r := range v {
			row := unsafe.Add(x, r*n*4)
			best := float32(math.Inf(-1))
			greatest(unsafe.Pointer(&best), row, 1, n)
			if p[r] >= 0 && !beats(best, v[r]) {
				continue
			}
			find := value
			if best != best {
				find = nan
			}
			v[r], p[r] = best, int32(first+find(row, unsafe.Pointer(&best), n))
		}
	}
}

// patched returns a routine that calls f, and twin for the elements that f leaves out: f
// returns the number of elements, of some bytes, that it computed before one of those.
func patched(f func(dst, x unsafe.Pointer, n int) int, size int, twin Unary) Unary {
	return func(dst, x unsafe.Pointer, n int) {
		patch(n, size, func(i, n int) int {
			return f(unsafe.Add(dst, i*size), unsafe.Add(x, i*size), n)
		}, func(i int) {
			twin(unsafe.Add(dst, i*size), unsafe.Add(x, i*size), 1)
		})
	}
}

// patched2 is patched for two operands. The second one has size2 bytes from element to
// element: 0 if it is a single number.
func patched2(f func(dst, x, y unsafe.Pointer, n int) int, size, size2 int, twin Binary) Binary {
	return func(dst, x, y unsafe.Pointer, n int) {
		patch(n, size, func(i, n int) int {
			return f(unsafe.Add(dst, i*size), unsafe.Add(x, i*size), unsafe.Add(y, i*size2), n)
		}, func(i int) {
			twin(unsafe.Add(dst, i*size), unsafe.Add(x, i*size), unsafe.Add(y, i*size2), 1)
		})
	}
}

// patch calls f and twin until n elements are computed.
func patch(n, size int, f func(i, n int) int, twin func(i int)) {
	for i := 0; i < n; {
		i += f(i, n-i)
		// One by one, so that no result depends on the elements beside it.
		for range min(n-i, 64/size) {
			if f(i, 1) == 0 {
				twin(i)
			}
			i++
		}
	}
}

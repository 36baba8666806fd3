package blocks

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
)

// A lattice finds the points of a grid that are near a number for each of its axes.
type lattice struct {
	*grid
	size    int
	numbers [][8]float32 // of points
	middle  []float32    // between levels
	cells   [][]uint16   // points near the centre of a cell, by the nearest levels of all axes
}

// The lattices of the grids.
var (
	latticeIQ2_XXS = newLattice(func() *grid { return &grids().iq2xxs })
	latticeIQ2_XS  = newLattice(func() *grid { return &grids().iq2xs })
	latticeIQ2_S   = newLattice(func() *grid { return &grids().iq2s })
	latticeIQ3_XXS = newLattice(func() *grid { return &grids().iq3xxs })
	latticeIQ3_S   = newLattice(func() *grid { return &grids().iq3s })
	latticeIQ1_S   = newLattice(func() *grid { return &grids().iq1s })
)

// shells is how many of the smallest distances from a cell's centre the points of a cell have.
const shells = 2

func newLattice(g func() *grid) func() *lattice {
	return sync.OnceValue(func() *lattice {
		l := &lattice{grid: g(), size: g().size()}
		for i := range len(l.levels) - 1 {
			l.middle = append(l.middle, float32(int(l.levels[i])+int(l.levels[i+1]))/2)
		}
		l.numbers = make([][8]float32, len(l.points))
		for i, p := range l.points {
			for k, v := range p {
				l.numbers[i][k] = float32(v)
			}
		}
		count := 1
		for range l.size {
			count *= len(l.levels)
		}
		l.cells = make([][]uint16, count)
		distances := make([]int, len(l.points))
		for c := range l.cells {
			l.cells[c] = l.nearCell(c, distances)
		}
		return l
	})
}

// nearCell returns the points near the centre of a cell: the one that is there, or some.
func (l *lattice) nearCell(cell int, distances []int) (near []uint16) {
	var centre [8]int
	for k := range l.size {
		centre[k] = int(l.levels[cell%len(l.levels)])
		cell /= len(l.levels)
	}
	var least [shells]int
	for i := range least {
		least[i] = math.MaxInt
	}
	for i, p := range l.points {
		d := 0
		for k := range l.size {
			e := int(p[k]) - centre[k]
			d += e * e
		}
		distances[i] = d
		if d == 0 {
			return []uint16{uint16(i)}
		}
		for s := range least {
			switch {
			case d == least[s]:
				d = math.MaxInt
			case d < least[s]:
				d, least[s] = least[s], d
			}
		}
	}
	for i, d := range distances {
		if d <= least[shells-1] {
			near = append(near, uint16(i))
		}
	}
	return near
}

// near returns the point nearest to numbers, with two products: of its numbers with theirs, and
// with themselves.
func (l *lattice) near(v, w *[8]float32) (best uint16, xq, qq float32) {
	cell, size := 0, 1
	for k := range l.size {
		i := 0
		for _, m := range l.middle {
			if v[k] > m {
				i++
			}
		}
		cell += i * size
		size *= len(l.levels)
	}
	var twice [8]float32 // of the weighted numbers
	for k := range l.size {
		twice[k] = 2 * w[k] * v[k]
	}
	most := float32(math.Inf(-1))
	for _, p := range l.cells[cell] {
		var gain float32
		for k, q := range l.numbers[p][:l.size] {
			gain += q * (twice[k] - w[k]*q)
		}
		if gain > most {
			best, most = p, gain
		}
	}
	for k, q := range l.numbers[best][:l.size] {
		xq += w[k] * q * v[k]
		qq += w[k] * q * q
	}
	return best, xq, qq
}

// A gridFormat is a format of runs of points with a scale d·(2·factor+1)/divisor each.
type gridFormat struct {
	lattice func() *lattice
	run     int // numbers with one scale
	factors int // how many there are
	divisor float32
	// even says that the number of minus signs of eight numbers is even.
	even bool
	// shifts is how many points share one of deltas; 0: numbers have signs.
	shifts int
	tries  []float32 // where to put the number of the greatest magnitude
}

// A gridBlock is a block of such a format.
type gridBlock struct {
	*gridFormat
	l       *lattice
	x       [256]float32 // without signs
	w       []float32
	signs   [32]uint8 // of eight numbers
	points  [64]uint16
	shifted [64]uint8 // indices of deltas
	factor  [16]int   // of runs
	d       float32
}

// encode finds points, signs and factors for numbers; store stores d, and returns it as
// decoders read it.
func (f *gridFormat) encode(x, w []float32, store func(d float32) float32) *gridBlock {
	b := &gridBlock{gridFormat: f, l: f.lattice(), w: w}
	copy(b.x[:], x)
	if f.shifts == 0 {
		b.splitSigns()
	}
	runs := len(x) / f.run
	var scales [16]float32
	most := float32(0)
	for r := range runs {
		scales[r] = b.fit(r)
		most = max(most, scales[r])
	}
	b.d = store(most * f.divisor / float32(2*f.factors-1))
	for pass := range 2 {
		var xy, yy float32
		for r := range runs {
			at := round((scales[r]*f.divisor*inverse(b.d)-1)/2, 0, f.factors-1)
			b.factor[r] = nearby(at, 0, f.factors-1, func(n int) float32 {
				s := b.d * float32(2*n+1) / f.divisor
				xq, qq := b.assign(r, inverse(s))
				return s * s * (qq - 2*xq)
			})
			s := float32(2*b.factor[r]+1) / f.divisor
			xq, qq := b.assign(r, inverse(b.d*s))
			xy, yy = xy+xq*b.d*s*s, yy+qq*s*s
		}
		if pass == 0 && yy > 0 && xy > 0 {
			b.d = store(xy / yy)
		}
	}
	return b
}

// splitSigns takes the signs of numbers. Where their number must be even and is odd, the number
// whose square weighs least keeps its sign.
func (b *gridBlock) splitSigns() {
	for i := range b.signs {
		x := b.x[8*i : 8*i+8]
		least, at := float32(math.Inf(1)), 0
		for k, v := range x {
			if v < 0 {
				b.signs[i] |= 1 << k
				x[k] = -v
			}
			if e := b.w[8*i+k] * v * v; e < least {
				least, at = e, k
			}
		}
		if b.even && bits.OnesCount8(b.signs[i])%2 == 1 {
			b.signs[i] ^= 1 << at
			x[at] = -x[at]
		}
	}
}

// fit returns the best scale of a run.
func (b *gridBlock) fit(r int) float32 {
	id := inverse(magnitude(peak(b.x[r*b.run : r*b.run+b.run])))
	if id == 0 {
		return 0
	}
	scale, best := float32(0), float32(0)
	try := func(id float32) {
		if xq, qq := b.assign(r, id); xq > 0 && qq > 0 && xq/qq*xq > best*id*id {
			scale, best = xq/(qq*id), xq/qq*xq/(id*id)
		}
	}
	for _, t := range b.tries {
		try(t * id)
	}
	for range 2 {
		try(inverse(scale))
	}
	return scale
}

// assign finds the points of a run for its numbers times id, and returns their products with the
// numbers and with themselves.
func (b *gridBlock) assign(r int, id float32) (xq, qq float32) {
	n, unit := b.l.size, max(1, b.shifts)
	for first := r * b.run / n; first < (r+1)*b.run/n; first += unit {
		if b.shifts == 0 {
			p, x, q := b.nearest(first, id, 0)
			b.points[first] = p
			xq, qq = xq+x, qq+q
			continue
		}
		var bestX, bestQ float32
		most := float32(math.Inf(-1))
		for s, delta := range deltas {
			var points [4]uint16
			var x, q float32
			for i := range unit {
				p, px, pq := b.nearest(first+i, id, delta)
				points[i] = p
				x, q = x+px, q+pq
			}
			if gain := 2*x - q; gain > most {
				most, bestX, bestQ = gain, x, q
				copy(b.points[first:first+unit], points[:unit])
				b.shifted[first/unit] = uint8(s)
			}
		}
		xq, qq = xq+bestX, qq+bestQ
	}
	return xq, qq
}

// nearest returns the point for the numbers of point i times id, to which delta is added.
func (b *gridBlock) nearest(i int, id, delta float32) (p uint16, xq, qq float32) {
	var v, w [8]float32
	n := b.l.size
	copy(w[:], b.w[i*n:i*n+n])
	for k, x := range b.x[i*n : i*n+n] {
		v[k] = x*id - delta
	}
	p, xq, qq = b.l.near(&v, &w)
	if delta != 0 { // of point plus delta with the numbers
		xq, qq = 0, 0
		for k, q := range b.l.points[p] {
			q := float32(q) + delta
			xq += w[k] * q * (v[k] + delta)
			qq += w[k] * q * q
		}
	}
	return p, xq, qq
}

var (
	formatIQ2_XXS = &gridFormat{lattice: latticeIQ2_XXS, run: 32, factors: 16, divisor: 8, even: true, tries: between(34, 56, 12)}
	formatIQ2_XS  = &gridFormat{lattice: latticeIQ2_XS, run: 16, factors: 16, divisor: 8, even: true, tries: between(32, 54, 12)}
	formatIQ2_S   = &gridFormat{lattice: latticeIQ2_S, run: 16, factors: 16, divisor: 8, tries: between(32, 54, 12)}
	formatIQ3_XXS = &gridFormat{lattice: latticeIQ3_XXS, run: 32, factors: 16, divisor: 4, even: true, tries: between(46, 76, 14)}
	formatIQ3_S   = &gridFormat{lattice: latticeIQ3_S, run: 32, factors: 16, divisor: 1, tries: between(12, 19, 14)}
	formatIQ1_S   = &gridFormat{lattice: latticeIQ1_S, run: 32, factors: 8, divisor: 1, shifts: 4, tries: between(0.9, 3, 14)}
	formatIQ1_M   = &gridFormat{lattice: latticeIQ1_S, run: 16, factors: 8, divisor: 1, shifts: 1, tries: between(0.9, 3, 14)}
)

func (f *gridFormat) store(b []byte, x, w []float32) *gridBlock {
	return f.encode(x, w, func(d float32) float32 { return putHalf(b, d) })
}

func encodeIQ2_XXS(b []byte, x, w []float32) {
	g := formatIQ2_XXS.store(b, x, w)
	for i := range 8 {
		all := uint32(g.factor[i]) << 28
		for k := range 4 {
			b[2+8*i+k] = byte(g.points[4*i+k])
			all |= uint32(g.signs[4*i+k]&127) << (7 * k)
		}
		binary.LittleEndian.PutUint32(b[6+8*i:], all)
	}
}

func encodeIQ2_XS(b []byte, x, w []float32) {
	g := formatIQ2_XS.store(b, x, w)
	for i := range 32 {
		binary.LittleEndian.PutUint16(b[2+2*i:], g.points[i]|uint16(g.signs[i])<<9)
		b[66+i/4] |= byte(g.factor[i/2] << (i / 2 % 2 * 4))
	}
}

func encodeIQ2_S(b []byte, x, w []float32) {
	g := formatIQ2_S.store(b, x, w)
	for i := range 32 {
		b[2+i] = byte(g.points[i])
		b[34+i] = g.signs[i]
		b[66+i/4] |= byte(g.points[i] >> 8 << (i % 4 * 2))
		b[74+i/4] |= byte(g.factor[i/2] << (i / 2 % 2 * 4))
	}
}

func encodeIQ3_XXS(b []byte, x, w []float32) {
	g := formatIQ3_XXS.store(b, x, w)
	for i := range 8 {
		all := uint32(g.factor[i]) << 28
		for k := range 8 {
			b[2+8*i+k] = byte(g.points[8*i+k])
			all |= uint32(g.signs[4*i+k/2]&127) << (k / 2 * 7)
		}
		binary.LittleEndian.PutUint32(b[66+4*i:], all)
	}
}

func encodeIQ3_S(b []byte, x, w []float32) {
	g := formatIQ3_S.store(b, x, w)
	for i := range 64 {
		b[2+i] = byte(g.points[i])
		b[66+i/8] |= byte(g.points[i] >> 8 << (i % 8))
		b[74+i/2] = g.signs[i/2]
		b[106+i/16] |= byte(g.factor[i/8] << (i / 8 % 2 * 4))
	}
}

func encodeIQ1_S(b []byte, x, w []float32) {
	g := formatIQ1_S.store(b, x, w)
	for i := range 8 {
		all := uint16(g.factor[i])<<12 | uint16(g.shifted[i])<<15
		for k := range 4 {
			b[2+4*i+k] = byte(g.points[4*i+k])
			all |= g.points[4*i+k] >> 8 << (3 * k)
		}
		binary.LittleEndian.PutUint16(b[34+2*i:], all)
	}
}

func encodeIQ1_M(b []byte, x, w []float32) {
	var h uint16
	g := formatIQ1_M.encode(x, w, func(d float32) float32 {
		h = roundHalf(d)
		for n := range 4 {
			b[49+2*n] = byte(h >> (4 * n) & 15 << 4)
		}
		return scattered(b[48:])
	})
	for i := range 32 {
		b[i] = byte(g.points[i])
		b[32+i/2] |= (byte(g.points[i]>>8) | g.shifted[i]<<3) << (i % 2 * 4)
	}
	for i := range 16 {
		at := b[48+i/4*2:]
		binary.LittleEndian.PutUint16(at, word(at)|uint16(g.factor[i])<<(i%4*3))
	}
}

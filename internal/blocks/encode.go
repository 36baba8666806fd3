package blocks

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/ir"
)

// Encoders minimise the sum of squared errors, times weights: they try scales around the one that
// maps the greatest number to the greatest code, give each number its nearest code, and compute
// the scale that is best for these codes (least squares). Scales that are stored in few bits are
// chosen once more among the nearest that can be stored.

// Encode quantises f.Len numbers to one block. w has the weights of squared errors, at least 0;
// nil is equal weights. The result depends on nothing else.
func (f *Format) Encode(b []byte, x, w []float32) error {
	sum := float32(0)
	for i, v := range x {
		if v-v != 0 {
			return fmt.Errorf("%v cannot be quantised: the model is damaged, or was trained to no numbers", v)
		}
		if w != nil {
			sum += w[i]
		}
	}
	if sum == 0 {
		w = equal[:]
	}
	clear(b)
	f.encode(b, x, w[:len(x)])
	return nil
}

var equal = func() (w [256]float32) {
	for i := range w {
		w[i] = 1
	}
	return w
}()

// putHalf stores a scale, the greatest that there is in place of greater ones, and returns the
// value that a decoder reads.
func putHalf(b []byte, d float32) float32 {
	binary.LittleEndian.PutUint16(b, roundHalf(d))
	return half(b)
}

func roundHalf(d float32) uint16 {
	const most = 65504
	return uint16(ir.ToF16(max(-most, min(d, most))))
}

// inverse returns 1/d, or 0 where that is not finite.
func inverse(d float32) float32 {
	if i := 1 / d; i-i == 0 {
		return i
	}
	return 0
}

// A ladder has the levels that a scale multiplies, ascending.
type ladder struct {
	levels []float32
	middle []float32 // between neighbours; nil if all levels are 1 apart
	codes  []byte    // of levels in files; nil: 0 for the first, 1 for the next
	tries  []float32 // where to put the number of the greatest magnitude
}

// steps returns a ladder of integers.
func steps(from, to int, tries ...float32) *ladder {
	l := &ladder{tries: tries}
	for i := from; i <= to; i++ {
		l.levels = append(l.levels, float32(i))
	}
	return l
}

// between returns n numbers from a to b.
func between(a, b float32, n int) (all []float32) {
	for i := range n {
		all = append(all, a+(b-a)*float32(i)/float32(max(1, n-1)))
	}
	return all
}

// uneven returns a ladder of levels by codes.
func uneven(values [16]int8, tries ...float32) *ladder {
	l := &ladder{tries: tries}
	for v := -128; v < 128; v++ {
		for c := range values {
			// Of equal levels, the first code.
			if n := len(l.levels); int(values[c]) == v && (n == 0 || l.levels[n-1] < float32(v)) {
				if n > 0 {
					l.middle = append(l.middle, (l.levels[n-1]+float32(v))/2)
				}
				l.levels, l.codes = append(l.levels, float32(v)), append(l.codes, byte(c))
			}
		}
	}
	return l
}

// near returns the index of the nearest level.
func (l *ladder) near(v float32) int {
	last := len(l.levels) - 1
	if l.middle == nil {
		v -= l.levels[0] - 0.5
		if !(v > 0) {
			return 0
		}
		return int(min(v, float32(last)))
	}
	i := 0
	for i < last && v > l.middle[i] {
		i++
	}
	return i
}

// code returns the code of the nearest level.
func (l *ladder) code(v float32) byte {
	i := l.near(v)
	if l.codes != nil {
		return l.codes[i]
	}
	return byte(i)
}

// peak returns the number of the greatest magnitude.
func peak(x []float32) (p float32) {
	for _, v := range x {
		if magnitude(v) > magnitude(p) {
			p = v
		}
	}
	return p
}

func magnitude(v float32) float32 { return float32(math.Abs(float64(v))) }

// fit returns the best scale for numbers.
func (l *ladder) fit(x, w []float32) float32 {
	id := inverse(peak(x))
	if id == 0 {
		return 0
	}
	scale, best := float32(0), float32(0)
	try := func(id float32) {
		if s, score := l.score(x, w, id); score > best {
			scale, best = s, score
		}
	}
	for _, t := range l.tries {
		try(t * id)
	}
	for range 2 {
		try(inverse(scale))
	}
	return scale
}

// score returns the best scale for the codes of numbers times id, and by how much it reduces the
// error of zeros.
func (l *ladder) score(x, w []float32, id float32) (scale, score float32) {
	var xq, qq float32
	for i, v := range x {
		q := l.levels[l.near(v*id)]
		xq += w[i] * v * q
		qq += w[i] * q * q
	}
	if !(qq > 0) {
		return 0, 0
	}
	return xq / qq, xq / qq * xq
}

// loss returns the error with a scale.
func (l *ladder) loss(x, w []float32, d float32) (e float32) {
	id := inverse(d)
	for i, v := range x {
		v -= d * l.levels[l.near(v*id)]
		e += w[i] * v * v
	}
	return e
}

// put stores the codes of numbers, the first half of them in the low bits.
func (l *ladder) put(b []byte, x []float32, d float32) {
	id := inverse(d)
	for i := range b {
		b[i] = l.code(x[i]*id) | l.code(x[len(b)+i]*id)<<4
	}
}

// nearby returns the value of f, at least lo and at most hi and at most 1 from at, with the least
// loss.
func nearby(at, lo, hi int, loss func(int) float32) int {
	best, least := lo, float32(math.Inf(1))
	for n := max(lo, at-1); n <= min(hi, at+1); n++ {
		if e := loss(n); e < least {
			best, least = n, e
		}
	}
	return best
}

// round returns the integer nearest to v, lo to hi; lo for a NaN.
func round(v float32, lo, hi int) int {
	if !(v > float32(lo)) {
		return lo
	}
	return int(math.Round(float64(min(v, float32(hi)))))
}

// A slope is the factor of codes, and an offset that is added.
type slope struct{ scale, offset float32 }

// fitSlope returns the best slope for codes of 0 to n. The offset of one that is not free is at
// most 0.
func fitSlope(x, w []float32, n int, free bool) (best slope) {
	lo, hi := x[0], x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	if !free {
		lo = min(lo, 0)
	}
	if inverse(hi-lo) == 0 {
		return slope{0, lo}
	}
	best = slope{(hi - lo) / float32(n), lo}
	least := best.loss(x, w, n)
	try := func(at slope) {
		s := at.refine(x, w, n, free)
		if e := s.loss(x, w, n); e < least {
			best, least = s, e
		}
	}
	for _, t := range slopeTries {
		// The ends of the range move to both sides.
		d := (hi - lo) / (float32(n) + t)
		try(slope{d, lo})
		if t != 0 {
			try(slope{d, lo + t*d/2})
		}
	}
	for range 2 {
		try(best)
	}
	return best
}

var slopeTries = between(-0.9, 1.2, 8)

// refine returns the best slope for the codes of another one.
func (s slope) refine(x, w []float32, n int, free bool) slope {
	id := inverse(s.scale)
	var sw, sx, sq, sqq, sxq float64
	for i, v := range x {
		q := float64(s.code(v, id, n))
		w := float64(w[i])
		sw, sx, sq = sw+w, sx+w*float64(v), sq+w*q
		sqq, sxq = sqq+w*q*q, sxq+w*q*float64(v)
	}
	if d := sw*sqq - sq*sq; d > 0 {
		scale, offset := (sw*sxq-sx*sq)/d, (sqq*sx-sq*sxq)/d
		if free || offset <= 0 {
			return slope{float32(scale), float32(offset)}
		}
	}
	if sqq > 0 {
		return slope{float32(sxq / sqq), 0}
	}
	return s
}

// code returns the code of a number; id is 1/scale.
func (s slope) code(v, id float32, n int) int {
	v = (v-s.offset)*id + 0.5
	if !(v > 0) {
		return 0
	}
	return int(min(v, float32(n)))
}

func (s slope) loss(x, w []float32, n int) (e float32) {
	id := inverse(s.scale)
	for i, v := range x {
		v -= s.scale*float32(s.code(v, id, n)) + s.offset
		e += w[i] * v * v
	}
	return e
}

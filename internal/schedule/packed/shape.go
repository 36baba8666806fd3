package packed

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A shape is the elements of which a vector of 16 bytes has the lowest bits: segments of 16 neighbours, so many
// elements apart. Of other formats it is zero.
type shape struct{ segments, apart int }

// segment is the number of elements of a segment.
const segment = 16

// elements is the number of elements of a vector.
func (s shape) elements() int { return segment * s.segments }

// shapeOf returns the shape of a format.
func shapeOf(f *ir.Format) shape {
	c := f.Codes
	if c == nil || c.Run%segment != 0 {
		return shape{}
	}
	low := &c.Code.Parts[0]
	s := shape{8 / low.Count, low.Digits[0].Len}
	if !bytewise(low) || f.Len%s.elements() != 0 || !aligned(f, low.At, 16) {
		return shape{}
	}
	for i := range c.Code.Parts[1:] {
		p := &c.Code.Parts[1+i]
		wide := bytewise(p) && s.apart%p.Digits[0].Len == 0 && aligned(f, p.At, 16)
		if !wide && !(bitwise(p) && aligned(f, p.At, 4)) || c.Code.Table != nil || c.Code.Signed {
			return shape{}
		}
	}
	return s
}

// bytewise reports whether segments are vectors of bytes.
func bytewise(p *ir.Bits) bool { return p.Digits[0].Step == 8 && p.Digits[0].Len%segment == 0 }

// bitwise reports whether integers of one bit follow each other.
func bitwise(p *ir.Bits) bool {
	return p.Count == 1 && p.Digits[0] == ir.Digit{Len: ir.MaxBlock, Step: 1}
}

// aligned reports whether the bits from one on begin at a multiple of some bytes in each block of a group.
func aligned(f *ir.Format, at, bytes int) bool {
	for i := 0; ; i++ {
		first, end := f.Part(i)
		if 8*end > at {
			return (f.Group() == 1 || (end-first)%bytes == 0) && (at/8-first)%bytes == 0 && at%8 == 0
		}
	}
}

// A position is where a vector of a block is: known to all columns.
type position struct {
	name   string
	number *shader.Expr            // of the vector in the block, or of one so many before it
	next   int                     // so many
	first  *shader.Expr            // its first element in the block
	shifts map[[3]int]*shader.Expr // see shift
}

// shift is the number of the first element among all that words have, divided by wide, times count.
func (p position) shift(sc *build.Scope, all, wide, count int) *shader.Expr {
	key := [3]int{all, wide, count}
	if p.shifts[key] == nil {
		p.shifts[key] = sc.Let(build.Tag(p.name+"s", all, wide, count), build.Shifted(p.first.And(all-1), wide).Mul(count))
	}
	return p.shifts[key]
}

// position locates vector number of a block.
func (s shape) position(sc *build.Scope, name string, number *shader.Expr) position {
	wide := s.apart / segment
	first := build.Shifted(number, wide).Mul(s.apart * s.segments).Add(number.And(wide - 1).Mul(segment))
	return position{name, number, 0, sc.Let(name, first), map[[3]int]*shader.Expr{}}
}

// A codes has the bits of a vector of a column, as loaded.
type codes struct {
	low  []*shader.Expr // words
	high []highBits
}

// A highBits is a further part of the codes: words, of which bit shift is the first segment's.
type highBits struct {
	*ir.Bits
	words []*shader.Expr
	shift *shader.Expr
}

// load reads the codes of a vector.
func (s shape) load(sc *build.Scope, b *build.Block, name string, at position) (c codes) {
	parts := b.Codes.Code.Parts
	c.low = sc.WordsAt(b, name+"l", parts[0].At+at.next*16*8, at.number.Mul(4), 4)
	for i := range parts[1:] {
		p := &parts[1+i]
		n := build.Tag(name+"h", i)
		if bitwise(p) {
			words := sc.WordsAt(b, n, p.At, build.Shifted(at.first, 32), 1)
			c.high = append(c.high, highBits{p, words, at.shift(sc, 32, 1, 1)})
			continue
		}
		wide, all := p.Digits[0].Len, p.Digits[0].Len*8/p.Count
		word := build.Shifted(at.first, all).Mul(wide / 4).Add(build.Shifted(at.first.And(wide-1), 4))
		c.high = append(c.high, highBits{p, sc.WordsAt(b, n, p.At, word, 4), at.shift(sc, all, wide, p.Count)})
	}
	return c
}

// magic is 2²³ as a float32. Plus an integer, it has the integer's bits as its lower bits.
const magic = 0x4b000000

// A lane is an element's code times 2^Power, exactly.
type lane struct {
	*shader.Expr
	power int
}

// lanes are the codes of a segment.
func (s shape) lanes(sc *build.Scope, f *ir.Field, c codes, n int, name string) []lane {
	var list []lane
	for q, word := range c.low {
		first, count := f.Parts[0].Count*n, f.Parts[0].Count
		bias := f.Bias
		switch {
		case f.Table != nil:
			for k := range 4 {
				code := word.Shr(8*k + first).And(1<<count - 1)
				list = append(list, lane{sc.Let(build.Tag(name, q, k), build.Integer(f, code)), 0})
			}
			continue
		case f.Signed:
			word, bias = word.Xor(0x80808080), 128
		case len(c.high) > 0:
			word = word.Shr(first).And(0x01010101 * (1<<count - 1))
			for _, h := range c.high {
				word = word.Or(s.spread(h, n, q).Shl(count))
				count += h.Count
			}
			first = 0
		}
		word = sc.Let(build.Tag(name+"w", q), word)
		upper := sc.Let(build.Tag(name+"u", q), word.Shr(16))
		for k := range 4 {
			half, power := word, 8*(k%2)+first
			if k >= 2 {
				half = upper
			}
			x := half.And((1<<count - 1) << power).Or(magic).Bitcast(shader.F32)
			x = x.Sub(float64(1<<23 + bias<<power)).Launder(shader.FirstWay)
			list = append(list, lane{sc.Let(build.Tag(name, q, k), x), power})
		}
	}
	return list
}

// spread has the high bits of word q of segment n in the lowest bits of each byte.
func (s shape) spread(h highBits, n, q int) *shader.Expr {
	if bitwise(h.Bits) {
		four := h.words[0].Shr(h.shift.Plus(n*s.apart + 4*q)).And(15)
		return four.Mul(0x00204081).And(0x01010101)
	}
	return h.words[q].Shr(h.shift.Plus(h.Count * n * s.apart / h.Digits[0].Len)).And(0x01010101 * (1<<h.Count - 1))
}

package build

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Block locates a block of an ir.Format in a buffer of words, where groups of blocks are as
// ir.Format.Grouped has them.
type Block struct {
	*ir.Format
	Buffer *shader.Buffer
	first  *shader.Expr   // word of the group
	number *shader.Expr   // U32: of the block in the group
	ahead  int            // words behind all of these: see Ahead
	held   []*shader.Expr // the words of a part of the block in registers, which begins at byte heldAt
	heldAt int
	words  map[wordPlace]*shader.Expr // of the block that are loaded
	Places Places                     // of fields
}

// Places are where integers of fields are, of several blocks: computed once. Nil computes them for each.
type Places map[place]*shader.Expr

type place struct {
	digits string
	number *shader.Expr
}

// A wordPlace is where a word is: a bit of a block, more bits on.
type wordPlace struct {
	bit  int
	more *shader.Expr
}

// BlockAt locates block n of an argument, an integer that is not negative.
func (sc *Scope) BlockAt(arg int, n *shader.Expr) Block {
	f := sc.Pass.Nest.Args[arg].DType.Format()
	b := Block{Format: f, Buffer: sc.Pass.Input(arg), number: U32(0), words: map[wordPlace]*shader.Expr{}}
	group := f.Group()
	words := group * f.Bytes / 4
	if group > 1 {
		b.number = n.Convert(shader.U32).And(group - 1)
	}
	b.first = Shifted(n, group).Mul(words)
	return b
}

// Ahead moves to a block of the same number in a later group, so many times some words on.
func (b *Block) Ahead(words int, times *shader.Expr) {
	if times.Op == shader.Const {
		b.ahead += words * int(times.Bits)
		return
	}
	b.first = b.first.Add(times.Mul(words).Convert(b.first.Type))
}

// Shifted is n / d for a power of two d.
func Shifted(n *shader.Expr, d int) *shader.Expr {
	if d == 1 {
		return n
	}
	return n.Shr(bits.TrailingZeros(uint(d)))
}

// part returns the part of a block that has a bit.
func (b *Block) part(bit int) (first, end int) {
	for i := 0; 8*end <= bit; i++ {
		first, end = b.Part(i)
	}
	return first, end
}

// word is where the word with a bit that is a multiple of 32 is, more words on. Constants are added last: an address has a
// place for them.
func (b *Block) word(bit int, more *shader.Expr) *shader.Expr {
	first, end := b.part(bit)
	if b.Group() > 1 {
		more = plus(b.number.Mul((end-first)/4), more)
	}
	at := b.first
	if more != nil {
		at = at.Add(more.Convert(at.Type))
	}
	return at.Plus((8*b.Group()*first+bit-8*first)/32 + b.ahead)
}

// plus is the sum of two numbers, of which nil is 0.
func plus(x, y *shader.Expr) *shader.Expr {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return x.Add(y)
}

func plusNumber(x *shader.Expr, n int) *shader.Expr {
	if x == nil {
		return U32(n)
	}
	return x.Plus(n)
}

// Hold loads a part of the block of 16 bytes into registers, if the float of its scale is there.
func (sc *Scope) Hold(b *Block, name string) {
	if first, end := b.part(8 * b.Codes.Scale.At); end-first == 16 {
		b.held, b.heldAt = sc.WordsAt(b, name, 8*first, nil, 4), first
	}
}

// WordsAt reads n words, one or four, from a bit of the block on, a multiple of 32, more words on.
func (sc *Scope) WordsAt(b *Block, name string, bit int, more *shader.Expr, n int) (words []*shader.Expr) {
	load := &shader.Load{Declare: true, Buffer: b.Buffer, Index: b.word(bit, more)}
	for k := range n {
		v := &shader.Var{Name: Tag(name+"w", k), Type: shader.U32}
		load.Dst, words = append(load.Dst, v), append(words, v.Ref())
	}
	sc.Do(load)
	return words
}

// bitsAt reads the word with some bits of a block, and returns it with the number of the first of them. They are
// at a bit or, if more is not nil, so many bits behind it: one of some distances.
func (sc *Scope) bitsAt(b *Block, name string, bit int, more *shader.Expr, distances []int) (word, shift *shader.Expr) {
	first, end := b.part(bit)
	if b.held != nil && first == b.heldAt {
		bit -= 8 * first
		if more == nil {
			return b.held[bit/32], U32(bit % 32)
		}
		place := sc.Let(name+"b", more.Plus(bit))
		number := place.Shr(5)
		var seen []int
		for _, d := range distances {
			n := (bit + d) / 32
			switch {
			case word == nil:
				word = b.held[n]
			case !slices.Contains(seen, n):
				word = number.Eq(n).If(b.held[n], word)
			}
			seen = append(seen, n)
		}
		return sc.Let(name, word), place.And(31)
	}
	within := bit % 8 // fields of a byte share its word
	if more == nil && (b.Group()-1)*first%4 == 0 && (b.Group() == 1 || (end-first)%4 == 0) {
		within = bit % 32
	}
	at := wordPlace{bit - within, more}
	if b.Group() > 1 {
		more = plus(b.number.Mul(8*(end-first)), more)
	}
	place := sc.Let(name+"b", plusNumber(more, 8*b.Group()*first+at.bit-8*first))
	if b.words[at] == nil {
		b.words[at] = sc.LoadAt(b.Buffer, b.first.Add(place.Shr(5).Convert(b.first.Type)).Plus(b.ahead), name, false).Ref()
	}
	return b.words[at], place.And(31).Plus(within)
}

// digits is the distance of the bits of integer i from the bits of integer 0.
func digits(p *ir.Bits, i *shader.Expr, count int) (at *shader.Expr) {
	base := 1
	for _, d := range p.Digits {
		if base >= count {
			break
		}
		x := Shifted(i, base)
		if base*d.Len < count {
			x = x.And(d.Len - 1)
		}
		if d.Step > 1 {
			x = x.Mul(d.Step)
		}
		at = plus(at, x)
		base *= d.Len
	}
	return at
}

// distances are the values of digits.
func distances(p *ir.Bits, count int) (list []int) {
	for i := range count {
		at, rest := 0, i
		for _, d := range p.Digits {
			at += rest % d.Len * d.Step
			rest /= d.Len
		}
		list = append(list, at)
	}
	return list
}

// fields reads n integers of a field from number i of count on, which are neighbours from a multiple of n on: n is 1,
// 2 or 4. Neighbours in bytes are cut out together.
func (sc *Scope) fields(b *Block, f *ir.Field, name string, i *shader.Expr, count, n int) []*shader.Expr {
	inBytes := n > 1 && !slices.ContainsFunc(f.Parts, func(p ir.Bits) bool { return p.Digits[0].Step != 8 })
	out := make([]*shader.Expr, n)
	low := 0
	for j := range f.Parts {
		p := &f.Parts[j]
		at := sc.placeOf(b, p, i, count)
		word, shift := sc.bitsAt(b, Tag(name, j), p.At, at, distances(p, count))
		list, mask := out, 1<<p.Count-1
		if inBytes {
			list, mask = out[:1], 0x01010101*mask
		}
		for k := range list {
			x := word.Shr(shift.Plus(k * p.Digits[0].Step)).And(mask)
			if low > 0 {
				x = out[k].Or(x.Shl(low))
			}
			out[k] = x
		}
		low += p.Count
	}
	if inBytes {
		all := sc.Let(name+"y", out[0])
		for k := range out {
			out[k] = all.Shr(8 * k).And(0xff)
		}
	}
	for k, x := range out {
		out[k] = Integer(f, x)
	}
	return out
}

// placeOf is the distance of the bits of integer i from the bits of integer 0, computed once for all blocks.
func (sc *Scope) placeOf(b *Block, p *ir.Bits, i *shader.Expr, count int) *shader.Expr {
	key := place{fmt.Sprint(p.Digits), i}
	at := b.Places[key]
	if at == nil {
		if at = digits(p, i, count); at != nil && b.Places != nil {
			at = sc.Let(Tag("place"+sc.Tag, len(b.Places)), at)
			b.Places[key] = at
		}
	}
	return at
}

// Integer is the number of a field as an F32, from its bits.
func Integer(f *ir.Field, x *shader.Expr) *shader.Expr {
	if f.Table != nil {
		return lookUp(f.Table, x)
	}
	if n := f.Bits(); f.Signed {
		return x.Xor(1 << (n - 1)).Bitcast(shader.I32).Sub(1 << (n - 1)).Convert(shader.F32)
	}
	return x.Bitcast(shader.I32).Plus(-f.Bias).Convert(shader.F32)
}

// lookUp is entry x of a table of sixteen numbers, as an F32.
func lookUp(table []int8, x *shader.Expr) *shader.Expr {
	var words [4]*shader.Expr
	for i := range words {
		w := 0
		for k := range 4 {
			w |= int(uint8(table[4*i+k])) << (8 * k)
		}
		words[i] = U32(w)
	}
	upper := x.And(4).Ne(0)
	word := x.And(8).Ne(0).If(upper.If(words[3], words[2]), upper.If(words[1], words[0]))
	return word.Shr(x.And(3).Mul(8)).Shl(24).Bitcast(shader.I32).Shr(24).Convert(shader.F32)
}

// Factor reads a number of run i of count.
func (sc *Scope) Factor(b *Block, f *ir.Factor, name string, i *shader.Expr, count int) *shader.Expr {
	return sc.Factors(b, f, name, i, count, 1)[0]
}

// Factors reads the numbers of n runs from run i of count on, a multiple of n: 1, 2 or 4.
func (sc *Scope) Factors(b *Block, f *ir.Factor, name string, i *shader.Expr, count, n int) []*shader.Expr {
	float := floatCodes[f.Float](sc, b, name+"f", 8*f.At)
	list := make([]*shader.Expr, n)
	if f.Times != nil {
		list = sc.fields(b, f.Times, name+"t", i, count, n)
	}
	for k, x := range list {
		switch {
		case x == nil:
			x = float
		case f.Float != ir.One:
			x = float.Mul(x)
		}
		if f.Minus {
			x = x.Neg()
		}
		list[k] = sc.Let(Tag(name, k), x)
	}
	return list
}

var floatCodes = [...]func(sc *Scope, b *Block, name string, at int) *shader.Expr{
	ir.One: func(*Scope, *Block, string, int) *shader.Expr { return Number(shader.F32, 1) },
	ir.HalfFloat: func(sc *Scope, b *Block, name string, at int) *shader.Expr {
		word, shift := sc.bitsAt(b, name, at, nil, nil)
		return word.Shr(shift).UnpackHalf(shader.F16)
	},
	ir.SingleFloat: func(sc *Scope, b *Block, name string, at int) *shader.Expr {
		word, _ := sc.bitsAt(b, name, at, nil, nil)
		return word.Bitcast(shader.F32)
	},
	ir.HalfPower: func(sc *Scope, b *Block, name string, at int) *shader.Expr {
		word, shift := sc.bitsAt(b, name, at, nil, nil)
		e := word.Shr(shift).And(0xff)
		subnormal := U32(1 << 21).Shl(e.And(1))
		return e.Lt(2).If(subnormal, e.Sub(1).Shl(23)).Bitcast(shader.F32)
	},
}

// decode reads n elements of an argument in a format from a place on: one, or four from a multiple of four on.
func (sc *Scope) decode(arg int, name string, place *shader.Expr, n int) []*shader.Expr {
	f := sc.Pass.Nest.Args[arg].DType.Format()
	place = sc.Let(name+"p", place)
	b := sc.BlockAt(arg, Shifted(place, f.Len))
	at := sc.Let(name+"e", place.Convert(shader.U32).And(f.Len-1))
	c := f.Codes
	run, runs := Shifted(at, c.Run), f.Len/c.Run
	codes := sc.fields(&b, &c.Code, name+"c", at, f.Len, n)
	scale := sc.Factor(&b, &c.Scale, name+"s", run, runs)
	for k := range codes {
		codes[k] = codes[k].Mul(scale)
	}
	if c.Offset != nil {
		offset := sc.Factor(&b, c.Offset, name+"o", run, runs)
		for k := range codes { // laundered: the product is rounded
			codes[k] = codes[k].Launder(shader.FirstWay).Add(offset)
		}
	}
	return codes
}

// A decoded has elements of an argument from the first on, counted from its offset, in a scratch buffer.
type decoded struct{ scratch, first int }

// Decode adds a pass that decodes all elements of a load, which later passes read instead. It does nothing
// for other loads, and where the elements are few of those in memory or take too much of it.
func (c *Builder) Decode(i int) {
	in := &c.Nest.Body[i]
	if _, done := c.decoded[in.Arg]; done || c.Nest.Args[in.Arg].DType.Format() == nil || !c.Nest.Args[in.Arg].Align {
		return
	}
	first, end := c.Nest.Extent(in)
	n := end - first
	if len(in.Src) > 0 || len(in.View.Guards) > 0 || first%4 != 0 || n%4 != 0 || 4*n > c.decodedBytes() || float64(n) > 2*loopnest.Points(c.Nest.Axes, in.Domain) {
		return
	}
	for j := range c.Nest.Body {
		if other := &c.Nest.Body[j]; j != i && other.Op == ir.Load && other.Arg == in.Arg {
			return
		}
	}
	scratch := c.Scratch(n, shader.F32)
	c.AddPass(c.Target.Threads(), func(p *Pass) {
		sc, item := p.Items(n / 4)
		t := p.PositionType(end)
		at := item.Convert(t).Mul(4)
		x := sc.decode(in.Arg, "x", at.Plus(first).Add(p.Offset(in.Arg).Convert(t)), 4)
		sc.Do(&shader.Store{Buffer: p.Words(scratch, shader.F32, true), Index: at, Values: x})
		sc.End()
	})
	if c.decoded == nil {
		c.decoded = map[int]decoded{}
	}
	c.decoded[in.Arg] = decoded{scratch, first}
}

// decodedBytes is the most bytes of the elements of a Decode.
func (c *Builder) decodedBytes() int {
	const share, shareOfUnknown = 32, 1 << 28 // of the memory
	n := cmp.Or(c.Target.Memory/share, shareOfUnknown)
	if most := c.Target.BufferBytes; most > 0 {
		n = min(n, most)
	}
	return n
}

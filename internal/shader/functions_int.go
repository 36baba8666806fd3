package shader

import "github.com/tensorken/tensorken/ir"

// integers adds the functions of integers of one size.
func (l library) integers(signed, unsigned Type) {
	width := 8 * signed.Bytes()
	minusOne, least := Number(signed, -1), FromBits(signed, 1<<(width-1))
	binary := func(op string, t Type, body func(s *Block, a, b *Expr) *Expr) { l.binary(op+"_"+t.String(), t, body) }
	binary("div", signed, func(s *Block, a, b *Expr) *Expr {
		odd := s.Let("odd", b.Eq(0).Or(b.Eq(minusOne).And(a.Eq(least))))
		return choose(signed, b.Eq(0), 0, a.Div(choose(signed, odd, 1, b)))
	})
	binary("div", unsigned, func(s *Block, a, b *Expr) *Expr { return choose(unsigned, b.Eq(0), 0, a.Div(b.Max(1))) })
	binary("rem", signed, func(s *Block, a, b *Expr) *Expr {
		odd := s.Let("odd", b.Eq(0).Or(b.Eq(minusOne)))
		return choose(signed, odd, 0, a.Rem(choose(signed, odd, 1, b)))
	})
	binary("rem", unsigned, func(s *Block, a, b *Expr) *Expr { return choose(unsigned, b.Eq(0), 0, a.Rem(b.Max(1))) })
	binary("pow", unsigned, func(s *Block, a, b *Expr) *Expr {
		p := s.Var("p", Number(unsigned, 1))
		x := s.Var("x", a)
		n := &Var{Name: "n", Type: unsigned, Mutable: true}
		square := &Block{}
		square.If(n.Ref().And(1).Eq(1), func(s *Block) { s.Set(p, p.Ref().Mul(x.Ref())) })
		square.Set(x, x.Ref().Mul(x.Ref()))
		s.Do(&For{Var: n, Init: b, Cond: n.Ref().Gt(0), Next: n.Ref().Shr(1), Body: square})
		return p.Ref()
	})
	binary("pow", signed, func(s *Block, a, b *Expr) *Expr {
		s.returnIf(b.Ge(0), l.call("pow_"+unsigned.String(), bits(a), bits(b)).Bitcast(signed), signed)
		s.returnIf(a.Eq(1), 1, signed)
		s.returnIf(a.Eq(-1), choose(signed, b.And(1).Eq(0), 1, -1), signed)
		return Number(signed, 0)
	})
	for _, t := range []Type{signed, unsigned} {
		binary("shl", t, func(s *Block, a, b *Expr) *Expr {
			return choose(t, bits(b).Lt(width), a.Shl(bits(b).And(width-1).Convert(U32)), 0)
		})
	}
	binary("shr", signed, func(s *Block, a, b *Expr) *Expr { return a.Shr(bits(b).Min(width - 1).Convert(U32)) })
	binary("shr", unsigned, func(s *Block, a, b *Expr) *Expr {
		return choose(unsigned, b.Lt(width), a.Shr(b.And(width-1).Convert(U32)), 0)
	})
}

// conversions adds those from floats to the integers among some types.
func (l library) conversions(from format, types []ir.DType) {
	for _, d := range types {
		if !d.IsInt() {
			continue
		}
		t := Register(d)
		lo, hi := ir.Limits(d)
		first, last := Number(from.float, lo.Float64(d)), Number(from.float, hi.Float64(d))
		l.unary(d.String()+"_of_"+from.float.String(), from.float, func(s *Block, x *Expr) *Expr {
			if 8*d.Size() <= from.significand {
				return choose(t, l.isNaN(x), 0, x.Max(first).Min(last).Convert(t))
			}
			below := FromBits(from.float, last.Bits-1) // last is rounded up, out of range
			y := s.Let("y", choose(t, x.Ge(last), FromBits(t, uint64(hi)), x.Max(first).Min(below).Convert(t)))
			return choose(t, l.isNaN(x), 0, y)
		})
	}
}

func (l library) halves() {
	// To nearest even.
	l.unary("f16_bits", F32, func(s *Block, x *Expr) *Expr {
		b := s.Let("b", bits(x))
		sign := s.Let("sign", b.Shr(16).And(0x8000))
		a := s.Let("a", b.And(magnitude))
		s.returnIf(a.Gt(infinity), sign.Or(0x7e00), U32)
		s.returnIf(a.Ge(0x477ff000), sign.Or(0x7c00), U32)
		s.returnIf(a.Lt(0x38800000), sign.Or(bits(a.Bitcast(F32).Add(0.5)).Sub(0x3f000000)), U32) // a multiple of 2^-24
		return sign.Or(a.Add(0xfff).Add(a.Shr(13).And(1)).Sub(0x38000000).Shr(13))
	})
	l.unary("bf16_bits", F32, func(s *Block, x *Expr) *Expr {
		b := s.Let("b", bits(x))
		return l.call("is_nan", x).If(b.Shr(16).Or(0x40), b.Add(0x7fff).Add(b.Shr(16).And(1)).Shr(16))
	})
}

// turns is how far each round of Threefry-2x32 rotates, in turn.
var turns = [2][4]int{{13, 15, 26, 6}, {17, 29, 16, 24}}

func (l library) random() {
	l.define("threefry_u32", U32, []string{"k0", "k1", "c0", "c1"}, func(s *Block, w []*Expr) *Expr {
		k2 := s.Let("k2", Number(U32, 0x1bd11bda).Xor(w[0]).Xor(w[1]))
		key := [3]*Expr{w[0], w[1], k2}
		x := s.Var("x", w[2].Add(w[0]))
		y := s.Var("y", w[3].Add(w[1]))
		for i := range 5 {
			for _, t := range turns[i%2] {
				s.Set(x, x.Ref().Add(y.Ref()))
				s.Set(y, y.Ref().Shl(t).Or(y.Ref().Shr(32-t)).Xor(x.Ref()))
			}
			s.Set(x, x.Ref().Add(key[(i+1)%3]))
			s.Set(y, y.Ref().Add(key[(i+2)%3].Add(i+1)))
		}
		return x.Ref().Xor(y.Ref())
	})
}

func (l library) keys(f format) {
	// Numbers as keys, for the greatest: NaN above all, zeros equal, no key 0.
	l.unary("key_"+f.float.String(), f.float, func(s *Block, x *Expr) *Expr {
		sign := FromBits(f.bits, f.signBit())
		b := s.Let("b", choose(f.bits, x.Eq(0), 0, bits(x)))
		k := s.Let("k", b.Ge(sign).If(b.Not(), b.Or(sign)))
		return choose(f.bits, l.isNaN(x), -1, k)
	})
}

// firstMax adds the greater of two keys of type t with positions, of equal keys the first.
func (l library) firstMax(t Type) {
	l.binary("first_max_"+t.String(), t.Vec(2), func(s *Block, a, b *Expr) *Expr {
		greater := b.At(0).Gt(a.At(0))
		return greater.Or(b.At(0).Eq(a.At(0)).And(b.At(1).Lt(a.At(1)))).If(b, a)
	})
}

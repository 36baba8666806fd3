package shader

import "github.com/tensorken/tensorken/ir"

func (l library) integers() {
	minusOne, least := Number(I32, -1), FromBits(I32, signBit)
	l.binary("div_i32", I32, func(s *Block, a, b *Expr) *Expr {
		odd := s.Let("odd", b.Eq(0).Or(b.Eq(minusOne).And(a.Eq(least))))
		return choose(I32, b.Eq(0), 0, a.Div(choose(I32, odd, 1, b)))
	})
	l.binary("div_u32", U32, func(s *Block, a, b *Expr) *Expr { return choose(U32, b.Eq(0), 0, a.Div(b.Max(1))) })
	l.binary("rem_i32", I32, func(s *Block, a, b *Expr) *Expr {
		odd := s.Let("odd", b.Eq(0).Or(b.Eq(minusOne)))
		return choose(I32, odd, 0, a.Rem(choose(I32, odd, 1, b)))
	})
	l.binary("rem_u32", U32, func(s *Block, a, b *Expr) *Expr { return choose(U32, b.Eq(0), 0, a.Rem(b.Max(1))) })
	l.binary("pow_u32", U32, func(s *Block, a, b *Expr) *Expr {
		p := s.Var("p", Number(U32, 1))
		x := s.Var("x", a)
		n := &Var{Name: "n", Type: U32, Mutable: true}
		square := &Block{}
		square.If(n.Ref().And(1).Eq(1), func(s *Block) { s.Set(p, p.Ref().Mul(x.Ref())) })
		square.Set(x, x.Ref().Mul(x.Ref()))
		s.Do(&For{Var: n, Init: b, Cond: n.Ref().Gt(0), Next: n.Ref().Shr(1), Body: square})
		return p.Ref()
	})
	l.binary("pow_i32", I32, func(s *Block, a, b *Expr) *Expr {
		s.returnIf(b.Ge(0), l.call("pow_u32", bits(a), bits(b)).Bitcast(I32), I32)
		s.returnIf(a.Eq(1), 1, I32)
		s.returnIf(a.Eq(-1), choose(I32, b.And(1).Eq(0), 1, -1), I32)
		return Number(I32, 0)
	})
	l.binary("shl_i32", I32, func(s *Block, a, b *Expr) *Expr {
		return choose(I32, bits(b).Lt(32), a.Shl(bits(b).And(31)), 0)
	})
	l.binary("shl_u32", U32, func(s *Block, a, b *Expr) *Expr { return choose(U32, b.Lt(32), a.Shl(b.And(31)), 0) })
	l.binary("shr_i32", I32, func(s *Block, a, b *Expr) *Expr { return a.Shr(bits(b).Min(31)) })
	l.binary("shr_u32", U32, func(s *Block, a, b *Expr) *Expr { return choose(U32, b.Lt(32), a.Shr(b.And(31)), 0) })
}

func (l library) conversions() {
	// Bounds below the limit are the greatest floats that can be converted.
	l.unary("int32_of", F32, func(s *Block, x *Expr) *Expr {
		y := s.Let("y", choose(I32, x.Ge(2147483648), 2147483647, x.Max(-2147483648).Min(2147483520).Convert(I32)))
		return choose(I32, l.call("is_nan", x), 0, y)
	})
	l.unary("uint32_of", F32, func(s *Block, x *Expr) *Expr {
		y := s.Let("y", choose(U32, x.Ge(4294967296), 0xffffffff, x.Max(0).Min(4294967040).Convert(U32)))
		return choose(U32, l.call("is_nan", x), 0, y)
	})
	for _, d := range DTypes {
		if !d.IsInt() || d.Size() == 4 {
			continue
		}
		t := Register(d)
		lo, hi := ir.Limits(d)
		l.unary(d.String()+"_of", F32, func(s *Block, x *Expr) *Expr {
			return choose(t, l.call("is_nan", x), 0, x.Max(int(lo)).Min(int(hi)).Convert(t))
		})
	}
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

func (l library) keys() {
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
	// Numbers as keys of which the greatest is sought: NaN above all, zeros
	// equal, nothing 0.
	l.unary("key_f32", F32, func(s *Block, x *Expr) *Expr {
		b := s.Let("b", choose(U32, x.Eq(0), 0, bits(x)))
		k := s.Let("k", b.Ge(signBit).If(b.Not(), b.Or(signBit)))
		return choose(U32, l.call("is_nan", x), 0xffffffff, k)
	})
	// The greater key, of equal ones the first.
	l.binary("first_max", U32.Vec(2), func(s *Block, a, b *Expr) *Expr {
		greater := b.At(0).Gt(a.At(0))
		return greater.Or(b.At(0).Eq(a.At(0)).And(b.At(1).Lt(a.At(1)))).If(b, a)
	})
}

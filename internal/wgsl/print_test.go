package wgsl

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

func variable(name string, t shader.Type) *shader.Expr {
	return (&shader.Var{Name: name, Type: t}).Ref()
}

// Parentheses stand where WGSL's grammar needs them, and nowhere else.
func TestExpressions(t *testing.T) {
	i, u, f, b := variable("i", shader.I32), variable("u", shader.U32), variable("f", shader.F32), variable("b", shader.Bool)
	number := func(x float64) *shader.Expr { return shader.Number(shader.F32, x) }
	for _, c := range []struct {
		x    *shader.Expr
		want string
	}{
		{i.Add(1).Add(i), "i + 1 + i"},
		{i.Sub(i.Sub(1)), "i - (i - 1)"},
		{i.Add(2).Mul(i), "(i + 2) * i"},
		{i.Mul(i.Div(3)), "i * (i / 3)"},
		{i.Mul(-3).Rem(4), "i * -3 % 4"},
		{i.Neg().Neg(), "-(-i)"},
		{shader.Number(shader.I32, -3).Neg(), "-(-3)"},
		{shader.Number(shader.I32, math.MinInt32).Add(i), "i32(-2147483648) + i"},
		{u.Shl(2).Shr(u), "(u << 2u) >> u"},
		{u.Add(1).Shl(2), "(u + 1u) << 2u"},
		{u.Shl(2).Lt(u), "u << 2u < u"},
		{u.And(1).And(2), "u & 1u & 2u"},
		{u.And(1).Or(2), "(u & 1u) | 2u"},
		{u.And(1).Eq(0), "(u & 1u) == 0u"},
		{u.Not().And(0x7fffffff), "~u & 0x7fffffffu"},
		{b.Eq(b).Eq(b), "(b == b) == b"},
		{b.And(b).And(i.Lt(2)), "b && b && i < 2"},
		{b.And(b).Or(b), "(b && b) || b"},
		{b.And(b).Not(), "!(b && b)"},
		{b.If(u, u.Add(1)), "select(u + 1u, u, b)"},
		{f.Abs().Neg().Sqrt(), "sqrt(-abs(f))"},
		{shader.MulAdd(f, f, f.Neg()), "fma(f, f, -f)"},
		{shader.DotBytes(i, i.Add(1), i).Mul(2), "(dot4I8Packed(bitcast<u32>(i), bitcast<u32>(i + 1)) + i) * 2"},
		{shader.DotBytes(u, u, u), "bitcast<u32>((dot4I8Packed(bitcast<u32>(bitcast<i32>(u ^ 0x80808080u)), bitcast<u32>(bitcast<i32>(u))) + (dot4I8Packed(bitcast<u32>(16843009), bitcast<u32>(bitcast<i32>(u))) + 0) * 128 + bitcast<i32>(u)))"},
		{u.Shl(2).UnpackHalf(shader.F16).Add(1), "unpack2x16float(u << 2u).x + 1.0f"},
		{shader.Vec(4, f).Add(1.5).At(2), "(vec4<f32>(f) + vec4<f32>(1.5f)).z"},
		{shader.Number(shader.I32.Vec(4), 0), "vec4<i32>()"},
		{number(-2), "-2.0f"},
		{number(1e-7), "1e-07f"},
		{number(math.Copysign(0, -1)), "bitcast<f32>(0x80000000u | _zero)"},
		{number(math.Inf(-1)), "bitcast<f32>(0xff800000u | _zero)"},
		{number(math.NaN()), "bitcast<f32>(0x7fc00000u | _zero)"},
		{number(2e38), "bitcast<f32>(0x7f167699u | _zero)"},
		{number(0).Launder(shader.FirstWay), "bitcast<f32>(0u | _zero)"},
		{f.Launder(shader.FirstWay).Sub(f.Launder(shader.SecondWay)), "_launder(f) - _launder2(f)"},
		{f.LaunderAt(u.Add(1)), "bitcast<f32>(bitcast<u32>(f) | (_zero & (u + 1u)))"},
		{u.Lt(u.Launder(shader.SecondWay)), "u < u + _zero"},
		{f.Convert(shader.F16).Convert(shader.F32), "unpack2x16float(f16_bits(f)).x"},
		{f.Convert(shader.BF16).Convert(shader.F32), "bitcast<f32>(bf16_bits(f) << 16u)"},
		{f.Shuffle(4), "subgroupShuffleXor(f, 4u)"},
	} {
		p := printer{declared: map[string]string{}}
		p.expr(c.x, lowest)
		if got := string(p.text); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if usesZero := strings.Contains(c.want, "_zero") || strings.Contains(c.want, "_launder"); usesZero != (p.declared["_zero"] != "") {
			t.Errorf("%s: zero is declared: %v", c.want, !usesZero)
		}
	}
}

// load reads elements from 4·thread on, one or four, and returns their names.
func load(b *shader.Block, from *shader.Buffer, name string, n int) []*shader.Expr {
	l := &shader.Load{Declare: true, Buffer: from, Index: shader.ThreadID.Mul(4).Convert(shader.I32)}
	t := shader.Register(from.Type)
	var x []*shader.Expr
	for i := range n {
		v := &shader.Var{Name: name + string("xyzwabcd"[i]), Type: t}
		l.Dst, x = append(l.Dst, v), append(x, v.Ref())
	}
	b.Do(l)
	return x
}

// A buffer is bound as vectors if it is read by vectors at least as often as by elements, or if all accesses are to
// vectors; else they are accesses of one each, and those that write a part of a word are
// atomic.
func TestBuffers(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     ir.DType
		loads []int // numbers of elements
		store int
		want  []string
	}{
		{"fours", ir.Float32, []int{4}, 4, []string{"<storage, read> a0: array<vec4<f32>>", "a0[u32(i32(_thread * 4u)) >> 2u];", "array<vec4<f32>>", "= vec4<f32>(v0x, v0y, v0z, v0w);"}},
		{"a single load", ir.Float32, []int{4, 1}, 4, []string{"a0: array<vec4<f32>>", "let v1x = a0[_at_v1x >> 2u][(_at_v1x >> 0u) & 3u];", "a1: array<vec4<f32>>"}},
		{"a single store", ir.Int32, []int{4}, 1, []string{"a0: array<vec4<i32>>", "a1: array<i32>", "a1[i32(_thread * 4u)] = v0x;"}},
		{"bytes", ir.Uint8, []int{4}, 4, []string{"a0: array<u32>", "let v0y = extractBits(_four_v0x, 8u, 8u);", "v0x | (v0y << 8u) | (v0z << 16u) | (v0w << 24u);"}},
		{"a byte", ir.Bool, []int{1}, 1, []string{"let v0x = extractBits(a0[_at_v0x >> 2u], (_at_v0x & 3u) * 8u, 8u) != 0u;", "a1: array<atomic<u32>>", "atomicAnd(_to, ~(255u << _bit));", "atomicOr(_to, select(0u, 1u, v0x) << _bit);"}},
		{"halves", ir.Float16, []int{4}, 4, []string{"a0: array<vec2<u32>>", "let v0z = unpack2x16float(_four_v0x.y >> 0u).x;", "= vec2<u32>(f16_bits(v0x) | (f16_bits(v0y) << 16u), f16_bits(v0z) | (f16_bits(v0w) << 16u));", "fn f16_bits("}},
		{"a half", ir.BFloat16, []int{4, 1}, 1, []string{"a0: array<vec2<u32>>", "let v1x = bitcast<f32>((a0[_at_v1x >> 2u][(_at_v1x >> 1u) & 1u] >> ((_at_v1x & 1u) * 16u)) << 16u);", "atomicOr(_to, bf16_bits(v0x) << _bit);"}},
		{"eights", ir.BFloat16, []int{8, 1}, 4, []string{"a0: array<vec4<u32>>", "let _four_v0x = a0[u32(i32(_thread * 4u)) >> 3u];", "let v0d = bitcast<f32>((_four_v0x.w >> 16u) << 16u);", "a0[_at_v1x >> 3u][(_at_v1x >> 1u) & 3u]"}},
		{"eights and fours", ir.Float16, []int{8, 4}, 4, []string{"a0: array<vec2<u32>>", "let _four_v0a = a0[u32(i32(_thread * 4u) + 4) >> 2u];", "let v0d = unpack2x16float(_four_v0a.y >> 16u).x;"}},
	} {
		in := &shader.Buffer{Name: "a0", Type: c.d}
		out := &shader.Buffer{Name: "a1", Arg: 1, Type: c.d, Write: true}
		p := &shader.Pass{Threads: 64, Grid: [3]int{2, 3, 1}, Buffers: []*shader.Buffer{in, out}, Body: &shader.Block{}}
		var x []*shader.Expr
		for i, n := range c.loads {
			if v := load(p.Body, in, "v"+string("01"[i]), n); x == nil {
				x = v
			}
		}
		p.Body.Do(&shader.Store{Buffer: out, Index: shader.ThreadID.Mul(4).Convert(shader.I32), Values: x[:c.store]})
		text := Print(p)
		for _, want := range append(c.want, "let _group = _id.x + 2u * _id.y;") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
	}
}

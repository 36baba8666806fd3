package wgsl

import "strings"

// declare adds a function or a variable of the printer, and those that it uses, to the
// text.
func (p *printer) declare(name string) {
	if p.declared[name] != "" {
		return
	}
	text := helpers[name]
	p.declared[name] = text
	for other := range helpers {
		if strings.Contains(text, other+"(") || other == "_zero" && strings.Contains(text, other) {
			p.declare(other)
		}
	}
}

// helpers are the variable and the functions that texts of the printer use. Functions
// on pairs end in i for signed integers and in u for others, if that matters.
var helpers = map[string]string{
	// Values that compilers know nothing about, in two ways.
	"_zero":     "var<private> _zero: u32;",
	"_launder":  "fn _launder(x: f32) -> f32 {\n  return bitcast<f32>(bitcast<u32>(x) | _zero);\n}",
	"_launder2": "fn _launder2(x: f32) -> f32 {\n  return bitcast<f32>(bitcast<u32>(x) + _zero);\n}",

	"_add": `fn _add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let x = a.x + b.x;
  return vec2<u32>(x, a.y + b.y + u32(x < b.x));
}`,
	"_sub": `fn _sub(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}`,
	"_neg": `fn _neg(a: vec2<u32>) -> vec2<u32> {
  return _sub(vec2<u32>(), a);
}`,
	"_abs": `fn _abs(a: vec2<u32>) -> vec2<u32> {
  return select(a, _neg(a), a.y >> 31u != 0u);
}`,
	// The lower words are multiplied in halves.
	"_mul": `fn _mul(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let c = a.x & 0xffffu;
  let d = a.x >> 16u;
  let e = b.x & 0xffffu;
  let f = b.x >> 16u;
  let g = d * e + ((c * e) >> 16u);
  let h = c * f + (g & 0xffffu);
  return vec2<u32>(a.x * b.x, d * f + (g >> 16u) + (h >> 16u) + a.x * b.y + a.y * b.x);
}`,
	// The quotient and the remainder, bit by bit unless both numbers are short.
	"_divide": `fn _divide(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  if ((a.y | b.y) == 0u) {
    return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);
  }
  var q = a;
  var r = vec2<u32>();
  for (var i = 0; i < 64; i++) {
    let over = r.y >> 31u;
    r = _shl(r, 1u) | vec2<u32>(q.y >> 31u, 0u);
    q = _shl(q, 1u);
    if (over != 0u || !_lt_u(r, b)) {
      r = _sub(r, b);
      q.x |= 1u;
    }
  }
  return vec4<u32>(q, r);
}`,
	"_div_u": `fn _div_u(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return _divide(a, b).xy;
}`,
	"_div_i": `fn _div_i(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let q = _divide(_abs(a), _abs(b)).xy;
  return select(q, _neg(q), (a.y ^ b.y) >> 31u != 0u);
}`,
	"_rem_u": `fn _rem_u(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return _divide(a, b).zw;
}`,
	"_rem_i": `fn _rem_i(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let r = _divide(_abs(a), _abs(b)).zw;
  return select(r, _neg(r), a.y >> 31u != 0u);
}`,
	"_shl": `fn _shl(a: vec2<u32>, n: u32) -> vec2<u32> {
  let s = n & 31u;
  let x = a.x << s;
  return select(vec2<u32>(x, (a.y << s) | ((a.x >> 1u) >> (31u - s))), vec2<u32>(0u, x), n > 31u);
}`,
	"_shr_u": `fn _shr_u(a: vec2<u32>, n: u32) -> vec2<u32> {
  let s = n & 31u;
  let y = a.y >> s;
  return select(vec2<u32>((a.x >> s) | ((a.y << 1u) << (31u - s)), y), vec2<u32>(y, 0u), n > 31u);
}`,
	"_shr_i": `fn _shr_i(a: vec2<u32>, n: u32) -> vec2<u32> {
  let sign = vec2<u32>(u32(i32(a.y) >> 31u));
  return _shr_u(a ^ sign, n) ^ sign;
}`,
	"_eq": `fn _eq(a: vec2<u32>, b: vec2<u32>) -> bool {
  return all(a == b);
}`,
	"_lt_u": `fn _lt_u(a: vec2<u32>, b: vec2<u32>) -> bool {
  return select(a.y < b.y, a.x < b.x, a.y == b.y);
}`,
	"_min_u": `fn _min_u(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, _lt_u(b, a));
}`,
	"_max_u": `fn _max_u(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, _lt_u(a, b));
}`,
	"_lt_i": `fn _lt_i(a: vec2<u32>, b: vec2<u32>) -> bool {
  return select(i32(a.y) < i32(b.y), a.x < b.x, a.y == b.y);
}`,
	"_min_i": `fn _min_i(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, _lt_i(b, a));
}`,
	"_max_i": `fn _max_i(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, _lt_i(a, b));
}`,
	"_of_i32": `fn _of_i32(x: i32) -> vec2<u32> {
  return vec2<u32>(u32(x), u32(x >> 31u));
}`,
	"_of_u32": `fn _of_u32(x: u32) -> vec2<u32> {
  return vec2<u32>(x, 0u);
}`,
	"_f32_of_i64": `fn _f32_of_i64(a: vec2<u32>) -> f32 {
  let x = _f32_of_u64(_abs(a));
  return select(x, -x, a.y >> 31u != 0u);
}`,
	// The 32 leading bits and whether any follows, so that this is rounded once.
	"_f32_of_u64": `fn _f32_of_u64(a: vec2<u32>) -> f32 {
  let n = min(countLeadingZeros(a.y), 32u);
  let b = _shl(a, n);
  return f32(b.y | u32(b.x != 0u)) * bitcast<f32>((159u - n) << 23u);
}`,
	"_i64_of_f32": `fn _i64_of_f32(x: f32) -> vec2<u32> {
  let a = _u64_of_f32(abs(x));
  return select(a, _neg(a), x < 0f);
}`,
	"_u64_of_f32": `fn _u64_of_f32(x: f32) -> vec2<u32> {
  let b = bitcast<u32>(x);
  let m = vec2<u32>((b & 0x7fffffu) | 0x800000u, 0u);
  let e = (b >> 23u) & 0xffu;
  if (e < 150u) {
    return _shr_u(m, min(150u - e, 63u));
  }
  return _shl(m, min(e - 150u, 63u));
}`,
}

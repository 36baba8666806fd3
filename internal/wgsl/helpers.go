package wgsl

import (
	"slices"
	"strings"
)

// helpers are the functions and variables that expressions call, by name; a
// shader has those that it uses. The series of sin, cos, tanh, atan and, up to
// 1, erf follow Moshier's Cephes library; that of expm1 is Taylor's, that of
// log1p is of the inverse hyperbolic tangent; the reduction of large angles is
// that of Payne and Hanek.
var helpers = map[string]string{
	// Compilers of shaders disregard infinities, NaN and the sign of zeros
	// where they see them. What depends on this word, which is 0, they cannot.
	"zero":       `var<private> zero: u32;`,
	"sealed":     `fn sealed(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) | zero); }`,
	"sealed_too": `fn sealed_too(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) + zero); }`,
	"inf":        `fn inf() -> f32 { return bitcast<f32>(0x7f800000u | zero); }`,
	"nan":        `fn nan() -> f32 { return bitcast<f32>(0x7fc00000u | zero); }`,
	"is_nan": `fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}`,
	"ordered": `fn ordered(a: f32, b: f32) -> bool {
  return max(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu) <= 0x7f800000u;
}`,
	"eq_f32": `fn eq_f32(a: f32, b: f32) -> bool { return a == b && ordered(a, b); }`,
	"lt_f32": `fn lt_f32(a: f32, b: f32) -> bool { return a < b && ordered(a, b); }`,
	"max_f32": `fn max_f32(a: f32, b: f32) -> f32 {
  return select(select(max(a, b), b, is_nan(b)), a, is_nan(a));
}`,
	"min_f32": `fn min_f32(a: f32, b: f32) -> f32 {
  return select(select(min(a, b), b, is_nan(b)), a, is_nan(a));
}`,
	"is_finite": `fn is_finite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}`,
	"sqrt_f32": `fn sqrt_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  if (b << 1u == 0u || (b >= 0x7f800000u && b <= 0x80000000u)) { return x; } // zeros, infinity, NaN
  return select(sqrt(x), nan(), b > 0x80000000u);
}`,
	"exp_f32": `fn exp_f32(x: f32) -> f32 {
  let y = select(select(exp(x), inf(), x > 88.73), 0.0, x < -104.0);
  return select(y, x, is_nan(x));
}`,
	"expm1_f32": `fn expm1_f32(x: f32) -> f32 {
  let p = 1.0 + x * (0.5 + x * (1.6666667e-1 + x * (4.1666668e-2 + x * (8.333334e-3 + x * (1.388889e-3 + x * (1.984127e-4 + x * 2.4801587e-5))))));
  return select(exp_f32(x) - 1.0, x * p, abs(x) < 0.5);
}`,
	"log1p_near": `fn log1p_near(x: f32) -> f32 { // for x in [-0.5, 0.5]
  let s = x / (2.0 + x);
  let z = s * s;
  return 2.0 * s * (1.0 + z * (3.3333334e-1 + z * (0.2 + z * (1.4285715e-1 + z * (1.1111111e-1 + z * (9.090909e-2 + z * (7.692308e-2 + z * 6.666667e-2)))))));
}`,
	"log_f32": `fn log_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  if (b << 1u == 0u) { return -inf(); }
  if (b > 0x80000000u) { return nan(); }
  if (b >= 0x7f800000u) { return x; }
  return select(log(x), log1p_near(x - 1.0), abs(x - 1.0) < 0.4);
}`,
	"log1p_f32": `fn log1p_f32(x: f32) -> f32 {
  return select(log_f32(1.0 + x), log1p_near(x), abs(x) < 0.4);
}`,
	"tanh_f32": `fn tanh_f32(x: f32) -> f32 {
  let z = x * x;
  let near = x + x * z * (-3.33332819e-1 + z * (1.33314422e-1 + z * (-5.37397156e-2 + z * (2.06390888e-2 + z * -5.70498872e-3))));
  let far = 1.0 - 2.0 / (exp(2.0 * min(abs(x), 10.0)) + 1.0);
  let y = select(select(far, -far, x < 0.0), near, abs(x) < 0.625);
  return select(y, x, is_nan(x));
}`,
	"erf_f32": `fn erf_f32(x: f32) -> f32 {
  let a = min(abs(x), 10.0);
  let z = x * x;
  let near = x * (1.128379167 + z * (-3.761262582e-1 + z * (1.128358514e-1 + z * (-2.685381193e-2 + z * (5.188327685e-3 + z * (-8.010193625e-4 + z * 7.853861353e-5))))));
  let t = 1.0 / (1.0 + 0.3275911 * a); // Abramowitz and Stegun 7.1.26
  let p = t * (2.54829592e-1 + t * (-2.84496736e-1 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  let far = 1.0 - p * exp(-a * a);
  let y = select(select(far, -far, x < 0.0), near, a < 1.0);
  return select(y, x, is_nan(x));
}`,
	"atan_f32": `fn atan_f32(x: f32) -> f32 {
  let a = abs(x);
  let steep = a > 2.4142136;
  let middle = a > 0.41421357 && !steep;
  let r = select(select(a, (a - 1.0) / (a + 1.0), middle), -1.0 / a, steep);
  let z = r * r;
  let p = r + r * z * (-3.33329491e-1 + z * (1.99777106e-1 + z * (-1.38776856e-1 + z * 8.05374449e-2)));
  let y = select(select(p, p + 0.7853982, middle), select(p + 1.5707964, 1.5707964, a > 1e9), steep);
  return select(select(y, -y, x < 0.0), x, is_nan(x));
}`,
	// The upper and lower words of a product.
	"mul_wide": `fn mul_wide(a: u32, b: u32) -> vec2<u32> {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let m = ah * bl + ((al * bl) >> 16u);
  let n = al * bh + (m & 0xffffu);
  return vec2<u32>(ah * bh + (m >> 16u) + (n >> 16u), a * b);
}`,
	// An angle is a number of quarter turns and a rest in [-pi/4, pi/4].
	"angle": `struct angle { quarter: i32, rest: f32 }`,
	"far_angle": `fn far_angle(x: f32) -> angle { // multiplies by bits of 2/pi
  var bits = array<u32, 7>(0u, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u);
  let b = bitcast<u32>(x);
  let e = ((b >> 23u) & 0xffu) - 126u;
  let i = min(e >> 5u, 4u);
  let s = e & 31u;
  var hi = bits[i];
  var mid = bits[i + 1u];
  var lo = bits[i + 2u];
  if (s != 0u) {
    hi = (hi << s) | (mid >> (32u - s));
    mid = (mid << s) | (lo >> (32u - s));
    lo = (lo << s) | (bits[min(i + 3u, 6u)] >> (32u - s));
  }
  let m = (b << 8u) | 0x80000000u;
  let p = mul_wide(m, mid);
  let low = p.y + mul_wide(m, lo).x;
  var high = m * hi + p.x + select(0u, 1u, low < p.y);
  var quarter = i32(high >> 30u);
  high &= 0x3fffffffu;
  if (high >= 0x20000000u) {
    high -= 0x40000000u;
    quarter += 1;
  }
  let rest = (f32(bitcast<i32>(high)) + f32(low) * 2.3283064e-10) * 1.4629181e-9; // pi/2 / 2^30
  if (x < 0.0) { return angle(-quarter, -rest); }
  return angle(quarter, rest);
}`,
	"angle_of": `fn angle_of(x: f32) -> angle {
  if (abs(x) > 4000.0) { return far_angle(x); }
  let q = floor(x * 0.63661977 + 0.5);
  let r = ((x - q * 1.5703125) - q * 4.837513e-4) - q * 7.549790e-8;
  return angle(i32(q), r);
}`,
	"sine": `fn sine(a: angle) -> f32 {
  let r = a.rest;
  let z = r * r;
  let s = r + r * z * (-1.6666655e-1 + z * (8.3321609e-3 + z * -1.9515296e-4));
  let c = 1.0 - 0.5 * z + z * z * (4.166664568e-2 + z * (-1.388731625e-3 + z * 2.443315711e-5));
  let y = select(s, c, (a.quarter & 1) != 0);
  return select(y, -y, (a.quarter & 2) != 0);
}`,
	"sin_f32": `fn sin_f32(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { return nan(); }
  return sine(angle_of(x));
}`,
	"cos_f32": `fn cos_f32(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { return nan(); }
  var a = angle_of(x);
  a.quarter += 1;
  return sine(a);
}`,
	"pow_f32": `fn pow_f32(a: f32, b: f32) -> f32 {
  if (b == 0.0 || a == 1.0) { return 1.0; }
  if (is_nan(a) || is_nan(b)) { return nan(); }
  if (b == 1.0) { return a; }
  let m = abs(a);
  if (m == 1.0 && !is_finite(b)) { return 1.0; }
  let whole = floor(b) == b;
  let odd = whole && abs(b) < 16777216.0 && (i32(clamp(b, -16777216.0, 16777216.0)) & 1) != 0;
  let y = exp_f32(b * log_f32(m));
  if (!whole && a < 0.0 && is_finite(a)) { return nan(); }
  return select(y, -y, odd && (bitcast<u32>(a) >> 31u) == 1u);
}`,
	// The remainder is exact: long division of significands, eight bits at a time.
	// Integers do not take subnormal numbers for 0.
	"rem_f32": `fn rem_f32(a: f32, b: f32) -> f32 {
  let ua = bitcast<u32>(a) & 0x7fffffffu;
  let ub = bitcast<u32>(b) & 0x7fffffffu;
  if (ua >= 0x7f800000u || ub > 0x7f800000u || ub == 0u) { return nan(); }
  if (ua < ub) { return a; }
  let eb = max(ub >> 23u, 1u);
  let y = significand(ub);
  var r = significand(ua) % y;
  var n = max(ua >> 23u, 1u) - eb;
  while (n > 0u) {
    let k = min(n, 8u);
    r = (r << k) % y;
    n -= k;
  }
  if (r != 0u) {
    let s = min(countLeadingZeros(r) - 8u, eb - 1u);
    r = (r << s) + ((eb - s - 1u) << 23u);
  }
  return bitcast<f32>(r | (bitcast<u32>(a) & 0x80000000u));
}`,
	// Of the bits of a number that is neither negative nor infinite.
	"significand": `fn significand(u: u32) -> u32 { return select((u & 0x7fffffu) | 0x800000u, u, u < 0x800000u); }`,
	"div_f32": `fn div_f32(a: f32, b: f32) -> f32 {
  let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
  let infinite = bitcast<f32>(sign | 0x7f800000u | zero);
  let s = select(1.0, 0.25, abs(b) > 4e37); // the reciprocal of b may be taken for 0
  return select((a * s) / (b * s), select(infinite, nan(), a == 0.0 || is_nan(a)), b == 0.0);
}`,
	"div_i32": `fn div_i32(a: i32, b: i32) -> i32 {
  let odd = b == 0 || (b == -1 && a == bitcast<i32>(0x80000000u));
  return select(a / select(b, 1, odd), 0, b == 0);
}`,
	"div_u32": `fn div_u32(a: u32, b: u32) -> u32 { return select(a / max(b, 1u), 0u, b == 0u); }`,
	"rem_i32": `fn rem_i32(a: i32, b: i32) -> i32 {
  let odd = b == 0 || b == -1;
  return select(a % select(b, 1, odd), 0, odd);
}`,
	"rem_u32": `fn rem_u32(a: u32, b: u32) -> u32 { return select(a % max(b, 1u), 0u, b == 0u); }`,
	"pow_u32": `fn pow_u32(a: u32, b: u32) -> u32 {
  var p = 1u;
  var x = a;
  for (var n = b; n > 0u; n >>= 1u) {
    if ((n & 1u) == 1u) { p *= x; }
    x *= x;
  }
  return p;
}`,
	"pow_i32": `fn pow_i32(a: i32, b: i32) -> i32 {
  if (b >= 0) { return bitcast<i32>(pow_u32(bitcast<u32>(a), bitcast<u32>(b))); }
  if (a == 1) { return 1; }
  if (a == -1) { return select(-1, 1, (b & 1) == 0); }
  return 0;
}`,
	"shl_i32": `fn shl_i32(a: i32, n: i32) -> i32 { return select(0, a << (u32(n) & 31u), u32(n) < 32u); }`,
	"shl_u32": `fn shl_u32(a: u32, n: u32) -> u32 { return select(0u, a << (n & 31u), n < 32u); }`,
	"shr_i32": `fn shr_i32(a: i32, n: i32) -> i32 { return a >> min(u32(n), 31u); }`,
	"shr_u32": `fn shr_u32(a: u32, n: u32) -> u32 { return select(0u, a >> (n & 31u), n < 32u); }`,
	"i32_of": `fn i32_of(x: f32) -> i32 {
  let y = select(i32(clamp(x, -2147483648.0, 2147483520.0)), 2147483647, x >= 2147483648.0);
  return select(y, 0, is_nan(x));
}`,
	"u32_of": `fn u32_of(x: f32) -> u32 {
  let y = select(u32(clamp(x, 0.0, 4294967040.0)), 4294967295u, x >= 4294967296.0);
  return select(y, 0u, is_nan(x));
}`,
	"u8_of": `fn u8_of(x: f32) -> u32 { return select(u32(clamp(x, 0.0, 255.0)), 0u, is_nan(x)); }`,
	"f16_bits": `fn f16_bits(x: f32) -> u32 { // to nearest even
  let b = bitcast<u32>(x);
  let sign = (b >> 16u) & 0x8000u;
  let a = b & 0x7fffffffu;
  if (a > 0x7f800000u) { return sign | 0x7e00u; }
  if (a >= 0x477ff000u) { return sign | 0x7c00u; }
  if (a < 0x38800000u) { // a multiple of 2^-24
    return sign | (bitcast<u32>(bitcast<f32>(a) + 0.5) - 0x3f000000u);
  }
  return sign | ((a + 0xfffu + ((a >> 13u) & 1u) - 0x38000000u) >> 13u);
}`,
	"bf16_bits": `fn bf16_bits(x: f32) -> u32 { // to nearest even
  let b = bitcast<u32>(x);
  return select((b + 0x7fffu + ((b >> 16u) & 1u)) >> 16u, (b >> 16u) | 0x40u, is_nan(x));
}`,
	"threefry": `fn threefry(k0: u32, k1: u32, c0: u32, c1: u32) -> u32 {
  var key = array<u32, 3>(k0, k1, 0x1bd11bdau ^ k0 ^ k1);
  var turns = array<vec4<u32>, 2>(vec4<u32>(13u, 15u, 26u, 6u), vec4<u32>(17u, 29u, 16u, 24u));
  var x = c0 + k0;
  var y = c1 + k1;
  for (var i = 0u; i < 5u; i++) {
    let t = turns[i & 1u];
    x += y; y = ((y << t.x) | (y >> (32u - t.x))) ^ x;
    x += y; y = ((y << t.y) | (y >> (32u - t.y))) ^ x;
    x += y; y = ((y << t.z) | (y >> (32u - t.z))) ^ x;
    x += y; y = ((y << t.w) | (y >> (32u - t.w))) ^ x;
    x += key[(i + 1u) % 3u];
    y += key[(i + 2u) % 3u] + i + 1u;
  }
  return x ^ y;
}`,
	// Numbers as keys of which the greatest is sought: NaN above all, zeros
	// equal, nothing 0.
	"key_f32": `fn key_f32(x: f32) -> u32 {
  let b = select(bitcast<u32>(x), 0u, x == 0.0);
  let k = select(b | 0x80000000u, ~b, b >= 0x80000000u);
  return select(k, 0xffffffffu, is_nan(x));
}`,
	// The greater key, of equal ones the first.
	"first_max": `fn first_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, b.x > a.x || (b.x == a.x && b.y < a.y));
}`,
}

// order is the names of helpers in alphabetical order.
var order = func() []string {
	names := make([]string, 0, len(helpers))
	for n := range helpers {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}()

// need adds a helper and all that it calls to a set.
func need(set map[string]bool, name string) {
	if set[name] {
		return
	}
	set[name] = true
	isWord := func(r rune) bool { return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' }
	for _, w := range strings.FieldsFunc(helpers[name], func(r rune) bool { return !isWord(r) }) {
		if helpers[w] != "" {
			need(set, w)
		}
	}
}

package main

import (
	"math"

	"github.com/mmcloughlin/avo/reg"
)

// A conversion is a Cast.
type conversion struct {
	from, to string
	avx512   bool // AVX2 has no instruction for it
	body     func(t *target, x vec) reg.Register
}

// converted is one instruction whose result has some bytes for each lane of size wide.
func converted(name string, wide, out int) func(*target, vec) reg.Register {
	return func(t *target, x vec) reg.Register { return t.vn(t.width/wide*out, name, x) }
}

// short is an instruction whose name ends in Y with AVX2, because the sizes of its
// operands do not tell it from the one for shorter registers.
func short(name string) func(*target, vec) reg.Register {
	return func(t *target, x vec) reg.Register {
		if !t.avx512() {
			return t.vn(16, name+"Y", x)
		}
		return t.vn(32, name, x)
	}
}

// then is one instruction after another.
func then(f func(*target, vec) reg.Register, name string) func(*target, vec) reg.Register {
	return func(t *target, x vec) reg.Register { return t.v(name, f(t, x)) }
}

var (
	zeroExtend = converted("VPMOVZXBD", 4, 4)
	signExtend = converted("VPMOVSXBD", 4, 4)
)

var conversions = []conversion{
	{from: "Float32", to: "Float64", body: converted("VCVTPS2PD", 8, 8)},
	{from: "Float64", to: "Float32", body: short("VCVTPD2PS")},
	{from: "Int32", to: "Float32", body: converted("VCVTDQ2PS", 4, 4)},
	{from: "Int32", to: "Float64", body: converted("VCVTDQ2PD", 8, 8)},
	{from: "Uint32", to: "Float32", avx512: true, body: converted("VCVTUDQ2PS", 4, 4)},
	{from: "Uint32", to: "Float64", avx512: true, body: converted("VCVTUDQ2PD", 8, 8)},
	{from: "Int64", to: "Float32", avx512: true, body: converted("VCVTQQ2PS", 8, 4)},
	{from: "Int64", to: "Float64", avx512: true, body: converted("VCVTQQ2PD", 8, 8)},
	{from: "Bool", to: "Float32", body: then(zeroExtend, "VCVTDQ2PS")},
	{from: "Uint8", to: "Float32", body: then(zeroExtend, "VCVTDQ2PS")},
	{from: "Int8", to: "Float32", body: then(signExtend, "VCVTDQ2PS")},
	{from: "Bool", to: "Int32", body: zeroExtend},
	{from: "Uint8", to: "Int32", body: zeroExtend},
	{from: "Int8", to: "Int32", body: signExtend},
	{from: "Bool", to: "Int64", body: converted("VPMOVZXBQ", 8, 8)},
	{from: "Int32", to: "Int64", body: converted("VPMOVSXDQ", 8, 8)},
	{from: "Uint32", to: "Int64", body: converted("VPMOVZXDQ", 8, 8)},
	{from: "Int32", to: "Uint32", body: func(_ *target, x vec) reg.Register { return x }},
	{from: "Uint32", to: "Int32", body: func(_ *target, x vec) reg.Register { return x }},
	{from: "Int64", to: "Int32", body: halve},
	{from: "Int64", to: "Uint32", body: halve},
	{from: "Float32", to: "Bool", body: func(t *target, x vec) reg.Register {
		return t.bools(t.singles().compare(notEqual, x, f32(0)), t.width/4)
	}},
	{from: "Float32", to: "Int32", body: func(t *target, x vec) reg.Register {
		l := t.singles()
		v := l.choose(l.compare(atLeast, x, f32(1<<31)), i32(math.MaxInt32), t.v("VCVTTPS2DQ", x))
		return l.keep(l.compare(ordered, x, x), v)
	}},
	{from: "Float32", to: "Uint32", avx512: true, body: func(t *target, x vec) reg.Register {
		// Numbers that are too large become the largest; NaN becomes 0 here.
		return t.v("VCVTTPS2UDQ", t.singles().max(x, f32(0)))
	}},
	{from: "Float32", to: "Int64", avx512: true, body: func(t *target, x vec) reg.Register { return toInt64(t, t.v("VCVTPS2PD", x)) }},
	{from: "Float64", to: "Int64", avx512: true, body: func(t *target, x vec) reg.Register { return toInt64(t, x) }},
	{from: "Float64", to: "Int32", body: func(t *target, x vec) reg.Register {
		l := t.doubles()
		x = l.keep(l.compare(ordered, x, x), x)
		return short("VCVTTPD2DQ")(t, l.max(l.min(x, f64(math.MaxInt32)), f64(math.MinInt32)))
	}},
	{from: "Float32", to: "Uint8", body: func(t *target, x vec) reg.Register {
		l := t.singles()
		x = l.min(l.max(x, f32(0)), f32(math.MaxUint8)) // NaN becomes 0
		return lowBytes(t, t.v("VCVTTPS2DQ", x), 1)
	}},
	{from: "Int32", to: "Uint8", body: lowByte},
	{from: "Int32", to: "Int8", body: lowByte},
	{from: "Float16", to: "Float32", body: converted("VCVTPH2PS", 4, 4)},
	{from: "Float32", to: "Float16", body: func(t *target, x vec) reg.Register { return t.vn(t.width/2, "VCVTPS2PH", 0, x) }},
	{from: "BFloat16", to: "Float32", body: func(t *target, x vec) reg.Register { return t.v("VPSLLD", 16, t.v("VPMOVZXWD", x)) }},
	{from: "Float32", to: "BFloat16", body: func(t *target, x vec) reg.Register {
		l := t.singles()
		high := t.v("VPSRLD", 16, x)
		round := t.v("VPADDD", i32(0x7fff), l.and(high, i32(1)))
		near := t.v("VPSRLD", 16, t.v("VPADDD", round, x))
		return lowBytes(t, l.choose(l.compare(unordered, x, x), l.or(high, i32(0x40)), near), 2)
	}},
}

func toInt64(t *target, x vec) reg.Register {
	l := t.doubles()
	v := l.choose(l.compare(atLeast, x, f64(1<<63)), i64(math.MaxInt64), t.v("VCVTTPD2QQ", x))
	return l.keep(l.compare(ordered, x, x), v)
}

func halve(t *target, x vec) reg.Register {
	if t.avx512() {
		return t.vn(32, "VPMOVQD", x)
	}
	return t.narrow(x, 8, 4, "SS")
}

func lowByte(t *target, x vec) reg.Register { return lowBytes(t, t.singles().and(x, i32(0xff)), 1) }

// lowBytes packs the lower bytes of lanes of 4 bytes, whose higher bytes are 0.
func lowBytes(t *target, x vec, size int) vec {
	if t.avx512() {
		return t.vn(16*size, map[int]string{1: "VPMOVDB", 2: "VPMOVDW"}[size], x)
	}
	return t.narrow(x, 4, size, "US")
}

// casts writes the routines of Cast and Threefry.
func (f *file) casts() {
	sizes := map[string]int{"Float16": 2, "BFloat16": 2}
	for _, k := range kinds {
		sizes[k.ir] = k.size
	}
	for _, t := range f.targets {
		for _, c := range conversions {
			if c.avx512 && !t.avx512() {
				continue
			}
			r := routine{name: "cast" + c.from + c.to, sizes: []int{sizes[c.from]}, out: sizes[c.to]}
			r.body = func(t *target, x []vec) reg.Register { return c.body(t, x[0]) }
			t.row("casts", "ir.%s, ir.%s, %s", c.from, c.to, t.write(r))
		}
		t.tables.single(t.level, "threefry", t.write(routine{name: "threefry", sizes: []int{4, 4, 4, 4}, out: 4, body: threefry}))
	}
}

// threefry computes simd.ThreefryWord.
func threefry(t *target, in []vec) reg.Register {
	l := t.singles()
	add := func(x vec, y any) vec { return t.v("VPADDD", y, x) }
	a, b := in[0], in[1]
	c := l.xor(l.xor(a, b), i32(0x1bd11bda))
	x, y := add(in[2], a), add(in[3], b)
	keys := [][2]vec{{b, c}, {c, a}, {a, b}, {b, c}, {c, a}}
	for i, k := range keys {
		for _, r := range [][]int{{13, 15, 26, 6}, {17, 29, 16, 24}}[i%2] {
			x = add(x, y)
			y = l.xor(rotate(t, y, r), x)
		}
		x, y = add(x, k[0]), add(add(y, k[1]), i32(uint32(i+1)))
	}
	return l.xor(x, y)
}

// rotate rotates lanes of 4 bytes to the left.
func rotate(t *target, x vec, n int) vec {
	if t.avx512() {
		return t.v("VPROLD", n, x)
	}
	return t.singles().or(t.v("VPSLLD", n, x), t.v("VPSRLD", 32-n, x))
}

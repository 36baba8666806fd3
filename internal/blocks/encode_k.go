package blocks

import (
	"encoding/binary"
	"math"
)

// Ladders of the K formats without offsets.
var (
	bits3 = steps(-4, 3, append(between(-5.4, -3.2, 12), between(2.8, 4.4, 9)...)...)
	bits6 = steps(-32, 31, append(between(-32.8, -31.2, 7), between(31, 31.8, 3)...)...)
)

// scaled fits a scale for each of some runs, and returns the factors, lo to hi, of the one that
// store makes of theirs, which decoders read.
func (l *ladder) scaled(x, w []float32, runs, lo, hi int, store func(d float32) float32) (d float32, factors []int) {
	n := len(x) / runs
	scales := make([]float32, runs)
	for i := range scales {
		scales[i] = l.fit(x[i*n:i*n+n], w[i*n:i*n+n])
	}
	d = store(peak(scales) / float32(lo))
	factors = make([]int, runs)
	for i := range factors {
		x, w := x[i*n:i*n+n], w[i*n:i*n+n]
		factors[i] = nearby(round(scales[i]*inverse(d), lo, hi), lo, hi, func(f int) float32 { return l.loss(x, w, d*float32(f)) })
	}
	return d, factors
}

func encodeQ3_K(b []byte, x, w []float32) {
	d, factors := bits3.scaled(x, w, 16, -32, 31, func(d float32) float32 { return putHalf(b[108:], d) })
	for i, f := range factors {
		s := byte(f + 32)
		b[96+i%8] |= s & 15 << (i / 8 * 4)
		b[104+i%4] |= s >> 4 << (i / 4 * 2)
		id := inverse(d * float32(f))
		for k := range 16 {
			c := bits3.near(x[16*i+k] * id)
			at := i%2*16 + k
			b[32+i/8*32+at] |= byte(c & 3 << (i / 2 % 4 * 2))
			b[at] |= byte(c >> 2 << (i / 2))
		}
	}
}

func encodeQ6_K(b []byte, x, w []float32) {
	d, factors := bits6.scaled(x, w, 16, -128, 127, func(d float32) float32 { return putHalf(b[208:], d) })
	for i, f := range factors {
		b[192+i] = byte(f)
		id := inverse(d * float32(f))
		h, part, at := i/8, i%8/2, i%2*16
		for k := range 16 {
			c := bits6.near(x[16*i+k] * id)
			b[64*h+part%2*32+at+k] |= byte(c & 15 << (part / 2 * 4))
			b[128+32*h+at+k] |= byte(c >> 4 << (2 * part))
		}
	}
}

func encodeIQ4_XS(b []byte, x, w []float32) {
	d, factors := curved.scaled(x, w, 8, -32, 31, func(d float32) float32 { return putHalf(b, d) })
	for i, f := range factors {
		s := f + 32
		b[4+i/2] |= byte(s & 15 << (i % 2 * 4))
		b[2+i/4] |= byte(s >> 4 << (i % 4 * 2))
		curved.put(b[8+16*i:24+16*i], x[32*i:32*i+32], d*float32(f))
	}
}

// A sloped is a run of numbers with a scale and an offset, and their factors.
type sloped struct {
	x, w          []float32
	fit           slope
	scale, offset int
}

// slopes fits a slope for each of some runs, with codes of 0 to n, and factors of 0 to most of a
// scale and an offset, which it stores.
func slopes(b []byte, x, w []float32, runs, n, most int) (all []sloped, d, m float32) {
	size := len(x) / runs
	var scale, offset float32
	for i := range runs {
		r := sloped{x: x[i*size : i*size+size], w: w[i*size : i*size+size]}
		r.fit = fitSlope(r.x, r.w, n, false)
		scale, offset = max(scale, r.fit.scale), max(offset, -r.fit.offset)
		all = append(all, r)
	}
	d, m = putHalf(b, scale/float32(most)), putHalf(b[2:], offset/float32(most))
	for i := range all {
		r := &all[i]
		at := round(r.fit.scale*inverse(d), 0, most)
		offsetAt := round(-r.fit.offset*inverse(m), 0, most)
		least := float32(math.Inf(1))
		for o := max(0, offsetAt-1); o <= min(most, offsetAt+1); o++ {
			s := nearby(at, 0, most, func(s int) float32 { return slope{d * float32(s), -m * float32(o)}.loss(r.x, r.w, n) })
			if e := (slope{d * float32(s), -m * float32(o)}).loss(r.x, r.w, n); e < least {
				r.scale, r.offset, least = s, o, e
			}
		}
		r.fit = slope{d * float32(r.scale), -m * float32(r.offset)}
	}
	return all, d, m
}

// code returns the code of number i.
func (r *sloped) code(i, n int) int { return r.fit.code(r.x[i], inverse(r.fit.scale), n) }

func encodeQ2_K(b []byte, x, w []float32) {
	runs, _, _ := slopes(b[80:], x, w, 16, 3, 15)
	for i, r := range runs {
		b[i] = byte(r.scale | r.offset<<4)
		for k := range r.x {
			b[16+i/8*32+i%2*16+k] |= byte(r.code(k, 3) << (i / 2 % 4 * 2))
		}
	}
}

// putScalesQ4_K stores factors as scaleQ4_K reads them.
func putScalesQ4_K(b []byte, runs []sloped) {
	for i, r := range runs {
		s, o := byte(r.scale), byte(r.offset)
		if i < 4 {
			b[i] |= s
			b[i+4] |= o
			continue
		}
		b[i+4] |= s&15 | o&15<<4
		b[i-4] |= s >> 4 << 6
		b[i] |= o >> 4 << 6
	}
}

func encodeQ4_K(b []byte, x, w []float32) {
	runs, _, _ := slopes(b, x, w, 8, 15, 63)
	putScalesQ4_K(b[4:], runs)
	for i, r := range runs {
		for k := range r.x {
			b[16+i/2*32+k] |= byte(r.code(k, 15) << (i % 2 * 4))
		}
	}
}

func encodeQ5_K(b []byte, x, w []float32) {
	runs, _, _ := slopes(b, x, w, 8, 31, 63)
	putScalesQ4_K(b[4:], runs)
	for i, r := range runs {
		for k := range r.x {
			c := r.code(k, 31)
			b[48+i/2*32+k] |= byte(c & 15 << (i % 2 * 4))
			b[16+k] |= byte(c >> 4 << i)
		}
	}
}

func encodeQ8_K(b []byte, x, w []float32) {
	d := bits8.fit(x, w)
	binary.LittleEndian.PutUint32(b, math.Float32bits(d))
	for i := range 16 {
		sum := putBytes(b[4+16*i:], x[16*i:16*i+16], d)
		binary.LittleEndian.PutUint16(b[260+2*i:], uint16(sum))
	}
}

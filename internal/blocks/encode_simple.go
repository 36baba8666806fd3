package blocks

import "encoding/binary"

// Ladders of the formats with one scale in a block.
var (
	bits5   = steps(-16, 15, append(between(-16.8, -15.2, 5), between(15, 16, 3)...)...)
	bits4   = steps(-8, 7, append(between(-8.8, -6.8, 8), between(6.8, 8.4, 7)...)...)
	bits8   = steps(-127, 127, 127, 126.7, 127.3)
	minus1  = steps(-1, 2, append(between(1.2, 4.2, 12), between(-3, -0.8, 6)...)...)
	ternary = steps(-1, 1, between(0.6, 4.6, 21)...)
	curved  = uneven(nonLinear, append(between(-150, -100, 10), between(90, 132, 8)...)...)
	floats  = uneven(e2m1, between(8, 16, 12)...)
)

func encodeQ1_0(b []byte, x, w []float32) {
	var sum, all float32
	for i, v := range x {
		sum, all = sum+w[i]*magnitude(v), all+w[i]
		if v >= 0 {
			b[2+i/8] |= 1 << (i % 8)
		}
	}
	putHalf(b, sum/all)
}

func encodeQ2_0(b []byte, x, w []float32) {
	id := inverse(putHalf(b, minus1.fit(x, w)))
	for i, v := range x {
		b[2+i/4] |= minus1.code(v*id) << (i % 4 * 2)
	}
}

func encodeQ4_0(b []byte, x, w []float32) { bits4.put(b[2:], x, putHalf(b, bits4.fit(x, w))) }

func encodeIQ4_NL(b []byte, x, w []float32) { curved.put(b[2:], x, putHalf(b, curved.fit(x, w))) }

func encodeQ4_1(b []byte, x, w []float32) {
	s := fitSlope(x, w, 15, true)
	s = slope{putHalf(b, s.scale), putHalf(b[2:], s.offset)}
	for i, v := range x {
		b[4+i%16] |= byte(s.code(v, inverse(s.scale), 15) << (i / 16 * 4))
	}
}

// put5 stores codes of five bits, the fifth in 4 bytes before the others.
func put5(b []byte, code func(i int) int) {
	high := uint32(0)
	for i := range 32 {
		c := code(i)
		b[4+i%16] |= byte(c & 15 << (i / 16 * 4))
		high |= uint32(c>>4) << i
	}
	binary.LittleEndian.PutUint32(b, high)
}

func encodeQ5_0(b []byte, x, w []float32) {
	id := inverse(putHalf(b, bits5.fit(x, w)))
	put5(b[2:], func(i int) int { return bits5.near(x[i] * id) })
}

func encodeQ5_1(b []byte, x, w []float32) {
	s := fitSlope(x, w, 31, true)
	s = slope{putHalf(b, s.scale), putHalf(b[2:], s.offset)}
	put5(b[4:], func(i int) int { return s.code(x[i], inverse(s.scale), 31) })
}

// putBytes stores signed bytes and returns their sum.
func putBytes(b []byte, x []float32, d float32) (sum int) {
	id := inverse(d)
	for i, v := range x {
		q := bits8.near(v*id) - 127
		b[i] = byte(q)
		sum += q
	}
	return sum
}

func encodeQ8_0(b []byte, x, w []float32) { putBytes(b[2:], x, putHalf(b, bits8.fit(x, w))) }

func encodeQ8_1(b []byte, x, w []float32) {
	d := putHalf(b, bits8.fit(x, w))
	putHalf(b[2:], d*float32(putBytes(b[4:], x, d)))
}

func encodeTQ1_0(b []byte, x, w []float32) {
	id := inverse(putHalf(b[52:], ternary.fit(x, w)))
	for _, part := range partsTQ1_0 {
		n := part.to - part.from
		for i := range n {
			digits := 0
			for k := range 5 {
				digits *= 3
				if k < part.digits {
					digits += ternary.near(x[k*n+i] * id)
				}
			}
			// The value in fractions of 256, rounded up, so that its overflow has the digits.
			b[part.from+i] = byte((digits*256 + 242) / 243)
		}
		x = x[part.digits*n:]
	}
}

func encodeTQ2_0(b []byte, x, w []float32) {
	id := inverse(putHalf(b[64:], ternary.fit(x, w)))
	for i, v := range x {
		b[i/128*32+i%32] |= byte(ternary.near(v*id) << (i % 128 / 32 * 2))
	}
}

// scaleCode returns the code of a scale, ascending in codes below count, with the least loss among
// the greatest that is not above d and its neighbours.
func scaleCode(l *ladder, x, w []float32, d float32, count int, value func(byte) float32) byte {
	at := 0
	for at+1 < count && value(byte(at+1)) <= d {
		at++
	}
	return byte(nearby(at, 0, count-1, func(c int) float32 { return l.loss(x, w, value(byte(c))) }))
}

func encodeMXFP4(b []byte, x, w []float32) {
	b[0] = scaleCode(floats, x, w, magnitude(floats.fit(x, w)), 255, e8m0)
	floats.put(b[1:], x, e8m0(b[0]))
}

func encodeNVFP4(b []byte, x, w []float32) {
	for i := range 4 {
		x, w := x[16*i:16*i+16], w[16*i:16*i+16]
		b[i] = scaleCode(floats, x, w, magnitude(floats.fit(x, w)), 127, ue4m3)
		floats.put(b[4+8*i:12+8*i], x, ue4m3(b[i]))
	}
}

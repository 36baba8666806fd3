package blocks

// The K formats have blocks of 256 numbers, with a quantised scale for each 16 or 32 of them and,
// in Q2_K, Q4_K and Q5_K, a quantised offset.

func decodeQ2_K(y []float32, b []byte) {
	d, m := half(b[80:]), half(b[82:])
	for i := range 16 {
		s := b[i]
		d, m := d*float32(s&15), m*float32(s>>4)
		var t [4]float32
		for c := range t {
			t[c] = float32(d*float32(c)) - m
		}
		out, q, shift := y[16*i:16*i+16], b[16+i/8*32+i%2*16:][:16], i/2%4*2
		for k, c := range q {
			out[k] = t[c>>shift&3]
		}
	}
}

// scalesQ3_K returns the 16 scales of a block, 6 bits each: the low four in 8 bytes, the high two
// in 4.
func scalesQ3_K(b []byte) (s [16]int8) {
	for i := range s {
		s[i] = int8(b[i%8]>>(i/8*4)&15|b[8+i%4]>>(i/4*2)&3<<4) - 32
	}
	return s
}

func decodeQ3_K(y []float32, b []byte) {
	d := half(b[108:])
	for i, s := range scalesQ3_K(b[96:]) {
		d := d * float32(s)
		var t [8]float32
		for c := range t {
			t[c] = d * float32(c-4)
		}
		out, q, shift := y[16*i:16*i+16], b[32+i/8*32+i%2*16:][:16], i/2%4*2
		mask := b[i%2*16:][:16]
		for k, c := range q {
			out[k] = t[c>>shift&3|mask[k]>>(i/2)&1<<2]
		}
	}
}

// scaleQ4_K returns scale i of 8 and its offset, 6 bits each in 12 bytes.
func scaleQ4_K(b []byte, i int) (scale, offset float32) {
	if i < 4 {
		return float32(b[i] & 63), float32(b[i+4] & 63)
	}
	return float32(b[i+4]&15 | b[i-4]>>6<<4), float32(b[i+4]>>4 | b[i]>>6<<4)
}

func decodeQ4_K(y []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for i := range 4 {
		var t [2]levels
		for k := range t {
			s, o := scaleQ4_K(b[4:], 2*i+k)
			t[k] = ramp(0, d*s, -(m * o))
		}
		nibbles(y[64*i:], b[16+32*i:48+32*i], &t[0], &t[1])
	}
}

func decodeQ5_K(y []float32, b []byte) {
	d, m := half(b), half(b[2:])
	high := b[16:48]
	for i := range 8 {
		s, o := scaleQ4_K(b[4:], i)
		var t [2]levels
		t[0], t[1] = ramp(0, d*s, -(m*o)), ramp(16, d*s, -(m*o))
		out, q := y[32*i:32*i+32], b[48+i/2*32:][:32]
		for k, c := range q {
			out[k] = t[high[k]>>i&1][c>>(i%2*4)&15]
		}
	}
}

func decodeQ6_K(y []float32, b []byte) {
	d := half(b[208:])
	for i := range 16 { // runs of 16
		d := d * float32(int8(b[192+i]))
		// Halves of 128 numbers have 64 bytes of low and 32 bytes of high bits.
		h, part, at := i/8, i%8/2, i%2*16
		low, high := b[64*h+part%2*32+at:][:16], b[128+32*h+at:][:16]
		out := y[16*i : 16*i+16]
		for k, c := range low {
			out[k] = d * float32(int32(c>>(part/2*4)&15|high[k]>>(2*part)&3<<4)-32)
		}
	}
}

func decodeQ8_K(y []float32, b []byte) { signedBytes(y, b[4:260], single(b)) }

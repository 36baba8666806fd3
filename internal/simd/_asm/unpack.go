package main

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
)

// fixedFormats are the formats that have routines of simd.Blocks.Fixed.
var fixedFormats = []fixedFormat{
	{"Q4_0", 1, 18, "", -8, "lanes", (*unpacker).q4, (*panelWriter).q4, nil},
	{"Q4_1", 1, 20, "", 1, "lanes", (*unpacker).q4offset, (*panelWriter).q4, nil},
	{"Q5_0", 1, 22, "", -16, "", (*unpacker).q5, (*panelWriter).q5, nil},
	{"Q8_0", 1, 34, "", -128, "", (*unpacker).q8, (*panelWriter).q8, (*unpacker).pairQ8},
	{"Q4_K", 8, 144, "", -1, "runs", (*unpacker).q4k, (*panelWriter).q4k, (*unpacker).pairQ4K},
	{"Q5_K", 8, 176, "", -1, "", (*unpacker).q5k, (*panelWriter).q5k, nil},
	{"Q6_K", 8, 210, "twos", -32, "", (*unpacker).q6k, (*panelWriter).q6k, nil},
	{"IQ4_NL", 1, 18, "", -128, "", (*unpacker).iq4, (*panelWriter).iq4, nil},
}

// A fixedFormat is a format whose numbers are multiples of a scale after an offset is added, so that
// their multiples are bytes without a sign.
type fixedFormat struct {
	name        string
	runs, bytes int     // of a block
	lanes       string  // the tables of the lanes that a run's scales have among eight, of runs of several scales
	factor      float64 // of the products of offsets
	sixteenths  string  // codes that are upper halves of bytes may stay there: of odd runs, or of a run's upper lanes
	codes       func(w *unpacker, i int) vec
	panel       func(w *panelWriter)
	pair        func(w *unpacker, i int) vec // two runs, or nil
}

// An unpacker unpacks runs of blocks at b to codes: bytes without a sign.
type unpacker struct {
	decoder
	format fixedFormat
	run    int  // of the group
	exact  bool // upper halves of bytes are shifted
	packed vec  // of an even run and the odd one
}

// fixedTables are in the data segment.
var fixedTables = map[string][]uint32{
	"high":       {0, 0, 0, 0, 4, 4, 4, 4},
	"upper":      {0x0f0f0f0f, 0x0f0f0f0f, 0x0f0f0f0f, 0x0f0f0f0f, 0xf0f0f0f0, 0xf0f0f0f0, 0xf0f0f0f0, 0xf0f0f0f0},
	"firstBits":  {0x3f3f3f3f, 0x0f0f0f0f, 0x3f3f3f3f, 0x0f0f0f0f},
	"lastHigh":   {0, 0, 0, 4},
	"highBits":   {0, 0x30303030, 0, 0x30303030},
	"bothHalves": {0x01000100, 0x01000100, 0x01000100, 0x01000100, 0x03020302, 0x03020302, 0x03020302, 0x03020302},
	"pairs":      {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7},
	"firstBytes": {0, 0x04040404, 0x08080808, 0x0c0c0c0c},
	"bitOfByte":  {0x08040201},
	"levels":     {0x3f2d1801, 0x766a5d4f, 0xa6998d81, 0xf1d9c5b5},
	"lanes":      bitsOf(1, 1, 1, 1, 1./16, 1./16, 1./16, 1./16),
	"runs":       bitsOf(1, 1./16, 1, 1./16, 1, 1./16, 1, 1./16),
	"each":       slices.Concat(fourEach(0, 0), fourEach(1, 1), fourEach(2, 2), fourEach(3, 3), fourEach(4, 4), fourEach(5, 5), fourEach(6, 6), fourEach(7, 7)),
	"nibbles":    slices.Concat(fourEach(0x0f0f0f0f, 0x0f0f0f0f), fourEach(0xf0f0f0f0, 0xf0f0f0f0)),
	"twos":       slices.Concat(fourEach(0, 1), fourEach(2, 3), fourEach(4, 5), fourEach(6, 7), fourEach(8, 9), fourEach(10, 11), fourEach(12, 13), fourEach(14, 15)),
}

func fourEach(a, b uint32) []uint32 { return []uint32{a, a, a, a, b, b, b, b} }

// unpack returns the codes of run i of the group at b.
func (w *unpacker) unpack(i int) vec {
	w.run = i
	return w.format.codes(w, i)
}

// pair returns the codes of two runs of the group at b.
func (w *unpacker) pair(i int) vec {
	if f := w.format.pair; f != nil {
		return f(w, i)
	}
	return w.beside(w.unpack(2*i), w.unpack(2*i+1))
}

func (w *unpacker) beside(low, high any) vec {
	return w.v("VINSERTI64X4", 1, high, w.part(low.(vec), 64))
}

func (w *unpacker) pairQ8(i int) vec {
	w.run = 2 * i
	low := w.load(2)
	w.run++
	return w.v("VPXORD", bytes4(128), w.beside(low, w.at(2)))
}

func (w *unpacker) pairQ4K(i int) vec {
	return w.v("VPANDD", w.data["nibbles"], w.v("VBROADCASTI64X4", w.decoder.at(16+32*i)))
}

// at is the byte at an offset of the block of the run.
func (w *unpacker) at(offset int) operand.Mem {
	return w.decoder.at(offset + w.run/w.format.runs*w.format.bytes)
}

// groupBytes are the bytes of eight runs.
func (x fixedFormat) groupBytes() int { return 8 / x.runs * x.bytes }

// numbers returns the scales and offsets of a group at b, which may be the same.
func (w *unpacker) numbers() (scales, offsets vec) {
	switch {
	case w.format.lanes != "":
		scales = w.mul(w.fromInt(w.v("VPMOVSXBD", w.decoder.at(192))), w.half(208))
		return scales, scales
	case w.format.runs > 1:
		both := w.numbersK()
		scales = w.part(both, 32)
		if w.format.sixteenths == "runs" {
			scales = w.vn(32, "VMULPS", w.data["runs"], scales)
		}
		return scales, w.vn(32, "VEXTRACTF64X4", 1, both)
	}
	scales = w.halves(0)
	return scales, w.offsets(scales, w.halves)
}

// offsets returns the factors of the sums of digits: the scales, or numbers of their own.
func (w *unpacker) offsets(scales vec, load func(offset int) vec) vec {
	if w.format.factor == 1 {
		return load(2)
	}
	return scales
}

// halves returns the halves at an offset of eight blocks as float32.
func (w *unpacker) halves(offset int) vec {
	x := w.vn(16, "VPBROADCASTW", w.decoder.at(offset))
	for i := 1; i < 8; i++ {
		x = w.vn(16, "VPINSRW", i, w.decoder.at(offset+i*w.format.bytes), x)
	}
	return w.vn(32, "VCVTPH2PS", x)
}

// number returns the half at an offset as float32, in eight lanes.
func (w *unpacker) number(offset int) vec {
	return w.vn(32, "VCVTPH2PS", w.vn(16, "VPBROADCASTW", w.decoder.at(offset)))
}

// numbersK returns the scales and the offsets of a block of Q4_K or Q5_K. Both have 6 bits, as in
// decoder.scalesK: of the first four in a byte, of the others in halves of bytes and in the highest bits of the
// first.
func (w *unpacker) numbersK() vec {
	first := w.vn(16, "VPANDD", w.data["firstBits"], w.vn(16, "VPSRLVD", w.data["lastHigh"], w.vn(16, "VPSHUFD", 0xed, w.decoder.at(0))))
	high := w.vn(16, "VPANDD", w.data["highBits"], w.vn(16, "VPSRLD", 2, w.vn(16, "VPSHUFD", 0x95, w.decoder.at(0))))
	numbers := w.fromInt(w.v("VPMOVZXBD", w.vn(16, "VPORD", first, high)))
	both := w.v("VCVTPH2PS", w.vn(32, "VPSHUFB", w.data["bothHalves"], w.vn(32, "VBROADCASTI32X4", w.decoder.at(0))))
	return w.mul(numbers, both)
}

func (w *unpacker) load(offset int) vec    { return w.vn(32, "VMOVDQU32", w.at(offset)) }
func (w *unpacker) left(n int, x vec) vec  { return w.vn(32, "VPSLLW", n, x) }
func (w *unpacker) right(n int, x vec) vec { return w.vn(32, "VPSRLW", n, x) }
func (w *unpacker) low(x vec) vec          { return w.masked(x, 15) }

func (w *unpacker) masked(x vec, mask uint8) vec {
	return w.vn(32, "VPANDD", bytes4(mask), x)
}

// join returns the low halves of the bytes of x, which it overwrites, and bits of high beside them.
func (w *unpacker) join(x, high vec, bits uint8) vec {
	w.do("VPTERNLOGD", 0xe4, bytes4(15), high, x) // the mask chooses bits of x, its complement bits of high
	return w.masked(x, bits|15)
}

// sixteen returns the low halves of 16 bytes from an offset on, and then their high halves.
func (w *unpacker) sixteen(offset int) vec {
	x := w.vn(32, "VBROADCASTI32X4", w.at(offset))
	if w.format.sixteenths != "" && !w.exact {
		return w.vn(32, "VPANDD", w.data["upper"], x)
	}
	return w.low(w.vn(32, "VPSRLVD", w.data["high"], x))
}

func (w *unpacker) q8(int) vec       { return w.vn(32, "VPXORD", bytes4(128), w.load(2)) }
func (w *unpacker) q4(int) vec       { return w.sixteen(2) }
func (w *unpacker) q4offset(int) vec { return w.sixteen(4) }

func (w *unpacker) iq4(int) vec {
	return w.vn(32, "VPSHUFB", w.sixteen(2), w.vn(32, "VBROADCASTI32X4", w.data["levels"]))
}

func (w *unpacker) q5(int) vec {
	x, high := w.sixteen(6), w.K()
	w.KMOVD(w.at(2), high)
	w.VPADDB(w.eight(0x10101010), x, high, x)
	return x
}

func (w *unpacker) q4k(i int) vec {
	if i%2 == 0 {
		w.packed = w.load(16 + 16*i)
		return w.low(w.packed)
	}
	return w.low(w.right(4, w.packed))
}

func (w *unpacker) q5k(i int) vec {
	x, fifth := w.load(48+i/2*32), w.load(16)
	if i%2 == 1 {
		x = w.right(4, x)
	}
	if i < 4 {
		fifth = w.left(4-i, fifth)
	} else if i > 4 {
		fifth = w.right(i-4, fifth)
	}
	return w.join(x, fifth, 16)
}

func (w *unpacker) q6k(i int) vec {
	h, part := i/4, i%4
	x, bits := w.load(64*h+32*(part%2)), w.load(128+32*h)
	if part > 1 {
		x = w.right(4, x)
	}
	switch part {
	case 0, 1:
		bits = w.left(4-2*part, bits)
	case 3:
		bits = w.right(2, bits)
	}
	return w.join(x, bits, 0x30)
}

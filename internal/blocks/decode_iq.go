package blocks

import (
	_ "embed"
	"math/bits"
	"sync"
)

// The IQ formats of one to three bits store the index of a point of a grid for each 4 or 8
// numbers.

// grid data: the points of iq2xxs, iq2xs, iq2s, iq3xxs, iq3s and iq1s of ggml's ggml-common.h
// (MIT), a word each. Its digits of two bits, for eight numbers, or three, for four, are indices
// of levels, the first number's lowest.
//
//go:embed grids.bin
var gridData []byte

// A grid has points of n numbers, among a few levels.
type grid struct {
	levels []int8
	points [][8]int8
}

// gridSet are the grids of gridData.
type gridSet struct{ iq2xxs, iq2xs, iq2s, iq3xxs, iq3s, iq1s grid }

var grids = sync.OnceValue(func() *gridSet {
	var all gridSet
	data := gridData
	for _, g := range []struct {
		to     *grid
		count  int
		levels []int8
	}{
		{&all.iq2xxs, 256, []int8{8, 25, 43}},
		{&all.iq2xs, 512, []int8{8, 25, 43}},
		{&all.iq2s, 1024, []int8{8, 25, 43}},
		{&all.iq3xxs, 256, []int8{4, 12, 20, 28, 36, 44, 52, 62}},
		{&all.iq3s, 512, []int8{1, 3, 5, 7, 9, 11, 13, 15}},
		{&all.iq1s, 2048, []int8{-1, 0, 1}},
	} {
		*g.to = grid{g.levels, make([][8]int8, g.count)}
		n, digit := g.to.size(), bits.Len(uint(len(g.levels)-1))
		for i := range g.to.points {
			w := word(data)
			for k := range n {
				g.to.points[i][k] = g.levels[w>>(digit*k)&(1<<digit-1)]
			}
			data = data[2:]
		}
	}
	return &all
})

// size returns how many numbers a point has.
func (g *grid) size() int {
	if len(g.levels) == 8 {
		return 4
	}
	return 8
}

// signed writes n numbers of a point times d; bit k of signs is the sign of number k.
func signed(y []float32, p *[8]int8, n int, d float32, signs uint8) {
	for k, v := range p[:n] {
		x := d * float32(v)
		if signs>>k&1 != 0 {
			x = -x
		}
		y[k] = x
	}
}

// evenSigns returns seven signs and the eighth that makes their number even.
func evenSigns(w uint32) uint8 {
	s := uint8(w & 127)
	return s | uint8(bits.OnesCount8(s)&1)<<7
}

func decodeIQ2_XXS(y []float32, b []byte) {
	g, d := grids().iq2xxs.points, half(b)
	for i := range 8 {
		q := b[2+8*i:]
		w := long(q[4:])
		d := d * (0.5 + float32(w>>28)) * 0.25
		for k := range 4 {
			signed(y[32*i+8*k:], &g[q[k]], 8, d, evenSigns(w>>(7*k)))
		}
	}
}

// scaleIQ2 returns the scale of run i of 16 of IQ2_XS and IQ2_S.
func scaleIQ2(d float32, b []byte, i int) float32 {
	return d * (0.5 + float32(b[i/2]>>(i%2*4)&15)) * 0.25
}

func decodeIQ2_XS(y []float32, b []byte) {
	g, d := grids().iq2xs.points, half(b)
	for i := range 32 {
		w := word(b[2+2*i:])
		signed(y[8*i:], &g[w&511], 8, scaleIQ2(d, b[66:], i/2), evenSigns(uint32(w>>9)))
	}
}

func decodeIQ2_S(y []float32, b []byte) {
	g, d := grids().iq2s.points, half(b)
	for i := range 32 {
		at := int(b[2+i]) | int(b[66+i/4])>>(i%4*2)&3<<8
		signed(y[8*i:], &g[at], 8, scaleIQ2(d, b[74:], i/2), b[34+i])
	}
}

func decodeIQ3_XXS(y []float32, b []byte) {
	g, d := grids().iq3xxs.points, half(b)
	for i := range 8 {
		w := long(b[66+4*i:])
		d := d * (0.5 + float32(w>>28)) * 0.5
		for k := range 8 {
			signs := evenSigns(w>>(k/2*7)) >> (k % 2 * 4)
			signed(y[32*i+4*k:], &g[b[2+8*i+k]], 4, d, signs)
		}
	}
}

func decodeIQ3_S(y []float32, b []byte) {
	g, d := grids().iq3s.points, half(b)
	for i := range 64 {
		d := d * float32(1+2*(b[106+i/16]>>(i/8%2*4)&15))
		at := int(b[2+i]) | int(b[66+i/8])>>(i%8)&1<<8
		signed(y[4*i:], &g[at], 4, d, b[74+i/2]>>(i%2*4))
	}
}

// shifted writes a point's numbers plus delta, times d.
func shifted(y []float32, p *[8]int8, d, delta float32) {
	for k, v := range p {
		y[k] = d * (float32(v) + delta)
	}
}

// deltas are the offsets that IQ1_S and IQ1_M add to points, by a bit.
var deltas = [2]float32{0.125, -0.125}

func decodeIQ1_S(y []float32, b []byte) {
	g, d := grids().iq1s.points, half(b)
	for i := range 8 {
		w := word(b[34+2*i:])
		d := d * float32(2*(w>>12&7)+1)
		for k := range 4 {
			at := int(b[2+4*i+k]) | int(w>>(3*k)&7)<<8
			shifted(y[32*i+8*k:], &g[at], d, deltas[w>>15])
		}
	}
}

func decodeIQ1_M(y []float32, b []byte) {
	g, d := grids().iq1s.points, scattered(b[48:])
	for i := range 32 {
		s := word(b[48+i/8*2:]) >> (i / 2 % 4 * 3) & 7
		high := b[32+i/2] >> (i % 2 * 4)
		shifted(y[8*i:], &g[int(b[i])|int(high&7)<<8], d*float32(2*s+1), deltas[high>>3&1])
	}
}

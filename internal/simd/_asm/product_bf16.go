package main

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
)

// pairProducts writes the routine of simd.Product for pairs of bfloat16.
func (f *file) pairProducts() {
	t := f.bf16
	w := &productWriter{target: t, element: element{
		name: "Pairs", size: 4,
		move: (*build.Context).VMOVUPS, movez: vmovupsz, masked: (*build.Context).VMASKMOVPS,
		zero: (*build.Context).VXORPS, add: (*build.Context).VADDPS, fma: vdpbf16ps, broadcast: (*build.Context).VBROADCASTSS,
	}}
	rows := tileRows[t.width]
	w.write(rows)
	t.row("products", "ir.BFloat16, Product{%d, %d, 16, productPairsBF16, nil, nil}", rows, vectors*t.width/4)
}

const pairsOpcode = "VDPBF16PS"

// vdpbf16ps adds to each lane of the third operand the products of two bfloat16 of the first by two of
// the second. Neither avo nor Go's assembler has the instruction: see encoded.
func vdpbf16ps(c *build.Context, ops ...operand.Op) {
	c.Instruction(&ir.Instruction{Opcode: pairsOpcode, Operands: ops, Inputs: ops, Outputs: ops[2:], ISA: []string{"AVX512_BF16"}})
}

var pairsLine = regexp.MustCompile(pairsOpcode + ` +Z(\d+), Z(\d+), Z(\d+)`)

// encoded replaces instructions that Go's assembler lacks by their bytes, EVEX.512.F3.0F38.W0 52 /r.
func encoded(asm []byte) []byte {
	return pairsLine.ReplaceAllFunc(asm, func(line []byte) []byte {
		var r [3]byte
		for i, x := range pairsLine.FindSubmatch(line)[1:] {
			n, err := strconv.Atoi(string(x))
			if err != nil {
				panic(err)
			}
			r[i] = byte(n)
		}
		not := func(x byte, bit, to int) byte { return (^x >> bit & 1) << to }
		b, a, c := r[0], r[1], r[2]
		p0 := not(c, 3, 7) | not(b, 4, 6) | not(b, 3, 5) | not(c, 4, 4) | 2
		p1 := ^a&15<<3 | 4 | 2
		p2 := byte(0x40) | not(a, 4, 3)
		modrm := 0xc0 | c&7<<3 | b&7
		return fmt.Appendf(nil, "LONG $0x%02x%02x%02x62; WORD $0x%02x52 // %s", p2, p1, p0, modrm, line)
	})
}

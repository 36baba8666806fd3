package main

// neonConversions are the casts of one instruction between types of a size.
var neonConversions = []struct {
	from, to    string
	size        int
	instruction string
}{
	{"Int32", "Float32", 4, "SCVTF"},
	{"Uint32", "Float32", 4, "UCVTF"},
	{"Float32", "Int32", 4, "FCVTZS"}, // saturates, and NaN becomes 0
	{"Float32", "Uint32", 4, "FCVTZU"},
	{"Int64", "Float64", 8, "SCVTF"},
	{"Float64", "Int64", 8, "FCVTZS"},
}

// casts writes the routines of Cast.
func (w *neon) casts() {
	for _, c := range neonConversions {
		w.row("casts", "ir.%s, ir.%s, %s", c.from, c.to, w.map1("cast"+c.from+c.to, c.size, c.instruction))
	}
	w.half("Float16", "Float32", nil, func() { w.word(0x0e217800, "FCVTL V0.4S, V0.4H") })
	w.half("Float32", "Float16", nil, func() { w.word(0x0e216800, "FCVTN V0.4H, V0.4S") })
	w.half("BFloat16", "Float32", nil, func() { w.word(0x2e613800, "SHLL V0.4S, V0.4H, #16") })
	const one, most, quiet = 31, 30, 29
	w.half("Float32", "BFloat16", []uint64{one: 1, most: 0x7fff, quiet: 0x40}, func() {
		w.do("VUSHR $16, V0.S4, V1.S4")
		w.do("VAND V%d.B16, V1.B16, V2.B16", one)
		w.op("ADD", 4, 2, 2, most)
		w.op("ADD", 4, 2, 2, 0)
		w.do("VUSHR $16, V2.S4, V2.S4")
		w.do("VORR V%d.B16, V1.B16, V1.B16", quiet)
		w.op("FCMEQ", 4, 0, 0, 0)
		w.do("VBIT V0.B16, V2.B16, V1.B16") // NaN stays in V1
		w.word(0x0e612820, "XTN V0.4H, V1.4S")
	})
}

// half writes a cast from or to a type of 16 bits, whose body replaces four elements in V0.
// constants are the lanes of registers by their number.
func (w *neon) half(from, to string, constants []uint64, body func()) {
	name := "cast" + from + to + "NEON"
	w.begin(name, "dst x", "n")
	const dst, x, n, element = 0, 1, 2, 4
	for register, bits := range constants {
		if bits != 0 {
			w.do("MOVD $0x%x, R%d", bits, element)
			w.do("VDUP R%d, V%d.S4", element, register)
		}
	}
	w.loop(n, 4, func() {
		if to == "Float32" {
			w.do("FMOVD.P 8(R%d), F0", x)
			body()
			w.do("VST1.P [V0.S4], 16(R%d)", dst)
		} else {
			w.do("VLD1.P 16(R%d), [V0.S4]", x)
			body()
			w.do("FMOVD.P F0, 8(R%d)", dst)
		}
	})
	w.loop(n, 1, func() {
		if to == "Float32" {
			w.do("MOVHU.P 2(R%d), R%d", x, element)
			w.do("FMOVS R%d, F0", element)
			body()
			w.do("FMOVS.P F0, 4(R%d)", dst)
		} else {
			w.do("FMOVS.P 4(R%d), F0", x)
			body()
			w.do("FMOVS F0, R%d", element)
			w.do("MOVH.P R%d, 2(R%d)", element, dst)
		}
	})
	w.do("RET")
	w.row("casts", "ir.%s, ir.%s, %s", from, to, name)
}

package main

import (
	"fmt"
	"strings"
)

// A neonRelation is a comparison: x op y, or y op x if it is swapped.
type neonRelation struct {
	op, modes               string
	swapped                 bool
	float, signed, unsigned string
}

var neonRelations = []neonRelation{
	{"Eq", "VV VS C", false, "FCMEQ", "CMEQ", "CMEQ"},
	{"Lt", "VV VS SV", true, "FCMGT", "CMGT", "CMHI"},
}

// relations writes the comparisons of types of 4 bytes, and Where for them.
func (w *neon) relations() {
	for _, r := range neonRelations {
		for _, k := range kinds {
			if k.size != 4 {
				continue
			}
			instruction := neonOperation{float: r.float, signed: r.signed, unsigned: r.unsigned}.instruction(k)
			var names []string
			for m := range strings.FieldsSeq(r.modes) {
				if m != "C" {
					names = append(names, w.relation(strings.ToLower(r.op)+k.name, m, instruction, r.swapped))
				}
			}
			format := "ir.%s, ir.%s, Modes{%s}"
			if strings.HasSuffix(r.modes, "C") {
				format = "ir.%s, ir.%s, commute(%s)"
			}
			w.row("binaries", format, r.op, k.ir, strings.Join(names, ", "))
		}
	}
	var names []string
	for _, m := range []string{"VV", "VS", "SV", "SS"} {
		names = append(names, w.where(m))
	}
	w.row("wheres", "4, Choices{%s}", strings.Join(names, ", "))
}

// boolStrips are the iterations of loops over bools: 16 of them, or one.
var boolStrips = []strip{strips[0], strips[2]}

// operands loads runs to V0 and V4 on, as mode says, and returns the register of operand i.
func (w *neon) operands(s strip, mode string, first int) func(i, register int) int {
	for i, m := range mode {
		if m == 'V' {
			w.load(s, 4, first+i, 4*i)
		}
	}
	return func(i, register int) int {
		if mode[i] == 'S' {
			return 4 * i
		}
		return 4*i + register
	}
}

func (w *neon) relation(name, mode, instruction string, swapped bool) string {
	name = fmt.Sprint(name, mode, "NEON")
	w.begin(name, "dst x y", "n")
	const dst, n, element, one = 0, 3, 4, 31
	for i, m := range mode {
		if m == 'S' {
			w.splat(4, 1+i, 4*i)
		}
	}
	w.do("VMOVI $1, V%d.B16", one)
	for _, s := range boolStrips {
		w.loop(n, s.elements(4), func() {
			operand := w.operands(s, mode, 1)
			for i := range s.registers {
				x, y := operand(0, i), operand(1, i)
				if swapped {
					x, y = y, x
				}
				w.op(instruction, 4, 16+i, x, y)
			}
			if s.element {
				w.do("FMOVS F16, R%d", element)
				w.do("AND $1, R%d, R%d", element, element)
				w.do("MOVB.P R%d, 1(R%d)", element, dst)
				return
			}
			// The low halves of lanes, twice.
			w.do("VUZP1 V17.H8, V16.H8, V16.H8")
			w.do("VUZP1 V19.H8, V18.H8, V18.H8")
			w.do("VUZP1 V18.B16, V16.B16, V16.B16")
			w.do("VAND V%d.B16, V16.B16, V16.B16", one)
			w.do("VST1.P [V16.B16], 16(R%d)", dst)
		})
	}
	w.do("RET")
	return name
}

// where writes a routine of Where with runs or single elements by mode.
func (w *neon) where(mode string) string {
	name := fmt.Sprint("where32V", mode, "NEON")
	w.begin(name, "dst c x y", "n")
	const dst, c, x, n, element = 0, 1, 2, 4, 5
	for i, m := range mode {
		if m == 'S' {
			w.splat(4, x+i, 4*i)
		}
	}
	for _, s := range boolStrips {
		w.loop(n, s.elements(4), func() {
			operand := w.operands(s, mode, x)
			if s.element {
				w.do("MOVBU.P 1(R%d), R%d", c, element)
				w.do("VDUP R%d, V16.S4", element)
			} else {
				w.do("VLD1.P 16(R%d), [V20.B16]", c)
				w.do("VUSHLL $0, V20.B8, V21.H8")
				w.do("VUSHLL2 $0, V20.B16, V22.H8")
				w.do("VUSHLL $0, V21.H4, V16.S4")
				w.do("VUSHLL2 $0, V21.H8, V17.S4")
				w.do("VUSHLL $0, V22.H4, V18.S4")
				w.do("VUSHLL2 $0, V22.H8, V19.S4")
			}
			for i := range s.registers {
				w.op("NEG", 4, 16+i, 16+i) // all bits of a lane
				w.do("VBSL V%d.B16, V%d.B16, V%d.B16", operand(1, i), operand(0, i), 16+i)
			}
			w.store(s, 4, 16, dst)
		})
	}
	w.do("RET")
	return name
}

package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/reg"
)

// neonLanes is lanes for arm64: it adds instructions to a neonCode.
type neonLanes struct {
	*neonCode
	bytes int // of a lane
}

func (l neonLanes) size() int              { return l.bytes }
func (l neonLanes) num(x float64) constant { return number(l.bytes, x) }
func (l neonLanes) bits(x uint64) constant { return highBits(l.bytes, x) }

func (l neonLanes) broadcast(k constant) vec { return l.constant(k) }

// op adds an instruction of encodings.
func (l neonLanes) op(name string, x ...any) vec {
	return l.instruction(func(w *neon, d int, x []int) { w.op(name, l.bytes, d, x...) }, x...)
}

// onto adds an instruction of encodings whose last operand becomes the result.
func (l neonLanes) onto(name string, x ...any) vec {
	return l.overwrite(func(w *neon, d int, x []int) { w.op(name, l.bytes, d, x...) }, x...)
}

// bytewise adds an instruction of Go's assembler on all bits.
func (l neonLanes) bytewise(name string, x, y any) vec {
	return l.instruction(func(w *neon, d int, x []int) { w.do("%s V%d.B16, V%d.B16, V%d.B16", name, x[1], x[0], d) }, x, y)
}

// shift adds a shift by n bits, an instruction of Go's assembler.
func (l neonLanes) shift(name string, n int, x any) vec {
	lanes := fmt.Sprint(letters[l.bytes], 16/l.bytes)
	return l.instruction(func(w *neon, d int, x []int) { w.do("%s $%d, V%d.%s, V%d.%s", name, n, x[0], lanes, d, lanes) }, x)
}

func (l neonLanes) add(x vec, y any) vec { return l.op("FADD", x, y) }
func (l neonLanes) sub(x vec, y any) vec { return l.op("FSUB", x, y) }
func (l neonLanes) mul(x vec, y any) vec { return l.op("FMUL", x, y) }
func (l neonLanes) div(x vec, y any) vec { return l.op("FDIV", x, y) }
func (l neonLanes) max(x vec, y any) vec { return l.op("FMAX", x, y) }
func (l neonLanes) min(x vec, y any) vec { return l.op("FMIN", x, y) }

func (l neonLanes) fma(x vec, y, z any) vec  { return l.onto("FMLA", x, y, z) }
func (l neonLanes) fms(x vec, y, z any) vec  { return l.fma(x, y, l.op("FNEG", z)) }
func (l neonLanes) fnma(x vec, y, z any) vec { return l.onto("FMLS", x, y, z) }

func (l neonLanes) horner(x vec, c ...float64) vec {
	p := l.broadcast(l.num(c[len(c)-1]))
	for _, k := range slices.Backward(c[:len(c)-1]) {
		p = l.fma(p, x, l.num(k))
	}
	return p
}

func (l neonLanes) floor(x vec) vec { return l.op("FRINTM", x) }
func (l neonLanes) ties(x vec) vec  { return l.op("FRINTN", x) }

func (l neonLanes) scale(x, n vec, power func(lanes, vec) vec) vec {
	return scaleByHalves(l, x, n, power)
}

func (l neonLanes) and(x vec, y any) vec { return l.bytewise("VAND", x, y) }
func (l neonLanes) or(x vec, y any) vec  { return l.bytewise("VORR", x, y) }
func (l neonLanes) xor(x vec, y any) vec { return l.bytewise("VEOR", x, y) }
func (l neonLanes) abs(x vec) vec        { return l.op("FABS", x) }
func (l neonLanes) signOf(x vec) vec     { return l.and(x, l.bits(1<<63)) }

func (l neonLanes) shl(n int, x vec) vec { return l.shift("VSHL", n, x) }
func (l neonLanes) shr(n int, x vec) vec { return l.shift("VUSHR", n, x) }

func (l neonLanes) sar(n int, x vec) vec {
	return l.instruction(func(w *neon, d int, x []int) {
		w.word(0x4f000400|uint32((64-n)<<16|x[0]<<5|d), "SSHR %s, %s, #%d", arrangement(d, 4), arrangement(x[0], 4), n)
	}, x)
}

func (l neonLanes) addInt(x vec, y any) vec { return l.op("ADD", x, y) }
func (l neonLanes) subInt(x vec, y any) vec { return l.op("SUB", x, y) }
func (l neonLanes) toInt(x vec) vec         { return l.op("FCVTZS", x) }
func (l neonLanes) fromInt(x vec) vec       { return l.op("SCVTF", x) }

// neonPredicates has the instruction of each comparison, whose operands are swapped or whose
// result is inverted; orderedness is x = x and y = y.
var neonPredicates = map[int]struct {
	instruction       string
	swapped, inverted bool
}{
	equal:           {"FCMEQ", false, false},
	notEqual:        {"FCMEQ", false, true},
	less:            {"FCMGT", true, false},
	greater:         {"FCMGT", false, false},
	atLeast:         {"FCMGE", false, false},
	notGreaterEqual: {"FCMGE", false, true},
}

func (l neonLanes) compare(predicate int, x vec, y any) mask {
	if predicate == unordered {
		numbers := l.and(l.op("FCMEQ", x, x), l.op("FCMEQ", y, y))
		return l.invert(numbers)
	}
	p, ok := neonPredicates[predicate]
	if !ok {
		panic(fmt.Sprint("no comparison ", predicate))
	}
	var m vec
	if p.swapped {
		m = l.op(p.instruction, y, x)
	} else {
		m = l.op(p.instruction, x, y)
	}
	if p.inverted {
		m = l.invert(m)
	}
	return m
}

func (l neonLanes) invert(x vec) vec {
	return l.instruction(func(w *neon, d int, x []int) { w.op("NOT", 4, d, x...) }, x)
}

func (l neonLanes) odd(x vec) mask { return l.op("CMTST", x, constant{l.bytes, 1}) }

func (l neonLanes) choose(m mask, x any, y vec) vec {
	return l.overwrite(func(w *neon, d int, x []int) { w.do("VBIT V%d.B16, V%d.B16, V%d.B16", x[0], x[1], d) }, m, x, y)
}

func (l neonLanes) keep(m mask, x vec) vec { return l.and(m.(reg.VecVirtual), x) }

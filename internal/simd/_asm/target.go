package main

import (
	"fmt"
	"math"
	"reflect"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// A target is a set of instructions that routines are written for.
type target struct {
	*build.Context
	level   string // the suffix of routines
	width   int    // of a register, in bytes
	mask    operand.Mem
	consts  map[constant]operand.Mem
	labels  int
	written map[string]bool
	tables  *tables
}

// newFile returns a file and its targets, which share its data.
func newFile(c *build.Context, t *tables) *file {
	mask := c.StaticGlobal("tail")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		ones := ^uint64(0)
		if i >= 4 {
			ones = 0
		}
		c.AppendDatum(operand.U64(ones))
	}
	consts := map[constant]operand.Mem{}
	level := func(name string, width int) *target {
		return &target{Context: c, level: name, width: width, mask: mask, consts: consts, tables: t, written: map[string]bool{}}
	}
	return &file{[]*target{level("AVX2", 32), level("AVX512", 64)}, level("VNNI", 64), level("BF16", 64)}
}

func (t *target) avx512() bool { return t.width == 64 }

// reg returns a new register of some bytes, 16 at least.
func (t *target) reg(bytes int) vec {
	switch bytes {
	case 64:
		return t.ZMM()
	case 32:
		return t.YMM()
	}
	return t.XMM()
}

// label returns a label that no other has.
func (t *target) label(name string) string {
	t.labels++
	return fmt.Sprint(name, t.labels)
}

func (t *target) jump(instruction func(operand.Op), label string) {
	instruction(operand.LabelRef(label))
}

// data is a constant in the data segment, which has it for the longest register of AVX2;
// AVX-512 broadcasts the first lane.
func (t *target) data(k constant) operand.Mem {
	m, ok := t.consts[k]
	if !ok {
		m = t.StaticGlobal(fmt.Sprintf("c%d_%x", k.size, k.bits))
		t.DataAttributes(attr.RODATA | attr.NOPTR)
		for range 32 / k.size {
			if k.size == 4 {
				t.AppendDatum(operand.U32(uint32(k.bits)))
			} else {
				t.AppendDatum(operand.U64(k.bits))
			}
		}
		t.consts[k] = m
	}
	return m
}

// do adds the instruction of a name. Operands are in Go's order, the result last. A
// constant takes the place of a memory operand.
func (t *target) do(name string, ops ...any) {
	args := make([]reflect.Value, len(ops))
	for i, op := range ops {
		if k, ok := op.(constant); ok {
			op = t.data(k)
			if t.avx512() {
				name += "_BCST"
			}
		}
		if n, ok := op.(int); ok {
			op = operand.Imm(uint64(n))
		}
		args[i] = reflect.ValueOf(op)
	}
	f := reflect.ValueOf(t.Context).MethodByName(name)
	if !f.IsValid() {
		panic("no instruction " + name)
	}
	f.Call(args)
}

// v adds an instruction whose result is a new register of the full width.
func (t *target) v(name string, ops ...any) vec {
	return t.vn(t.width, name, ops...)
}

// vn is v for a result of some bytes.
func (t *target) vn(bytes int, name string, ops ...any) vec {
	d := t.reg(bytes)
	t.do(name, append(ops, d)...)
	return d
}

// broadcast returns a register whose lanes are all k.
func (t *target) broadcast(k constant) vec {
	d := t.reg(t.width)
	switch {
	case !t.avx512():
		t.VMOVUPS(t.data(k), d)
	case k.size == 4:
		t.VBROADCASTSS(t.data(k), d)
	default:
		t.VBROADCASTSD(t.data(k), d)
	}
	return d
}

// copy returns a register with the lanes of x, a register or a constant.
func (t *target) copy(x any) vec {
	if k, ok := x.(constant); ok {
		return t.broadcast(k)
	}
	return t.v("VMOVAPS", x)
}

// avx is lanes for amd64. The names of instructions on floating-point numbers of one type
// end in the same letters, those on integers of the same size in another one.
type avx struct {
	*target
	s string // PS or PD
	i string // D or Q
}

func (t *target) singles() avx { return avx{t, "PS", "D"} }
func (t *target) doubles() avx { return avx{t, "PD", "Q"} }

func (t *target) floats(size int) avx {
	return map[int]avx{4: t.singles(), 8: t.doubles()}[size]
}

func (l avx) num(x float64) constant { return number(l.size(), x) }

func (l avx) bits(x uint64) constant { return highBits(l.size(), x) }

func (l avx) size() int { return map[string]int{"PS": 4, "PD": 8}[l.s] }

func (l avx) add(x vec, y any) vec { return l.v("VADD"+l.s, y, x) }
func (l avx) sub(x vec, y any) vec { return l.v("VSUB"+l.s, y, x) }
func (l avx) mul(x vec, y any) vec { return l.v("VMUL"+l.s, y, x) }
func (l avx) div(x vec, y any) vec { return l.v("VDIV"+l.s, y, x) }
func (l avx) and(x vec, y any) vec { return l.v("VAND"+l.s, y, x) }
func (l avx) or(x vec, y any) vec  { return l.v("VOR"+l.s, y, x) }
func (l avx) xor(x vec, y any) vec { return l.v("VXOR"+l.s, y, x) }

func (l avx) max(x vec, y any) vec { return l.v("VMAX"+l.s, y, x) }
func (l avx) min(x vec, y any) vec { return l.v("VMIN"+l.s, y, x) }

func (l avx) fma(x vec, y, z any) vec {
	d := l.copy(z)
	l.do("VFMADD231"+l.s, y, x, d)
	return d
}

func (l avx) fnma(x vec, y, z any) vec {
	d := l.copy(z)
	l.do("VFNMADD231"+l.s, y, x, d)
	return d
}

func (l avx) fms(x vec, y, z any) vec {
	d := l.copy(z)
	l.do("VFMSUB231"+l.s, y, x, d)
	return d
}

func (l avx) horner(x vec, c ...float64) vec {
	p := l.broadcast(l.num(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		l.do("VFMADD213"+l.s, l.num(c[i]), x, p)
	}
	return p
}

func (l avx) shl(n int, x vec) vec { return l.v("VPSLL"+l.i, n, x) }
func (l avx) shr(n int, x vec) vec { return l.v("VPSRL"+l.i, n, x) }
func (l avx) sar(n int, x vec) vec { return l.v("VPSRA"+l.i, n, x) }

func (l avx) addInt(x vec, y any) vec { return l.v("VPADD"+l.i, y, x) }
func (l avx) subInt(x vec, y any) vec { return l.v("VPSUB"+l.i, y, x) }

func (l avx) toInt(x vec) vec   { return l.v("VCVTPS2DQ", x) }
func (l avx) fromInt(x vec) vec { return l.v("VCVTDQ2PS", x) }

func (l avx) scale(x, n vec, power func(lanes, vec) vec) vec {
	if l.avx512() {
		return l.v("VSCALEF"+l.s, n, x)
	}
	return scaleByHalves(l, x, n, power)
}

func (l avx) abs(x vec) vec    { return l.and(x, l.bits(math.MaxInt64)) }
func (l avx) signOf(x vec) vec { return l.and(x, l.bits(1<<63)) }

func (l avx) floor(x vec) vec { return l.round(x, 9) }
func (l avx) ties(x vec) vec  { return l.round(x, 8) }

func (l avx) round(x vec, mode int) vec {
	if l.avx512() {
		return l.v("VRNDSCALE"+l.s, mode, x)
	}
	return l.v("VROUND"+l.s, mode, x)
}

func (l avx) compare(predicate int, x vec, y any) mask {
	return l.masked("VCMP"+l.s, predicate, y, x)
}

// masked adds an instruction whose result is a mask.
func (t *target) masked(name string, ops ...any) mask {
	var d mask = t.K()
	if !t.avx512() {
		d = t.YMM()
	}
	t.do(name, append(ops, d)...)
	return d
}

func (l avx) choose(m mask, x any, y vec) vec {
	if l.avx512() {
		return l.v("VBLENDM"+l.s, x, y, m)
	}
	return l.v("VBLENDV"+l.s, m, x, y)
}

func (l avx) keep(m mask, x vec) vec {
	if l.avx512() {
		return l.v("VMOVAP"+l.s[1:]+"_Z", x, m)
	}
	return l.v("VAND"+l.s, m, x)
}

func (l avx) odd(x vec) mask {
	if l.avx512() {
		return l.masked("VPTESTM"+l.i, constant{l.size(), 1}, x)
	}
	return l.v("VPSLL"+l.i, 8*l.size()-1, x)
}

// largest and smallest are the operations Max and Min: NaN if either operand is, and
// +0 is greater than -0. In either order of operands, MAX gives the second of two
// zeros, whose bits are then combined.
func (l avx) largest(x, y vec) vec {
	nan := l.compare(unordered, x, y)
	return l.choose(nan, l.add(x, y), l.and(l.max(x, y), l.max(y, x)))
}

// largestBeside and smallestBeside are those of a y that is the same for many x. MAX and MIN
// give x if either is NaN or both are 0. What rest adds is NaN, or the sign of 0: to add -0 or
// to set no bits changes nothing.
func (l avx) largestBeside(x, y, rest vec) vec  { return l.add(l.max(y, x), rest) }
func (l avx) smallestBeside(x, y, rest vec) vec { return l.or(l.min(y, x), rest) }

// All bits of the exponent of a NaN are set, so those of the combined bits are.
func (l avx) smallest(x, y vec) vec { return l.or(l.min(x, y), l.min(y, x)) }

package main

import (
	"fmt"
	"math"
	"reflect"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
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
	return &file{[]*target{level("AVX2", 32), level("AVX512", 64)}, level("VNNI", 64)}
}

func (t *target) avx512() bool { return t.width == 64 }

// vec is a vector register; its methods AsX and AsY name its lower parts.
type vec = reg.VecVirtual

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

// A constant is an operand of all lanes of 4 or 8 bytes. The data segment has it for the
// longest register of AVX2; AVX-512 broadcasts the first.
type constant struct {
	size int
	bits uint64
}

func (constant) Asm() string { return "" }

func f32(x float64) constant { return constant{4, uint64(math.Float32bits(float32(x)))} }
func f64(x float64) constant { return constant{8, math.Float64bits(x)} }
func i32(x uint32) constant  { return constant{4, uint64(x)} }
func i64(x uint64) constant  { return constant{8, x} }

// bytes4 is a constant of equal bytes.
func bytes4(x uint8) constant { return i32(uint32(x) * 0x01010101) }

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

// Lanes has the instructions on floating-point numbers of one type, whose names end in
// the same letters.
type lanes struct {
	*target
	s string // PS or PD
}

func (t *target) singles() lanes { return lanes{t, "PS"} }
func (t *target) doubles() lanes { return lanes{t, "PD"} }

// num is a constant of the type.
func (l lanes) num(x float64) constant {
	if l.s == "PD" {
		return f64(x)
	}
	return f32(x)
}

func (l lanes) add(x vec, y any) vec { return l.v("VADD"+l.s, y, x) }
func (l lanes) sub(x vec, y any) vec { return l.v("VSUB"+l.s, y, x) }
func (l lanes) mul(x vec, y any) vec { return l.v("VMUL"+l.s, y, x) }
func (l lanes) div(x vec, y any) vec { return l.v("VDIV"+l.s, y, x) }
func (l lanes) and(x vec, y any) vec { return l.v("VAND"+l.s, y, x) }
func (l lanes) or(x vec, y any) vec  { return l.v("VOR"+l.s, y, x) }
func (l lanes) xor(x vec, y any) vec { return l.v("VXOR"+l.s, y, x) }

// max and min return y where either is NaN.
func (l lanes) max(x vec, y any) vec { return l.v("VMAX"+l.s, y, x) }
func (l lanes) min(x vec, y any) vec { return l.v("VMIN"+l.s, y, x) }

// fma returns x·y + z, and fnma z - x·y, with one rounding.
func (l lanes) fma(x vec, y, z any) vec {
	d := l.copy(z)
	l.do("VFMADD231"+l.s, y, x, d)
	return d
}

func (l lanes) fnma(x vec, y, z any) vec {
	d := l.copy(z)
	l.do("VFNMADD231"+l.s, y, x, d)
	return d
}

// horner evaluates the polynomial of x with coefficients c, that of x⁰ first.
func (l lanes) horner(x vec, c ...float64) vec {
	p := l.broadcast(l.num(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		l.do("VFMADD213"+l.s, l.num(c[i]), x, p)
	}
	return p
}

func (l lanes) abs(x vec) vec {
	if l.s == "PD" {
		return l.and(x, i64(math.MaxInt64))
	}
	return l.and(x, i32(math.MaxInt32))
}

// signOf returns the sign bits.
func (l lanes) signOf(x vec) vec {
	if l.s == "PD" {
		return l.and(x, i64(1<<63))
	}
	return l.and(x, i32(1<<31))
}

// floor rounds down. ties rounds to the nearest integer.
func (l lanes) floor(x vec) vec { return l.round(x, 9) }
func (l lanes) ties(x vec) vec  { return l.round(x, 8) }

func (l lanes) round(x vec, mode int) vec {
	if l.avx512() {
		return l.v("VRNDSCALE"+l.s, mode, x)
	}
	return l.v("VROUND"+l.s, mode, x)
}

// A mask selects lanes: a register of bits, or with AVX2 a vector.
type mask = reg.Register

// Predicates of comparisons.
const (
	equal           = 0
	less            = 17 // quiet
	unordered       = 3
	ordered         = 7
	atLeast         = 29
	notEqual        = 4
	notGreaterEqual = 25
	greater         = 30
)

// compare returns where x and y are in a relation.
func (l lanes) compare(predicate int, x vec, y any) mask {
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

// choose returns x where the mask is set, else y.
func (l lanes) choose(m mask, x any, y vec) vec {
	if l.avx512() {
		return l.v("VBLENDM"+l.s, x, y, m)
	}
	return l.v("VBLENDV"+l.s, m, x, y)
}

// keep returns x where the mask is set, else 0.
func (l lanes) keep(m mask, x vec) vec {
	if l.avx512() {
		return l.v("VMOVAP"+l.s[1:]+"_Z", x, m)
	}
	return l.v("VAND"+l.s, m, x)
}

// largest and smallest are the operations Max and Min: NaN if either operand is, and
// +0 is greater than -0. In either order of operands, MAX gives the second of two
// zeros, whose bits are then combined.
func (l lanes) largest(x, y vec) vec {
	nan := l.compare(unordered, x, y)
	return l.choose(nan, l.add(x, y), l.and(l.max(x, y), l.max(y, x)))
}

// All bits of the exponent of a NaN are set, so those of the combined bits are.
func (l lanes) smallest(x, y vec) vec { return l.or(l.min(x, y), l.min(y, x)) }

package main

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/mmcloughlin/avo/reg"
)

// A neonCode is the body of a loop: instructions on virtual registers, without jumps.
type neonCode struct {
	virtual      *reg.Collection
	instructions []neonInstruction
	fixed        []vec // set before the loop
	constants    []neonConstant
}

// A neonInstruction computes d from x.
type neonInstruction struct {
	d         vec
	x         []vec
	overwrite bool // d is the register of the last x, which emit has not in its x
	emit      func(w *neon, d int, x []int)
}

type neonConstant struct {
	constant
	vec
	reads int // by instructions that do not overwrite it
}

func newNEONCode() *neonCode { return &neonCode{virtual: reg.NewCollection()} }

// instruction adds an instruction, whose operands are registers and constants, and returns
// its result.
func (c *neonCode) instruction(emit func(w *neon, d int, x []int), x ...any) vec {
	return c.append(false, emit, x)
}

// overwrite adds an instruction that overwrites the last operand by its result.
func (c *neonCode) overwrite(emit func(w *neon, d int, x []int), x ...any) vec {
	return c.append(true, emit, x)
}

func (c *neonCode) append(overwrite bool, emit func(w *neon, d int, x []int), x []any) vec {
	s := neonInstruction{d: c.virtual.XMM(), overwrite: overwrite, emit: emit}
	for i, op := range x {
		v, ok := op.(vec)
		if !ok {
			v = c.constant(op.(constant))
		}
		s.x = append(s.x, v)
		if at := c.constantOf(v); at >= 0 && !(overwrite && i == len(x)-1) {
			c.constants[at].reads++
		}
	}
	c.instructions = append(c.instructions, s)
	return s.d
}

// constant returns a register of all lanes k.
func (c *neonCode) constant(k constant) vec {
	for _, other := range c.constants {
		if other.constant == k {
			return other.vec
		}
	}
	c.constants = append(c.constants, neonConstant{constant: k, vec: c.virtual.XMM()})
	return c.constants[len(c.constants)-1].vec
}

// constantOf is the index of the constant in a register, or -1.
func (c *neonCode) constantOf(v vec) int {
	return slices.IndexFunc(c.constants, func(k neonConstant) bool { return k.vec == v })
}

// neonRegisters assigns registers to a neonCode. Each value has one from the instruction that
// computes it to the last one that reads it.
type neonRegisters struct {
	*neonCode
	of       map[vec]int
	resident int    // constants that stay in registers, the most read ones
	free     uint32 // bits of registers
}

// assign returns the registers of values, how many constants are resident, as many as there is
// room for, and what writes the body.
func (c *neonCode) assign() (of map[vec]int, resident int, body func(w *neon)) {
	slices.SortStableFunc(c.constants, func(a, b neonConstant) int { return b.reads - a.reads })
	resident = slices.IndexFunc(c.constants, func(k neonConstant) bool { return k.reads == 0 })
	if resident < 0 {
		resident = len(c.constants)
	}
	for resident = min(resident, 32-len(c.fixed)); resident >= 0; resident-- {
		r := neonRegisters{c, map[vec]int{}, resident, 1<<32 - 1}
		for _, v := range c.fixed {
			r.takeLast(v)
		}
		for _, k := range c.constants[:resident] {
			r.takeLast(k.vec)
		}
		if body := r.body(); body != nil {
			return r.of, resident, body
		}
	}
	panic("too few registers")
}

// takeLast gives a register to a value that stays.
func (r *neonRegisters) takeLast(v vec) {
	d := 31 - bits.LeadingZeros32(r.free)
	r.of[v] = d
	r.free &^= 1 << d
}

// take gives a register to a value; not ok if none is free.
func (r *neonRegisters) take(v vec) (ok bool) {
	if r.free == 0 {
		return false
	}
	r.of[v] = bits.TrailingZeros32(r.free)
	r.free &= r.free - 1
	return true
}

// body returns what writes the body, or nil if there are too few registers.
func (r *neonRegisters) body() func(w *neon) {
	last := map[vec]int{} // of the instructions that read a value
	for i, s := range r.instructions {
		for _, x := range s.x {
			last[x] = i
		}
	}
	stays := func(v vec) bool {
		at := r.constantOf(v)
		return at >= 0 && at < r.resident || slices.Contains(r.fixed, v)
	}
	var writes []func(w *neon)
	load := func(v vec, d int) {
		at := r.constantOf(v)
		writes = append(writes, func(w *neon) { w.loadConstant(at, d) })
	}
	for i, s := range r.instructions {
		read, own := s.x, vec(nil)
		if s.overwrite {
			read, own = s.x[:len(s.x)-1], s.x[len(s.x)-1]
		}
		var dead []vec
		for j, v := range read {
			if slices.Contains(s.x[:j], v) {
				continue
			}
			constant := r.constantOf(v) >= 0 && !stays(v)
			if constant {
				if !r.take(v) {
					return nil
				}
				load(v, r.of[v])
			}
			if constant || last[v] == i && !stays(v) && v != own {
				dead = append(dead, v)
			}
		}
		release := func() {
			for _, v := range dead {
				r.free |= 1 << r.of[v]
			}
		}
		if !s.overwrite {
			release()
		}
		switch constant := own != nil && r.constantOf(own) >= 0; {
		case own != nil && !constant && last[own] == i && !stays(own):
			r.of[s.d] = r.of[own]
		case !r.take(s.d):
			return nil
		case own != nil && constant && !stays(own):
			load(own, r.of[s.d])
		case own != nil:
			from, to := r.of[own], r.of[s.d]
			writes = append(writes, func(w *neon) { w.do("VMOV V%d.B16, V%d.B16", from, to) })
		}
		if s.overwrite {
			release()
		}
		d := r.of[s.d]
		var x []int
		for _, v := range read {
			x = append(x, r.of[v])
		}
		writes = append(writes, func(w *neon) { s.emit(w, d, x) })
		if _, ok := last[s.d]; !ok {
			r.free |= 1 << d
		}
	}
	return func(w *neon) {
		for _, write := range writes {
			write(w)
		}
	}
}

// loadConstant loads a constant of the routine.
func (w *neon) loadConstant(i, d int) { w.do("FMOVQ %d(R%d), F%d", 16*i, rTable, d) }

// data writes a routine's constants.
func (w *neon) data(name string, constants []neonConstant) {
	for i, k := range constants {
		both := k.bits
		if k.size == 4 {
			both |= k.bits << 32
		}
		for half := range 2 {
			fmt.Fprintf(&w.asm, "DATA %s<>+%d(SB)/8, $0x%016x\n", name, 16*i+8*half, both)
		}
	}
	fmt.Fprintf(&w.asm, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, 16*len(constants))
}

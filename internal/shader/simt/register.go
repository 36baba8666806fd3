package simt

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/shader"
)

// A word is a number that a thread has in a register: in one word of 32 bits or in two. A bool
// is 0 or 1.
type word interface {
	uint32 | int32 | float32 | uint64 | int64 | float64
}

// as is words as numbers.
func as[T word](words []uint32) []T {
	var x T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*4/int(unsafe.Sizeof(x)))
}

// A register has one word for each thread, or two for a number of 64 bits, the lower one first.
type register struct {
	at    int // among the registers of one word; one of two words takes the next too
	words int
	fixed bool // it keeps its value while a pass runs, and is among the pass's fixed
}

// wordsOf is the number of words of a component.
func wordsOf(t shader.Type) int { return t.Elem().Bytes() / 4 }

// get is a thread's number in a register's memory.
func (r register) get(memory []uint32, t int32) uint64 {
	if r.words == 2 {
		return uint64(memory[2*t]) | uint64(memory[2*t+1])<<32
	}
	return uint64(memory[t])
}

// set sets a thread's number in a register's memory.
func (r register) set(memory []uint32, t int32, x uint64) {
	if r.words == 2 {
		memory[2*t], memory[2*t+1] = uint32(x), uint32(x>>32)
		return
	}
	memory[t] = uint32(x)
}

// A state says where a register holds its value. Loop counters, for one, have the
// same value in all threads; so have results of such operands, which are computed once.
type state uint8

const (
	varying  state = iota // each thread's number is its own
	compact               // thread 0's number is the value of all threads
	repeated              // all numbers are the same
)

// uniform reports whether a register has the same value in all threads.
func (g *group) uniform(r register) bool {
	if r.fixed {
		return g.pass.fixed[r.at].op != shader.Thread
	}
	return g.states[r.at] != varying
}

// register returns a register's memory, in the order of threads.
func (g *group) register(r register) []uint32 {
	file := g.registers
	if r.fixed {
		file = g.fixed
	}
	return file[r.at*g.Threads:][:r.words*g.Threads]
}

// value returns a register to be read, by thread.
func (g *group) value(r register) []uint32 {
	w := g.register(r)
	if !r.fixed && g.states[r.at] == compact {
		for t := r.words; t < len(w); t++ {
			w[t] = w[t-r.words]
		}
		g.states[r.at] = repeated
	}
	return w
}

// target returns a register to be written by the threads on. The others keep their words.
func (g *group) target(on []int32, r register) []uint32 {
	if len(on) < g.Threads {
		g.value(r)
	}
	g.states[r.at] = varying
	return g.register(r)
}

// values returns up to four registers to be read.
func (g *group) values(v value) (list [4][]uint32) {
	for i, r := range v {
		list[i] = g.value(r)
	}
	return list
}

// targets returns up to eight registers to be written.
func (g *group) targets(on []int32, v value) (list [8][]uint32) {
	for i, r := range v {
		list[i] = g.target(on, r)
	}
	return list
}

// note finds out whether a register, which all threads have written, is uniform.
func (g *group) note(r register) {
	w := g.register(r)
	if g.states[r.at] != varying {
		return
	}
	for i, x := range w[r.words:] {
		if x != w[i] {
			return
		}
	}
	g.states[r.at] = repeated
}

// operate computes register z of registers x, for the threads on.
func (g *group) operate(f loop, on []int32, z register, x []register) {
	once := len(on) == g.Threads
	for _, r := range x {
		once = once && g.uniform(r)
	}
	var in [3][]uint32
	if once {
		for i, r := range x {
			in[i] = g.register(r)[:r.words]
		}
		f(g.register(z)[:z.words], in[0], in[1], in[2])
		g.states[z.at] = compact
		return
	}
	for i, r := range x {
		in[i] = g.value(r)
	}
	out := g.target(on, z)
	first, last := int(on[0]), int(on[len(on)-1])+1
	if last-first == len(on) { // threads are in order
		for i, r := range x {
			in[i] = in[i][first*r.words : last*r.words]
		}
		f(out[first*z.words:last*z.words], in[0], in[1], in[2])
		return
	}
	for i, r := range x {
		in[i] = gathered(g.operands[i][:0], r.words, in[i], on)
		g.operands[i] = in[i]
	}
	n := len(on) * z.words
	g.result = slices.Grow(g.result[:0], n)[:n]
	f(g.result, in[0], in[1], in[2])
	for i, t := range on {
		copy(out[int(t)*z.words:][:z.words], g.result[i*z.words:])
	}
}

// gathered appends to a list the words of the threads on, n of each.
func gathered(list []uint32, n int, words []uint32, on []int32) []uint32 {
	if n == 1 {
		for _, t := range on {
			list = append(list, words[t])
		}
		return list
	}
	for _, t := range on {
		list = append(list, words[int(t)*n:][:n]...)
	}
	return list
}

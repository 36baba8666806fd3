package simt

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/shader"
)

// A word is what a thread has in a register. A bool is 0 or 1.
type word interface{ uint32 | int32 | float32 }

// as is words as numbers of another type.
func as[T word](words []uint32) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// A state says which words of a register hold its value. Loop counters, for one, have the
// same value in all threads; so have results of such operands, which are computed once.
type state uint8

const (
	varying  state = iota // each thread's word is its own
	compact               // thread 0's word is the value of all threads
	repeated              // all words are the same
)

// uniform reports whether a register has the same value in all threads.
func (g *group) uniform(r int) bool {
	if r < 0 {
		return g.pass.fixed[-1-r].op != shader.Thread
	}
	return g.states[r] != varying
}

// register returns a register's memory, one word for each thread.
func (g *group) register(r int) []uint32 {
	if r < 0 {
		return g.fixed[(-1-r)*g.Threads:][:g.Threads]
	}
	return g.registers[r*g.Threads:][:g.Threads]
}

// value returns a register to be read, by thread.
func (g *group) value(r int) []uint32 {
	w := g.register(r)
	if r >= 0 && g.states[r] == compact {
		for t := range w {
			w[t] = w[0]
		}
		g.states[r] = repeated
	}
	return w
}

// target returns a register to be written by the threads on. The others keep their words.
func (g *group) target(on []int32, r int) []uint32 {
	if len(on) < g.Threads {
		g.value(r)
	}
	g.states[r] = varying
	return g.register(r)
}

// values returns up to four registers to be read.
func (g *group) values(v value) (list [4][]uint32) {
	for i, r := range v {
		list[i] = g.value(r)
	}
	return list
}

// targets returns up to four registers to be written.
func (g *group) targets(on []int32, v value) (list [4][]uint32) {
	for i, r := range v {
		list[i] = g.target(on, r)
	}
	return list
}

// note finds out whether a register, which all threads have written, is uniform.
func (g *group) note(r int) {
	w := g.register(r)
	if g.states[r] != varying {
		return
	}
	for _, x := range w {
		if x != w[0] {
			return
		}
	}
	g.states[r] = repeated
}

// operate computes register z of registers x, for the threads on.
func (g *group) operate(f loop, on []int32, z int, x []int) {
	once := len(on) == g.Threads
	for _, r := range x {
		once = once && g.uniform(r)
	}
	var in [3][]uint32
	if once {
		for i, r := range x {
			in[i] = g.register(r)[:1]
		}
		f(g.register(z)[:1], in[0], in[1], in[2])
		g.states[z] = compact
		return
	}
	for i, r := range x {
		in[i] = g.value(r)
	}
	out := g.target(on, z)
	first, last := on[0], on[len(on)-1]+1
	if int(last-first) == len(on) { // threads are in order
		for i := range x {
			in[i] = in[i][first:last]
		}
		f(out[first:last], in[0], in[1], in[2])
		return
	}
	for i := range x {
		in[i] = gathered(g.operands[i][:0], in[i], on)
		g.operands[i] = in[i]
	}
	g.result = slices.Grow(g.result[:0], len(on))[:len(on)]
	f(g.result, in[0], in[1], in[2])
	for i, t := range on {
		out[t] = g.result[i]
	}
}

// gathered appends the words of the threads on to a list.
func gathered(list, words []uint32, on []int32) []uint32 {
	for _, t := range on {
		list = append(list, words[t])
	}
	return list
}

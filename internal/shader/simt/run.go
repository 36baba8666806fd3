package simt

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/tensorken/tensorken/internal/shader"
)

// An Arg is an argument of the kernel: memory, the element at its address and the offset, in
// elements from there on, that it is read from; or the bits of a number.
type Arg struct {
	Data   []byte
	Base   int
	Offset int
	Word   uint64
}

// A group executes a pass, for one workgroup after the other.
type group struct {
	*pass
	number    int
	registers []uint32
	states    []state     // of registers
	operands  [3][]uint32 // of threads that are not next to each other
	result    []uint32
	fixed     []uint32
	threads   []int32 // of all lists
	lists     [][]int32
	all       []int32 // threads of the workgroup
	buffers   []memory
	accesses  []access // to elements of buffers
	shared    []shared
	words     []uint32 // of shared arrays
	cells     []cell
	fences    []uint32   // that each thread has executed
	pending   []products // groups of products that are under way
	copies    [][]copied // groups of copies that are, and the one that is being made
	epoch     uint32
	ordered   uint32 // accesses of epochs before this one are ordered before later ones
	first     uint32 // the epoch in which the workgroup began
}

// pool has groups, for their memory.
var pool = sync.Pool{New: func() any { return new(group) }}

// resized returns n zeros, in the memory of s if they fit.
func resized[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// cut cuts n elements off.
func cut[T any](s *[]T, n int) []T {
	head := (*s)[:n:n]
	*s = (*s)[n:]
	return head
}

// fault is the panic of a program with a mistake.
type fault struct{ error }

// fail ends the program for a mistake of thread t in a statement.
func (g *group) fail(stmt, t int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	panic(fault{fmt.Errorf("pass %d, workgroup %d, %q: thread %d %s", g.pass.number, g.number, Describe(g.stmts[stmt]), t, text)})
}

// together fails unless all threads of the workgroup execute a statement.
func (g *group) together(stmt int, on []int32) {
	if len(on) == g.Threads {
		return
	}
	for _, t := range g.all {
		if !slices.Contains(on, t) {
			g.fail(stmt, int(t), "does not take part with thread %d and all others", on[0])
		}
	}
}

// Run runs a program. It fails at the program's first mistake.
func (p *Program) Run(args []Arg) (err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = f.error
		}
	}()
	scratch := make([][]byte, len(p.scratch))
	for i, n := range p.scratch {
		scratch[i] = undefined(n)
	}
	for _, q := range p.passes {
		q.run(args, scratch)
	}
	return nil
}

// undefined returns memory that is no number of any type.
func undefined(n int) []byte {
	return slices.Repeat([]byte{0xff}, n)
}

func (p *pass) run(args []Arg, scratch [][]byte) {
	g := pool.Get().(*group)
	defer pool.Put(g)
	g.pass = p
	g.registers = resized(g.registers, p.registers*p.Threads)
	g.states = resized(g.states, p.registers)
	g.fixed = resized(g.fixed, len(p.fixed)*p.Threads)
	g.all = resized(g.all, p.Threads)
	for t := range g.all {
		g.all[t] = int32(t)
	}
	g.fences = resized(g.fences, p.Threads)
	g.threads = resized(g.threads, p.lists*p.Threads)
	g.lists = g.lists[:0]
	for left := g.threads; len(left) > 0; {
		g.lists = append(g.lists, cut(&left, p.Threads))
	}
	g.share()
	g.bind(args, scratch)
	g.epoch = 0
	for g.number = range p.Groups() {
		g.epoch++
		g.first, g.ordered = g.epoch, g.epoch
		g.fill(args)
		g.pending, g.copies = g.pending[:0], append(g.copies[:0], nil)
		p.code.run(g, g.all)
		for _, list := range g.copies {
			if len(list) > 0 { // it would change shared memory that later statements use
				g.fail(list[0].stmt, int(list[0].thread), "does not wait for a copy")
			}
		}
	}
}

// share makes the pass's shared arrays.
func (g *group) share() {
	n := 0
	for _, s := range g.Shared {
		n += s.Len * s.Type.Bytes() / 4
	}
	g.words, g.cells = resized(g.words, n), resized(g.cells, n)
	words, cells := g.words, g.cells
	g.shared = g.shared[:0]
	for _, s := range g.Shared {
		n := s.Len * s.Type.Bytes() / 4
		g.shared = append(g.shared, shared{s, cut(&words, n), cut(&cells, n)})
	}
}

// bind gives the pass its buffers. Buffers in the same memory share a
// record of accesses.
func (g *group) bind(args []Arg, scratch [][]byte) {
	n := 0
	g.buffers = g.buffers[:0]
	for _, b := range g.Buffers {
		m := memory{Buffer: b}
		if b.Arg >= 0 {
			m.data, m.base = args[b.Arg].Data, args[b.Arg].Base
		} else {
			m.data = scratch[b.Scratch]
		}
		m.len = len(m.data) / b.Type.Size()
		if b.Write {
			n += m.len
		}
		g.buffers = append(g.buffers, m)
	}
	g.accesses = resized(g.accesses, n)
	left := g.accesses
	written := map[*byte][]access{}
	for _, m := range g.buffers {
		if m.Write {
			written[unsafe.SliceData(m.data)] = cut(&left, m.len)
		}
	}
	for i := range g.buffers {
		m := &g.buffers[i]
		m.access = written[unsafe.SliceData(m.data)]
		if m.access != nil && len(m.access) != m.len {
			panic(fault{errors.New("memory bound as elements of two sizes")})
		}
	}
}

// fill sets the fixed registers: for the first workgroup all of them.
func (g *group) fill(args []Arg) {
	for n, f := range g.pass.fixed {
		if f.op == 0 || g.number > 0 && f.op != shader.Group {
			continue
		}
		r := register{at: n, words: f.words, fixed: true}
		memory, x := g.register(r), f.bits
		switch {
		case f.op == shader.Group:
			x = uint64(g.number)
		case f.op == shader.Word && f.param.Offset:
			x = uint64(args[f.param.Arg].Offset)
		case f.op == shader.Word && f.param.Upper:
			x = args[f.param.Arg].Word >> 32
		case f.op == shader.Word:
			x = args[f.param.Arg].Word
		}
		for t := range int32(g.Threads) {
			if f.op == shader.Thread {
				x = uint64(t)
			}
			r.set(memory, t, x)
		}
	}
}

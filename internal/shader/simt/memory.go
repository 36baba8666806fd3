package simt

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A memory is a buffer of a pass.
type memory struct {
	*shader.Buffer
	data   []byte
	len    int      // elements
	base   int      // the one that indices count from
	access []access // by element; nil: no pass writes it
}

// An access says which threads of a pass touched an element: their numbers in
// the grid, plus 1.
type access struct{ writer, reader uint32 }

const (
	several = math.MaxUint32     // readers, or writers of equal bits
	atomics = math.MaxUint32 - 1 // a writer: atomic operations
)

// A format is how an element lies in a buffer and in a register.
type format struct {
	get func(b []byte) uint64
	put func(b []byte, x uint64)
}

var le = binary.LittleEndian

func formatOf(d ir.DType) format {
	switch {
	case d == ir.Float16:
		return format{getHalf[ir.F16], putHalf(ir.ToF16)}
	case d == ir.BFloat16:
		return format{getHalf[ir.BF16], putHalf(ir.ToBF16)}
	}
	f := formats[d.Size()]
	if d.IsSigned() && d.Size() < 4 {
		unsigned, spare := f.get, 32-8*d.Size()
		f.get = func(b []byte) uint64 { return uint64(uint32(int32(unsigned(b)<<spare) >> spare)) }
	}
	return f
}

// formats are the formats of elements, by their size, whose bits are the lower ones of a
// register.
var formats = [...]format{
	1: {func(b []byte) uint64 { return uint64(b[0]) }, func(b []byte, x uint64) { b[0] = byte(x) }},
	2: {func(b []byte) uint64 { return uint64(le.Uint16(b)) }, func(b []byte, x uint64) { le.PutUint16(b, uint16(x)) }},
	4: {func(b []byte) uint64 { return uint64(le.Uint32(b)) }, func(b []byte, x uint64) { le.PutUint32(b, uint32(x)) }},
	8: {le.Uint64, le.PutUint64},
}

type half interface {
	~uint16
	Float32() float32
}

func getHalf[H half](b []byte) uint64 {
	return uint64(math.Float32bits(H(le.Uint16(b)).Float32()))
}

func putHalf[H half](round func(float32) H) func(b []byte, x uint64) {
	return func(b []byte, x uint64) {
		le.PutUint16(b, uint16(round(math.Float32frombits(uint32(x)))))
	}
}

// element returns where thread t accesses n elements, and checks it: one access has at most 16
// bytes.
func (g *group) element(stmt int, t int32, m *memory, index, n int) int {
	i := m.base + index
	switch {
	case i < 0 || i+n > m.len:
		g.fail(stmt, int(t), "accesses %s[%d] of %d", m.Name, i, m.len)
	case i%min(n, 16/m.Type.Size()) != 0:
		g.fail(stmt, int(t), "accesses %d elements from %s[%d] on, not aligned", n, m.Name, i)
	}
	return i
}

// An index is the register of an index into a buffer.
type index struct {
	register
	signed bool
}

// index translates an index.
func (c *compiler) index(x *shader.Expr) index { return index{c.expr(x, nil)[0], x.Type.IsSigned()} }

// of is a thread's index.
func (x index) of(memory []uint32, t int32) int {
	n := x.get(memory, t)
	if x.signed && x.words == 1 {
		return int(int32(n))
	}
	return int(n)
}

// id is the number of a thread in the grid, plus 1.
func (g *group) id(t int32) uint32 { return uint32(g.number*g.Threads) + uint32(t) + 1 }

// race fails for thread t and another, which both touch m[i].
func (g *group) race(stmt int, t int32, m *memory, i int, does string, other uint32, did string) {
	switch other {
	case several:
		g.fail(stmt, int(t), "%s %s[%d], which several threads %s", does, m.Name, i, did)
	case atomics:
		g.fail(stmt, int(t), "%s %s[%d], which atomic operations change", does, m.Name, i)
	}
	n := int(other - 1)
	g.fail(stmt, int(t), "%s %s[%d], which thread %d of workgroup %d %s", does, m.Name, i, n%g.Threads, n/g.Threads, did)
}

// reads notes that a thread reads an element.
func (g *group) reads(stmt int, t int32, m *memory, i int) {
	a, id := &m.access[i], g.id(t)
	if a.writer != 0 && a.writer != id {
		g.race(stmt, t, m, i, "reads", a.writer, "wrote")
	}
	if a.reader != id {
		if a.reader != 0 {
			id = several
		}
		a.reader = id
	}
}

// writes notes that a thread writes an element. Threads may write equal bits: the surplus
// threads of a grid repeat the work of others.
func (g *group) writes(stmt int, t int32, m *memory, i int, equal bool) {
	a, id := &m.access[i], g.id(t)
	switch {
	case a.reader != 0 && a.reader != id:
		g.race(stmt, t, m, i, "writes", a.reader, "read")
	case a.writer == atomics || a.writer != 0 && a.writer != id && !equal:
		g.race(stmt, t, m, i, "writes", a.writer, "wrote otherwise")
	case a.writer == 0:
		a.writer = id
	case a.writer != id:
		a.writer = several
	}
}

// atomically notes that a thread does an atomic operation on an element.
func (g *group) atomically(stmt int, t int32, m *memory, i int) {
	if m.access == nil { // nothing changes it
		return
	}
	switch a := &m.access[i]; {
	case a.reader != 0:
		g.race(stmt, t, m, i, "changes", a.reader, "read")
	case a.writer != 0 && a.writer != atomics:
		g.race(stmt, t, m, i, "changes", a.writer, "wrote")
	default:
		a.writer = atomics
	}
}

// buffer is the number of a buffer in its pass.
func (c *compiler) buffer(b *shader.Buffer) int {
	for n, p := range c.Buffers {
		if p == b {
			return n
		}
	}
	panic("simt: a buffer of another pass")
}

func (c *compiler) load(b *shader.Buffer, index index, dst value) {
	n, size, stmt := c.buffer(b), b.Type.Size(), c.stmt
	get := formatOf(b.Type).get
	c.emit(func(g *group, on []int32) {
		m := &g.buffers[n]
		once := len(on) == g.Threads && m.access == nil && g.uniform(index.register)
		at, threads := g.value(index.register), on
		if once {
			threads = g.all[:1]
		}
		z := g.targets(on, dst)
		for _, t := range threads {
			first := g.element(stmt, t, m, index.of(at, t), len(dst))
			for k := range dst {
				i := first + k
				if m.access != nil {
					g.reads(stmt, t, m, i)
				}
				dst[k].set(z[k], t, get(m.data[i*size:]))
			}
		}
		if once {
			for _, r := range dst {
				g.states[r.at] = compact
			}
		}
	})
}

func (c *compiler) store(b *shader.Buffer, index index, from value) {
	n, size, stmt := c.buffer(b), b.Type.Size(), c.stmt
	f := formatOf(b.Type)
	c.emit(func(g *group, on []int32) {
		m, at := &g.buffers[n], g.value(index.register)
		x := g.values(from)
		for _, t := range on {
			first := g.element(stmt, t, m, index.of(at, t), len(from))
			for k := range from {
				i, x := first+k, from[k].get(x[k], t)
				to := m.data[i*size:]
				old := f.get(to)
				f.put(to, x)
				if size < 4 && !b.Type.IsHalf() && f.get(to) != x {
					g.fail(stmt, int(t), "writes %d to %s[%d], of type %v", int32(x), m.Name, i, b.Type)
				}
				g.writes(stmt, t, m, i, f.get(to) == old)
			}
		}
	})
}

// storeWords translates a StoreWords.
func (c *compiler) storeWords(b *shader.Buffer, index index, from value) {
	n, size, stmt := c.buffer(b), b.Type.Size(), c.stmt
	c.emit(func(g *group, on []int32) {
		m, at := &g.buffers[n], g.value(index.register)
		x := g.values(from)
		for _, t := range on {
			first := g.element(stmt, t, m, index.of(at, t), 16/size)
			var words []byte
			for k := range from {
				words = le.AppendUint32(words, uint32(from[k].get(x[k], t)))
			}
			for k := range 16 / size {
				to, element := m.data[(first+k)*size:][:size], words[k*size:][:size]
				equal := bytes.Equal(to, element)
				copy(to, element)
				g.writes(stmt, t, m, first+k, equal)
			}
		}
	})
}

func (c *compiler) loadAtomic(b *shader.Buffer, index index, dst value) {
	n, stmt := c.buffer(b), c.stmt
	c.emit(func(g *group, on []int32) {
		m, at, z := &g.buffers[n], g.value(index.register), g.target(on, dst[0])
		for _, t := range on {
			i := g.element(stmt, t, m, index.of(at, t), 1)
			g.atomically(stmt, t, m, i)
			z[t] = le.Uint32(m.data[4*i:])
		}
	})
}

func (c *compiler) atomic(op shader.AtomicOp, b *shader.Buffer, index index, from value) {
	n, stmt := c.buffer(b), c.stmt
	c.emit(func(g *group, on []int32) {
		m, at, x := &g.buffers[n], g.value(index.register), as[int32](g.value(from[0]))
		for _, t := range on {
			i := g.element(stmt, t, m, index.of(at, t), 1)
			g.atomically(stmt, t, m, i)
			word, y := m.data[4*i:], x[t]
			if op == shader.AtomicMin {
				y = min(y, int32(le.Uint32(word)))
			}
			le.PutUint32(word, uint32(y))
		}
	})
}

package vector

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// An Emitter adds the ops of instruction i and returns the register of its result.
type Emitter func(a *Assembler, i int) int

// emitterOf returns the emitter of an op, nil if kernels have no such op.
func emitterOf(op ir.Op) Emitter {
	if e := emitterTable[op]; e != nil || op.Class() != ir.Elementwise {
		return e
	}
	return byArity[ir.Table[op].Arity]
}

// emitterTable has the operations that take more than one routine of package simd on
// operands.
var emitterTable = [ir.Ops]Emitter{
	ir.Const:     (*Assembler).constant,
	ir.Scalar:    (*Assembler).scalar,
	ir.Index:     (*Assembler).index,
	ir.Load:      (*Assembler).load,
	ir.InBounds:  (*Assembler).load,
	ir.Store:     (*Assembler).store,
	ir.Scatter:   (*Assembler).scatter,
	ir.Cast:      (*Assembler).castTo,
	ir.Bitcast:   (*Assembler).bitcast,
	ir.Where:     (*Assembler).where,
	ir.Threefry:  (*Assembler).threefry,
	ir.Sum:       (*Assembler).reduction,
	ir.Prod:      (*Assembler).reduction,
	ir.ReduceMax: (*Assembler).reduction,
	ir.ArgMax:    (*Assembler).reduction,
}

var byArity = [...]Emitter{
	1: (*Assembler).unary,
	2: (*Assembler).binary,
}

// none is the operands of an op without operands.
var none = [4]int{-1, -1, -1, -1}

func (a *Assembler) constant(i int) int {
	in := &a.Space.Body[i]
	r := a.NewRegister(in.Type, 0, -1)
	c := constant{reg: r}
	Put(unsafe.Pointer(&c.bits), in.Type, in.Num)
	a.consts = append(a.consts, c)
	return r
}

func (a *Assembler) scalar(i int) int {
	in := &a.Space.Body[i]
	r := a.NewRegister(in.Type, 0, -1)
	a.scalars = append(a.scalars, scalar{r, in.Arg})
	return r
}

func (a *Assembler) index(i int) int {
	in := &a.Space.Body[i]
	return a.Emit(Op{Do: doIndex, axis: in.Axis, Src: none}, ir.Int32, in.Domain)
}

func doIndex(f *Activation, s *Op) {
	simd.Iota(f.Out(s), f.At[s.axis], f.Count[s.Set])
}

func (a *Assembler) castTo(i int) int {
	in := &a.Space.Body[i]
	return a.cast(a.Body[in.Src[0]], in.Type)
}

// cast returns a register that holds x as elements of another type.
func (a *Assembler) cast(x int, to ir.DType) int {
	from := a.regs[x].typ
	if from == to {
		return x
	}
	return a.apply(simd.Casts[from][to], x, to)
}

func (a *Assembler) bitcast(i int) int {
	in := &a.Space.Body[i]
	x := a.Body[in.Src[0]]
	if in.Type == ir.Bool && a.regs[x].typ != ir.Bool {
		return a.cast(x, ir.Bool) // a bool is 0 or 1
	}
	return a.Emit(Op{Do: doAlias, Src: [4]int{x, -1, -1, -1}, alias: true}, in.Type, a.regs[x].domain)
}

// doAlias runs an op whose result is its operand's elements, of another type of their size.
func doAlias(f *Activation, s *Op) { f.Reg[s.Dst] = f.Reg[s.Src[0]] }

func (a *Assembler) threefry(i int) int {
	in := &a.Space.Body[i]
	s := Op{Do: doThreefry, inPlace: true}
	var domain ir.AxisSet
	for _, j := range in.Src {
		domain |= a.regs[a.Body[j]].domain
	}
	for n, j := range in.Src {
		s.Src[n] = a.Widen(a.Body[j], domain)
	}
	return a.Emit(s, in.Type, domain)
}

func doThreefry(f *Activation, s *Op) {
	simd.Threefry(f.Out(s), f.Reg[s.Src[0]], f.Reg[s.Src[1]], f.Reg[s.Src[2]], f.Reg[s.Src[3]], f.Count[s.Set])
}

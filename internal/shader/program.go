package shader

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A Program is a kernel as passes, which run in order.
type Program struct {
	Passes  []*Pass
	Scratch []int // sizes in bytes of the buffers that passes share
}

// A Pass is a function that every thread of a grid of workgroups executes.
type Pass struct {
	Threads  int // of a workgroup
	Grid     [3]int
	Subgroup int // threads of a subgroup, if the pass shuffles; else 0
	Resident int // workgroups that a compute unit shall run at once, for which registers are few; 0: any
	Buffers  []*Buffer
	Params   []*Param
	Shared   []*Shared
	Body     *Block
}

// Awaits is the position in the body at which the pass waits for others, -1 if it does not.
func (p *Pass) Awaits() int {
	return slices.IndexFunc(p.Body.Stmts, func(s Stmt) bool { _, ok := s.(*AwaitOthers); return ok })
}

// Arguments returns copies of the buffers and parameters without names, all that a call needs. Each list is one
// object: a process has thousands of passes, and Go's collector visits every object.
func (p *Pass) Arguments() (buffers []Buffer, params []Param) {
	buffers, params = make([]Buffer, len(p.Buffers)), make([]Param, len(p.Params))
	for i, b := range p.Buffers {
		buffers[i] = *b
		buffers[i].Name = ""
	}
	for i, q := range p.Params {
		params[i] = *q
		params[i].Name = ""
	}
	return buffers, params
}

// A Buffer is global memory: an argument of the kernel or, if Arg is -1, a scratch buffer
// of the program. Its elements may be narrower than registers: Load and Store convert. They
// access one element, or four neighbours from a multiple of four on, of 64 bits from a multiple
// of two on.
type Buffer struct {
	Name         string
	Arg, Scratch int
	Type         ir.DType
	Write        bool // the pass writes it
	Ahead        bool // the pass loads it before AwaitOthers
}

// LoadAtomic is the element at an index of a buffer of Int32 that atomic
// operations change.
func (b *Buffer) LoadAtomic(index *Expr) *Expr {
	return &Expr{Op: LoadAtomic, Type: I32, Args: []*Expr{index}, Buffer: b}
}

// A Param is a word of a pass's parameters: the offset of an argument in
// elements, or the bits of its number, which for a bool are 0 or 1. Of a number of
// 64 bits it is the lower half, or the upper one.
type Param struct {
	Name   string
	Type   Type // I32, U32 or F32
	Arg    int
	Offset bool
	Upper  bool
}

// Word is the parameter's value.
func (p *Param) Word() *Expr { return &Expr{Op: Word, Type: p.Type, Param: p} }

// A Shared is an array that the threads of a workgroup share.
type Shared struct {
	Name string
	Type Type
	Len  int
	// Align is the alignment of the array's address, in bytes; 0 is 16.
	Align int
}

// At is the element at a U32 index.
func (s *Shared) At(index *Expr) *Expr {
	return &Expr{Op: LoadShared, Type: s.Type, Args: []*Expr{index}, Shared: s}
}

// A Func is a function on registers, without access to memory.
type Func struct {
	Name   string
	Params []*Var
	Result Type
	Body   *Block
}

// Groups is the number of workgroups in the grid.
func (p *Pass) Groups() int { return p.Grid[0] * p.Grid[1] * p.Grid[2] }

package shader

import "github.com/tensorken/tensorken/ir"

// A Var is a register with a name, unique in its block. It hides a variable of
// that name outside. Names that begin with _ are left to printers.
type Var struct {
	Name    string
	Type    Type
	Mutable bool
}

// Ref is the variable's value.
func (v *Var) Ref() *Expr { return &Expr{Op: Ref, Type: v.Type, Var: v} }

// A Stmt is one of the statements below.
type Stmt interface{ stmt() }

type (
	// Declare declares a variable.
	Declare struct {
		Var   *Var
		Value *Expr
	}
	// Assign sets a mutable variable, or one component of it.
	Assign struct {
		Var       *Var
		Component int // -1: all
		Value     *Expr
	}
	// Load reads the element at Index of a buffer into a variable, or the four
	// from there on into four, Index being a multiple of four, for elements of 64 bits of two, or of halves
	// the eight from there on, Index being a multiple of eight.
	Load struct {
		Dst     []*Var
		Declare bool // the variables are declared here
		Buffer  *Buffer
		Index   *Expr // a scalar integer
	}
	// Store writes a value to the element at Index of a buffer, or four values
	// from there on, Index being a multiple as for a Load.
	Store struct {
		Buffer *Buffer
		Index  *Expr // a scalar integer
		Values []*Expr
	}
	// StoreWords writes a vector of words, U32.Vec(4), to the 16 bytes from Index on of a buffer,
	// whose address is a multiple of 16.
	StoreWords struct {
		Buffer *Buffer
		Index  *Expr // a scalar integer
		Value  *Expr
	}
	// StoreShared writes an element of a shared array, or a component of it.
	StoreShared struct {
		Shared    *Shared
		Index     *Expr // U32
		Component *Expr // U32; nil: all
		Value     *Expr
	}
	// Atomic does an atomic operation on an element of a buffer of Int32.
	Atomic struct {
		Op     AtomicOp
		Buffer *Buffer
		Index  *Expr // I32
		Value  *Expr
	}
	// CopyAsync starts to copy the 16 bytes from Index on of a buffer, whose address is a
	// multiple of 16, to a vector in shared memory, U32.Vec(4); or zeros if Valid does not
	// hold. The vector is undefined until a CopyWait.
	CopyAsync struct {
		Shared *Shared
		To     *Expr // U32
		Buffer *Buffer
		Index  *Expr // a scalar integer
		Valid  *Expr // Bool; nil: it holds
	}
	// CopyCommit makes a group of the thread's copies since the last one. All threads of
	// the workgroup execute it, and CopyWait.
	CopyCommit struct{}
	// CopyWait waits until at most Pending of the thread's groups are under way. Other threads
	// see the copied words after a Barrier.
	CopyWait struct{ Pending int }
	// Multiply adds the product of two matrices, which the threads of a subgroup of 32 hold
	// together, to a third. All threads of the workgroup execute it. See [Matrix].
	Multiply struct {
		Elem Matrix
		Acc  *Var // F32.Vec(4), or I32.Vec(4) or U32.Vec(4) of bytes; mutable
		A    [4]*Expr
		B    [2]*Expr
	}
	// LoadMatrices loads four matrices of 8×8 halves from shared memory, for a Multiply. Thread t gives
	// the vector of row t mod 8 of matrix t/8. Of each matrix it gets, as a word, of row t/4 columns
	// 2·(t mod 4) and the next; if Transposed, of column t/4 these rows. All threads of the
	// workgroup execute it.
	LoadMatrices struct {
		To         *Var // U32.Vec(4), a word of each matrix; mutable
		Shared     *Shared
		From       *Expr // U32
		Transposed bool
	}
	// MultiplyGroup starts products in shared memory as a group, and waits until at most
	// Pending groups are under way; with NoWait it does not wait. Until a group has ended its accumulators and the memory
	// that it reads stay as they are. Threads execute it in groups of 128, all of the
	// workgroup.
	MultiplyGroup struct {
		Products []MultiplyShared
		Pending  int
	}
	// If executes one of two blocks.
	If struct {
		Cond *Expr
		Then *Block
		Else *Block // may be nil
	}
	// For executes a block while a condition holds, and sets a variable to Next
	// after each time. It declares the variable if Init is not nil. Without a
	// variable it is a while loop.
	For struct {
		Var        *Var // mutable; nil: none
		Init, Next *Expr
		Cond       *Expr
		Body       *Block
	}
	// Nested is a block with its own names.
	Nested struct{ Body *Block }
	// Barrier waits for all threads of the workgroup.
	Barrier struct{}
	// Fence lets a MultiplyGroup behind a Barrier, or in a later turn, see the thread's writes.
	Fence struct{}
	// TakeTurn waits for the turn of the thread's group of 128, and PassTurn gives the turn to
	// the other group. A group's writes before it passed its turn are seen by the other one,
	// and by its own threads, once they have taken theirs. A workgroup has one or two groups.
	// The first turn is the first group's: before it only the second one passes a turn, and
	// after the last one only the first takes it.
	TakeTurn struct{ After bool }
	PassTurn struct{ Before bool }
	// AwaitOthers waits for the kernels that the pass follows, before which it may begin. All threads execute it, once.
	// Before, they load from buffers that are Ahead and have no other access to memory.
	AwaitOthers struct{}
	// Return ends a function.
	Return struct{ Value *Expr }
)

func (*Declare) stmt()       {}
func (*Assign) stmt()        {}
func (*Load) stmt()          {}
func (*Store) stmt()         {}
func (*StoreWords) stmt()    {}
func (*StoreShared) stmt()   {}
func (*Atomic) stmt()        {}
func (*CopyAsync) stmt()     {}
func (*CopyCommit) stmt()    {}
func (*CopyWait) stmt()      {}
func (*Multiply) stmt()      {}
func (*LoadMatrices) stmt()  {}
func (*MultiplyGroup) stmt() {}
func (*If) stmt()            {}
func (*For) stmt()           {}
func (*Nested) stmt()        {}
func (*Barrier) stmt()       {}
func (*Fence) stmt()         {}
func (*TakeTurn) stmt()      {}
func (*PassTurn) stmt()      {}
func (*AwaitOthers) stmt()   {}
func (*Return) stmt()        {}

// A MultiplyShared adds the product of 64 rows of Elem.Depth() elements and as many rows of 8
// columns for each accumulator to these. Thread t of 128, with w = t/32, g = t%32/4 and c = t%4,
// holds of accumulator j the places (16w+g, 8j+2c), (16w+g, 8j+2c+1), (16w+g+8, 8j+2c) and
// (16w+g+8, 8j+2c+1). That is the layout of wgmma.m64nNk16 and m64nNk8 in the PTX ISA.
type MultiplyShared struct {
	Elem Matrix
	Acc  []*Var // F32.Vec(4), mutable
	Init bool   // the product replaces the accumulators' values
	// Left, if not nil, is the four words of A of a thread, as in a Multiply by its warp: the
	// rows are the warp's 16. Then A is not used.
	Left []*Expr
	A, B SharedMatrix
}

// A SharedMatrix is a tile in shared memory, U32.Vec(4), in lines of 32 words, each a TF32 or
// two halves: vector c of line l is at 8·l + (c xor l%8). A line has a row of A or a column of B,
// from its first element of the depth to the 32nd or the 64th half; or if halves lie along the
// side, line 64·b + k has rows or columns 64·b to 64·b+63 at place k of the depth.
type SharedMatrix struct {
	Shared    *Shared
	First     *Expr // U32: the tile's first vector, a multiple of 64
	AlongSide bool  // not of TF32
	Depth     int   // the first place of the depth that is multiplied, a multiple of Elem.Depth()
}

// NoWait is the most groups of products that are under way.
const NoWait = 8

// Threads that execute a product together.
const (
	Warp      = 32  // of a Multiply; a subgroup of a GPU of NVIDIA
	Warpgroup = 128 // of a MultiplyShared
)

// A Matrix is the shape of a Multiply, and the type of the elements of A and B. Acc has Rows × Columns of
// F32, or of 32-bit integers if the elements are integers, A Rows × Words, B Words × Columns. A word
// is a U32 with the elements that it has room for, which follow each other along the depth, the first
// in its lower bits. Of a Float32 the 19 upper bits count (TF32).
//
// Of 16×8×8, thread t of the subgroup, with g = t/4 and c = t%4, holds of Acc the places (g, 2c),
// (g, 2c+1), (g+8, 2c) and (g+8, 2c+1); of A the words (g, c), (g+8, c), (g, c+4) and (g+8, c+4); of B
// the words (c, g) and (c+4, g). That is the layout of mma.m16n8k8 to mma.m16n8k32 in the PTX ISA.
type Matrix struct {
	Rows, Columns, Words int
	Type                 ir.DType // of an element
}

// The matrices of NVIDIA's GPUs.
var (
	TF32      = Matrix{16, 8, 8, ir.Float32}
	F16Pairs  = Matrix{16, 8, 8, ir.Float16}
	BF16Pairs = Matrix{16, 8, 8, ir.BFloat16}
	S8Quads   = Matrix{16, 8, 8, ir.Int8}
	U8Quads   = Matrix{16, 8, 8, ir.Uint8}
)

// PerWord is the number of elements of a word.
func (m Matrix) PerWord() int { return 4 / m.Type.Size() }

// Depth is the number of elements of a row of A.
func (m Matrix) Depth() int { return m.Words * m.PerWord() }

// An AtomicOp is an atomic operation.
type AtomicOp uint8

// The atomic operations.
const (
	AtomicStore AtomicOp = iota + 1
	AtomicMin
)

// A Block is a list of statements.
type Block struct{ Stmts []Stmt }

// Do appends statements.
func (b *Block) Do(s ...Stmt) { b.Stmts = append(b.Stmts, s...) }

// Let names a value, and returns the name's.
func (b *Block) Let(name string, x *Expr) *Expr {
	v := &Var{Name: name, Type: x.Type}
	b.Do(&Declare{v, x})
	return v.Ref()
}

// Var declares a mutable variable.
func (b *Block) Var(name string, x *Expr) *Var {
	v := &Var{Name: name, Type: x.Type, Mutable: true}
	b.Do(&Declare{v, x})
	return v
}

// Set assigns to a variable.
func (b *Block) Set(v *Var, x *Expr) { b.Do(&Assign{v, -1, x}) }

// SetAt assigns to a component of a variable.
func (b *Block) SetAt(v *Var, component int, x *Expr) { b.Do(&Assign{v, component, x}) }

// Put writes an element of a shared array.
func (b *Block) Put(s *Shared, index, x *Expr) { b.Do(&StoreShared{Shared: s, Index: index, Value: x}) }

// Barrier waits for the workgroup.
func (b *Block) Barrier() { b.Do(&Barrier{}) }

// Return ends a function.
func (b *Block) Return(x *Expr) { b.Do(&Return{x}) }

// If appends an If whose block body makes.
func (b *Block) If(cond *Expr, body func(b *Block)) {
	then := &Block{}
	body(then)
	b.Do(&If{Cond: cond, Then: then})
}

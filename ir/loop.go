package ir

import "strconv"

// A Loop runs the kernels of attention block by block, so that the scores between kernels have
// the length of a block and not of all rows. For each block it runs Body, one kernel after the
// other; for the last one of a matrix, if that is shorter, Last. The rows are the rows of the
// scores, all matrices of a batch one below the other, here two:
//
//	rows 0 to 3   block of part 0 of matrix 0    Rows   14
//	rows 4 to 6   block of part 1 of matrix 0    Matrix  7
//	rows 7 to 10  block of part 0 of matrix 1    Part    4
//	rows 11 to 13 block of part 1 of matrix 1    Block   4
//
// The blocks of a part are computed in order; parts in any order. Kernels read and write only
// their block's rows, apart from arguments that are cleared, to which the blocks of a part add
// one after the other. Where a block has several matrices, they count as one.
type Loop struct {
	Args   []Arg   // each buffer once: kernels may read an Out that earlier ones have written
	Temps  []Temp  // hold values between the kernels of a block
	Clears []Clear // at the start of each part
	Rows   int     // in all, a multiple of Matrix
	Matrix int     // rows of a matrix
	Part   int     // rows of a part, a multiple of Block; the last one of a matrix may have fewer
	Block  int     // rows of a block; the last one of a matrix may have fewer
	Body   []Stage // for a block of Block rows
	Last   []Stage // for the last block of a matrix, if it has fewer rows
}

// LoopLimits say which loops a device takes. With the zero value it takes none.
type LoopLimits struct {
	Bytes   int // that temporaries may have to stay in fast memory
	Rows    int // blocks should have a multiple of this
	Columns int // the least length of rows that are worth a loop
	Scores  int // the least number of bytes of all scores that are worth a loop
	// Attention is the greatest depth of scores and width of products with which the device
	// runs kernels of the template Attention; 0: it runs none. They take the place of loops.
	Attention int
	// AttentionBytes is the memory that a workgroup of such a kernel may have for factors.
	AttentionBytes int
	// AttentionBindings is the most buffers of such a kernel that reads at no index, if that is
	// more than of others.
	AttentionBindings int
	// Matrices says that matrix instructions multiply in such a kernel, not threads.
	Matrices bool
	// Serial says that the device runs one block after the other, each on all its cores: blocks
	// are as large as Bytes allow, of several matrices where these fit.
	Serial bool
	Enough int // rows of a block, from which on each kernel occupies the device; 0: unknown

	// Skips says that kernels skip results that nothing needs, as conditions of Store and Where say: loops
	// of scores that a mask hides in part have them.
	Skips bool

	// Lengths says that kernels compute, store and read no more than the conditions of Store and Where need,
	// where these hide positions beyond a length that is an argument.
	Lengths bool

	// Rows of temporaries are not at multiples of Conflict bytes, which compete for few
	// sets of a cache; 0 if that does not matter.
	Conflict int
}

// A Temp is memory for Len elements.
type Temp struct {
	DType DType
	Len   int
}

// A Clear sets Len elements to 0, of the size of Arg's type.
type Clear struct {
	Arg StageArg
	Len int
}

// A Stage is a call of a kernel for a block. It has a StageArg for each argument of the
// kernel.
type Stage struct {
	Kernel *Kernel
	Args   []StageArg
}

// A StageArg is an argument of a kernel in a loop: a temporary or an argument of the
// loop, from the element on that Offset gives for the block's first row. A Value with
// Index -1 is that offset itself.
type StageArg struct {
	Temp  bool
	Index int
	Steps []RowStep
}

// A RowStep is one term of an offset that depends on a row: (row mod Mod) / Div · Mul.
type RowStep struct{ Mod, Div, Mul int }

// Offset is the sum of the steps at a row.
func (a *StageArg) Offset(row int) int {
	n := 0
	for _, s := range a.Steps {
		n += row % s.Mod / s.Div * s.Mul
	}
	return n
}

// Blocks is the number of blocks of a matrix.
func (l *Loop) Blocks() int { return CeilDiv(l.Matrix, l.Block) }

// Parts is the number of parts of a matrix.
func (l *Loop) Parts() int { return CeilDiv(l.Matrix, l.Part) }

// Starts yields the first rows of the blocks of n rows.
func (l *Loop) Starts(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for matrix := 0; matrix < l.Rows; matrix += l.Matrix {
			for at := 0; at < l.Matrix; at += l.Block {
				if min(l.Block, l.Matrix-at) == n && !yield(matrix+at) {
					return
				}
			}
		}
	}
}

// Append appends the loop as text. Equal texts are equal loops.
func (l *Loop) Append(b []byte) []byte {
	numbers := func(ns ...int) {
		for _, n := range ns {
			b = append(strconv.AppendInt(b, int64(n), 10), ' ')
		}
	}
	arg := func(a *StageArg) {
		temp := 0
		if a.Temp {
			temp = 1
		}
		numbers(temp, a.Index, len(a.Steps))
		for _, s := range a.Steps {
			numbers(s.Mod, s.Div, s.Mul)
		}
	}
	b = append(b, "loop "...)
	numbers(l.Rows, l.Matrix, l.Part, l.Block)
	b = append(b, '\n')
	for i := range l.Args {
		b = l.Args[i].append(b, i)
	}
	for _, t := range l.Temps {
		b = append(append(b, t.DType.String()...), ' ')
		numbers(t.Len)
	}
	for i := range l.Clears {
		arg(&l.Clears[i].Arg)
		numbers(l.Clears[i].Len)
	}
	for _, stages := range [][]Stage{l.Body, l.Last} {
		b = append(b, '\n')
		for i := range stages {
			for k := range stages[i].Args {
				arg(&stages[i].Args[k])
			}
			b = stages[i].Kernel.Append(append(b, '\n'))
		}
	}
	return b
}

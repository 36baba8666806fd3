package ir

import "strconv"

// A Loop runs the kernels of attention block by block, so that memory holds the scores of one
// block of rows at a time, not of all rows. The rows are the rows of the matrices of scores, and
// the matrices of a batch lie one below the other. A matrix is divided into parts, and a part
// into blocks. With two matrices of 7 rows:
//
//	rows 0 to 3    a block of part 0 of matrix 0    Rows   14
//	rows 4 to 6    a block of part 1 of matrix 0    Matrix  7
//	rows 7 to 10   a block of part 0 of matrix 1    Part    4
//	rows 11 to 13  a block of part 1 of matrix 1    Block   4
//
// For each block the loop runs the kernels of Body in order, or the kernels of Last if the block
// is shorter. The blocks of a part are computed in order, parts in any order. Kernels read and
// write only the rows of their block. The exception is arguments in Clears: the blocks of a
// part add to them one after the other. If a block covers several matrices, the loop
// treats them as one matrix.
type Loop struct {
	Args   []Arg   // each buffer once: kernels may read an Out that earlier kernels have written
	Temps  []Temp  // hold values between the kernels of a block
	Clears []Clear // are set to 0 at the start of each part
	Rows   int     // rows of all matrices, a multiple of Matrix
	Matrix int     // rows of a matrix
	Part   int     // rows of a part, a multiple of Block; the last part of a matrix may have fewer
	Block  int     // rows of a block; the last block of a matrix may have fewer
	Body   []Stage // for a block of Block rows
	Last   []Stage // for the last block of a matrix, if it has fewer rows
}

// LoopLimits say which loops a device runs. The zero value is for a device that runs no loops.
type LoopLimits struct {
	Bytes   int // the greatest size of a block's temporaries, which then stay in fast memory
	Rows    int // a number of which the rows of a block should be a multiple
	Columns int // the least length of a row of scores for which a loop is worth it; 0: none is
	Scores  int // the least size of all scores, in bytes, for which a loop is worth it

	// Attention is the greatest width of a head, the depth of scores and the width of products, for
	// which the device runs a kernel of the template Attention in place of a loop; 0: it runs no such kernels.
	Attention int
	// AttentionFew is Attention for so few rows that the kernel has no tiles, where it is more.
	AttentionFew int
	// AttentionBytes is the greatest size of the factors that a workgroup of such a kernel holds in its memory.
	AttentionBytes int
	// AttentionBindings is the greatest number of buffers of such a kernel if it does not read
	// at indices, where that is more than for other kernels.
	AttentionBindings int

	// Serial says that the device runs one block at a time, on all its cores. Blocks are then as
	// large as Bytes allows, and cover several matrices if these fit.
	Serial bool
	// Enough is the least number of rows of a block with which each kernel occupies the device; 0: unknown.
	// Blocks of several matrices have no more.
	Enough int

	// Skips says that kernels skip results that a mask of positions hides, by the conditions of Store and Where.
	Skips bool

	// Lengths says that kernels skip positions beyond a sequence length passed as an argument: they
	// neither load, compute nor store them.
	Lengths bool

	// Conflict is a distance in bytes: rows at multiples of it compete for few sets of a
	// cache, so rows of temporaries are not placed there; 0: no distance matters.
	Conflict int
}

// A Temp is memory for Len elements.
type Temp struct {
	DType DType
	Len   int
}

// A Clear sets Len elements of Arg to 0.
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

// A StageArg is an argument of a kernel in a loop: a temporary or an argument of the loop.
// Its first element is Offset of the block's first row. For an argument of kind Value with
// Index -1, the value is that offset.
type StageArg struct {
	Temp  bool      // in Temps, not in Args
	Index int       // in Temps or Args
	Steps []RowStep // terms of the offset
}

// A RowStep is a term of an offset that depends on a row: (row mod Mod) / Div · Mul.
type RowStep struct{ Mod, Div, Mul int }

// Offset is the sum of the terms for a row.
func (a *StageArg) Offset(row int) int {
	sum := 0
	for _, s := range a.Steps {
		sum += row % s.Mod / s.Div * s.Mul
	}
	return sum
}

// Blocks is the number of blocks of a matrix.
func (l *Loop) Blocks() int { return CeilDiv(l.Matrix, l.Block) }

// Parts is the number of parts of a matrix.
func (l *Loop) Parts() int { return CeilDiv(l.Matrix, l.Part) }

// Starts yields the first row of each block that has n rows.
func (l *Loop) Starts(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for matrix := 0; matrix < l.Rows; matrix += l.Matrix {
			for row := 0; row < l.Matrix; row += l.Block {
				if min(l.Block, l.Matrix-row) == n && !yield(matrix+row) {
					return
				}
			}
		}
	}
}

// Append appends the loop as text. Loops with equal texts are equal.
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

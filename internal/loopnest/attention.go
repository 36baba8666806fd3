package loopnest

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// An Attention is the analysis of a kernel of that template. Reductions along rows are computed
// in one pass over the columns.
type Attention struct {
	Online
	Scores, Outputs []Product
}

// A Product is a sum of a product: Left varies over rows, Right over columns.
type Product struct{ Sum, Left, Right int }

// NewAttention analyses a kernel. It reports false if one pass is not enough, if no scores are
// computed, or if a reduction is not of float32.
func NewAttention(k *ir.Kernel) (*Attention, bool) {
	columns := k.Roles(ir.N)
	rows := k.Roles(ir.Batch, ir.M)
	a := &Attention{Online: newOnline(k, columns)}
	for i := range k.Body {
		in := &k.Body[i]
		if a.follow(k, i); in.Op.Class() != ir.Reduction {
			continue
		}
		if in.Type != ir.Float32 {
			return nil, false
		}
		x := in.Src[0]
		p := Product{Sum: i}
		if factors := k.Body[x].Src; len(factors) == 2 {
			p.Left, p.Right = factors[0], factors[1]
		}
		switch {
		case in.Axes != columns: // a score
			a.Scores = append(a.Scores, p)
			continue
		case in.Op == ir.ReduceMax && a.Max < 0 && !a.reduced[x]:
			a.Max = i
		case in.Op != ir.Sum:
			return nil, false
		case within(k.Body[x].Domain, rows|columns):
			if !a.adds(x) {
				return nil, false
			}
			a.Scaled[i] = a.Scaled[x]
			a.Sums = append(a.Sums, i)
		default:
			if !a.adds(p.Left) {
				return nil, false
			}
			a.Scaled[i] = a.Scaled[p.Left]
			a.Outputs = append(a.Outputs, p)
		}
		a.reduced[i] = true
	}
	return a, len(a.Scores) > 0
}

// Fits reports whether a workgroup with that memory in bytes can compute the fewest rows and columns,
// where matrix instructions multiply or else threads.
func (a *Attention) Fits(k *ir.Kernel, matrices bool, bytes int) bool {
	if matrices {
		return a.Bytes(k, 64, 32) <= bytes
	}
	widths := 0
	for i := range a.Outputs {
		widths += a.width(k, i)
	}
	return widths <= mostWidths && a.ThreadBytes(k, LeastRows, LeastColumns)+a.ExchangeBytes(LeastRows) <= bytes
}

// FewRows is the greatest number of rows that are multiplied without tiles: threads read keys and values once.
const FewRows = 8

// SkinnyRows is the greatest number of rows of halves that are multiplied without tiles: an instruction has as many.
const SkinnyRows = 16

// Where threads multiply: the fewest rows of a workgroup and columns of a block, the threads that
// share a row, and the depth of a step. Each of the threads has four columns of a square.
const (
	LeastRows    = 32
	LeastColumns = 32
	Across       = 8
	Step         = 8

	mostWidths = 256 // of the outputs together, so that their accumulators fit in registers
)

// AcrossColumns is the number of columns of an output of some width, with those that fill squares.
func AcrossColumns(width int) int { return ir.CeilDiv(max(1, width), 4*Across) * 4 * Across }

// width is the width of an output.
func (a *Attention) width(k *ir.Kernel, output int) int {
	return Size(k, k.Body[a.Outputs[output].Right].Domain&k.Roles(ir.Width))
}

// Widest is the greatest depth of a score or width of an output.
func (a *Attention) Widest(k *ir.Kernel) (n int) {
	for _, p := range a.Scores {
		n = max(n, Size(k, k.Body[p.Sum].Axes))
	}
	for i := range a.Outputs {
		n = max(n, a.width(k, i))
	}
	return n
}

// ThreadVectors returns the lengths of shared arrays where threads multiply, in vectors of four
// float32: of two steps of left factors and of right ones, whose rows may have one vector more,
// and of a left factor of outputs.
func (a *Attention) ThreadVectors(k *ir.Kernel, rows, columns int) (left, right, weights int) {
	widest := columns
	for i := range a.Outputs {
		widest = max(widest, AcrossColumns(a.width(k, i)))
		weights = rows / 4 * columns
	}
	return 2 * Step * (rows/4 + 1), 2 * Step * (widest/4 + 1), weights
}

// ThreadBytes returns the bytes of the arrays of ThreadVectors.
func (a *Attention) ThreadBytes(k *ir.Kernel, rows, columns int) int {
	left, right, weights := a.ThreadVectors(k, rows, columns)
	return 16 * (left + right + weights)
}

// ExchangeBytes returns the memory in bytes in which threads exchange reductions of rows, without
// shuffles.
func (a *Attention) ExchangeBytes(rows int) int { return 4 * rows * Across * max(1, len(a.Sums)) }

// Size is the number of positions along axes.
func Size(k *ir.Kernel, axes ir.AxisSet) int {
	n := 1
	for _, a := range axes.List() {
		n *= k.Axes[a].Len
	}
	return n
}

// Bytes returns the memory in bytes that a workgroup needs for its tiles: the factors of scores for
// some rows and columns, and the right factors of outputs for the columns. Halves stay halves where
// both factors of a score, or the right factors of all outputs, are halves.
func (a *Attention) Bytes(k *ir.Kernel, rows, columns int) int {
	size := func(axes ir.AxisSet, multiple int) int {
		return ir.CeilDiv(max(1, Size(k, axes)), multiple) * multiple
	}
	bytes := 0
	for _, p := range a.Scores {
		depth := k.Body[p.Sum].Axes
		if d := HalfOf(k, p.Left); d != 0 && d == HalfOf(k, p.Right) {
			bytes += 2 * size(depth, 32) * (rows + columns)
		} else {
			bytes += 4 * size(depth, 16) * (rows + columns)
		}
	}
	element := 2
	if slices.ContainsFunc(a.Outputs, func(p Product) bool { return HalfOf(k, p.Right) == 0 }) {
		element = 4
	}
	for _, p := range a.Outputs {
		bytes += element * columns * size(k.Body[p.Right].Domain&k.Roles(ir.Width), 16)
	}
	return bytes
}

// HalfOf returns the type of the halves that an instruction loads, else 0.
func HalfOf(k *ir.Kernel, i int) ir.DType {
	if in := &k.Body[i]; in.Op == ir.Load && k.Args[in.Arg].DType.IsHalf() {
		return k.Args[in.Arg].DType
	}
	return 0
}

func within(s, of ir.AxisSet) bool { return s&^of == 0 }

package loopnest

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// An Attention is what a kernel of that template computes. Reductions along rows are
// computed in one pass over the columns, as in "Online normalizer calculation for softmax"
// (Milakov, Gimelshein, 2018): sums of what is proportional to eˣ⁻ᵐ for the maximum m of a row
// are scaled when a greater one is found.
type Attention struct {
	Scores, Outputs []Product
	Max             int    // the reduction of that kind, -1 if there is none
	Sums            []int  // of values of rows and columns
	Scaled          []bool // by instruction: it is proportional to eˣ⁻ᵐ
	reduced         []bool // by instruction: it depends on a reduction over columns
}

// A Product is a sum of a product: Left varies over rows, Right over columns.
type Product struct{ Sum, Left, Right int }

// NewAttention analyses a kernel. It reports false if one pass is not enough, if no scores are
// computed, or if a reduction is not of float32.
func NewAttention(k *ir.Kernel) (*Attention, bool) {
	a := &Attention{Max: -1, Scaled: make([]bool, len(k.Body)), reduced: make([]bool, len(k.Body))}
	columns := k.Roles(ir.N)
	rows := k.Roles(ir.Batch, ir.M)
	for i := range k.Body {
		in := &k.Body[i]
		for _, j := range in.Src {
			a.reduced[i] = a.reduced[i] || a.reduced[j]
		}
		if in.Op.Class() != ir.Reduction {
			a.Scaled[i] = a.scaled(k, i)
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

// adds reports whether the sum of a value can be continued from columns to columns.
func (a *Attention) adds(i int) bool { return a.Scaled[i] || !a.reduced[i] }

// scaled reports whether a value of rows and columns is proportional to eˣ⁻ᵐ.
func (a *Attention) scaled(k *ir.Kernel, i int) bool {
	in := &k.Body[i]
	if in.Domain&k.Roles(ir.N) == 0 {
		return false
	}
	free := func(j int) bool { return !a.reduced[j] }
	switch in.Op {
	case ir.Exp:
		s := &k.Body[in.Src[0]]
		return s.Op == ir.Sub && free(s.Src[0]) && a.isMax(k, s.Src[1])
	case ir.Mul:
		x, y := in.Src[0], in.Src[1]
		return a.Scaled[x] && free(y) || a.Scaled[y] && free(x)
	case ir.Div:
		return a.Scaled[in.Src[0]] && free(in.Src[1])
	case ir.Neg:
		return a.Scaled[in.Src[0]]
	case ir.Add, ir.Sub:
		return a.Scaled[in.Src[0]] && a.Scaled[in.Src[1]]
	case ir.Where:
		x, y := in.Src[1], in.Src[2]
		some := a.Scaled[x] || a.Scaled[y]
		return some && free(in.Src[0]) && (a.Scaled[x] || IsNumber(k, x, 0)) && (a.Scaled[y] || IsNumber(k, y, 0))
	}
	return false
}

// isMax reports whether a value is the maximum, or that with 0 in place of -Inf.
func (a *Attention) isMax(k *ir.Kernel, i int) bool {
	in := &k.Body[i]
	if in.Op == ir.Where {
		cond := &k.Body[in.Src[0]]
		lowest := func(j int) bool { return IsNumber(k, j, math.Inf(-1)) }
		return cond.Op == ir.Eq && IsNumber(k, in.Src[1], 0) && in.Src[2] == a.Max &&
			(cond.Src[0] == a.Max && lowest(cond.Src[1]) || cond.Src[1] == a.Max && lowest(cond.Src[0]))
	}
	return a.Max >= 0 && i == a.Max
}

// LeastBytes returns the memory in bytes that a workgroup needs for the fewest rows and columns,
// where matrix instructions multiply or else threads.
func (a *Attention) LeastBytes(k *ir.Kernel, matrices bool) int {
	if matrices {
		return a.Bytes(k, 64, 32)
	}
	return a.ThreadBytes(k, LeastRows, LeastColumns, LeastAcross)
}

// The fewest rows and columns of a workgroup whose threads multiply, and how many share a row.
const (
	LeastRows    = 32
	LeastColumns = 16
	LeastAcross  = 4
)

// ThreadBytes returns the memory in bytes that a workgroup needs for its tiles in float32 where
// threads multiply, some of which share a row: the factors of scores, a left factor of outputs,
// the right ones that are not those of scores, and what threads exchange of reductions.
func (a *Attention) ThreadBytes(k *ir.Kernel, rows, columns, across int) int {
	vectors := 0
	for _, p := range a.Scores {
		vectors += (rows + columns) * RowVectors(size(k, k.Body[p.Sum].Axes), across)
	}
	for i, p := range a.Outputs {
		if a.SharedTile(k, i) < 0 {
			vectors += columns * RowVectors(size(k, k.Body[p.Right].Domain&k.Roles(ir.Width)), across)
		}
	}
	if len(a.Outputs) > 0 {
		vectors += rows * RowVectors(columns, 1)
	}
	return 16*vectors + 4*rows*across*max(1, len(a.Sums))
}

// RowVectors is the length of a row of n elements in shared memory, in vectors of four, some of
// which a thread each reads at once. It is odd: so rows begin in different banks.
func RowVectors(n, across int) int { return ir.CeilDiv(max(1, n), 4*across)*across | 1 }

// SharedTile returns the number of the score whose right factor has the elements of that of an
// output, with the width for the depth; -1 if there is none.
func (a *Attention) SharedTile(k *ir.Kernel, output int) int {
	right := a.Outputs[output].Right
	width := (k.Body[right].Domain & k.Roles(ir.Width)).List()
	return slices.IndexFunc(a.Scores, func(p Product) bool {
		depth := k.Body[p.Sum].Axes.List()
		return len(depth) == len(width) && sameValues(k, p.Right, right, depth, width)
	})
}

// sameValues reports whether two instructions compute the same, with axes for others.
func sameValues(k *ir.Kernel, i, j int, axes, others []int) bool {
	x, y := k.Body[i], k.Body[j]
	if len(x.Src) != len(y.Src) || x.UsesIndex() || y.UsesIndex() {
		return false
	}
	for n := range x.Src {
		if !sameValues(k, x.Src[n], y.Src[n], axes, others) {
			return false
		}
	}
	x.Src, y.Src, x.Domain, y.Domain = nil, nil, 0, 0
	if v := x.View; v != nil && len(v.Guards) == 0 && x.Op == ir.Load {
		w := *v
		w.Coef = slices.Clone(v.Coef)
		for n, a := range axes {
			if k.Axes[a].Len != k.Axes[others[n]].Len {
				return false
			}
			w.Coef[a], w.Coef[others[n]] = w.Coef[others[n]], w.Coef[a]
		}
		x.View = &w
	}
	return string(x.Append(nil, 0)) == string(y.Append(nil, 0))
}

// size is the number of positions along axes.
func size(k *ir.Kernel, axes ir.AxisSet) int {
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
		return ir.CeilDiv(max(1, size(k, axes)), multiple) * multiple
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

// IsNumber reports whether an instruction is the constant x.
func IsNumber(k *ir.Kernel, i int, x float64) bool {
	in := &k.Body[i]
	return in.Op == ir.Const && in.Num.Float64(in.Type) == x
}

func within(s, of ir.AxisSet) bool { return s&^of == 0 }

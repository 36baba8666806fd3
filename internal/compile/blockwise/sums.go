package blockwise

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// The gradients of keys and values in attention are sums over rows, to which each block
// adds.

// sumOf returns the sum of a contraction.
func sumOf(k *ir.Kernel) int {
	return slices.IndexFunc(k.Body, func(in ir.Instr) bool { return in.Op == ir.Sum })
}

// inputs returns the buffers that instructions of a step depend on.
func inputs(s *compile.Step, instructions ...int) map[int]bool {
	list := map[int]bool{}
	for i, needed := range (&loopnest.Nest{Kernel: s.Kernel}).Needs(instructions, nil) {
		in := &s.Kernel.Body[i]
		if needed && in.Op == ir.Load && s.Args[in.Arg].IsBuffer() {
			list[s.Args[in.Arg].Index] = true
		}
	}
	return list
}

// addsWithin reports whether a stage computes its results from the n rows of a block alone.
func (s *stage) addsWithin(n int) bool {
	k := s.step.Kernel
	for a := range k.Axes {
		if s.stride[a] > 0 && k.Axes[a].Role == ir.K && !s.whole(k, a, n) {
			return false
		}
	}
	for _, after := range s.afterSum {
		if after {
			return false
		}
	}
	return true
}

// addSum makes a stage add the sum of a block to the partial sum of the block's part, or store it
// if a part has only one block.
func (l *loop) addSum(c *slicer, s *stage) {
	sum := c.Instr(sumOf(c.From))
	o := &l.out
	strides, n := s.sumStrides(o.Matrix)
	typ := c.To.Body[sum].Type
	like := ir.Arg{Kind: ir.Out, DType: typ, Part: true, Align: n*typ.Size()%16 == 0}
	a := ir.StageArg{Index: l.share(compile.Arg{Kind: ir.Out, Index: s.sums}, like)}
	a.Steps = []ir.RowStep{{Mod: o.Rows, Div: o.Matrix, Mul: o.Parts() * n}, {Mod: o.Matrix, Div: o.Part, Mul: n}}
	view := &ir.View{Coef: c.Coefs(strides)}
	if o.Part > o.Block {
		if !slices.ContainsFunc(o.Clears, func(x ir.Clear) bool { return x.Arg.Index == a.Index }) {
			o.Clears = append(o.Clears, ir.Clear{Arg: a, Len: n})
		}
		old := c.Add(ir.Instr{Op: ir.Load, Type: typ, Arg: c.Arg(a, like), View: view})
		sum = c.Add(ir.Instr{Op: ir.Add, Type: typ, Src: []int{old, sum}})
	}
	c.Add(ir.Instr{Op: ir.Store, Type: typ, Src: []int{sum}, Arg: c.Arg(a, like), View: view})
}

// sumStrides returns the layout of the partial sums of a part, for matrices of matrix rows: the strides
// along the axes of the kernel that are not summed over, and the number n of elements. The axes
// have the order of the first result, except that an axis that continues in the next matrix is last.
func (s *stage) sumStrides(matrix int) (strides []int, n int) {
	k := s.step.Kernel
	result := k.Roles(ir.Batch, ir.M, ir.N)
	length := func(a int) int {
		if s.stride[a] > 0 {
			return s.length(k, a, matrix)
		}
		return k.Axes[a].Len
	}
	var axes []int
	for a := range k.Axes {
		if result.Has(a) && s.stride[a] < matrix {
			axes = append(axes, a)
		}
	}
	first := slices.IndexFunc(k.Body, func(in ir.Instr) bool { return in.Op == ir.Store })
	coef := k.Body[first].View.Coef
	slices.SortStableFunc(axes, func(a, b int) int {
		continues := func(a int) int {
			if s.whole(k, a, matrix) {
				return 0
			}
			return s.stride[a]
		}
		return cmp.Or(cmp.Compare(continues(a), continues(b)), cmp.Compare(coef[a], coef[b]))
	})
	strides, n = make([]int, len(k.Axes)), 1
	for _, a := range axes {
		strides[a] = n
		n *= length(a)
	}
	return strides, n
}

// A sumAxis is an axis of the kernel that adds up partial sums.
type sumAxis struct {
	from    int // its axis in the stage's kernel, -1 for the parts of a matrix
	length  int
	coef    int // the distance of neighbours in the buffer of partial sums
	reduced bool
}

// sumAxes returns the axes of the kernel that adds up partial sums, parallel ones first.
func (l *loop) sumAxes(s *stage, strides []int, n int) []sumAxis {
	k, o := s.step.Kernel, &l.out
	var axes, reduced []sumAxis
	add := func(x sumAxis) {
		switch {
		case !x.reduced:
			axes = append(axes, x)
		case x.length != 1:
			reduced = append(reduced, x)
		}
	}
	for a, x := range k.Axes {
		switch stride := s.stride[a]; {
		case stride >= o.Matrix:
			add(sumAxis{a, x.Len, stride / o.Matrix * o.Parts() * n, x.Role == ir.K})
		case x.Role != ir.K:
			add(sumAxis{a, x.Len, strides[a], false})
		case stride > 0 && !s.whole(k, a, o.Matrix):
			add(sumAxis{a, stride * x.Len / o.Matrix, o.Parts() * n, true})
		}
	}
	add(sumAxis{-1, o.Parts(), n, true})
	return append(axes, reduced...)
}

// finishSums gives a stage a buffer of partial sums, and makes the step that adds them up
// and computes the results from the sum.
func (l *loop) finishSums(s *stage) {
	k, o := s.step.Kernel, &l.out
	strides, n := s.sumStrides(o.Matrix)
	sum := sumOf(k)
	typ := k.Body[sum].Type
	s.sums = l.newBuffer(compile.Buffer{DType: typ, Len: o.Rows / o.Matrix * o.Parts() * n})

	c := compile.NewPart(k, ir.Pointwise, 0)
	view := &ir.View{}
	var over ir.AxisSet
	for at, x := range l.sumAxes(s, strides, n) {
		role := ir.Parallel
		if x.reduced {
			role = ir.Reduced
			over |= 1 << at
		}
		c.To.Axes = append(c.To.Axes, ir.Axis{Len: x.length, Role: role})
		if x.from >= 0 {
			c.Axis[x.from] = at
		}
		view.Coef = append(view.Coef, x.coef)
	}
	value := c.Add(ir.Instr{Op: ir.Load, Type: typ, Arg: c.Arg(ir.StageArg{Index: len(k.Args)}, ir.Arg{Kind: ir.In, DType: typ, Align: true}), View: view})
	if over != 0 {
		c.To.Template = ir.Reduce
		value = c.Add(ir.Instr{Op: ir.Sum, Type: typ, Src: []int{value}, Axes: over})
	}
	c.Moved[sum] = value
	for i := range k.Body {
		if k.Body[i].Op == ir.Store {
			c.Instr(i)
		}
	}
	l.finish = append(l.finish, s.step.Part(c, slices.Concat(s.step.Args, []compile.Arg{{Index: s.sums}})))
	s.step.Args = slices.Clone(s.step.Args)
	for i := range s.step.Args {
		if a := &s.step.Args[i]; a.Kind == ir.Out {
			a.Index, a.Offset = s.sums, 0
		}
	}
}

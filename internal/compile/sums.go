package compile

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// The gradients of keys and values in attention are sums over rows, to which each block
// adds.

// sumOf returns the sum of a contraction.
func sumOf(k *ir.Kernel) int {
	return slices.IndexFunc(k.Body, func(in ir.Instr) bool { return in.Op == ir.Sum })
}

// inputs returns the buffers that instructions of a step depend on.
func (s *Step) inputs(instructions ...int) map[int]bool {
	list := map[int]bool{}
	seen := make([]bool, len(s.Kernel.Body))
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		in := &s.Kernel.Body[i]
		if in.Op == ir.Load && isPlanBuffer(&s.Args[in.Arg]) {
			list[s.Args[in.Arg].Index] = true
		}
		for _, j := range in.Src {
			visit(j)
		}
	}
	for _, i := range instructions {
		visit(i)
	}
	return list
}

// addSum makes a stage add its sum to the partial sum of the block's part.
func (l *loop) addSum(c *slicer, s *stage) {
	sum := c.instr(sumOf(c.from))
	strides, n := s.sumStrides()
	a := ir.StageArg{Index: l.share(Arg{Kind: ir.Out, Index: s.sums}, ir.Arg{Kind: ir.Out, DType: c.to.Body[sum].Type, Part: true})}
	o := &l.out
	a.Steps = []ir.RowStep{{Mod: o.Rows, Div: o.Matrix, Mul: o.Parts() * n}, {Mod: o.Matrix, Div: o.Part, Mul: n}}
	if !slices.ContainsFunc(o.Clears, func(x ir.Clear) bool { return x.Arg.Index == a.Index }) {
		o.Clears = append(o.Clears, ir.Clear{Arg: a, Len: n})
	}
	typ := c.to.Body[sum].Type
	view := &ir.View{Coef: c.coefs(strides)}
	old := c.add(ir.Instr{Op: ir.Load, Type: typ, Arg: c.arg(a, ir.Arg{Kind: ir.In, DType: typ}), View: view})
	both := c.add(ir.Instr{Op: ir.Add, Type: typ, Src: []int{old, sum}})
	c.add(ir.Instr{Op: ir.Store, Type: typ, Src: []int{both}, Arg: c.arg(a, ir.Arg{Kind: ir.Out, DType: typ, Part: true}), View: view})
}

// sumStrides returns how a partial sum lies in memory: in the order of the first result,
// over the axes of the kernel that are neither rows nor summed over, n elements in all.
func (s *stage) sumStrides() (strides []int, n int) {
	k := s.step.Kernel
	result := k.Roles(ir.Batch, ir.M, ir.N)
	var axes []int
	for a := range k.Axes {
		if s.stride[a] == 0 && result.Has(a) {
			axes = append(axes, a)
		}
	}
	first := slices.IndexFunc(k.Body, func(in ir.Instr) bool { return in.Op == ir.Store })
	coef := k.Body[first].View.Coef
	slices.SortStableFunc(axes, func(a, b int) int { return cmp.Compare(coef[a], coef[b]) })
	strides, n = make([]int, len(k.Axes)), 1
	for _, a := range axes {
		strides[a] = n
		n *= k.Axes[a].Len
	}
	return strides, n
}

// finishSums gives a stage a buffer of partial sums, and makes the step that adds them up
// and computes the results from the sum.
func (l *loop) finishSums(s *stage) {
	k, o := s.step.Kernel, &l.out
	strides, n := s.sumStrides()
	sum := sumOf(k)
	typ := k.Body[sum].Type
	s.sums = l.newBuffer(Buffer{DType: typ, Len: o.Rows / o.Matrix * o.Parts() * n})

	var axes [2][]ir.Axis // parallel and reduced ones
	var from [2][]int     // their axes in k; -1 for the parts
	coef := make([]int, len(k.Axes)+1)
	add := func(a, n int, reduced bool) {
		i := 0
		switch {
		case reduced && n == 1:
			return
		case reduced:
			i = 1
		}
		axes[i] = append(axes[i], ir.Axis{Len: n, Role: ir.Parallel + ir.Role(i)})
		from[i] = append(from[i], a)
	}
	for a, x := range k.Axes {
		switch stride := s.stride[a]; {
		case stride >= o.Matrix:
			coef[a] = stride / o.Matrix * o.Parts() * n
			add(a, x.Len, x.Role == ir.K)
		case stride > 0: // the innermost one, which is summed over
			coef[a] = o.Parts() * n
			add(a, x.Len/o.Matrix, true)
		case x.Role != ir.K:
			coef[a] = strides[a]
			add(a, x.Len, false)
		}
	}
	add(-1, o.Parts(), true)
	coef[len(k.Axes)] = n

	c := newSlicer(&rows{stride: make([]int, len(k.Axes))}, k, ir.Pointwise)
	c.locate = func(arg int) (ir.StageArg, ir.Arg) { return ir.StageArg{Index: arg}, k.Args[arg] }
	view := &ir.View{}
	var over ir.AxisSet
	for i := range axes {
		for j, x := range axes[i] {
			at := len(c.to.Axes)
			c.to.Axes = append(c.to.Axes, x)
			a := from[i][j]
			if a < 0 {
				a = len(k.Axes)
			} else {
				c.axis[a] = at
			}
			view.Coef = append(view.Coef, coef[a])
			if i == 1 {
				over |= 1 << at
			}
		}
	}
	sums := len(k.Args)
	value := c.add(ir.Instr{Op: ir.Load, Type: typ, Arg: c.arg(ir.StageArg{Index: sums}, ir.Arg{Kind: ir.In, DType: typ, Align: true}), View: view})
	if over != 0 {
		c.to.Template = ir.Reduce
		value = c.add(ir.Instr{Op: ir.Sum, Type: typ, Src: []int{value}, Axes: over})
	}
	c.moved[sum] = value
	for i := range k.Body {
		if k.Body[i].Op == ir.Store {
			c.instr(i)
		}
	}
	step := Step{Kernel: c.to, Node: s.step.Node}
	for _, a := range c.args {
		if a.Index == sums {
			step.Args = append(step.Args, Arg{Kind: ir.In, Index: s.sums})
		} else {
			step.Args = append(step.Args, s.step.Args[a.Index])
		}
	}
	l.finish = append(l.finish, step)
	s.step.Args = slices.Clone(s.step.Args)
	for i := range s.step.Args {
		if a := &s.step.Args[i]; a.Kind == ir.Out {
			a.Index, a.Offset = s.sums, 0
		}
	}
}

package blockwise

import (
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// hoist stores factors that stages multiply with all rows of a matrix, such as the keys in
// attention, in a step before the loop, and makes neighbouring columns of the product
// contiguous. Otherwise each block would transpose or compute the factor again.
func (l *loop) hoist() {
	if l.limits.Serial { // tiles of a product are transposed or computed in shared memory
		return
	}
	for _, s := range l.stages {
		k := s.step.Kernel
		if k.Template != ir.Contraction || s.adds {
			continue
		}
		_, x, y := loopnest.Factors(k.Body, k.Roles(ir.M), k.Roles(ir.N))
		for _, f := range []int{x, y} {
			if !k.Body[f].Domain.Has(s.inner) && !l.reads(s, f) && !inColumns(k, f) {
				l.hoistFactor(s, f)
			}
		}
	}
}

// reads reports whether instruction i of a stage depends on a buffer that the loop writes.
func (l *loop) reads(s *stage, i int) bool {
	needed := inputs(&s.step, i)
	return slices.ContainsFunc(l.stages, func(x *stage) bool {
		return slices.ContainsFunc(slices.Collect(x.step.Buffers(ir.Out)), func(b int) bool { return needed[b] })
	})
}

// inColumns reports whether a factor is loaded with stride 1 along an axis of the product.
func inColumns(k *ir.Kernel, i int) bool {
	in := &k.Body[i]
	if in.Op != ir.Load || len(in.View.Guards) > 0 || k.Args[in.Arg].DType != in.Type {
		return false
	}
	for a, c := range in.View.Coef {
		if c == 1 && k.Axes[a].Role != ir.K && k.Axes[a].Len > 1 {
			return true
		}
	}
	return false
}

// hoistFactor replaces factor i of a stage by a load of a buffer that a step before the
// loop fills.
func (l *loop) hoistFactor(s *stage, i int) {
	k := s.step.Kernel
	typ := k.Body[i].Type
	var axes []int
	for a := range k.Axes {
		if k.Body[i].Domain.Has(a) {
			axes = append(axes, a)
		}
	}
	order := func(a int) int { // rows, depth, columns
		switch {
		case s.stride[a] > 0:
			return 0
		case k.Axes[a].Role == ir.K:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(axes, func(a, b int) int { return cmp.Compare(order(a), order(b)) })
	view := &ir.View{Coef: make([]int, len(k.Axes))}
	n := 1
	for j, a := range slices.Backward(axes) {
		view.Coef[a] = n
		n *= k.Axes[a].Len
		if order(a) == 2 && (j == 0 || order(axes[j-1]) < 2) {
			n = l.pad(n, typ)
		}
	}
	buffer := l.newBuffer(compile.Buffer{DType: typ, Len: n, Gaps: n - loopnest.Size(k, k.Body[i].Domain)})

	c := compile.NewPart(k, ir.Pointwise, 0)
	for _, a := range axes {
		c.AddAxis(a, ir.Axis{Len: k.Axes[a].Len, Role: ir.Parallel})
	}
	out := c.Arg(ir.StageArg{Index: len(k.Args)}, ir.Arg{Kind: ir.Out, DType: typ, Len: n, Align: true})
	value := c.Instr(i)
	c.Add(ir.Instr{Op: ir.Store, Type: typ, Src: []int{value}, Arg: out, View: view.Mapped(c.Coefs)})
	args := append(slices.Clone(s.step.Args), compile.Arg{Kind: ir.In, Index: buffer})
	l.before = append(l.before, s.step.Part(c, args))
	s.step.Kernel, s.step.Args = loopnest.Loaded(k, i, view), args
	s.used = append(s.used, false)
}

// pad returns the distance, of at least n elements, at which the device wants rows.
func (l *loop) pad(n int, d ir.DType) int {
	if c := l.limits.Conflict; c > 0 && n*d.Size()%c == 0 {
		n += 64 / d.Size()
	}
	return n
}

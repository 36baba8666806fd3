package loopnest

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// shifted is y[i, j] = x[i, j] + j where 0 <= i + j - 1 < 5, over 3 by 4 points.
func shifted() *ir.Kernel {
	view := func() *ir.View { return &ir.View{Coef: []int{4, 1}} }
	guarded := view()
	guarded.Guards = []ir.Guard{{AffineExpr: ir.AffineExpr{Off: -1, Coef: []int{1, 1}, Div: 1}, Len: 5}}
	k := &ir.Kernel{
		Template: ir.Pointwise,
		Axes:     []ir.Axis{{Len: 3, Role: ir.Parallel}, {Len: 4, Role: ir.Parallel}},
		Args:     []ir.Arg{{Kind: ir.Out, DType: ir.Int32, Len: 12}, {Kind: ir.In, DType: ir.Int32}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Int32, Arg: 1, View: guarded}, {Op: ir.Index, Type: ir.Int32, Axis: 1},
			{Op: ir.Add, Type: ir.Int32, Src: []int{0, 1}}, {Op: ir.Store, Type: ir.Int32, Src: []int{2}, View: view()},
		},
	}
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	return k
}

// TestRewriter says what copies of a kernel are.
func TestRewriter(t *testing.T) {
	same := func(k *ir.Kernel) *Rewriter { return NewRewriter(k, k.Template, 1<<len(k.Axes)-1) }
	const args = "a0 out int32[12]\na1 in int32\n"
	for _, c := range []struct {
		name string
		copy func(k *ir.Kernel) *Rewriter
		want string
	}{
		{"the same", same, "pointwise i0:3 i1:4\n" + args + `%0 int32{0 1} = Load a1[4*i0 + i1; 0 <= i0 + i1 - 1 <5; else 0]
%1 int32{1} = Index i1
%2 int32{0 1} = Add %0 %1
%3 int32{0 1} = Store %2 a0[4*i0 + i1]
`},
		{"at one position along an axis", func(k *ir.Kernel) *Rewriter { return NewRewriter(k, ir.Pointwise, 1<<0) },
			"pointwise i0:3\n" + args + `%0 int32{0} = Load a1[4*i0; 0 <= i0 - 1 <5; else 0]
%1 int32{} = Const 0
%2 int32{0} = Add %0 %1
%3 int32{0} = Store %2 a0[4*i0]
`},
		{"with axes that change places", func(k *ir.Kernel) *Rewriter {
			r := NewRewriter(k, ir.Pointwise, 0)
			r.AddAxis(1, k.Axes[1])
			r.AddAxis(0, k.Axes[0])
			return r
		}, "pointwise i0:4 i1:3\n" + args + `%0 int32{0 1} = Load a1[i0 + 4*i1; 0 <= i0 + i1 - 1 <5; else 0]
%1 int32{0} = Index i0
%2 int32{0 1} = Add %0 %1
%3 int32{0 1} = Store %2 a0[i0 + 4*i1]
`},
		{"with a load for a value", func(k *ir.Kernel) *Rewriter { return same(Loaded(k, 1, &ir.View{Coef: []int{0, 2}})) },
			"pointwise i0:3 i1:4\n" + args + `a2 in int32
%0 int32{0 1} = Load a1[4*i0 + i1; 0 <= i0 + i1 - 1 <5; else 0]
%1 int32{1} = Load a2[2*i1]
%2 int32{0 1} = Add %0 %1
%3 int32{0 1} = Store %2 a0[4*i0 + i1]
`},
	} {
		k := shifted()
		before := k.String()
		r := c.copy(k)
		r.Instr(3)
		if got := r.To.String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if k.String() != before {
			t.Errorf("%s: the kernel itself is now\n%v", c.name, k)
		}
	}
}

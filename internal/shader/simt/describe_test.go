package simt_test

import (
	"testing"

	. "github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

func TestDescribe(t *testing.T) {
	x := &Var{Name: "x", Type: F32, Mutable: true}
	v := &Var{Name: "v", Type: F32.Vec(2), Mutable: true}
	n := &Var{Name: "n", Type: U32, Mutable: true}
	b := &Buffer{Name: "a0", Type: ir.Int32}
	w := &Shared{Name: "w0", Type: F32}
	i := (&Param{Name: "o0", Type: I32}).Word()
	for _, c := range []struct {
		stmt Stmt
		want string
	}{
		{&Declare{Var: x, Value: Number(F32, 0.5).Add(x.Ref().Neg())}, "x := (0.5 + Neg(x))"},
		{&Assign{Var: v, Component: -1, Value: Vec(2, x.Ref())}, "v = Vector<vec2<f32>>(x)"},
		{&Assign{Var: v, Component: 1, Value: v.Ref().At(0)}, "v[1] = v[0]"},
		{&Load{Dst: []*Var{x, x}, Buffer: b, Index: i.Sub(1)}, "x, x = a0[(o0 - 1)]"},
		{&Store{Buffer: b, Index: i, Values: []*Expr{b.LoadAtomic(i), Number(I32, -2)}}, "a0[o0] = a0[o0], -2"},
		{&StoreWords{Buffer: b, Index: i, Value: Vec(4, n.Ref())}, "words a0[o0] = Vector<vec4<u32>>(n)"},
		{&StoreShared{Shared: w, Index: ThreadID, Value: w.At(GroupID)}, "w0[thread] = w0[group]"},
		{&StoreShared{Shared: w, Index: ThreadID, Component: n.Ref(), Value: x.Ref()}, "w0[thread][n] = x"},
		{&Atomic{Op: AtomicMin, Buffer: b, Index: i, Value: i}, "atomic min(a0[o0], o0)"},
		{&If{Cond: x.Ref().Lt(1).And(true)}, "if ((x < 1) & true)"},
		{&For{Var: n, Cond: n.Ref().Ne(4), Next: n.Ref().Shl(1)}, "for n; (n != 4); n = (n << 1)"},
		{&For{Cond: n.Ref().Ge(4)}, "for (n >= 4)"},
		{&Return{Value: Function("exp_f32").Call(x.Ref().Convert(U32).Bitcast(F32))}, "return exp_f32(Bitcast<f32>(Convert<u32>(x)))"},
		{&Nested{Body: &Block{}}, "block"},
		{&Barrier{}, "barrier"},
	} {
		if got := simt.Describe(c.stmt); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

package simt_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// An example is a program of one pass, to be changed.
type example struct {
	*Program
	pass   *Pass
	in     *Buffer
	out    *Buffer
	offset *Param
	memory *Shared
	body   *Block
}

// newExample returns a program that doubles its input.
func newExample() example {
	s := example{
		in:     &Buffer{Name: "a0", Type: ir.Float32},
		out:    &Buffer{Name: "a1", Arg: 1, Type: ir.Float32, Write: true},
		offset: &Param{Name: "o0", Type: I32},
		memory: &Shared{Name: "w0", Type: F32.Vec(4), Len: 32},
		body:   &Block{},
	}
	s.pass = &Pass{
		Threads: 32, Grid: [3]int{1, 1, 1}, Subgroup: 32, Body: s.body,
		Buffers: []*Buffer{s.in, s.out}, Params: []*Param{s.offset}, Shared: []*Shared{s.memory},
	}
	s.Program = &Program{Passes: []*Pass{s.pass}}
	i := s.body.Let("i", ThreadID.Convert(I32))
	x := &Var{Name: "x", Type: F32}
	s.body.Do(&Load{Dst: []*Var{x}, Declare: true, Buffer: s.in, Index: i.Add(s.offset.Word())})
	s.body.Do(&Store{Buffer: s.out, Index: i, Values: []*Expr{x.Ref().Mul(2)}})
	return s
}

func TestVerify(t *testing.T) {
	one, index, thread, word := Number(F32, 1), Number(I32, 0), ThreadID, Number(U32, 0)
	mutable := &Var{Name: "m", Type: F32, Mutable: true}
	for _, c := range []struct {
		name   string
		change func(s *example)
		err    string
	}{
		{"nothing wrong", func(s *example) {}, ""},
		{"all functions", func(s *example) {
			for _, get := range Functions() {
				f := get()
				args := make([]*Expr, len(f.Params))
				for i, p := range f.Params {
					args[i] = FromBits(p.Type, 0)
				}
				s.body.Let("f_"+f.Name, f.Call(args...))
			}
		}, ""},
		{"an operand's type", func(s *example) { s.body.Let("y", &Expr{Op: Add, Type: F32, Args: []*Expr{one, index}}) },
			"shader: pass 0: y := (1 + 0): (1 + 0): 0 is i32, not f32"},
		{"an op's type", func(s *example) { s.body.Let("y", thread.Convert(F32).Rem(2)) }, "Convert<f32>(thread) % 2) of f32"},
		{"a result's type", func(s *example) { s.body.Let("y", &Expr{Op: Lt, Type: F32, Args: []*Expr{one, one}}) }, "(1 < 1) is bool, not f32"},
		{"a declared type", func(s *example) { s.body.Do(&Declare{Var: &Var{Name: "y", Type: I32}, Value: one}) }, "1 is f32, not i32"},
		{"a name used before its declaration", func(s *example) { s.body.Let("y", mutable.Ref()) }, "m is not declared"},
		{"a name out of scope", func(s *example) {
			inner := &Block{}
			y := inner.Let("y", one)
			s.body.Do(&Nested{Body: inner})
			s.body.Let("z", y)
		}, "z := y: y is not declared"},
		{"a name declared twice", func(s *example) { s.body.Let("x", one) }, "x is declared twice"},
		{"a name declared twice, apart", func(s *example) {
			for range 2 {
				s.body.If(thread.Eq(0), func(b *Block) { b.Let("y", one) })
			}
		}, ""},
		{"a name that hides another", func(s *example) {
			s.body.If(thread.Eq(0), func(b *Block) { b.Let("y", b.Let("x", one)) })
		}, ""},
		{"a hidden name", func(s *example) {
			x := s.body.Stmts[1].(*Load).Dst[0]
			s.body.If(thread.Eq(0), func(b *Block) {
				b.Let("x", one)
				b.Let("y", x.Ref())
			})
		}, "y := x: x is hidden"},
		{"a name of a printer", func(s *example) { s.body.Let("_at", one) }, "the name \"_at\" is left to printers"},
		{"a printer's name of a buffer", func(s *example) { s.in.Name = "_group" }, "the name \"_group\" is left to printers"},
		{"a keyword", func(s *example) { s.body.Let("loop", one) }, "the name loop is reserved in WGSL"},
		{"a keyword for a function", func(s *example) {
			f := &Func{Name: "fn", Result: F32, Body: &Block{}}
			f.Body.Return(one)
			s.body.Let("y", f.Call())
		}, "the name fn is reserved in WGSL"},
		{"a keyword for a parameter", func(s *example) { s.offset.Name = "var" }, "the name var is reserved in WGSL"},
		{"a function of WGSL", func(s *example) { s.body.Let("select", one) }, "the name select is reserved in WGSL"},
		{"a buffer's name", func(s *example) { s.body.If(thread.Eq(0), func(b *Block) { b.Let("a1", one) }) }, "a1 hides a buffer"},
		{"a shared array's name", func(s *example) { s.body.Let("w0", one) }, "w0 hides a buffer, a shared array"},
		{"a function's name", func(s *example) { s.body.Let("exp_f32", one) }, "exp_f32 hides a buffer, a shared array or a function"},
		{"an assignment to a constant", func(s *example) {
			x := s.body.Stmts[1].(*Load).Dst[0]
			s.body.Set(x, one)
		}, "x = 1: x is assigned to, and set once"},
		{"a component", func(s *example) { s.body.Let("y", Vec(2, one).At(2)) }, "component 2 of vec2<f32>"},
		{"a component set", func(s *example) {
			v := s.body.Var("v", Vec(4, one))
			s.body.SetAt(v, 3, one)
			s.body.SetAt(v, 4, one)
		}, "component 4 of vec4<f32>"},
		{"a buffer index", func(s *example) { s.body.Do(&Store{Buffer: s.out, Index: one, Values: []*Expr{one}}) }, "1 is f32, no index"},
		{"a shared index", func(s *example) { s.body.Let("y", s.memory.At(index)) }, "0 is i32, not u32"},
		{"a buffer that is read only", func(s *example) { s.out.Write = false }, "buffer a1 is not to be written"},
		{"a buffer of another pass", func(s *example) { s.pass.Buffers = s.pass.Buffers[:1] }, "buffer a1 is not the pass's"},
		{"a shared array of another pass", func(s *example) {
			s.body.Put(s.memory, thread, Vec(4, one))
			s.pass.Shared = nil
		}, "shared array w0 is not the pass's"},
		{"a parameter of another pass", func(s *example) { s.pass.Params = nil }, "parameter o0 is not the pass's"},
		{"a store of three", func(s *example) { s.body.Do(&Store{Buffer: s.out, Index: index, Values: []*Expr{one, one, one}}) }, "3 elements at once"},
		{"a load ahead", func(s *example) {
			s.in.Ahead = true
			s.body.Stmts = slices.Insert(s.body.Stmts, 2, Stmt(&AwaitOthers{}))
		}, ""},
		{"a load ahead of memory that others write", func(s *example) { s.body.Stmts = slices.Insert(s.body.Stmts, 2, Stmt(&AwaitOthers{})) }, "before a wait for kernels that may write a0"},
		{"a store ahead", func(s *example) { s.in.Ahead = true; s.body.Do(&AwaitOthers{}) }, "before a wait for other kernels"},
		{"a load ahead without a wait", func(s *example) { s.in.Ahead = true }, "a0 is loaded ahead, and written or without a wait"},
		{"a wait of some threads", func(s *example) { s.body.If(thread.Eq(0), func(b *Block) { b.Do(&AwaitOthers{}) }) }, "not in the body of a pass"},
		{"words that are floats", func(s *example) { s.body.Do(&StoreWords{Buffer: s.out, Index: index, Value: Vec(4, one)}) }, "is vec4<f32>, not vec4<u32>"},
		{"an atomic operation on floats", func(s *example) {
			s.body.Do(&Atomic{Op: AtomicMin, Buffer: s.out, Index: index, Value: index})
		}, "an atomic operation on float32"},
		{"an argument", func(s *example) {
			s.body.Let("y", &Expr{Op: Call, Type: F32, Args: []*Expr{index}, Func: Function("exp_f32")})
		}, "exp_f32(0): 0 is i32, not f32"},
		{"a function's memory", func(s *example) {
			f := &Func{Name: "f", Result: F32.Vec(4), Body: &Block{}}
			f.Body.Return(s.memory.At(Number(U32, 0)))
			s.body.Let("y", f.Call())
		}, "function f: return w0[0]: shared array w0 is not the pass's"},
		{"a function without a result", func(s *example) {
			f := &Func{Name: "f", Result: F32, Body: &Block{}}
			f.Body.Let("x", one)
			s.body.Let("y", f.Call())
		}, "function f: x := 1: it does not end with a Return"},
		{"a name of a parameter", func(s *example) {
			f := &Func{Name: "f", Params: []*Var{{Name: "x", Type: F32}}, Result: F32, Body: &Block{}}
			f.Body.Return(f.Body.Let("x", one))
			s.body.Let("y", f.Call(one))
		}, "function f: x := 1: x is declared twice"},
		{"a recursive function", func(s *example) {
			f := &Func{Name: "f", Result: F32, Body: &Block{}}
			f.Body.Return(f.Call())
			s.body.Let("y", f.Call())
		}, "f calls itself"},
		{"a return from a pass", func(s *example) { s.body.Return(one) }, "return 1: outside of a function"},
		{"a condition", func(s *example) { s.body.If(thread, func(*Block) {}) }, "thread is u32, not bool"},
		{"a shuffle", func(s *example) { s.pass.Subgroup = 0; s.body.Let("y", one.Shuffle(1)) }, "Shuffle(1, 1) in subgroups of other threads"},
		{"a product by other threads", func(s *example) {
			s.pass.Subgroup = 16
			s.body.Do(&Multiply{Elem: TF32, Acc: s.body.Var("c", Vec(4, one)), A: [4]*Expr{word, word, word, word}, B: [2]*Expr{word, word}})
		}, "not in subgroups of 32"},
		{"a product's sum", func(s *example) {
			s.body.Do(&Multiply{Elem: TF32, Acc: s.body.Var("c", one), A: [4]*Expr{word, word, word, word}, B: [2]*Expr{word, word}})
		}, "c is f32"},
		{"a product's operand", func(s *example) {
			s.body.Do(&Multiply{Elem: TF32, Acc: s.body.Var("c", Vec(4, one)), A: [4]*Expr{word, word, word, one}, B: [2]*Expr{word, word}})
		}, "1 is f32, not u32"},
		{"a half of an integer", func(s *example) { s.body.Let("y", PackHalves(F16, one, index)) }, "Pack<f16>(1, 0): 0 is i32, not f32"},
		{"a half", func(s *example) { s.body.Let("y", index.Convert(F16)) }, "Convert<f16>(0) of i32"},
		{"arithmetic on a half", func(s *example) { h := one.Convert(F16); s.body.Let("y", h.Add(h)) }, "of f16"},
		{"a loop", func(s *example) {
			n := &Var{Name: "n", Type: U32, Mutable: true}
			s.body.Do(&For{Var: n, Init: Number(U32, 0), Cond: n.Ref().Lt(4), Next: n.Ref().Add(1), Body: &Block{}})
			s.body.Let("y", n.Ref())
		}, "y := n: n is not declared"},
		{"a scratch buffer", func(s *example) { s.in.Arg = -1 }, "buffer a0: scratch 0 of 0"},
	} {
		s := newExample()
		c.change(&s)
		err := simt.Verify(s.Program)
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: got %v, want %s", c.name, err, c.err)
		}
	}
}

package simt

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// Verify reports the first error of a program: operands' types, names that are not
// declared, declared twice or not printable, assignments to a variable that is set once,
// buffers that a pass does not list or may not write. Only tests verify programs.
func Verify(p *shader.Program) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(invalid)
			if !ok {
				panic(r)
			}
			err = e.error
		}
	}()
	funcs := map[*shader.Func]bool{}
	for n, pass := range p.Passes {
		v := &verifier{program: p, pass: pass, funcs: funcs, where: fmt.Sprintf("pass %d", n)}
		v.header()
		v.block(pass.Body)
		v.ahead()
	}
	return nil
}

// ahead checks the statements before a wait for other kernels.
func (v *verifier) ahead() {
	n := v.pass.Awaits()
	for _, s := range v.pass.Body.Stmts[:max(0, n)] {
		v.at = s
		switch s := s.(type) {
		case *shader.Declare:
		case *shader.Load:
			v.must(s.Buffer.Ahead, "before a wait for kernels that may write %s", s.Buffer.Name)
		default:
			v.fail("before a wait for other kernels")
		}
	}
	for _, b := range v.pass.Buffers {
		v.must(!b.Ahead || n >= 0 && !b.Write, "%s is loaded ahead, and written or without a wait", b.Name)
	}
}

// invalid is the panic of a verifier.
type invalid struct{ error }

// A verifier checks a pass or, if pass is nil, a function.
type verifier struct {
	program *shader.Program
	pass    *shader.Pass
	funcs   map[*shader.Func]bool // those checked; false: those being checked
	where   string
	at      shader.Stmt     // the statement being checked
	result  shader.Type     // of the function
	loops   int             // around the statement
	globals map[string]bool // names of the pass's buffers and shared arrays
	vars    []*shader.Var
	outer   int // variables from outside the block
}

func (v *verifier) fail(format string, args ...any) {
	text := "shader: " + v.where
	if v.at != nil {
		text += ": " + Describe(v.at)
	}
	panic(invalid{errors.New(text + ": " + fmt.Sprintf(format, args...))})
}

func (v *verifier) must(ok bool, format string, args ...any) {
	if !ok {
		v.fail(format, args...)
	}
}

// header checks the lists of a pass.
func (v *verifier) header() {
	p := v.pass
	v.must(p.Threads > 0 && p.Groups() > 0, "%d threads in a grid of %v", p.Threads, p.Grid)
	v.must(p.Subgroup == 0 || p.Threads%p.Subgroup == 0, "%d threads in subgroups of %d", p.Threads, p.Subgroup)
	names := map[string]bool{}
	declare := func(name string) {
		v.name(name)
		v.must(!names[name], "%s is declared twice", name)
		names[name] = true
	}
	v.globals = map[string]bool{}
	for _, b := range p.Buffers {
		declare(b.Name)
		v.globals[b.Name] = true
		v.must(b.Type.Valid(), "buffer %s of %v", b.Name, b.Type)
		v.must(b.Arg >= 0 || b.Scratch < len(v.program.Scratch), "buffer %s: scratch %d of %d", b.Name, b.Scratch, len(v.program.Scratch))
	}
	for _, q := range p.Params {
		declare(q.Name)
		v.must(q.Type == shader.I32 || q.Type == shader.U32 || q.Type == shader.F32, "parameter %s of %v", q.Name, q.Type)
	}
	for _, s := range p.Shared {
		declare(s.Name)
		v.globals[s.Name] = true
		v.must(s.Len > 0 && in(s.Type, numberTypes), "shared array %s of %d %v", s.Name, s.Len, s.Type)
	}
}

// block checks statements and forgets their variables.
func (v *verifier) block(b *shader.Block) {
	outer := v.outer
	v.outer = len(v.vars)
	for _, s := range b.Stmts {
		v.stmt(s)
	}
	v.vars, v.outer = v.vars[:v.outer], outer
}

// declare makes a variable visible.
func (v *verifier) declare(x *shader.Var) {
	v.name(x.Name)
	v.must(!v.hides(x.Name), "%s hides a buffer, a shared array or a function", x.Name)
	named := func(y *shader.Var) bool { return y.Name == x.Name }
	v.must(!slices.ContainsFunc(v.vars[v.outer:], named), "%s is declared twice", x.Name)
	v.vars = append(v.vars, x)
}

// visible checks that a variable's name is not hidden by another's.
func (v *verifier) visible(x *shader.Var) {
	for _, y := range slices.Backward(v.vars) {
		if y.Name == x.Name {
			v.must(y == x, "%s is hidden", x.Name)
			return
		}
	}
	v.fail("%s is not declared", x.Name)
}

// assignable checks that a variable may be assigned to.
func (v *verifier) assignable(x *shader.Var) {
	v.visible(x)
	v.must(x.Mutable, "%s is assigned to, and set once", x.Name)
}

func (v *verifier) stmt(s shader.Stmt) {
	v.at = s
	switch s := s.(type) {
	case *shader.Declare:
		v.typed(s.Value, s.Var.Type)
		v.declare(s.Var)
	case *shader.Assign:
		v.assignable(s.Var)
		t := s.Var.Type
		if s.Component >= 0 {
			v.must(s.Component < int(t.Width), "component %d of %v", s.Component, t)
			t = t.Elem()
		}
		v.typed(s.Value, t)
	case *shader.Load:
		v.load(s)
	case *shader.Store:
		v.access(s.Buffer, s.Index, len(s.Values), true)
		for _, x := range s.Values {
			v.typed(x, shader.Register(s.Buffer.Type))
		}
	case *shader.StoreWords:
		v.access(s.Buffer, s.Index, 1, true)
		v.typed(s.Value, shader.U32.Vec(4))
	case *shader.StoreShared:
		v.shared(s.Shared, s.Index)
		t := s.Shared.Type
		if s.Component != nil {
			v.typed(s.Component, shader.U32)
			t = t.Elem()
		}
		v.typed(s.Value, t)
	case *shader.Atomic:
		v.access(s.Buffer, s.Index, 1, true)
		v.must(s.Buffer.Type == ir.Int32, "an atomic operation on %v", s.Buffer.Type)
		v.typed(s.Value, shader.I32)
	case *shader.CopyAsync:
		v.shared(s.Shared, s.To)
		v.must(s.Shared.Type == shader.U32.Vec(4), "a copy to %v", s.Shared.Type)
		v.access(s.Buffer, s.Index, 1, false)
		if s.Valid != nil {
			v.typed(s.Valid, shader.Bool)
		}
	case *shader.CopyCommit, *shader.CopyWait:
		v.must(v.pass != nil, "in a function")
	case *shader.Multiply:
		v.multiply(s)
	case *shader.LoadMatrices:
		v.inWarp()
		v.assignable(s.To)
		v.shared(s.Shared, s.From)
		words := shader.U32.Vec(4)
		v.must(s.To.Type == words && s.Shared.Type == words, "%v of %v", s.To.Type, s.Shared.Type)
	case *shader.MultiplyGroup:
		for _, m := range s.Products {
			v.product(&m)
		}
	case *shader.If:
		v.typed(s.Cond, shader.Bool)
		v.block(s.Then)
		if s.Else != nil {
			v.block(s.Else)
		}
	case *shader.For:
		v.loop(s)
	case *shader.Nested:
		v.block(s.Body)
	case *shader.AwaitOthers:
		v.must(v.pass != nil && slices.Contains(v.pass.Body.Stmts, shader.Stmt(s)), "not in the body of a pass")
	case *shader.Barrier, *shader.Fence:
		v.must(v.pass != nil, "in a function")
	case *shader.TakeTurn, *shader.PassTurn:
		ok := v.pass != nil && (v.pass.Threads == shader.Warpgroup || v.pass.Threads == 2*shader.Warpgroup)
		v.must(ok, "not in one or two groups of %d", shader.Warpgroup)
	case *shader.Return:
		v.must(v.pass == nil && v.loops == 0, "outside of a function, or in a loop")
		v.typed(s.Value, v.result)
	}
}

func (v *verifier) load(s *shader.Load) {
	v.access(s.Buffer, s.Index, len(s.Dst), false)
	for _, x := range s.Dst {
		v.must(x.Type == shader.Register(s.Buffer.Type), "%s of %v", x.Name, x.Type)
		if s.Declare {
			v.declare(x)
		} else {
			v.assignable(x)
		}
	}
}

func (v *verifier) inWarp() {
	v.must(v.pass != nil && v.pass.Subgroup == shader.Warp, "not in subgroups of %d", shader.Warp)
}

func (v *verifier) multiply(s *shader.Multiply) {
	v.inWarp()
	v.assignable(s.Acc)
	of, m := s.Acc.Type.Elem(), s.Elem
	sums := of == shader.F32
	if m.Type.IsInt() {
		sums = of == shader.I32 || of == shader.U32
	}
	v.must(sums && int(s.Acc.Type.Width)*shader.Warp == m.Rows*m.Columns, "%s is %v", s.Acc.Name, s.Acc.Type)
	for _, x := range append(s.A[:], s.B[:]...) {
		v.typed(x, shader.U32)
	}
}

func (v *verifier) product(m *shader.MultiplyShared) {
	v.must(v.pass != nil && v.pass.Threads%shader.Warpgroup == 0, "not in groups of %d", shader.Warpgroup)
	for _, acc := range m.Acc {
		v.assignable(acc)
		v.must(acc.Type == shader.F32.Vec(4), "%s is %v", acc.Name, acc.Type)
	}
	for i, x := range []shader.SharedMatrix{m.A, m.B} {
		if i == 0 && m.Left != nil {
			v.must(len(m.Left) == 4 && x.Shared == nil, "a left factor of %d words", len(m.Left))
			for _, word := range m.Left {
				v.typed(word, shader.U32)
			}
			continue
		}
		v.shared(x.Shared, x.First)
		v.must(!x.AlongSide || m.Elem != shader.TF32, "a factor of TF32 along the side")
		v.must(x.Depth%m.Elem.Depth() == 0, "place %d of the depth", x.Depth)
		v.must(x.Shared.Type == shader.U32.Vec(4) && x.Shared.Align%1024 == 0 && x.Shared.Align > 0, "%s is %v, aligned at %d bytes", x.Shared.Name, x.Shared.Type, x.Shared.Align)
	}
}

func (v *verifier) loop(s *shader.For) {
	outer := len(v.vars)
	switch {
	case s.Var == nil:
		v.must(s.Init == nil && s.Next == nil, "no variable")
	case s.Init != nil:
		v.typed(s.Init, s.Var.Type)
		v.declare(s.Var)
		fallthrough
	default:
		v.assignable(s.Var)
		v.typed(s.Next, s.Var.Type)
	}
	v.typed(s.Cond, shader.Bool)
	v.loops++
	v.block(s.Body)
	v.loops--
	v.vars = v.vars[:outer]
}

// access checks an access to n elements of a buffer.
func (v *verifier) access(b *shader.Buffer, index *shader.Expr, n int, write bool) {
	v.must(v.pass != nil && slices.Contains(v.pass.Buffers, b), "buffer %s is not the pass's", b.Name)
	v.must(b.Write || !write, "buffer %s is not to be written", b.Name)
	v.must(n == 1 || n == 4 || n == 8 && b.Type.IsHalf() && !write, "%d elements at once", n)
	v.expr(index)
	v.must(index.Type.IsInt() && index.Type.Width == 1, "%v is %v, no index", index, index.Type)
}

func (v *verifier) shared(s *shader.Shared, index *shader.Expr) {
	v.must(v.pass != nil && slices.Contains(v.pass.Shared, s), "shared array %s is not the pass's", s.Name)
	v.typed(index, shader.U32)
}

// typed checks an expression and its type.
func (v *verifier) typed(x *shader.Expr, t shader.Type) {
	v.expr(x)
	v.must(x.Type == t, "%v is %v, not %v", x, x.Type, t)
}

// function checks a function once.
func (v *verifier) function(f *shader.Func) {
	done, found := v.funcs[f]
	v.must(done || !found, "%s calls itself", f.Name)
	if done {
		return
	}
	v.funcs[f] = false
	g := &verifier{funcs: v.funcs, where: "function " + f.Name, result: f.Result}
	g.name(f.Name)
	for _, p := range f.Params {
		g.declare(p)
	}
	for _, s := range f.Body.Stmts { // in the block of the parameters
		g.stmt(s)
	}
	g.must(endsWithReturn(f.Body), "it does not end with a Return")
	v.funcs[f] = true
}

func endsWithReturn(b *shader.Block) bool {
	n := len(b.Stmts)
	if n == 0 {
		return false
	}
	_, ok := b.Stmts[n-1].(*shader.Return)
	return ok
}

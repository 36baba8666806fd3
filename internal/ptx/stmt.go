package ptx

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

func (p *printer) block(b *shader.Block) {
	for _, s := range b.Stmts {
		p.stmt(s)
	}
}

func (p *printer) stmt(s shader.Stmt) {
	switch s := s.(type) {
	case *shader.Declare:
		p.declare(s.Var, p.expr(s.Value))
	case *shader.Assign:
		p.assign(s)
	case *shader.Load:
		p.load(s)
	case *shader.Store:
		p.store(s)
	case *shader.StoreShared:
		p.storeShared(s)
	case *shader.Atomic:
		at := p.address(s.Buffer, s.Index)
		x := p.one(s.Value)
		p.do(atomics[s.Op], at.at(0), x)
	case *shader.StoreWords:
		p.access("st.global", "b32", 4, p.registers(word, p.expr(s.Value)), p.address(s.Buffer, s.Index))
	case *shader.CopyAsync:
		p.copyAsync(s)
	case *shader.CopyCommit:
		p.do("cp.async.commit_group")
	case *shader.CopyWait:
		p.do("cp.async.wait_group", value(fmt.Sprint(s.Pending)))
	case *shader.Multiply:
		p.multiply(s)
	case *shader.LoadMatrices:
		p.loadMatrices(s)
	case *shader.MultiplyGroup:
		p.multiplyGroup(s)
	case *shader.If:
		p.branch(s)
	case *shader.For:
		p.loop(s)
	case *shader.Nested:
		p.block(s.Body)
	case *shader.Barrier:
		p.do("bar.sync", "0")
	case *shader.Fence:
		p.require(groups)
		p.do("fence.proxy.async.shared::cta")
	case *shader.AwaitOthers:
		p.dependent("wait")
	case *shader.TakeTurn:
		p.takeTurn(s)
	case *shader.PassTurn:
		p.passTurn(s)
	case *shader.Return:
		p.ret(s)
	}
}

var atomics = [...]string{shader.AtomicStore: "st.volatile.global.u32", shader.AtomicMin: "red.global.min.s32"}

// declare gives a variable its first value.
func (p *printer) declare(v *shader.Var, x []value) {
	if !v.Mutable {
		p.vars[v] = p.immutable(v.Type, x)
		return
	}
	own := make([]value, len(x))
	for i := range x {
		own[i] = p.copy(v.Type, x[i])
		p.owned[own[i]] = true
	}
	p.vars[v] = own
}

func (p *printer) assign(s *shader.Assign) {
	x := p.expr(s.Value)
	own := p.vars[s.Var]
	if s.Component >= 0 {
		p.move(s.Var.Type, own[s.Component], x[0])
		return
	}
	if len(own) > 1 { // a component may move to the place of another
		x = p.immutable(s.Var.Type, x)
	}
	for i := range own {
		p.move(s.Var.Type, own[i], x[i])
	}
}

func (p *printer) branch(s *shader.If) {
	cond := p.one(s.Cond)
	end := p.label()
	if s.Else == nil {
		p.line("@!%s bra %s;", cond, end)
		p.block(s.Then)
		p.place(end)
		return
	}
	otherwise := p.label()
	p.line("@!%s bra %s;", cond, otherwise)
	p.block(s.Then)
	p.line("bra %s;", end)
	p.place(otherwise)
	p.block(s.Else)
	p.place(end)
}

func (p *printer) loop(s *shader.For) {
	if s.Init != nil {
		p.declare(s.Var, p.expr(s.Init))
	}
	head, end := p.label(), p.label()
	p.place(head)
	p.line("@!%s bra %s;", p.one(s.Cond), end)
	p.block(s.Body)
	if s.Var != nil {
		p.assign(&shader.Assign{Var: s.Var, Component: -1, Value: s.Next})
	}
	p.line("bra %s;", head)
	p.place(end)
}

// ret ends the function that is being printed before its last statement.
func (p *printer) ret(s *shader.Return) {
	c := p.calls[len(p.calls)-1]
	if c.end == "" {
		c.end = p.label()
		for range s.Value.Type.Width {
			c.results = append(c.results, p.register(classOf(s.Value.Type)))
		}
	}
	for i, x := range p.expr(s.Value) {
		p.move(s.Value.Type, c.results[i], x)
	}
	p.line("bra %s;", c.end)
}

// A location is in memory: some bytes behind an address in a register.
type location struct {
	base  value
	bytes int
}

// at is the operand for some bytes behind a location.
func (l location) at(bytes int) value {
	if bytes += l.bytes; bytes != 0 {
		return value(fmt.Sprintf("[%s+%d]", l.base, bytes))
	}
	return "[" + l.base + "]"
}

// address is where an element of a buffer is.
func (p *printer) address(b *shader.Buffer, index *shader.Expr) location {
	size := b.Type.Size()
	index, n := split(index, math.MaxInt32/size)
	op := "mad.wide."
	if index.Type.IsWide() {
		op = "mad.lo."
	}
	return location{p.result(long, op+suffix(index.Type), p.one(index), value(fmt.Sprint(size)), p.base[b]), n * size}
}

// access writes a load, or a store, of neighbours of some bytes each: at most 16 bytes at once. Hints are its last operands.
func (p *printer) access(op, typ string, size int, list []value, l location, hints ...value) {
	at := 0
	for part := range slices.Chunk(list, 16/size) {
		operands := []value{part[0], l.at(at)}
		if len(part) > 1 {
			operands[0] = group(part)
		}
		if op[:2] == "st" {
			slices.Reverse(operands)
		}
		p.do(op+widths[len(part)]+typ, append(operands, hints...)...)
		at += 16
	}
}

var widths = [...]string{1: ".", 2: ".v2.", 4: ".v4."}

// load reads an element, or several. Matrices that are read ahead are larger than caches, which drop them first: they keep the
// code and the small operands of other kernels.
func (p *printer) load(s *shader.Load) {
	op, hints := "ld.global", []value(nil)
	if s.Buffer.Ahead && p.once != "" {
		op, hints = "ld.global.L2::cache_hint", []value{p.once}
	}
	d, t := s.Buffer.Type, shader.Register(s.Buffer.Type)
	from := p.address(s.Buffer, s.Index)
	c := word
	switch {
	case d.IsHalf():
		c = short
	case t.IsWide():
		c = long
	}
	raw := make([]value, len(s.Dst))
	for i := range raw {
		raw[i] = p.register(c)
	}
	if len(raw) == 8 { // halves, as words
		words := make([]value, 4)
		for i := range words {
			words[i] = p.register(word)
		}
		p.access(op, "u32", 4, words, from, hints...)
		for i, w := range words {
			p.do("mov.b32", group(raw[2*i:2*i+2]), w)
		}
	} else {
		p.access(op, elementType(d), d.Size(), raw, from, hints...)
	}
	for i, v := range s.Dst {
		x := p.widen(d, raw[i])
		if s.Declare {
			p.declare(v, []value{x})
		} else {
			p.move(t, p.vars[v][0], x)
		}
	}
}

// group is the operand of several registers.
func group(list []value) value {
	text := "{" + list[0]
	for _, x := range list[1:] {
		text += ", " + x
	}
	return text + "}"
}

// widen is the value of an element as it was read.
func (p *printer) widen(d ir.DType, x value) value {
	switch d {
	case ir.Bool:
		return p.result(pred, "setp.ne.u32", x, "0")
	case ir.Float16:
		y := p.result(word, "cvt.f32.f16", x)
		p.halves[y] = half{shader.F16, x}
		return y
	case ir.BFloat16:
		y := p.result(word, "shl.b32", p.result(word, "cvt.u32.u16", x), "16")
		p.halves[y] = half{shader.BF16, x}
		return y
	}
	return x
}

// store writes an element, or four.
func (p *printer) store(s *shader.Store) {
	d := s.Buffer.Type
	to := p.address(s.Buffer, s.Index)
	var raw []value
	for _, x := range s.Values {
		raw = append(raw, p.narrow(d, p.one(x)))
	}
	p.access("st.global", elementType(d), d.Size(), p.registers(classOf(shader.Register(d)), raw), to)
}

// registers has constants put into registers of a class; of bools they are words.
func (p *printer) registers(c class, list []value) []value {
	c = max(c, word)
	out := slices.Clone(list)
	for i, x := range out {
		if x[0] != '%' {
			out[i] = p.result(c, "mov."+classNames[c].typ, x)
		}
	}
	return out
}

// narrow is a value as it is stored.
func (p *printer) narrow(d ir.DType, x value) value {
	switch d {
	case ir.Bool:
		return p.result(word, "selp.b32", "1", "0", x)
	case ir.Float16:
		return p.result(short, "cvt.rn.f16.f32", x)
	case ir.BFloat16:
		return p.bfloat16(x)
	}
	return x
}

// shared is where an element of a shared array is, or a component of it.
func (p *printer) shared(s *shader.Shared, index, component *shader.Expr) location {
	size := s.Type.Bytes()
	index, n := split(index, math.MaxInt32/size)
	at := p.result(word, "mov.u32", shared)
	at = p.result(word, "mad.lo.u32", p.one(index), value(fmt.Sprint(size)), at)
	if component != nil {
		at = p.result(word, "mad.lo.u32", p.one(component), value(fmt.Sprint(s.Type.Elem().Bytes())), at)
	}
	return location{at, sharedOffset(p.pass, s) + n*size}
}

// copyAsync starts a copy. Where the copy is not valid, 0 bytes are read.
func (p *printer) copyAsync(s *shader.CopyAsync) {
	p.require(matrices)
	to, from := p.shared(s.Shared, s.To, nil).at(0), p.address(s.Buffer, s.Index).at(0)
	if s.Valid == nil {
		p.do("cp.async.cg.shared.global", to, from, "16")
		return
	}
	p.do("cp.async.cg.shared.global", to, from, "16", p.result(word, "selp.b32", "16", "0", p.one(s.Valid)))
}

// split returns an index without the constants that are added to it, and their sum, which is at
// most a number: an address has a place for it.
func split(index *shader.Expr, most int) (*shader.Expr, int) {
	n := 0
	for index.Op == shader.Add && index.Args[1].Op == shader.Const && index.Args[1].Bits <= uint64(most-n) {
		n += int(index.Args[1].Bits)
		index = index.Args[0]
	}
	return index, n
}

// loadShared reads an element of a shared array.
func (p *printer) loadShared(e *shader.Expr) []value {
	from := p.shared(e.Shared, e.Args[0], nil)
	out := make([]value, e.Type.Width)
	for i := range out {
		out[i] = p.register(classOf(e.Type))
	}
	p.access("ld.shared", sized("b32", e.Type), e.Type.Elem().Bytes(), out, from)
	return out
}

func (p *printer) storeShared(s *shader.StoreShared) {
	to := p.shared(s.Shared, s.Index, s.Component)
	t := s.Value.Type
	p.access("st.shared", sized("b32", t), t.Elem().Bytes(), p.registers(classOf(t), p.expr(s.Value)), to)
}

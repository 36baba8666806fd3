package simt

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
)

// A Program is ready to run.
type Program struct {
	passes  []*pass
	scratch []int // bytes
}

// A pass is a shader.Pass as code on registers: variables and intermediate results, and those
// that are fixed.
type pass struct {
	*shader.Pass
	number    int
	code      block
	registers int // of one word
	lists     int
	fixed     []fixed
	stmts     []shader.Stmt
}

// A fixed register keeps its value while a pass runs: a constant, a parameter, the
// workgroup's or the thread's number. One without an op is the second word of the one
// before.
type fixed struct {
	op    shader.Op
	words int
	bits  uint64
	param *shader.Param
}

// An instr is executed by the threads on, in order, and returns those that go
// on: all but those that return from a function.
type instr func(g *group, on []int32) []int32

// A block is instructions in order.
type block []instr

func (b block) run(g *group, on []int32) []int32 {
	for _, in := range b {
		if on = in(g, on); len(on) == 0 {
			break
		}
	}
	return on
}

// A value is the registers of an expression's components.
type value []register

// A compiler translates a pass. Registers and lists are taken and given back
// as from a stack.
type compiler struct {
	*pass
	code     block
	top      int // registers in use
	topLists int // lists in use
	vars     map[*shader.Var]value
	stmt     int   // the number of the statement at hand
	result   value // of the function at hand; nil: none
}

// Compile translates a program, which passes Verify.
func Compile(p *shader.Program) *Program {
	out := &Program{scratch: p.Scratch}
	for n, q := range p.Passes {
		c := &compiler{pass: &pass{Pass: q, number: n}, vars: map[*shader.Var]value{}}
		c.pass.code = c.block(q.Body)
		out.passes = append(out.passes, c.pass)
	}
	return out
}

// emit appends an instruction after which all threads go on.
func (c *compiler) emit(f func(g *group, on []int32)) {
	c.code = append(c.code, func(g *group, on []int32) []int32 {
		f(g, on)
		return on
	})
}

// take takes n registers of some words.
func (c *compiler) take(n, words int) value {
	v := make(value, n)
	for i := range v {
		v[i] = register{at: c.top, words: words}
		c.top += words
	}
	c.registers = max(c.registers, c.top)
	return v
}

// takeFor takes registers for the components of a type.
func (c *compiler) takeFor(t shader.Type) value { return c.take(int(t.Width), wordsOf(t)) }

// takeList takes a list of threads.
func (c *compiler) takeList() int {
	c.topLists++
	c.lists = max(c.lists, c.topLists)
	return c.topLists - 1
}

// reserve finds or makes a fixed register.
func (c *compiler) reserve(f fixed) register {
	n := slices.Index(c.fixed, f)
	if n < 0 {
		n = len(c.fixed)
		c.fixed = append(append(c.fixed, f), make([]fixed, f.words-1)...)
	}
	return register{at: n, words: f.words, fixed: true}
}

// block translates statements, and frees the registers that they declare.
func (c *compiler) block(b *shader.Block) block {
	outer, top, lists := c.code, c.top, c.topLists
	c.code = nil
	for _, s := range b.Stmts {
		c.statement(s)
	}
	inner := c.code
	c.code, c.top, c.topLists = outer, top, lists
	return inner
}

// declare gives a variable registers.
func (c *compiler) declare(v *shader.Var) value {
	c.vars[v] = c.takeFor(v.Type)
	return c.vars[v]
}

// statement translates a statement. Its intermediate results are given back.
func (c *compiler) statement(s shader.Stmt) {
	outer, top, lists := c.stmt, c.top, c.topLists
	c.stmt = len(c.stmts)
	c.stmts = append(c.stmts, s)
	switch s := s.(type) {
	case *shader.Declare:
		v := c.declare(s.Var)
		top = c.top
		c.expr(s.Value, v)
		c.note(v)
	case *shader.Assign:
		v := c.vars[s.Var]
		if s.Component >= 0 {
			v = v[s.Component : s.Component+1]
		}
		c.expr(s.Value, v)
	case *shader.Load:
		dst := make(value, len(s.Dst))
		for i, v := range s.Dst {
			if s.Declare {
				c.declare(v)
			}
			dst[i] = c.vars[v][0]
		}
		top = c.top
		c.load(s.Buffer, c.index(s.Index), dst)
	case *shader.Store:
		index := c.index(s.Index)
		var from value
		for _, x := range s.Values {
			from = append(from, c.expr(x, nil)...)
		}
		c.store(s.Buffer, index, from)
	case *shader.StoreWords:
		c.storeWords(s.Buffer, c.index(s.Index), c.expr(s.Value, nil))
	case *shader.StoreShared:
		index, from := c.expr(s.Index, nil), c.expr(s.Value, nil)
		if s.Component != nil {
			c.storeComponent(s.Shared, index, c.expr(s.Component, nil), from)
			break
		}
		c.storeShared(s.Shared, index, from)
	case *shader.Atomic:
		c.atomic(s.Op, s.Buffer, c.index(s.Index), c.expr(s.Value, nil))
	case *shader.CopyAsync:
		c.copyAsync(s)
	case *shader.CopyCommit:
		c.copyCommit()
	case *shader.CopyWait:
		c.copyWait(s)
	case *shader.Multiply:
		c.multiply(s)
	case *shader.LoadMatrices:
		c.loadMatrices(s)
	case *shader.MultiplyGroup:
		c.multiplyGroup(s)
	case *shader.If:
		c.branch(s)
	case *shader.For:
		c.loop(s)
	case *shader.Nested:
		inner := c.block(s.Body)
		c.code = append(c.code, inner.run)
	case *shader.Barrier:
		c.barrier()
	case *shader.Fence:
		c.fence()
	case *shader.TakeTurn:
		c.takeTurn(s)
	case *shader.PassTurn:
		c.passTurn()
	case *shader.Return:
		c.expr(s.Value, c.result)
		c.code = append(c.code, func(g *group, on []int32) []int32 { return nil })
	}
	c.stmt, c.top = outer, top
	if c.result == nil {
		c.topLists = lists // in a function, an If's lists last as long as the block
	}
}

func (c *compiler) fence() {
	c.emit(func(g *group, on []int32) {
		for _, t := range on {
			g.fences[t]++
		}
	})
}

// note marks a new variable that is equal in all threads, so that functions of it are
// computed once.
func (c *compiler) note(v value) {
	c.emit(func(g *group, on []int32) {
		if len(on) == g.Threads {
			for _, r := range v {
				g.note(r)
			}
		}
	})
}

// branch translates an If: the threads that take one block wait for those that
// take the other.
func (c *compiler) branch(s *shader.If) {
	cond := c.expr(s.Cond, nil)[0]
	taken, left, both := c.takeList(), c.takeList(), c.takeList()
	then := c.block(s.Then)
	var otherwise block
	if s.Else != nil {
		otherwise = c.block(s.Else)
	}
	c.code = append(c.code, func(g *group, on []int32) []int32 {
		holds := g.register(cond)
		switch {
		case !g.uniform(cond):
		case holds[0] != 0:
			return then.run(g, on)
		default:
			return otherwise.run(g, on)
		}
		yes, no := g.lists[taken][:0], g.lists[left][:0]
		for _, t := range on {
			if holds[t] != 0 {
				yes = append(yes, t)
			} else {
				no = append(no, t)
			}
		}
		if len(yes) > 0 {
			yes = then.run(g, yes)
		}
		if len(no) > 0 {
			no = otherwise.run(g, no)
		}
		if len(yes)+len(no) == len(on) {
			return on
		}
		return merged(g.lists[both][:0], yes, no)
	})
}

// merged appends two ordered lists of threads to a list, in order.
func merged(list, a, b []int32) []int32 {
	for len(a) > 0 && len(b) > 0 {
		least := &a
		if b[0] < a[0] {
			least = &b
		}
		list = append(list, (*least)[0])
		*least = (*least)[1:]
	}
	return append(append(list, a...), b...)
}

// maxTrips is how often a loop may be done.
const maxTrips = 1 << 22

func (c *compiler) loop(s *shader.For) {
	var at value
	if s.Var != nil {
		at = c.vars[s.Var]
		if s.Init != nil {
			at = c.declare(s.Var)
			c.expr(s.Init, at)
		}
	}
	list := c.takeList()
	outer, top := c.code, c.top
	c.code = nil
	cond := c.expr(s.Cond, nil)[0]
	test := c.code
	c.top = top
	body := c.block(s.Body)
	c.code = nil
	if s.Next != nil {
		c.expr(s.Next, at)
	}
	next := c.code
	c.code = outer
	stmt := c.stmt
	c.emit(func(g *group, on []int32) {
		live := append(g.lists[list][:0], on...)
		for trips := 0; ; trips++ {
			if trips > maxTrips {
				g.fail(stmt, int(live[0]), "does not end")
			}
			test.run(g, live)
			holds := g.register(cond)
			switch {
			case !g.uniform(cond):
				live = slices.DeleteFunc(live, func(t int32) bool { return holds[t] == 0 })
			case holds[0] == 0:
				return
			}
			if len(live) == 0 {
				return
			}
			body.run(g, live)
			next.run(g, live)
		}
	})
}

func (c *compiler) barrier() {
	stmt := c.stmt
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		g.epoch++
		g.ordered = g.epoch
	})
}

// takeTurn translates a TakeTurn, which is a barrier of one group. Two groups execute it
// together, and each sees the other's writes before the last turn was passed.
func (c *compiler) takeTurn(s *shader.TakeTurn) {
	if c.Threads == shader.Warpgroup {
		if !s.After {
			c.barrier()
		}
		return
	}
	stmt := c.stmt
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		g.ordered = g.epoch
	})
}

func (c *compiler) passTurn() {
	if c.Threads == shader.Warpgroup {
		return
	}
	stmt := c.stmt
	c.emit(func(g *group, on []int32) {
		g.together(stmt, on)
		g.epoch++
	})
}

// call translates a call in place. Parameters are the registers of arguments.
func (c *compiler) call(x *shader.Expr, dst value) {
	args := make([]value, len(x.Args))
	for i, a := range x.Args {
		args[i] = c.expr(a, nil)
	}
	for i, p := range x.Func.Params { // an argument may be a call of the same function
		c.vars[p] = args[i]
	}
	outer := c.result
	c.result = dst
	body := c.block(x.Func.Body)
	c.result = outer
	c.emit(func(g *group, on []int32) { body.run(g, on) })
}

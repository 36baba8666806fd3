package schedule

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A value is an instruction's result, one for all lanes or one for each.
type value []*shader.Expr

func (v value) lane(l int) *shader.Expr {
	if len(v) == 1 {
		return v[0]
	}
	return v[l]
}

// A coord is a position along an axis, an I32 or an I64.
type coord struct {
	at value
	// step, if not nil, says that lane l is at at[0] + step[l].
	step []int
	// fours says how the position moves in each four lanes.
	fours fours
}

type fours uint8

const (
	scattered  fours = iota
	contiguous       // it starts at a multiple of four and counts up
	uniform          // it is constant
)

// A scope is a block of code, or a part of one, in which the positions along
// some axes are known, and so the values that vary over no others. Lanes are
// several points that one thread computes at once; every position and value in
// a scope and those around it has the same number of lanes, or one.
//
// A value is computed once in the outermost scope that knows its axes, which hoists
// it out of loops. Lanes that are not valid compute as well, but store and reduce
// nothing; so their positions must be within their axes too.
type scope struct {
	*shader.Block
	p      *pass
	parent *scope
	depth  int         // scopes around it
	head   shader.Stmt // executes the block
	tag    string      // ends the names of values, to tell scopes in one block apart
	axes   map[int]coord
	values map[int]value
	valid  []value // conditions of a lane
	needed []value // those of them where a lane that is not valid loads nothing
}

func newScope(p *pass) *scope {
	sc := (&scope{p: p}).on(p.Body, "")
	sc.parent = nil
	return sc
}

// on is a scope within sc on a block.
func (sc *scope) on(b *shader.Block, tag string) *scope {
	return &scope{Block: b, p: sc.p, parent: sc, depth: sc.depth + 1, tag: sc.tag + tag, axes: map[int]coord{}, values: map[int]value{}}
}

// beside is a scope in the same block; tag tells its names apart.
func (sc *scope) beside(tag string) *scope { return sc.on(sc.Block, tag) }

// block is a scope for a block of its own, to be closed by end.
func (sc *scope) block() *scope {
	b := sc.on(&shader.Block{}, "")
	b.head = &shader.Nested{Body: b.Block}
	return b
}

// when is a block that is executed under a condition, or always if it is nil.
func (sc *scope) when(cond *shader.Expr) *scope {
	b := sc.block()
	if cond != nil {
		b.head = &shader.If{Cond: cond, Then: b.Block}
	}
	return b
}

// under makes code that is executed under a condition, or in sc itself if it is nil.
func (sc *scope) under(cond *shader.Expr, body func(sc *scope)) {
	if cond == nil {
		body(sc)
		return
	}
	in := sc.when(cond)
	body(in)
	in.end()
}

// loop is a block that is executed while a new variable, first at the
// beginning, is below limit; each time step is added.
func (sc *scope) loop(name string, first, limit *shader.Expr, step int) (*scope, *shader.Expr) {
	b := sc.block()
	v := &shader.Var{Name: name, Type: first.Type, Mutable: true}
	b.head = &shader.For{Var: v, Init: first, Cond: v.Ref().Lt(limit), Next: v.Ref().Add(step), Body: b.Block}
	return b, v.Ref()
}

// steps is a loop over whole steps from first to limit, whose variable has a name. If
// partial, a remainder is one more step, with limit as its clamp; whole steps have no
// clamp.
func (sc *scope) steps(name string, first, limit *shader.Expr, step int, partial bool, body func(sc *scope, at, clamp *shader.Expr)) {
	outer := sc.block()
	v := outer.Var(name, first)
	at := v.Ref()
	loop := outer.block()
	loop.head = &shader.For{Var: v, Cond: at.Add(step).Le(limit), Next: at.Add(step), Body: loop.Block}
	body(loop, at, nil)
	loop.end()
	if partial {
		rest := outer.when(at.Lt(limit))
		body(rest, at, limit)
		rest.end()
	}
	outer.end()
}

// later returns a function that puts what has been added to the block since then into a statement.
func (sc *scope) later(in func(b *shader.Block) shader.Stmt) (wrap func()) {
	before := len(sc.Stmts)
	return func() {
		list := sc.Stmts
		sc.Stmts = append(list[:before:before], in(&shader.Block{Stmts: list[before:]}))
	}
}

// end puts a block into the scope around it.
func (sc *scope) end() { sc.parent.Do(sc.head) }

// coord finds the position along an axis, and the scope that knows it.
func (sc *scope) coord(a int) (coord, *scope) {
	for s := sc; s != nil; s = s.parent {
		if c, ok := s.axes[a]; ok {
			return c, s
		}
	}
	panic(fmt.Sprintf("schedule: axis %d has no position", a))
}

func deeper(a, b *scope) *scope {
	if a == nil || b.depth > a.depth {
		return b
	}
	return a
}

// owner is the innermost of the scopes that know the positions along axes.
func (sc *scope) owner(axes ir.AxisSet) *scope {
	owner := sc.p.root
	for a := range sc.p.k.Axes {
		if axes.Has(a) {
			_, s := sc.coord(a)
			owner = deeper(owner, s)
		}
	}
	return owner
}

// lookup finds the value of an instruction at the positions known in sc, and
// the scope that holds it.
func (sc *scope) lookup(i int) (value, *scope) {
	over := sc.p.k.Body[i].Domain
	for s := sc; s != nil; s = s.parent {
		if v, ok := s.values[i]; ok {
			return v, s
		}
		for a := range s.axes {
			if over.Has(a) && s.parent != nil {
				return nil, nil
			}
		}
	}
	return nil, nil
}

// value gives the value of an instruction, computed if need be in the
// outermost scope that can.
func (sc *scope) value(i int) value {
	v, _ := sc.find(i)
	return v
}

func (sc *scope) find(i int) (value, *scope) {
	if v, s := sc.lookup(i); v != nil {
		return v, s
	}
	in := &sc.p.k.Body[i]
	if in.Op.Class() == ir.Reduction {
		sc.p.reduced(sc, i)
		return sc.lookup(i)
	}
	var owner *scope
	for _, j := range in.Src {
		_, s := sc.find(j)
		owner = deeper(owner, s)
	}
	owner = deeper(owner, sc.owner(in.Positions()))
	if sc.p.loadsOld(in) { // where valid lanes alone read, before they store
		owner = sc
	}
	v := emitterOf(in.Op)(owner, i)
	owner.values[i] = v
	return v, owner
}

// name is the name of an instruction's value in a lane.
func (sc *scope) name(i, lane, lanes int) string {
	if lanes == 1 {
		return fmt.Sprintf("v%d%s", i, sc.tag)
	}
	return fmt.Sprintf("v%d%s_%d", i, sc.tag, lane)
}

// let names an instruction's value.
func (sc *scope) let(i int, x ...*shader.Expr) value {
	v := make(value, len(x))
	for l, e := range x {
		v[l] = sc.Let(sc.name(i, l, len(x)), e)
	}
	return v
}

// conditions lists the conditions under which a lane is valid.
func (sc *scope) conditions(l int) []*shader.Expr {
	var list []*shader.Expr
	for s := sc; s != nil; s = s.parent {
		for _, v := range s.valid {
			list = append(list, v.lane(l))
		}
	}
	return list
}

// condition is the conjunction of conditions, nil if there are none.
func (sc *scope) condition(l int) *shader.Expr { return all(sc.conditions(l)...) }

// sameCondition reports whether each four lanes are valid together.
func (sc *scope) sameCondition(lanes int) bool {
	for l := range lanes {
		if !slices.Equal(sc.conditions(l), sc.conditions(l&^3)) {
			return false
		}
	}
	return true
}

// all is the conjunction of conditions, without those that are nil; nil if all are.
func all(list ...*shader.Expr) *shader.Expr {
	var x *shader.Expr
	for _, c := range list {
		switch {
		case x == nil:
			x = c
		case c != nil:
			x = x.And(c)
		}
	}
	return x
}

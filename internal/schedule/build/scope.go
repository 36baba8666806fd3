package build

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Value is an instruction's result, one for all lanes or one for each.
type Value []*shader.Expr

// Lane is the value in a lane.
func (v Value) Lane(l int) *shader.Expr {
	if len(v) == 1 {
		return v[0]
	}
	return v[l]
}

// A coord is a position along an axis, an I32 or an I64.
type coord struct {
	at Value
	// step, if not nil, says that lane l is at at[0] + step[l].
	step []int
	// fours says how the position moves in each four lanes.
	fours fours
	// eights says that it starts at a multiple of eight in each eight lanes, and counts up.
	eights bool
}

type fours uint8

const (
	scattered  fours = iota
	contiguous       // it starts at a multiple of four and counts up
	uniform          // it is constant
)

// A Scope is a block of code, or a part of one, in which the positions along
// some axes are known, and so the values that vary over no others. Lanes are
// several points that one thread computes at once; every position and value in
// a scope and those around it has the same number of lanes, or one.
//
// A value is computed once in the outermost scope that knows its axes, which hoists
// it out of loops. Lanes that are not valid compute as well, but store and reduce
// nothing; so their positions must be within their axes too.
type Scope struct {
	*shader.Block
	Pass   *Pass
	parent *Scope
	depth  int         // scopes around it
	Head   shader.Stmt // executes the block
	Tag    string      // ends the names of values, to tell scopes in one block apart
	Axes   map[int]coord
	Values map[int]Value
	Valid  []Value // conditions of a lane
	needed []Value // the conditions among them under which a lane that is not valid loads nothing
}

func newScope(p *Pass) *Scope {
	sc := (&Scope{Pass: p}).On(p.Body, "")
	sc.parent = nil
	return sc
}

// On is a scope within sc on a block.
func (sc *Scope) On(b *shader.Block, tag string) *Scope {
	return &Scope{Block: b, Pass: sc.Pass, parent: sc, depth: sc.depth + 1, Tag: sc.Tag + tag, Axes: map[int]coord{}, Values: map[int]Value{}}
}

// Beside is a scope in the same block; tag tells its names apart.
func (sc *Scope) Beside(tag string) *Scope { return sc.On(sc.Block, tag) }

// Inner is a scope for a block of its own, to be closed by end.
func (sc *Scope) Inner() *Scope {
	b := sc.On(&shader.Block{}, "")
	b.Head = &shader.Nested{Body: b.Block}
	return b
}

// When is a block that is executed under a condition, or always if it is nil.
func (sc *Scope) When(cond *shader.Expr) *Scope {
	b := sc.Inner()
	if cond != nil {
		b.Head = &shader.If{Cond: cond, Then: b.Block}
	}
	return b
}

// Under makes code that is executed under a condition, or in sc itself if it is nil.
func (sc *Scope) Under(cond *shader.Expr, body func(sc *Scope)) {
	if cond == nil {
		body(sc)
		return
	}
	in := sc.When(cond)
	body(in)
	in.End()
}

// Loop is a block that is executed while a new variable, first at the
// beginning, is below limit; each time step is added.
func (sc *Scope) Loop(name string, first, limit *shader.Expr, step int) (*Scope, *shader.Expr) {
	b := sc.Inner()
	v := &shader.Var{Name: name, Type: first.Type, Mutable: true}
	b.Head = &shader.For{Var: v, Init: first, Cond: v.Ref().Lt(limit), Next: v.Ref().Add(step), Body: b.Block}
	return b, v.Ref()
}

// Steps is a loop over whole steps from first to limit, whose variable has a name. If
// partial, a remainder is one more step, with limit as its clamp; whole steps have no
// clamp.
func (sc *Scope) Steps(name string, first, limit *shader.Expr, step int, partial bool, body func(sc *Scope, at, clamp *shader.Expr)) {
	outer := sc.Inner()
	v := outer.Var(name, first)
	at := v.Ref()
	loop := outer.Inner()
	loop.Head = &shader.For{Var: v, Cond: at.Add(step).Le(limit), Next: at.Add(step), Body: loop.Block}
	body(loop, at, nil)
	loop.End()
	if partial {
		rest := outer.When(at.Lt(limit))
		body(rest, at, limit)
		rest.End()
	}
	outer.End()
}

// Later returns a function that moves the statements that were added to the block since then into
// a statement.
func (sc *Scope) Later(in func(b *shader.Block) shader.Stmt) (wrap func()) {
	before := len(sc.Stmts)
	return func() {
		list := sc.Stmts
		sc.Stmts = append(list[:before:before], in(&shader.Block{Stmts: list[before:]}))
	}
}

// End puts a block into the scope around it.
func (sc *Scope) End() { sc.parent.Do(sc.Head) }

// coord finds the position along an axis, and the scope that knows it.
func (sc *Scope) coord(a int) (coord, *Scope) {
	for s := sc; s != nil; s = s.parent {
		if c, ok := s.Axes[a]; ok {
			return c, s
		}
	}
	panic(fmt.Sprintf("schedule: axis %d has no position", a))
}

func deeper(a, b *Scope) *Scope {
	if a == nil || b.depth > a.depth {
		return b
	}
	return a
}

// Owner is the innermost of the scopes that know the positions along axes.
func (sc *Scope) Owner(axes ir.AxisSet) *Scope {
	owner := sc.Pass.Root
	for a := range sc.Pass.Nest.Axes {
		if axes.Has(a) {
			_, s := sc.coord(a)
			owner = deeper(owner, s)
		}
	}
	return owner
}

// lookup finds the value of an instruction at the positions known in sc, and
// the scope that holds it.
func (sc *Scope) lookup(i int) (Value, *Scope) {
	over := sc.Pass.Nest.Body[i].Domain
	for s := sc; s != nil; s = s.parent {
		if v, ok := s.Values[i]; ok {
			return v, s
		}
		for a := range s.Axes {
			if over.Has(a) && s.parent != nil {
				return nil, nil
			}
		}
	}
	return nil, nil
}

// Value gives the value of an instruction, computed if need be in the
// outermost scope that can.
func (sc *Scope) Value(i int) Value {
	v, _ := sc.find(i)
	return v
}

func (sc *Scope) find(i int) (Value, *Scope) {
	if v, s := sc.lookup(i); v != nil {
		return v, s
	}
	in := &sc.Pass.Nest.Body[i]
	if in.Op.Class() == ir.Reduction {
		sc.Pass.Reduced(sc, i)
		return sc.lookup(i)
	}
	var owner *Scope
	for _, j := range in.Src {
		_, s := sc.find(j)
		owner = deeper(owner, s)
	}
	owner = deeper(owner, sc.Owner(in.Positions()))
	if sc.Pass.loadsOld(in) { // where valid lanes alone read, before they store
		owner = sc
	}
	v := emitterOf(in.Op)(owner, i)
	owner.Values[i] = v
	return v, owner
}

// NameOf is the name of an instruction's value in a lane.
func (sc *Scope) NameOf(i, lane, lanes int) string {
	if lanes == 1 {
		return fmt.Sprintf("v%d%s", i, sc.Tag)
	}
	return fmt.Sprintf("v%d%s_%d", i, sc.Tag, lane)
}

// Define names an instruction's value.
func (sc *Scope) Define(i int, x ...*shader.Expr) Value {
	v := make(Value, len(x))
	for l, e := range x {
		v[l] = sc.Let(sc.NameOf(i, l, len(x)), e)
	}
	return v
}

// conditions lists the conditions under which a lane is valid.
func (sc *Scope) conditions(l int) []*shader.Expr {
	var list []*shader.Expr
	for s := sc; s != nil; s = s.parent {
		for _, v := range s.Valid {
			list = append(list, v.Lane(l))
		}
	}
	return list
}

// Condition is the conjunction of a lane's conditions, nil without any.
func (sc *Scope) Condition(l int) *shader.Expr { return All(sc.conditions(l)...) }

// sameCondition reports whether each four lanes are valid together.
func (sc *Scope) sameCondition(lanes int) bool {
	for l := range lanes {
		if !slices.Equal(sc.conditions(l), sc.conditions(l&^3)) {
			return false
		}
	}
	return true
}

// All is the conjunction of conditions, without those that are nil; nil if all are.
func All(list ...*shader.Expr) *shader.Expr {
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

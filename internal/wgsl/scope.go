package wgsl

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/ir"
)

// A value is an instruction's result: a name, or one for each lane.
type value []string

func (v value) lane(l int) string {
	if len(v) == 1 {
		return v[0]
	}
	return v[l]
}

// A coord is a position along an axis: an i32, the same in all lanes or one
// for each.
type coord struct {
	at []string
	// step, if not nil, says that lane l is at at[0] + step[l].
	step []int
	// quads says that lanes go by fours, in which the position starts at a
	// multiple of four and counts up, or is constant.
	quads quads
}

type quads uint8

const (
	noQuads quads = iota
	counting
	still
)

// A scope is a stretch of code in which the positions along some axes are
// known, and so the values that vary over no others. Lanes are several points
// that one thread has in hand at once; every position and value in a scope
// and those around it has the same number of lanes, or one.
//
// A value is computed once in the outermost scope that knows its axes, which
// takes it out of loops. So positions are within their axes also where they
// are not valid: there nothing is stored or reduced.
type scope struct {
	s      *shader
	parent *scope
	text   *strings.Builder
	tag    string // ends the names of values, to tell scopes in one block apart
	axes   map[int]coord
	values map[int]value
	valid  []string // conditions for each lane, or one for all; nil: always
}

func newScope(s *shader) *scope {
	sc := &scope{s: s, text: &strings.Builder{}, axes: map[int]coord{}, values: map[int]value{}}
	for a, axis := range s.k.Axes {
		if axis.Len == 1 {
			sc.axes[a] = coord{at: []string{"0"}}
		}
	}
	return sc
}

// block is a scope for a block of its own, to be closed by end.
func (sc *scope) block() *scope {
	return &scope{s: sc.s, parent: sc, text: &strings.Builder{}, tag: sc.tag, axes: map[int]coord{}, values: map[int]value{}}
}

// beside is a scope in the same block; tag tells its names apart.
func (sc *scope) beside(tag string) *scope {
	b := sc.block()
	b.text, b.tag = sc.text, sc.tag+tag
	return b
}

// end puts a block into the scope around it, behind a head such as "if (x)".
func (sc *scope) end(head string) {
	sc.parent.line("%s {", strings.TrimSpace(head))
	sc.parent.text.WriteString(sc.text.String())
	sc.parent.line("}")
}

func (sc *scope) line(format string, args ...any) {
	fmt.Fprintf(sc.text, format+"\n", args...)
}

// coord finds the position along an axis, and the scope that knows it.
func (sc *scope) coord(a int) (coord, *scope) {
	for s := sc; s != nil; s = s.parent {
		if c, ok := s.axes[a]; ok {
			return c, s
		}
	}
	panic(fmt.Sprintf("wgsl: axis %d has no position", a))
}

// depth is the number of scopes around sc.
func (sc *scope) depth() int {
	n := 0
	for s := sc.parent; s != nil; s = s.parent {
		n++
	}
	return n
}

func deeper(a, b *scope) *scope {
	if a == nil || b.depth() > a.depth() {
		return b
	}
	return a
}

// lookup finds the value of an instruction at the positions known in sc, and
// the scope that holds it.
func (sc *scope) lookup(i int) (value, *scope) {
	over := sc.s.k.Body[i].Domain
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
	in := &sc.s.k.Body[i]
	if in.Op.Class() == ir.Reduction {
		sc.s.reduced(sc, i)
		v, s := sc.lookup(i)
		return v, s
	}
	var home *scope
	for _, j := range in.Src {
		_, s := sc.find(j)
		home = deeper(home, s)
	}
	home = deeper(home, sc.home(in.Positions()))
	v := emitterOf(in.Op)(home, i)
	home.values[i] = v
	return v, home
}

// name is that of an instruction's value in a lane.
func (sc *scope) name(i, lane, lanes int) string {
	if lanes == 1 {
		return fmt.Sprintf("v%d%s", i, sc.tag)
	}
	return fmt.Sprintf("v%d%s_%d", i, sc.tag, lane)
}

// let names an expression for each lane.
func (sc *scope) let(i int, exprs []string) value {
	v := make(value, len(exprs))
	for l, e := range exprs {
		v[l] = sc.name(i, l, len(exprs))
		sc.line("let %s = %s;", v[l], e)
	}
	return v
}

// An emitter writes the code of an instruction into the scope it belongs to.
type emitter func(sc *scope, i int) value

// emitterOf returns the emitter of an op that gives a value, nil if it has
// none.
func emitterOf(op ir.Op) emitter {
	switch op {
	case ir.Const:
		return (*scope).number
	case ir.Scalar:
		return (*scope).scalar
	case ir.Index:
		return (*scope).index
	case ir.InBounds:
		return (*scope).inside
	case ir.Load:
		return (*scope).load
	}
	if exprs[op] != nil {
		return (*scope).elementwise
	}
	return nil
}

func (sc *scope) number(i int) value {
	in := &sc.s.k.Body[i]
	return sc.let(i, []string{sc.s.literal(in.Type, in.Num)})
}

func (sc *scope) scalar(i int) value {
	return sc.let(i, []string{sc.s.number(sc.s.k.Body[i].Arg)})
}

func (sc *scope) index(i int) value {
	c, _ := sc.coord(sc.s.k.Body[i].Axis)
	return sc.let(i, c.at)
}

func (sc *scope) elementwise(i int) value {
	in := &sc.s.k.Body[i]
	lanes := 1
	x := make([]value, len(in.Src))
	for n, j := range in.Src {
		x[n] = sc.value(j)
		lanes = max(lanes, len(x[n]))
	}
	list := make([]string, lanes)
	operands := make([]string, len(x))
	from := sc.s.k.Body[in.Src[len(in.Src)-1]].Type
	for l := range list {
		for n := range x {
			operands[n] = sc.s.guarded(in, n, x[n].lane(l))
		}
		list[l] = sc.s.apply(in.Op, in.Type, from, operands...)
	}
	return sc.let(i, list)
}

package jinja

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// A loop is the value of the variable loop.
type loop struct {
	s           *state
	over        any
	items       func() (any, bool)
	index       int64 // from 1
	length      int64 // if known
	isLong      bool  // length is known
	before, now any
	after       any // the next item, if it has been looked at, or nil
	changed     any // the last arguments of loop.changed
	depth       int64
	recurse     func(over any) string // nil unless the loop is recursive
}

func (l *loop) start(over any) {
	l.over, l.items = over, l.s.Iterate(over)
}

// next moves to the next item.
func (l *loop) next() (any, bool) {
	v, ok := l.after, l.after != nil
	l.after = nil
	if !ok {
		v, ok = l.items()
	}
	if ok {
		l.index++
		l.before, l.now = l.now, v
	}
	return v, ok
}

// peek returns the next item, or nil.
func (l *loop) peek() any {
	if l.after == nil {
		l.after, _ = l.items()
	}
	return l.after
}

func (l *loop) TypeName() string { return "LoopContext" }
func (l *loop) Repr() string     { return fmt.Sprintf("<LoopContext %d/%d>", l.index, l.count()) }

func (l *loop) Len() (int64, bool) { return l.count(), true }

func (l *loop) Iterate() func() (any, bool) {
	return func() (any, bool) {
		item, ok := l.next()
		return &pyvalue.Tuple{Items: []any{item, l}}, ok
	}
}

func (l *loop) Call(pos []any, named []pyvalue.Argument) any {
	switch {
	case l.recurse == nil:
		l.s.Fail("TypeError", "the loop is not recursive, and cannot be called")
	case len(pos) != 1 || named != nil:
		l.s.Fail("TypeError", "loop takes one argument")
	}
	return l.recurse(pos[0])
}

func (l *loop) count() int64 {
	if l.isLong {
		return l.length
	}
	l.isLong = true
	if n, ok := pyvalue.Length(l.over); ok {
		l.length = n
		return n
	}
	rest := l.s.Collect(l.items)
	l.items = pyvalue.Over(rest)
	l.length = int64(len(rest)) + l.index
	if l.after != nil {
		l.length++
	}
	return l.length
}

// Attribute returns an attribute of the loop, or nil.
func (l *loop) Attribute(name string) any {
	orUndefined := func(v any, hint string) any {
		if v == nil {
			return &pyvalue.Undefined{Hint: hint}
		}
		return v
	}
	switch name {
	case "index":
		return l.index
	case "index0":
		return l.index - 1
	case "revindex":
		return l.count() - l.index + 1
	case "revindex0":
		return l.count() - l.index
	case "first":
		return l.index == 1
	case "last":
		return l.peek() == nil
	case "length":
		return l.count()
	case "depth":
		return l.depth + 1
	case "depth0":
		return l.depth
	case "previtem":
		return orUndefined(l.before, "there is no previous item")
	case "nextitem":
		return orUndefined(l.peek(), "there is no next item")
	case "cycle", "changed":
		return &pyvalue.Method{Self: l, Name: name, Builtin: loopMethods[name]}
	}
	return nil
}

var loopMethods = map[string]*pyvalue.Builtin{
	"cycle": pyvalue.Def("...", func(s *pyvalue.Run, a *pyvalue.Args) any {
		if len(a.Pos) == 0 {
			s.Fail("TypeError", "loop.cycle needs values")
		}
		return a.Pos[int(a.Self.(*loop).index-1)%len(a.Pos)]
	}),
	"changed": pyvalue.Def("...", func(s *pyvalue.Run, a *pyvalue.Args) any {
		l, v := a.Self.(*loop), &pyvalue.Tuple{Items: a.Pos}
		if l.changed != nil && s.Equal(l.changed, v) {
			return false
		}
		l.changed = v
		return true
	}),
}

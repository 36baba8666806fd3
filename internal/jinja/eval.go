package jinja

import (
	"math"
	"strings"
)

func (n *constant) eval(*state) any { return n.value }

func (n *name) eval(s *state) any {
	v := *s.at(n.at)
	if v == nil {
		return &undefined{name: n.name}
	}
	return v
}

func (n *attrTarget) eval(s *state) any { return n.of.eval(s) }

func (s *state) evalAll(exprs []expr) []any {
	if len(exprs) == 0 {
		return nil
	}
	s.alloc(16 * len(exprs))
	values := make([]any, len(exprs))
	for i, e := range exprs {
		values[i] = e.eval(s)
	}
	return values
}

func (n *sequence) eval(s *state) any {
	items := s.evalAll(n.items)
	if n.tuple {
		return &tuple{items: items}
	}
	return newList(items)
}

func (n *dictionary) eval(s *state) any {
	d := &Dict{}
	for i, k := range n.keys {
		key := k.eval(s)
		s.line = n.line
		s.put(d, key, n.values[i].eval(s))
	}
	return d
}

func (n *unary) eval(s *state) any {
	v := n.of.eval(s)
	if n.op == "not" {
		return !truth(v)
	}
	s.line = n.line
	if u, ok := v.(*undefined); ok {
		s.failUndefined(u)
	}
	i, ok := integer(v)
	f, isFloat := v.(float64)
	switch {
	case !ok && !isFloat:
		s.fail("TypeError", "a value of type %s has no sign", typeName(v))
	case n.op == "-" && isFloat:
		return -f
	case n.op == "-" && i == math.MinInt64:
		s.overflow()
	case n.op == "-":
		return -i
	case isFloat:
		return f
	}
	return i
}

func (n *binary) eval(s *state) any {
	left := n.left.eval(s)
	switch n.op {
	case "and":
		if !truth(left) {
			return left
		}
		return n.right.eval(s)
	case "or":
		if truth(left) {
			return left
		}
		return n.right.eval(s)
	}
	right := n.right.eval(s)
	s.line = n.line
	return s.operate(n.op, left, right)
}

func (n *concat) eval(s *state) any {
	var b strings.Builder
	for _, p := range n.parts {
		text := s.str(p.eval(s))
		s.alloc(len(text))
		b.WriteString(text)
	}
	return b.String()
}

func (n *compare) eval(s *state) any {
	left := n.first.eval(s)
	for i, op := range n.ops {
		right := n.rest[i].eval(s)
		s.line = n.line
		if !s.holds(op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (n *conditional) eval(s *state) any {
	switch {
	case truth(n.test.eval(s)):
		return n.then.eval(s)
	case n.els != nil:
		return n.els.eval(s)
	}
	return &undefined{hint: "the condition of an if without else is false"}
}

func (n *getAttr) eval(s *state) any {
	of := n.of.eval(s)
	s.line = n.line
	s.step(1)
	return s.getAttr(of, n.attr)
}

func (n *getItem) eval(s *state) any {
	of, key := n.of.eval(s), n.key.eval(s)
	s.line = n.line
	s.step(1)
	return s.getItem(of, key)
}

func (n *slice) eval(s *state) any {
	of := n.of.eval(s)
	bound := func(e expr) any {
		if e == nil {
			return None
		}
		return e.eval(s)
	}
	start, stop, step := bound(n.start), bound(n.stop), bound(n.step)
	s.line = n.line
	return s.slice(of, start, stop, step)
}

func (n *call) eval(s *state) any {
	of := n.of.eval(s)
	args, named := n.with.eval(s)
	s.line = n.line
	return s.call(of, args, named)
}

func (n *filter) eval(s *state) any {
	var of any = s.captured
	if n.of != nil {
		of = n.of.eval(s)
	}
	if n.builtin == nil {
		s.line = n.line
		s.unknown(n.is, n.name)
	}
	args, named := n.with.eval(s)
	s.line = n.line
	v := s.apply(n.builtin, n.name, of, args, named)
	if n.is {
		return v.(bool) != n.not
	}
	return v
}

// eval returns positional and named arguments.
func (a *arguments) eval(s *state) (args []any, named []argument) {
	values := s.evalAll(a.args)
	args = values[:len(values)-len(a.names)]
	for i, name := range a.names {
		named = append(named, argument{name, values[len(args)+i]})
	}
	if a.star != nil {
		args = append(args[:len(args):len(args)], s.list(a.star.eval(s))...)
		s.allocN(int64(len(args)), 16)
	}
	if a.double != nil {
		d, ok := a.double.eval(s).(*Dict)
		if !ok {
			s.fail("TypeError", "the argument after ** is no dict")
		}
		for _, e := range d.entries {
			name, ok := text(e.key)
			if !ok {
				s.fail("TypeError", "the name of an argument is of type %s", typeName(e.key))
			}
			for _, o := range named {
				if o.name == name {
					s.fail("TypeError", "the argument %q occurs twice", name)
				}
			}
			s.step(1 + len(named))
			named = append(named, argument{name, e.value})
		}
	}
	return args, named
}

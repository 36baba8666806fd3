package jinja

import (
	"math"
	"strings"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

func (n *constant) eval(*state) any { return n.value }

func (n *name) eval(s *state) any {
	v := *s.at(n.at)
	if v == nil {
		return &pyvalue.Undefined{Name: n.name}
	}
	return v
}

func (n *attrTarget) eval(s *state) any { return n.of.eval(s) }

func (s *state) evalAll(exprs []expr) []any {
	if len(exprs) == 0 {
		return nil
	}
	s.Alloc(16 * len(exprs))
	values := make([]any, len(exprs))
	for i, e := range exprs {
		values[i] = e.eval(s)
	}
	return values
}

func (n *sequence) eval(s *state) any {
	items := s.evalAll(n.items)
	if n.tuple {
		return &pyvalue.Tuple{Items: items}
	}
	return pyvalue.NewList(items)
}

func (n *dictionary) eval(s *state) any {
	d := &pyvalue.Dict{}
	for i, k := range n.keys {
		key := k.eval(s)
		s.Line = n.line
		s.Put(d, key, n.values[i].eval(s))
	}
	return d
}

func (n *unary) eval(s *state) any {
	v := n.of.eval(s)
	if n.op == "not" {
		return !pyvalue.Truth(v)
	}
	s.Line = n.line
	if u, ok := v.(*pyvalue.Undefined); ok {
		s.FailUndefined(u)
	}
	i, ok := pyvalue.Integer(v)
	f, isFloat := v.(float64)
	switch {
	case !ok && !isFloat:
		s.Fail("TypeError", "a value of type %s has no sign", pyvalue.TypeName(v))
	case n.op == "-" && isFloat:
		return -f
	case n.op == "-" && i == math.MinInt64:
		s.Overflow()
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
		if !pyvalue.Truth(left) {
			return left
		}
		return n.right.eval(s)
	case "or":
		if pyvalue.Truth(left) {
			return left
		}
		return n.right.eval(s)
	}
	right := n.right.eval(s)
	s.Line = n.line
	return s.Operate(n.op, left, right)
}

func (n *concat) eval(s *state) any {
	var b strings.Builder
	for _, p := range n.parts {
		text := s.Str(p.eval(s))
		s.Alloc(len(text))
		b.WriteString(text)
	}
	return b.String()
}

func (n *compare) eval(s *state) any {
	left := n.first.eval(s)
	for i, op := range n.ops {
		right := n.rest[i].eval(s)
		s.Line = n.line
		if !s.Holds(op, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (n *conditional) eval(s *state) any {
	switch {
	case pyvalue.Truth(n.test.eval(s)):
		return n.then.eval(s)
	case n.els != nil:
		return n.els.eval(s)
	}
	return &pyvalue.Undefined{Hint: "the condition of an if without else is false"}
}

func (n *getAttr) eval(s *state) any {
	of := n.of.eval(s)
	s.Line = n.line
	s.Step(1)
	return s.GetAttr(of, n.attr)
}

func (n *getItem) eval(s *state) any {
	of, key := n.of.eval(s), n.key.eval(s)
	s.Line = n.line
	s.Step(1)
	return s.GetItem(of, key)
}

func (n *slice) eval(s *state) any {
	of := n.of.eval(s)
	bound := func(e expr) any {
		if e == nil {
			return pyvalue.None
		}
		return e.eval(s)
	}
	start, stop, step := bound(n.start), bound(n.stop), bound(n.step)
	s.Line = n.line
	return s.Slice(of, start, stop, step)
}

func (n *call) eval(s *state) any {
	of := n.of.eval(s)
	args, named := n.with.eval(s)
	s.Line = n.line
	return s.Call(of, args, named)
}

func (n *filter) eval(s *state) any {
	var of any = s.captured
	if n.of != nil {
		of = n.of.eval(s)
	}
	if n.builtin == nil {
		s.Line = n.line
		s.Unknown(n.is, n.name)
	}
	args, named := n.with.eval(s)
	s.Line = n.line
	v := s.Apply(n.builtin, n.name, of, args, named)
	if n.is {
		return v.(bool) != n.not
	}
	return v
}

// eval returns positional and named arguments.
func (a *arguments) eval(s *state) (args []any, named []pyvalue.Argument) {
	values := s.evalAll(a.args)
	args = values[:len(values)-len(a.names)]
	for i, name := range a.names {
		named = append(named, pyvalue.Argument{Name: name, Value: values[len(args)+i]})
	}
	if a.star != nil {
		args = append(args[:len(args):len(args)], s.List(a.star.eval(s))...)
		s.AllocN(int64(len(args)), 16)
	}
	if a.double != nil {
		d, ok := a.double.eval(s).(*pyvalue.Dict)
		if !ok {
			s.Fail("TypeError", "the argument after ** is no dict")
		}
		for _, e := range d.Entries {
			name, ok := pyvalue.Text(e.Key)
			if !ok {
				s.Fail("TypeError", "the name of an argument is of type %s", pyvalue.TypeName(e.Key))
			}
			for _, o := range named {
				if o.Name == name {
					s.Fail("TypeError", "the argument %q occurs twice", name)
				}
			}
			s.Step(1 + len(named))
			named = append(named, pyvalue.Argument{Name: name, Value: e.Value})
		}
	}
	return args, named
}

package jinja

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// equal is Python's ==.
func (s *run) equal(a, b any) bool {
	s.step(1)
	if x, ok := text(a); ok {
		y, ok := text(b)
		s.step(min(len(x), len(y)) >> 6)
		return ok && x == y
	}
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b) == 0
	}
	switch a := a.(type) {
	case *undefined:
		_, ok := b.(*undefined)
		return ok
	case *list:
		b, ok := b.(*list)
		return ok && s.equalItems(a.items, b.items)
	case *tuple:
		b, ok := b.(*tuple)
		return ok && s.equalItems(a.items, b.items)
	case *rangeValue:
		b, ok := b.(*rangeValue)
		n := a.len()
		return ok && n == b.len() && (n == 0 || a.start == b.start && (n == 1 || a.step == b.step))
	case *view:
		b, ok := b.(*view)
		return ok && s.equalViews(a, b)
	case *Dict:
		b, ok := b.(*Dict)
		if !ok || len(a.entries) != len(b.entries) {
			return false
		}
		s.descend()
		defer func() { s.depth-- }()
		for _, e := range a.entries {
			i := b.find(e.hash)
			if i < 0 || !s.same(e.value, b.entries[i].value) {
				return false
			}
		}
		return true
	}
	return a == b
}

// equalViews compares keys and items as sets; other views are equal only to themselves.
func (s *run) equalViews(a, b *view) bool {
	if a.kind == "values" || b.kind == "values" {
		return a == b
	}
	if len(a.of.entries) != len(b.of.entries) {
		return false
	}
	for i := range a.of.entries {
		if !s.contains(b, a.item(int64(i))) {
			return false
		}
	}
	return true
}

// same reports whether two values are equal, or one and the same: Python's containers compare
// so, which matters for NaN.
func (s *run) same(a, b any) bool { return a == b && a != nil || s.equal(a, b) }

func (s *run) equalItems(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	s.descend()
	defer func() { s.depth-- }()
	for i := range a {
		if !s.same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func isNumber(v any) bool {
	_, ok := number(v)
	return ok
}

// compareNumbers returns -1, 0 or 1, and 2 if one is NaN.
func compareNumbers(a, b any) int {
	x, ok := integer(a)
	y, ok2 := integer(b)
	if ok && ok2 {
		return sign(x < y, x > y)
	}
	f, _ := number(a)
	g, _ := number(b)
	switch {
	case f != f || g != g:
		return 2
	case f != g || ok == ok2 || math.Abs(f) < 1<<53:
		return sign(f < g, f > g)
	case ok: // an integer that its float may round
		return -compareNumbers(b, a)
	case math.Abs(f) >= 1<<63:
		return sign(f < 0, f > 0)
	}
	return compareNumbers(int64(f), b)
}

func sign(less, greater bool) int {
	switch {
	case less:
		return -1
	case greater:
		return 1
	}
	return 0
}

// compare returns the order of two values, for an operator that fails if they have none.
func (s *run) compare(a, b any, op string) int {
	s.step(1)
	for _, v := range []any{a, b} {
		if u, ok := v.(*undefined); ok {
			s.failUndefined(u)
		}
	}
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b)
	}
	if x, ok := text(a); ok {
		if y, ok := text(b); ok {
			s.step(min(len(x), len(y)) >> 6)
			return strings.Compare(x, y)
		}
	}
	x, ok := a.(*list)
	y, ok2 := b.(*list)
	if ok && ok2 {
		return s.compareItems(x.items, y.items, op)
	}
	t, ok := a.(*tuple)
	u, ok2 := b.(*tuple)
	if ok && ok2 {
		return s.compareItems(t.items, u.items, op)
	}
	s.fail("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
	return 0
}

func (s *run) compareItems(a, b []any, op string) int {
	s.descend()
	defer func() { s.depth-- }()
	for i := range min(len(a), len(b)) {
		if !s.same(a[i], b[i]) {
			return s.compare(a[i], b[i], op)
		}
	}
	return sign(len(a) < len(b), len(a) > len(b))
}

func (s *run) less(a, b any) bool { return s.compare(a, b, "<") == -1 }

// holds evaluates a comparison.
func (s *run) holds(op string, a, b any) bool {
	switch op {
	case "==":
		return s.equal(a, b)
	case "!=":
		return !s.equal(a, b)
	case "in":
		return s.contains(b, a)
	case "not in":
		return !s.contains(b, a)
	}
	c := s.compare(a, b, op)
	switch op {
	case "<":
		return c == -1
	case "<=":
		return c == -1 || c == 0
	case ">":
		return c == 1
	}
	return c == 1 || c == 0
}

// contains is Python's in.
func (s *run) contains(in, v any) bool {
	if whole, ok := text(in); ok {
		part, ok := text(v)
		if !ok {
			s.fail("TypeError", "'in <string>' requires string as left operand, not %s", typeName(v))
		}
		s.step(len(whole) >> 6)
		return strings.Contains(whole, part)
	}
	switch in := in.(type) {
	case *Dict:
		return in.find(s.hash(v)) >= 0
	case *view:
		switch in.kind {
		case "keys":
			return in.of.find(s.hash(v)) >= 0
		case "items":
			t, ok := v.(*tuple)
			if !ok || len(t.items) != 2 {
				return false
			}
			found := s.get(in.of, t.items[0])
			return found != nil && s.same(found, t.items[1])
		}
	case *rangeValue:
		if i, ok := integer(v); ok {
			return in.len() > 0 && (i-in.start)%in.step == 0 && (i-in.start)/in.step >= 0 && (i-in.start)/in.step < in.len()
		}
	}
	if iterable(in) == nil {
		s.fail("TypeError", "a value of type %s contains nothing", typeName(in))
	}
	for items := s.iterate(in); ; {
		item, ok := items()
		if !ok {
			return false
		}
		if s.same(item, v) {
			return true
		}
	}
}

// pointerText identifies a value that has no other identity.
func pointerText(v any) string { return fmt.Sprintf("%p", v) }

// sorted returns items in the order of their keys, and the keys.
func (s *run) sorted(items, keys []any, reverse bool) ([]any, []any) {
	s.allocN(int64(len(items)), 48)
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		return s.less(keys[order[i]], keys[order[j]])
	})
	in, by := make([]any, len(items)), make([]any, len(items))
	for i, j := range order {
		in[i], by[i] = items[j], keys[j]
	}
	return in, by
}

package pyvalue

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// Equal is Python's ==.
func (s *Run) Equal(a, b any) bool {
	s.Step(1)
	if x, ok := Text(a); ok {
		y, ok := Text(b)
		s.Step(min(len(x), len(y)) >> 6)
		return ok && x == y
	}
	if IsNumber(a) && IsNumber(b) {
		return compareNumbers(a, b) == 0
	}
	switch a := a.(type) {
	case *Undefined:
		_, ok := b.(*Undefined)
		return ok
	case *List:
		b, ok := b.(*List)
		return ok && s.equalItems(a.Items, b.Items)
	case *Tuple:
		b, ok := b.(*Tuple)
		return ok && s.equalItems(a.Items, b.Items)
	case *RangeValue:
		b, ok := b.(*RangeValue)
		n := a.len()
		return ok && n == b.len() && (n == 0 || a.start == b.start && (n == 1 || a.step == b.step))
	case *View:
		b, ok := b.(*View)
		return ok && s.equalViews(a, b)
	case *Dict:
		b, ok := b.(*Dict)
		if !ok || len(a.Entries) != len(b.Entries) {
			return false
		}
		s.Descend()
		defer func() { s.Depth-- }()
		for _, e := range a.Entries {
			i := b.find(e.hash)
			if i < 0 || !s.same(e.Value, b.Entries[i].Value) {
				return false
			}
		}
		return true
	}
	return a == b
}

// equalViews compares keys and items as sets; other views are equal only to themselves.
func (s *Run) equalViews(a, b *View) bool {
	if a.Kind == "values" || b.Kind == "values" {
		return a == b
	}
	if len(a.Of.Entries) != len(b.Of.Entries) {
		return false
	}
	for i := range a.Of.Entries {
		if !s.Contains(b, a.item(int64(i))) {
			return false
		}
	}
	return true
}

// same reports whether two values are equal, or one and the same: Python's containers compare
// so, which matters for NaN.
func (s *Run) same(a, b any) bool { return a == b && a != nil || s.Equal(a, b) }

func (s *Run) equalItems(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	s.Descend()
	defer func() { s.Depth-- }()
	for i := range a {
		if !s.same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func IsNumber(v any) bool {
	_, ok := Number(v)
	return ok
}

// compareNumbers returns -1, 0 or 1, and 2 if one is NaN.
func compareNumbers(a, b any) int {
	x, ok := Integer(a)
	y, ok2 := Integer(b)
	if ok && ok2 {
		return sign(x < y, x > y)
	}
	f, _ := Number(a)
	g, _ := Number(b)
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
func (s *Run) compare(a, b any, op string) int {
	s.Step(1)
	for _, v := range []any{a, b} {
		if u, ok := v.(*Undefined); ok {
			s.FailUndefined(u)
		}
	}
	if IsNumber(a) && IsNumber(b) {
		return compareNumbers(a, b)
	}
	if x, ok := Text(a); ok {
		if y, ok := Text(b); ok {
			s.Step(min(len(x), len(y)) >> 6)
			return strings.Compare(x, y)
		}
	}
	x, ok := a.(*List)
	y, ok2 := b.(*List)
	if ok && ok2 {
		return s.compareItems(x.Items, y.Items, op)
	}
	t, ok := a.(*Tuple)
	u, ok2 := b.(*Tuple)
	if ok && ok2 {
		return s.compareItems(t.Items, u.Items, op)
	}
	s.Fail("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, TypeName(a), TypeName(b))
	return 0
}

func (s *Run) compareItems(a, b []any, op string) int {
	s.Descend()
	defer func() { s.Depth-- }()
	for i := range min(len(a), len(b)) {
		if !s.same(a[i], b[i]) {
			return s.compare(a[i], b[i], op)
		}
	}
	return sign(len(a) < len(b), len(a) > len(b))
}

func (s *Run) less(a, b any) bool { return s.compare(a, b, "<") == -1 }

// Holds evaluates a comparison.
func (s *Run) Holds(op string, a, b any) bool {
	switch op {
	case "==":
		return s.Equal(a, b)
	case "!=":
		return !s.Equal(a, b)
	case "in":
		return s.Contains(b, a)
	case "not in":
		return !s.Contains(b, a)
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

// Contains is Python's in.
func (s *Run) Contains(in, v any) bool {
	if whole, ok := Text(in); ok {
		part, ok := Text(v)
		if !ok {
			s.Fail("TypeError", "'in <string>' requires string as left operand, not %s", TypeName(v))
		}
		s.Step(len(whole) >> 6)
		return strings.Contains(whole, part)
	}
	switch in := in.(type) {
	case *Dict:
		return in.find(s.Hash(v)) >= 0
	case *View:
		switch in.Kind {
		case "keys":
			return in.Of.find(s.Hash(v)) >= 0
		case "items":
			t, ok := v.(*Tuple)
			if !ok || len(t.Items) != 2 {
				return false
			}
			found := s.Get(in.Of, t.Items[0])
			return found != nil && s.same(found, t.Items[1])
		}
	case *RangeValue:
		if i, ok := Integer(v); ok {
			return in.len() > 0 && (i-in.start)%in.step == 0 && (i-in.start)/in.step >= 0 && (i-in.start)/in.step < in.len()
		}
	}
	if Iterable(in) == nil {
		s.Fail("TypeError", "a value of type %s contains nothing", TypeName(in))
	}
	for items := s.Iterate(in); ; {
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

// Sorted returns items in the order of their keys, and the keys.
func (s *Run) Sorted(items, keys []any, reverse bool) ([]any, []any) {
	s.AllocN(int64(len(items)), 48)
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

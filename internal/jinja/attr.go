package jinja

import (
	"strings"
	"unicode/utf8"
)

// getAttr is Jinja's a.b: the attribute b, or else the item.
func (s *run) getAttr(of any, name string) any {
	if u, ok := of.(*undefined); ok {
		s.failUndefined(u)
	}
	if v := s.attribute(of, name); v != nil {
		return v
	}
	if v := s.item(of, name); v != nil {
		return v
	}
	return &undefined{of: of, name: name}
}

// getItem is Jinja's a[b]: the item b, or else the attribute.
func (s *run) getItem(of, key any) any {
	if u, ok := of.(*undefined); ok {
		s.failUndefined(u)
	}
	if v := s.item(of, key); v != nil {
		return v
	}
	if name, ok := text(key); ok {
		if v := s.attribute(of, name); v != nil {
			return v
		}
	}
	return &undefined{of: of, name: key}
}

// item returns an item, nil if there is none.
func (s *run) item(of, key any) any {
	i, isInt := integer(key)
	switch of := of.(type) {
	case *Dict:
		if h := s.hashOf(key); h != nil {
			return of.at(h)
		}
	case *list:
		if isInt {
			return itemAt(of.items, i)
		}
	case *tuple:
		if isInt {
			return itemAt(of.items, i)
		}
	case string:
		if isInt {
			return s.char(of, i)
		}
	case markup:
		if c := s.char(string(of), i); isInt && c != nil {
			return markup(c.(string))
		}
	case *rangeValue:
		if i = fromEnd(i, of.len()); isInt && i >= 0 && i < of.len() {
			return of.start + i*of.step
		}
	}
	return nil
}

// fromEnd returns an index that may count from the end as one from the start.
func fromEnd(i, n int64) int64 {
	if i < 0 {
		i += n
	}
	return i
}

func itemAt(items []any, i int64) any {
	n := int64(len(items))
	if i = fromEnd(i, n); i < 0 || i >= n {
		return nil
	}
	return items[i]
}

// char returns the character at an index, nil if there is none.
func (s *run) char(text string, i int64) any {
	s.step(len(text) >> 6)
	n := int64(utf8.RuneCountInString(text))
	if i = fromEnd(i, n); i < 0 || i >= n {
		return nil
	}
	if n == int64(len(text)) {
		return text[i : i+1]
	}
	s.step(int(i) >> 4)
	for range i {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	_, size := utf8.DecodeRuneInString(text)
	return text[:size]
}

// attribute is Python's getattr in the sandbox, nil if there is no such attribute.
func (s *run) attribute(of any, name string) any {
	if strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__") && len(name) > 4 {
		if _, ok := of.(*namespace); !ok {
			return unsafe(of, name)
		}
	}
	var table map[string]*builtin
	switch of := of.(type) {
	case string, markup:
		table = s.tables.str
	case *list:
		table = s.tables.list
	case *tuple:
		if of.group && name == "grouper" {
			return of.items[0]
		}
		if of.group && name == "list" {
			return of.items[1]
		}
		table = s.tables.tuple
	case *Dict:
		table = s.tables.dict
	case *namespace:
		v, _ := of.vars.Get(name)
		return v
	case object:
		return of.attribute(name)
	case *rangeValue:
		if v, ok := map[string]int64{"start": of.start, "stop": of.stop, "step": of.step}[name]; ok {
			return v
		}
		table = s.tables.tuple
	case *cycler:
		if name == "current" {
			return of.items[of.at]
		}
		table = s.tables.cycler
	case float64:
		table = s.tables.float
	case int64, bool:
		table = s.tables.integer
	}
	b, ok := table[name]
	switch {
	case !ok:
		return nil
	case b == nil:
		return unsafe(of, name)
	}
	return &method{of, name, b}
}

// unsafe returns the sandbox's replacement of an attribute.
func unsafe(of any, name string) *undefined {
	return &undefined{unsafe: true, hint: "access to attribute " + quote(name) + " of '" + typeName(of) + "' object is unsafe"}
}

// slice is Python's a[start:stop:step].
func (s *run) slice(of, start, stop, step any) any {
	if u, ok := of.(*undefined); ok {
		s.failUndefined(u)
	}
	n, ok := length(of)
	switch of.(type) {
	case string, markup, *list, *tuple, *rangeValue:
	default:
		ok = false
	}
	if !ok {
		s.fail("TypeError", "a value of type %s cannot be sliced", typeName(of))
	}
	by := s.bound(step, 1)
	if by == 0 {
		s.fail("ValueError", "the step of a slice is 0")
	}
	low, high := int64(0), n
	from, to := int64(0), n
	if by < 0 {
		low, high = -1, n-1
		from, to = n-1, -1
	}
	limit := func(v any, def int64) int64 {
		if v == None {
			return def
		}
		return min(max(fromEnd(s.bound(v, 0), n), low), high)
	}
	from, to = limit(start, from), limit(stop, to)
	picked := &rangeValue{from, to, max(by, -n-1)}
	picked.step = min(picked.step, n+1)
	return s.pick(of, picked)
}

// bound returns a bound of a slice.
func (s *run) bound(v any, def int64) int64 {
	if v == None {
		return def
	}
	if u, ok := v.(*undefined); ok {
		s.fail("TypeError", "a bound of a slice is undefined: %s", u.message())
	}
	i, ok := integer(v)
	if !ok {
		s.fail("TypeError", "a bound of a slice has the type %s", typeName(v))
	}
	return i
}

// pick returns the items of a sequence at indices.
func (s *run) pick(of any, at *rangeValue) any {
	n := at.len()
	switch of := of.(type) {
	case *list:
		return newList(s.pickItems(of.items, at))
	case *tuple:
		return &tuple{items: s.pickItems(of.items, at)}
	case *rangeValue:
		return &rangeValue{of.start + at.start*of.step, of.start + at.stop*of.step, of.step * at.step}
	case markup:
		return markup(s.pick(string(of), at).(string))
	}
	text := of.(string)
	s.step(len(text) >> 6)
	if utf8.RuneCountInString(text) == len(text) {
		if at.step == 1 {
			return text[at.start:max(at.start, at.stop)]
		}
		s.alloc(int(n))
		b := make([]byte, n)
		for i := range b {
			b[i] = text[at.start+int64(i)*at.step]
		}
		return string(b)
	}
	s.alloc(8 * len(text))
	all := []rune(text)
	b := make([]rune, n)
	for i := range b {
		b[i] = all[at.start+int64(i)*at.step]
	}
	return string(b)
}

func (s *run) pickItems(items []any, at *rangeValue) []any {
	n := at.len()
	if at.step == 1 {
		return items[at.start : at.start+n : at.start+n]
	}
	s.allocN(n, 16)
	picked := make([]any, n)
	for i := range picked {
		picked[i] = items[at.start+int64(i)*at.step]
	}
	return picked
}

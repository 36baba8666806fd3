package pyvalue

import (
	"strings"
	"unicode/utf8"
)

// GetAttr is Jinja's a.b: the attribute b, or else the item.
func (s *Run) GetAttr(of any, name string) any {
	if u, ok := of.(*Undefined); ok {
		s.FailUndefined(u)
	}
	if v := s.Attribute(of, name); v != nil {
		return v
	}
	if v := s.item(of, name); v != nil {
		return v
	}
	return &Undefined{Of: of, Name: name}
}

// GetItem is Jinja's a[b]: the item b, or else the attribute.
func (s *Run) GetItem(of, key any) any {
	if u, ok := of.(*Undefined); ok {
		s.FailUndefined(u)
	}
	if v := s.item(of, key); v != nil {
		return v
	}
	if name, ok := Text(key); ok {
		if v := s.Attribute(of, name); v != nil {
			return v
		}
	}
	return &Undefined{Of: of, Name: key}
}

// item returns an item, or nil.
func (s *Run) item(of, key any) any {
	i, isInt := Integer(key)
	switch of := of.(type) {
	case *Dict:
		if h := s.hashOf(key); h != nil {
			return of.at(h)
		}
	case *List:
		if isInt {
			return itemAt(of.Items, i)
		}
	case *Tuple:
		if isInt {
			return itemAt(of.Items, i)
		}
	case string:
		if isInt {
			return s.char(of, i)
		}
	case Markup:
		if c := s.char(string(of), i); isInt && c != nil {
			return Markup(c.(string))
		}
	case *RangeValue:
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

// char returns the character at an index, or nil.
func (s *Run) char(text string, i int64) any {
	s.Step(len(text) >> 6)
	n := int64(utf8.RuneCountInString(text))
	if i = fromEnd(i, n); i < 0 || i >= n {
		return nil
	}
	if n == int64(len(text)) {
		return text[i : i+1]
	}
	s.Step(int(i) >> 4)
	for range i {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	_, size := utf8.DecodeRuneInString(text)
	return text[:size]
}

// Attribute returns an attribute, as getattr does in Jinja's sandbox, or nil if the value lacks it.
func (s *Run) Attribute(of any, name string) any {
	if strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__") && len(name) > 4 {
		if _, ok := of.(*Namespace); !ok {
			return unsafe(of, name)
		}
	}
	var table map[string]*Builtin
	switch of := of.(type) {
	case string, Markup:
		table = s.tables.str
	case *List:
		table = s.tables.list
	case *Tuple:
		if of.Group && name == "grouper" {
			return of.Items[0]
		}
		if of.Group && name == "list" {
			return of.Items[1]
		}
		table = s.tables.tuple
	case *Dict:
		table = s.tables.dict
	case *Namespace:
		v, ok := of.Vars.Get(name)
		if ok && strings.HasPrefix(name, "_") {
			return unsafe(of, name)
		}
		return v
	case Object:
		return of.Attribute(name)
	case *RangeValue:
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
		if name == "real" || name == "imag" {
			return numberAttributes[name](of)
		}
	case int64, bool:
		table = s.tables.integer
		if get := numberAttributes[name]; get != nil {
			return get(of)
		}
	}
	b, ok := table[name]
	switch {
	case !ok:
		return nil
	case b == nil:
		return unsafe(of, name)
	}
	return &Method{of, name, b}
}

// unsafe returns the sandbox's replacement of an attribute.
func unsafe(of any, name string) *Undefined {
	return &Undefined{unsafe: true, Hint: "access to attribute " + Quote(name) + " of '" + TypeName(of) + "' object is unsafe"}
}

// Slice is Python's a[start:stop:step].
func (s *Run) Slice(of, start, stop, step any) any {
	if u, ok := of.(*Undefined); ok {
		s.FailUndefined(u)
	}
	n, ok := Length(of)
	switch of.(type) {
	case string, Markup, *List, *Tuple, *RangeValue:
	default:
		ok = false
	}
	if !ok {
		s.Fail("TypeError", "a value of type %s cannot be sliced", TypeName(of))
	}
	by := s.bound(step, 1)
	if by == 0 {
		s.Fail("ValueError", "the step of a slice is 0")
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
	picked := &RangeValue{from, to, max(by, -n-1)}
	picked.step = min(picked.step, n+1)
	return s.pick(of, picked)
}

// bound returns a bound of a slice.
func (s *Run) bound(v any, def int64) int64 {
	if v == None {
		return def
	}
	if u, ok := v.(*Undefined); ok {
		s.Fail("TypeError", "a bound of a slice is undefined: %s", u.message())
	}
	i, ok := Integer(v)
	if !ok {
		s.Fail("TypeError", "a bound of a slice has the type %s", TypeName(v))
	}
	return i
}

// pick returns the items of a sequence at indices.
func (s *Run) pick(of any, at *RangeValue) any {
	n := at.len()
	switch of := of.(type) {
	case *List:
		return NewList(s.pickItems(of.Items, at))
	case *Tuple:
		return &Tuple{Items: s.pickItems(of.Items, at)}
	case *RangeValue:
		return &RangeValue{of.start + at.start*of.step, of.start + at.stop*of.step, of.step * at.step}
	case Markup:
		return Markup(s.pick(string(of), at).(string))
	}
	text := of.(string)
	s.Step(len(text) >> 6)
	if utf8.RuneCountInString(text) == len(text) {
		if at.step == 1 {
			return text[at.start:max(at.start, at.stop)]
		}
		s.Alloc(int(n))
		b := make([]byte, n)
		for i := range b {
			b[i] = text[at.start+int64(i)*at.step]
		}
		return string(b)
	}
	s.Alloc(8 * len(text))
	all := []rune(text)
	b := make([]rune, n)
	for i := range b {
		b[i] = all[at.start+int64(i)*at.step]
	}
	return string(b)
}

func (s *Run) pickItems(items []any, at *RangeValue) []any {
	n := at.len()
	if at.step == 1 {
		return items[at.start : at.start+n : at.start+n]
	}
	s.AllocN(n, 16)
	picked := make([]any, n)
	for i := range picked {
		picked[i] = items[at.start+int64(i)*at.step]
	}
	return picked
}

package jinja

import "math"

// The methods of other types, and the functions that every template sees.
var (
	listMethods = map[string]*builtin{
		"count":  def("/ value", func(s *run, a *args) any { return s.countItems(a) }),
		"index":  def("/ value start? stop?", func(s *run, a *args) any { return s.indexItem(a) }),
		"copy":   def("/", func(s *run, a *args) any { return newList(a.self.(*list).items) }),
		"append": nil, "clear": nil, "pop": nil, "reverse": nil, "insert": nil, "sort": nil, "extend": nil, "remove": nil,
	}
	tupleMethods = map[string]*builtin{"count": listMethods["count"], "index": listMethods["index"]}
	dictMethods  = map[string]*builtin{
		"copy":     def("/", func(s *run, a *args) any { return s.copyDict(a.self.(*Dict)) }),
		"fromkeys": def("/ keys value?", func(s *run, a *args) any { return s.fromKeys(a) }),
		"get":      def("/ key default?", func(s *run, a *args) any { return s.getOr(a) }),
		"items":    def("/", func(_ *run, a *args) any { return &view{a.self.(*Dict), "items"} }),
		"keys":     def("/", func(_ *run, a *args) any { return &view{a.self.(*Dict), "keys"} }),
		"values":   def("/", func(_ *run, a *args) any { return &view{a.self.(*Dict), "values"} }),
		"clear":    nil, "pop": nil, "popitem": nil, "setdefault": nil, "update": nil,
	}
	cyclerMethods = map[string]*builtin{
		"next": def("", func(_ *run, a *args) any {
			c := a.self.(*cycler)
			v := c.items[c.at]
			c.at = (c.at + 1) % len(c.items)
			return v
		}),
		"reset": def("", func(_ *run, a *args) any {
			a.self.(*cycler).at = 0
			return None
		}),
	}
	intMethods = map[string]*builtin{
		"bit_length": def("/", func(s *run, a *args) any {
			n := int64(0)
			for m := magnitude(s.toInt(a.self)); m > 0; m >>= 1 {
				n++
			}
			return n
		}),
	}
	floatMethods = map[string]*builtin{
		"is_integer": def("/", func(_ *run, a *args) any {
			f := a.self.(float64)
			return f == math.Trunc(f) && !math.IsInf(f, 0)
		}),
	}

	globals = map[string]*builtin{
		"range":     def("/ start stop? step?", func(s *run, a *args) any { return s.newRange(a) }),
		"dict":      def("...", func(s *run, a *args) any { return s.newDict(a) }),
		"namespace": def("...", func(s *run, a *args) any { return &namespace{s.newDict(a)} }),
		"cycler": def("...", func(s *run, a *args) any {
			if len(a.pos) == 0 {
				s.fail("RuntimeError", "cycler needs values")
			}
			return &cycler{items: a.pos}
		}),
		"joiner": def("sep?", func(_ *run, a *args) any { return &joiner{separator: a.get(0, ", ")} }),
		"lipsum": refused("function lipsum"),
		"raise_exception": def("message", func(s *run, a *args) any {
			s.fail("TemplateError", "%s", s.str(a.pos[0]))
			return nil
		}),
		"strftime_now": def("format", func(s *run, a *args) any { return s.strftime(a.text(s, 0)) }),
	}
)

func (s *run) countItems(a *args) any {
	n := int64(0)
	for _, item := range s.list(a.self) {
		if s.same(item, a.pos[0]) {
			n++
		}
	}
	return n
}

func (s *run) indexItem(a *args) any {
	items := s.list(a.self)
	n := int64(len(items))
	from := max(0, fromEnd(a.int(s, 1, 0), n))
	to := min(n, fromEnd(a.int(s, 2, n), n))
	for i := from; i < to; i++ {
		if s.same(items[i], a.pos[0]) {
			return i
		}
	}
	s.fail("ValueError", "the value is not in the %s", typeName(a.self))
	return nil
}

func (s *run) copyDict(d *Dict) *Dict {
	s.allocN(int64(d.Len()), 96)
	return d.copy()
}

func (s *run) fromKeys(a *args) any {
	d := &Dict{}
	for _, k := range s.list(a.pos[0]) {
		s.put(d, k, a.get(1, None))
	}
	return d
}

func (s *run) getOr(a *args) any {
	if v := s.get(a.self.(*Dict), a.pos[0]); v != nil {
		return v
	}
	return a.get(1, None)
}

func (s *run) newRange(a *args) any {
	r := &rangeValue{0, a.int(s, 0, 0), 1}
	if a.pos[1] != nil {
		r.start, r.stop, r.step = r.stop, a.int(s, 1, 0), a.int(s, 2, 1)
	}
	if r.step == 0 {
		s.fail("ValueError", "the step of range is 0")
	}
	if n := r.len(); n > maxRange || n < 0 {
		s.fail("OverflowError", "a range may have %d numbers, not more", maxRange)
	}
	return r
}

// newDict makes a dict of a dict or of pairs, and of named arguments.
func (s *run) newDict(a *args) *Dict {
	d := &Dict{}
	if len(a.pos) > 1 {
		s.fail("TypeError", "expected at most one dict, got %d arguments", len(a.pos))
	}
	for _, from := range a.pos {
		switch from := from.(type) {
		case *Dict:
			d = s.copyDict(from)
		case *undefined:
			s.failUndefined(from)
		default:
			for _, pair := range s.list(from) {
				items := s.list(pair)
				if len(items) != 2 {
					s.fail("ValueError", "a dict is made of pairs, not of %d values", len(items))
				}
				s.put(d, items[0], items[1])
			}
		}
	}
	for _, n := range a.named {
		s.put(d, n.name, n.value)
	}
	return d
}

func dictOf(named []argument) *Dict {
	d := &Dict{}
	for _, n := range named {
		d.Set(n.name, n.value)
	}
	return d
}

func (s *run) toDict(v any) *Dict {
	d, ok := v.(*Dict)
	if !ok {
		s.fail("TypeError", "expected a dict, got a value of type %s", typeName(v))
	}
	return d
}

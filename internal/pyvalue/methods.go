package pyvalue

import "math"

// maxRange is the length of a range, which Jinja's sandbox limits too.
const maxRange = 100_000

// The methods of other types, and the functions that every template sees.
var (
	listMethods = map[string]*Builtin{
		"count":  Def("/ value", func(s *Run, a *Args) any { return s.countItems(a) }),
		"index":  Def("/ value start? stop?", func(s *Run, a *Args) any { return s.indexItem(a) }),
		"copy":   Def("/", func(s *Run, a *Args) any { return NewList(a.Self.(*List).Items) }),
		"append": nil, "clear": nil, "pop": nil, "reverse": nil, "insert": nil, "sort": nil, "extend": nil, "remove": nil,
	}
	tupleMethods = map[string]*Builtin{"count": listMethods["count"], "index": listMethods["index"]}
	dictMethods  = map[string]*Builtin{
		"copy":     Def("/", func(s *Run, a *Args) any { return s.copyDict(a.Self.(*Dict)) }),
		"fromkeys": Def("/ keys value?", func(s *Run, a *Args) any { return s.fromKeys(a) }),
		"get":      Def("/ key default?", func(s *Run, a *Args) any { return s.getOr(a) }),
		"items":    Def("/", func(_ *Run, a *Args) any { return &View{a.Self.(*Dict), "items"} }),
		"keys":     Def("/", func(_ *Run, a *Args) any { return &View{a.Self.(*Dict), "keys"} }),
		"values":   Def("/", func(_ *Run, a *Args) any { return &View{a.Self.(*Dict), "values"} }),
		"clear":    nil, "pop": nil, "popitem": nil, "setdefault": nil, "update": nil,
	}
	cyclerMethods = map[string]*Builtin{
		"next": Def("", func(_ *Run, a *Args) any {
			c := a.Self.(*cycler)
			v := c.items[c.at]
			c.at = (c.at + 1) % len(c.items)
			return v
		}),
		"reset": Def("", func(_ *Run, a *Args) any {
			a.Self.(*cycler).at = 0
			return None
		}),
	}
	intMethods = map[string]*Builtin{
		"bit_length": Def("/", func(s *Run, a *Args) any {
			n := int64(0)
			for m := magnitude(s.ToInt(a.Self)); m > 0; m >>= 1 {
				n++
			}
			return n
		}),
	}
	// numberAttributes are the attributes of numbers that are no methods.
	numberAttributes = map[string]func(v any) any{
		"real": func(v any) any {
			if i, ok := Integer(v); ok {
				return i
			}
			return v
		},
		"imag": func(v any) any {
			if _, ok := Integer(v); ok {
				return int64(0)
			}
			return 0.0
		},
		"numerator":   func(v any) any { i, _ := Integer(v); return i },
		"denominator": func(any) any { return int64(1) },
	}
	floatMethods = map[string]*Builtin{
		"is_integer": Def("/", func(_ *Run, a *Args) any {
			f := a.Self.(float64)
			return f == math.Trunc(f) && !math.IsInf(f, 0)
		}),
	}

	Globals = map[string]*Builtin{
		"range":     Def("/ start stop? step?", func(s *Run, a *Args) any { return s.newRange(a) }),
		"dict":      Def("...", func(s *Run, a *Args) any { return s.newDict(a) }),
		"namespace": Def("...", func(s *Run, a *Args) any { return &Namespace{s.newDict(a)} }),
		"cycler": Def("...", func(s *Run, a *Args) any {
			if len(a.Pos) == 0 {
				s.Fail("RuntimeError", "cycler needs values")
			}
			return &cycler{items: a.Pos}
		}),
		"joiner": Def("sep?", func(_ *Run, a *Args) any { return &Joiner{separator: a.Get(0, ", ")} }),
		"lipsum": Refused("function lipsum"),
		"raise_exception": Def("message", func(s *Run, a *Args) any {
			s.Fail("TemplateError", "%s", s.Str(a.Pos[0]))
			return nil
		}),
		"strftime_now": Def("format", func(s *Run, a *Args) any { return s.strftime(a.Text(s, 0)) }),
	}
)

func (s *Run) countItems(a *Args) any {
	n := int64(0)
	for _, item := range s.List(a.Self) {
		if s.same(item, a.Pos[0]) {
			n++
		}
	}
	return n
}

func (s *Run) indexItem(a *Args) any {
	items := s.List(a.Self)
	n := int64(len(items))
	from := max(0, fromEnd(a.Int(s, 1, 0), n))
	to := min(n, fromEnd(a.Int(s, 2, n), n))
	for i := from; i < to; i++ {
		if s.same(items[i], a.Pos[0]) {
			return i
		}
	}
	s.Fail("ValueError", "the value is not in the %s", TypeName(a.Self))
	return nil
}

func (s *Run) copyDict(d *Dict) *Dict {
	s.AllocN(int64(d.Len()), 96)
	return d.copy()
}

func (s *Run) fromKeys(a *Args) any {
	d := &Dict{}
	for _, k := range s.List(a.Pos[0]) {
		s.Put(d, k, a.Get(1, None))
	}
	return d
}

func (s *Run) getOr(a *Args) any {
	if v := s.Get(a.Self.(*Dict), a.Pos[0]); v != nil {
		return v
	}
	return a.Get(1, None)
}

func (s *Run) newRange(a *Args) any {
	r := &RangeValue{0, a.Int(s, 0, 0), 1}
	if a.Pos[1] != nil {
		r.start, r.stop, r.step = r.stop, a.Int(s, 1, 0), a.Int(s, 2, 1)
	}
	if r.step == 0 {
		s.Fail("ValueError", "the step of range is 0")
	}
	if n := r.len(); n > maxRange || n < 0 {
		s.Fail("OverflowError", "a range may have %d numbers, not more", maxRange)
	}
	return r
}

// newDict makes a dict of a dict or of pairs, and of named arguments.
func (s *Run) newDict(a *Args) *Dict {
	d := &Dict{}
	if len(a.Pos) > 1 {
		s.Fail("TypeError", "expected at most one dict, got %d arguments", len(a.Pos))
	}
	for _, from := range a.Pos {
		switch from := from.(type) {
		case *Dict:
			d = s.copyDict(from)
		case *Undefined:
			s.FailUndefined(from)
		default:
			for _, pair := range s.List(from) {
				items := s.List(pair)
				if len(items) != 2 {
					s.Fail("ValueError", "a dict is made of pairs, not of %d values", len(items))
				}
				s.Put(d, items[0], items[1])
			}
		}
	}
	for _, n := range a.Named {
		s.Put(d, n.Name, n.Value)
	}
	return d
}

func DictOf(named []Argument) *Dict {
	d := &Dict{}
	for _, n := range named {
		d.Set(n.Name, n.Value)
	}
	return d
}

func (s *Run) ToDict(v any) *Dict {
	d, ok := v.(*Dict)
	if !ok {
		s.Fail("TypeError", "expected a dict, got a value of type %s", TypeName(v))
	}
	return d
}

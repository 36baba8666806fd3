package jinja

import (
	"strings"
)

// Filters of sequences.

func firstOf(s *run, v any) any {
	if item, ok := s.iterate(v)(); ok {
		return item
	}
	return &undefined{hint: "there is no first item, as the sequence is empty"}
}

func lastOf(s *run, v any) any {
	if item, ok := backwards(s, v)(); ok {
		return item
	}
	return &undefined{hint: "there is no last item, as the sequence is empty"}
}

// backwards returns an iterator from the end, as Python's reversed.
func backwards(s *run, v any) func() (any, bool) {
	switch v.(type) {
	case *generator, *loop:
	default:
		if n, ok := length(v); ok {
			items := s.list(v)
			return counted(n, func(i int64) any {
				s.step(1)
				return items[n-1-i]
			})
		}
	}
	s.fail("TypeError", "a value of type %s has no last item", typeName(v))
	return nil
}

func reverseOf(s *run, v any) any {
	switch v := v.(type) {
	case string, markup:
		return s.slice(v, None, None, int64(-1))
	case *generator:
		return s.slice(newList(s.list(v)), None, None, int64(-1))
	}
	return &generator{"reversed", backwards(s, v)}
}

// keys returns what items are compared by.
func keysOf(s *run, items []any, key func(item any) any) []any {
	s.allocN(int64(len(items)), 16)
	keys := make([]any, len(items))
	for i, item := range items {
		keys[i] = key(item)
	}
	return keys
}

func sortOf(s *run, a *args) any {
	paths := []attribute{nil}
	if name, ok := text(a.pos[2]); ok {
		paths = nil
		for _, part := range strings.Split(name, ",") {
			paths = append(paths, pathOf(s, part))
		}
	} else {
		paths[0] = pathOf(s, a.pos[2])
	}
	items := s.list(a.self)
	keys := keysOf(s, items, func(item any) any {
		s.alloc(24 + 16*len(paths))
		parts := make([]any, len(paths))
		for i, path := range paths {
			parts[i] = ignoreCase(followOf(s, item, path, nil), a.truth(1))
		}
		return newList(parts)
	})
	items, _ = s.sorted(items, keys, a.truth(0))
	return newList(items)
}

func dictSort(s *run, a *args) any {
	d, ok := a.self.(*Dict)
	if !ok {
		s.fail("TypeError", "dictsort needs a dict, not a value of type %s", typeName(a.self))
	}
	at, ok := map[any]int{"key": 0, "value": 1}[a.get(1, "key")]
	if !ok {
		s.fail("FilterArgumentError", "dictsort sorts by \"key\" or \"value\"")
	}
	items := s.list(&view{d, "items"})
	keys := keysOf(s, items, func(item any) any { return ignoreCase(item.(*tuple).items[at], a.truth(0)) })
	items, _ = s.sorted(items, keys, a.truth(2))
	return newList(items)
}

func groupBy(s *run, a *args) any {
	items := s.list(a.self)
	var def any
	if a.has(1) {
		def = a.pos[1]
	}
	path := pathOf(s, a.pos[0])
	keys := keysOf(s, items, func(item any) any { return ignoreCase(followOf(s, item, path, def), a.truth(2)) })
	items, keys = s.sorted(items, keys, false)
	var groups []any
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && s.equal(keys[from], keys[to]) {
			to++
		}
		s.alloc(96)
		key := followOf(s, items[from], path, def)
		groups = append(groups, &tuple{[]any{key, newList(items[from:to:to])}, true})
		from = to
	}
	return newList(groups)
}

func uniqueOf(s *run, a *args) any {
	path := pathOf(s, a.pos[1])
	seen := map[any]bool{}
	return eagerly(s, a.self, func(v any) bool {
		h := s.hash(ignoreCase(followOf(s, v, path, nil), a.truth(0)))
		old := seen[h]
		if !old {
			s.alloc(48)
			seen[h] = true
		}
		return !old
	})
}

// eagerly returns a generator of the items that a function keeps; even an empty or undefined
// value is iterated over.
func eagerly(s *run, v any, keep func(any) bool) any {
	var items func() (any, bool)
	return &generator{"generator", func() (any, bool) {
		if items == nil {
			items = s.iterate(v)
		}
		for {
			item, ok := items()
			if !ok || keep(item) {
				return item, ok
			}
		}
	}}
}

// extreme is min and max.
func extremeOf(s *run, a *args, op string) any {
	path := pathOf(s, a.pos[1])
	var best, bestKey any
	for items := s.iterate(a.self); ; {
		item, ok := items()
		if !ok {
			break
		}
		key := ignoreCase(followOf(s, item, path, nil), a.truth(0))
		if best == nil || s.holds(op, key, bestKey) {
			best, bestKey = item, key
		}
	}
	if best == nil {
		return &undefined{hint: "there is no aggregated item, as the sequence is empty"}
	}
	return best
}

func sumOf(s *run, a *args) any {
	path := pathOf(s, a.pos[0])
	total := a.get(1, int64(0))
	if _, ok := text(total); ok {
		s.fail("TypeError", "sum cannot add strings: use join")
	}
	for items := s.iterate(a.self); ; {
		item, ok := items()
		if !ok {
			return total
		}
		total = s.operate("+", total, followOf(s, item, path, nil))
	}
}

func joinOf(s *run, a *args) any {
	items := a.self
	if a.has(1) {
		path := pathOf(s, a.pos[1])
		from := s.iterate(items)
		items = &generator{"map", func() (any, bool) {
			v, ok := from()
			if ok {
				v = followOf(s, v, path, nil)
			}
			return v, ok
		}}
	}
	next := s.iterate(items)
	texts := &generator{"map", func() (any, bool) {
		v, ok := next()
		if ok {
			v = s.str(v)
		}
		return v, ok
	}}
	return s.joinStrings(&args{self: s.str(a.get(0, "")), pos: []any{texts}})
}

func batchOf(s *run, a *args) any {
	n := s.toInt(a.pos[0])
	var items func() (any, bool)
	return &generator{"generator", func() (any, bool) {
		if items == nil {
			items = s.iterate(a.self)
		}
		var row []any
		for int64(len(row)) != n || n == 0 && row == nil {
			v, ok := items()
			if !ok {
				break
			}
			s.alloc(32)
			row = append(row, v)
		}
		if row == nil {
			return nil, false
		}
		if missing := n - int64(len(row)); missing > 0 && a.has(1) {
			s.allocN(missing, 32)
			for range missing {
				row = append(row, a.pos[1])
			}
		}
		return newList(row), true
	}}
}

func slicesOf(s *run, a *args) any {
	var items []any
	n, at, from := int64(0), int64(-1), int64(0)
	return &generator{"generator", func() (any, bool) {
		if at++; at == 0 {
			items = s.list(a.self)
			if n = s.toInt(a.pos[0]); n == 0 {
				s.zero()
			}
		}
		if at >= n {
			return nil, false
		}
		s.step(1)
		size, extra := int64(len(items))/n, int64(len(items))%n
		to := from + size
		if at < extra {
			to++
		}
		row := items[from:to:to]
		from = to
		if a.has(1) && at >= extra {
			row = s.joinItems(row, a.pos[1:2])
		}
		return newList(row), true
	}}
}

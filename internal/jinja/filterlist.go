package jinja

import (
	"strings"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// Filters of sequences.

func firstOf(s *pyvalue.Run, v any) any {
	if item, ok := s.Iterate(v)(); ok {
		return item
	}
	return &pyvalue.Undefined{Hint: "there is no first item, as the sequence is empty"}
}

func lastOf(s *pyvalue.Run, v any) any {
	if item, ok := backwards(s, v)(); ok {
		return item
	}
	return &pyvalue.Undefined{Hint: "there is no last item, as the sequence is empty"}
}

// backwards returns an iterator from the end, as Python's reversed.
func backwards(s *pyvalue.Run, v any) func() (any, bool) {
	switch v.(type) {
	case *pyvalue.Generator, *loop:
	default:
		if n, ok := pyvalue.Length(v); ok {
			items := s.List(v)
			return pyvalue.Counted(n, func(i int64) any {
				s.Step(1)
				return items[n-1-i]
			})
		}
	}
	s.Fail("TypeError", "a value of type %s has no last item", pyvalue.TypeName(v))
	return nil
}

func reverseOf(s *pyvalue.Run, v any) any {
	switch v := v.(type) {
	case string, pyvalue.Markup:
		return s.Slice(v, pyvalue.None, pyvalue.None, int64(-1))
	case *pyvalue.Generator:
		return s.Slice(pyvalue.NewList(s.List(v)), pyvalue.None, pyvalue.None, int64(-1))
	}
	return &pyvalue.Generator{Name: "reversed", Next: backwards(s, v)}
}

// keysOf returns the keys by which items are compared.
func keysOf(s *pyvalue.Run, items []any, key func(item any) any) []any {
	s.AllocN(int64(len(items)), 16)
	keys := make([]any, len(items))
	for i, item := range items {
		keys[i] = key(item)
	}
	return keys
}

func sortOf(s *pyvalue.Run, a *pyvalue.Args) any {
	paths := []attribute{nil}
	if name, ok := pyvalue.Text(a.Pos[2]); ok {
		paths = nil
		for _, part := range strings.Split(name, ",") {
			paths = append(paths, pathOf(s, part))
		}
	} else {
		paths[0] = pathOf(s, a.Pos[2])
	}
	items := s.List(a.Self)
	keys := keysOf(s, items, func(item any) any {
		s.Alloc(24 + 16*len(paths))
		parts := make([]any, len(paths))
		for i, path := range paths {
			parts[i] = ignoreCase(followOf(s, item, path, nil), a.Truth(1))
		}
		return pyvalue.NewList(parts)
	})
	items, _ = s.Sorted(items, keys, a.Truth(0))
	return pyvalue.NewList(items)
}

func dictSort(s *pyvalue.Run, a *pyvalue.Args) any {
	d, ok := a.Self.(*pyvalue.Dict)
	if !ok {
		s.Fail("TypeError", "dictsort needs a dict, not a value of type %s", pyvalue.TypeName(a.Self))
	}
	at, ok := map[any]int{"key": 0, "value": 1}[a.Get(1, "key")]
	if !ok {
		s.Fail("FilterArgumentError", "dictsort sorts by \"key\" or \"value\"")
	}
	items := s.List(&pyvalue.View{Of: d, Kind: "items"})
	keys := keysOf(s, items, func(item any) any { return ignoreCase(item.(*pyvalue.Tuple).Items[at], a.Truth(0)) })
	items, _ = s.Sorted(items, keys, a.Truth(2))
	return pyvalue.NewList(items)
}

func groupBy(s *pyvalue.Run, a *pyvalue.Args) any {
	items := s.List(a.Self)
	var def any
	if a.Has(1) {
		def = a.Pos[1]
	}
	path := pathOf(s, a.Pos[0])
	keys := keysOf(s, items, func(item any) any { return ignoreCase(followOf(s, item, path, def), a.Truth(2)) })
	items, keys = s.Sorted(items, keys, false)
	var groups []any
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && s.Equal(keys[from], keys[to]) {
			to++
		}
		s.Alloc(96)
		key := followOf(s, items[from], path, def)
		groups = append(groups, &pyvalue.Tuple{Items: []any{key, pyvalue.NewList(items[from:to:to])}, Group: true})
		from = to
	}
	return pyvalue.NewList(groups)
}

func uniqueOf(s *pyvalue.Run, a *pyvalue.Args) any {
	path := pathOf(s, a.Pos[1])
	seen := map[any]bool{}
	return eagerly(s, a.Self, func(v any) bool {
		h := s.Hash(ignoreCase(followOf(s, v, path, nil), a.Truth(0)))
		old := seen[h]
		if !old {
			s.Alloc(48)
			seen[h] = true
		}
		return !old
	})
}

// eagerly returns a generator of the items that a function keeps; even an empty or undefined
// value is iterated over.
func eagerly(s *pyvalue.Run, v any, keep func(any) bool) any {
	var items func() (any, bool)
	return &pyvalue.Generator{Name: "generator", Next: func() (any, bool) {
		if items == nil {
			items = s.Iterate(v)
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
func extremeOf(s *pyvalue.Run, a *pyvalue.Args, op string) any {
	path := pathOf(s, a.Pos[1])
	var best, bestKey any
	for items := s.Iterate(a.Self); ; {
		item, ok := items()
		if !ok {
			break
		}
		key := ignoreCase(followOf(s, item, path, nil), a.Truth(0))
		if best == nil || s.Holds(op, key, bestKey) {
			best, bestKey = item, key
		}
	}
	if best == nil {
		return &pyvalue.Undefined{Hint: "there is no aggregated item, as the sequence is empty"}
	}
	return best
}

func sumOf(s *pyvalue.Run, a *pyvalue.Args) any {
	path := pathOf(s, a.Pos[0])
	total := a.Get(1, int64(0))
	if _, ok := pyvalue.Text(total); ok {
		s.Fail("TypeError", "sum cannot add strings: use join")
	}
	for items := s.Iterate(a.Self); ; {
		item, ok := items()
		if !ok {
			return total
		}
		total = s.Operate("+", total, followOf(s, item, path, nil))
	}
}

func joinOf(s *pyvalue.Run, a *pyvalue.Args) any {
	items := a.Self
	if a.Has(1) {
		path := pathOf(s, a.Pos[1])
		from := s.Iterate(items)
		items = &pyvalue.Generator{Name: "map", Next: func() (any, bool) {
			v, ok := from()
			if ok {
				v = followOf(s, v, path, nil)
			}
			return v, ok
		}}
	}
	next := s.Iterate(items)
	texts := &pyvalue.Generator{Name: "map", Next: func() (any, bool) {
		v, ok := next()
		if ok {
			v = s.Str(v)
		}
		return v, ok
	}}
	return s.JoinStrings(&pyvalue.Args{Self: s.Str(a.Get(0, "")), Pos: []any{texts}})
}

func batchOf(s *pyvalue.Run, a *pyvalue.Args) any {
	n := s.ToInt(a.Pos[0])
	var items func() (any, bool)
	var row []any
	return &pyvalue.Generator{Name: "generator", Next: func() (any, bool) {
		if items == nil {
			items = s.Iterate(a.Self)
		}
		for {
			v, ok := items()
			if !ok {
				break
			}
			s.Alloc(32)
			full := row
			if int64(len(row)) == n { // before the first item too, if n is 0
				row = []any{v}
				return pyvalue.NewList(full), true
			}
			row = append(row, v)
		}
		last := row
		if row = nil; last == nil {
			return nil, false
		}
		if missing := n - int64(len(last)); missing > 0 && a.Has(1) {
			s.AllocN(missing, 32)
			for range missing {
				last = append(last, a.Pos[1])
			}
		}
		return pyvalue.NewList(last), true
	}}
}

func slicesOf(s *pyvalue.Run, a *pyvalue.Args) any {
	var items []any
	n, at, from := int64(0), int64(-1), int64(0)
	return &pyvalue.Generator{Name: "generator", Next: func() (any, bool) {
		if at++; at == 0 {
			items = s.List(a.Self)
			if n = s.ToInt(a.Pos[0]); n == 0 {
				s.Zero()
			}
		}
		if at >= n {
			return nil, false
		}
		s.Step(1)
		size, extra := int64(len(items))/n, int64(len(items))%n
		to := from + size
		if at < extra {
			to++
		}
		row := items[from:to:to]
		from = to
		if a.Has(1) && at >= extra {
			row = s.JoinItems(row, a.Pos[1:2])
		}
		return pyvalue.NewList(row), true
	}}
}

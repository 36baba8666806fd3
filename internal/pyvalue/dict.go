package pyvalue

import (
	"math"
	"strconv"
)

// A Dict is a Python dict: it keeps the order in which its keys came.
type Dict struct {
	Entries []entry
	index   map[any]int // by hash, once there are more than a few entries
}

type entry struct{ Key, hash, Value any }

// linear is the number of entries up to which a search without an index is as fast.
const linear = 8

// Set gives a key a value, which must be one of this package: From converts others.
func (d *Dict) Set(key string, value any) { d.set(key, key, value) }

// Get returns the value of a key.
func (d *Dict) Get(key string) (any, bool) {
	v := d.at(key)
	return v, v != nil
}

// at returns the value at a hash, or nil.
func (d *Dict) at(hash any) any {
	if i := d.find(hash); i >= 0 {
		return d.Entries[i].Value
	}
	return nil
}

// Len returns the number of keys.
func (d *Dict) Len() int { return len(d.Entries) }

func (d *Dict) find(hash any) int {
	if d.index != nil {
		if i, ok := d.index[hash]; ok {
			return i
		}
		return -1
	}
	for i := range d.Entries {
		if d.Entries[i].hash == hash {
			return i
		}
	}
	return -1
}

func (d *Dict) set(key, hash, value any) {
	if i := d.find(hash); i >= 0 {
		d.Entries[i].Value = value
		return
	}
	d.Entries = append(d.Entries, entry{key, hash, value})
	switch n := len(d.Entries); {
	case d.index != nil:
		d.index[hash] = n - 1
	case n > linear:
		d.index = map[any]int{}
		for i := range d.Entries {
			d.index[d.Entries[i].hash] = i
		}
	}
}

func (d *Dict) copy() *Dict {
	c := &Dict{}
	for _, e := range d.Entries {
		c.set(e.Key, e.hash, e.Value)
	}
	return c
}

// A tupleHash is the hash of a tuple: the text of the hashes of its items.
type tupleHash string

// undefinedHash is the hash of undefined values, which are all equal.
type undefinedHash struct{}

// Hash returns a comparable value that is the same for equal values.
func (s *Run) Hash(v any) any {
	h := s.hashOf(v)
	if h == nil {
		s.Fail("TypeError", "a value of type %s cannot be a key", TypeName(v))
	}
	return h
}

// hashOf is hash, and nil for a value that cannot be a key.
func (s *Run) hashOf(v any) any {
	switch v := v.(type) {
	case bool:
		n, _ := Integer(v)
		return n
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v)
		}
	case Markup:
		return string(v)
	case *Undefined:
		return undefinedHash{}
	case *Tuple:
		s.Descend()
		defer func() { s.Depth-- }()
		text := []byte{'('}
		for _, item := range v.Items {
			s.Step(1)
			h := s.hashOf(item)
			if h == nil {
				return nil
			}
			text = appendHash(text, h)
		}
		s.Alloc(len(text))
		return tupleHash(text)
	case *List, *Dict:
		return nil
	case *View:
		if v.Kind != "values" {
			return nil
		}
	}
	return v
}

func appendHash(text []byte, h any) []byte {
	switch h := h.(type) {
	case int64:
		return strconv.AppendInt(append(text, 'i'), h, 10)
	case float64:
		return strconv.AppendFloat(append(text, 'f'), h, 'g', -1, 64)
	case string:
		return append(strconv.AppendInt(append(text, 's'), int64(len(h)), 10), ":"+h...)
	case tupleHash:
		return append(append(text, h...), ')')
	case noneType:
		return append(text, 'n')
	case undefinedHash:
		return append(text, 'u')
	}
	return append(text, pointerText(h)...)
}

// Get returns the value of any key, nil if the dict lacks it.
func (s *Run) Get(d *Dict, key any) any { return d.at(s.Hash(key)) }

// Put gives any key a value.
func (s *Run) Put(d *Dict, key, value any) {
	s.Alloc(96)
	d.set(key, s.Hash(key), value)
}

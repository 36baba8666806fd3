package lru

import (
	"slices"
	"testing"
)

// Trim keeps the entries used last, in whichever way they were used.
func TestTrim(t *testing.T) {
	var c Cache[string, int]
	entries := map[string]*Entry[string, int]{}
	for i, key := range []string{"a", "b", "c", "d", "e"} {
		entries[key] = c.Put(key, i)
	}
	var evicted []int
	trim := func(limit int) { c.Trim(limit, func(v int) { evicted = append(evicted, v) }) }
	trim(5)
	if c.Len() != 5 || evicted != nil {
		t.Errorf("Trim(5) of 5 entries evicts %v", evicted)
	}
	c.Get("a")
	c.Use(entries["c"])
	trim(4)
	if want := []int{1, 3, 4}; !slices.Equal(evicted, want) {
		t.Errorf("Trim(4) evicts %v, want %v: a and c were used after them", evicted, want)
	}
	if e := c.Get("c"); e == nil || e.Key != "c" || e.Value != 2 {
		t.Errorf("Get(c) = %v, want the value 2", e)
	}
	if e := c.Get("b"); e != nil {
		t.Errorf("Get(b) = %v after it was evicted", e)
	}
	if !c.Has(entries["a"]) || c.Has(entries["b"]) {
		t.Errorf("Has(a) = %v and Has(b) = %v, want true and false", c.Has(entries["a"]), c.Has(entries["b"]))
	}
	if e := c.Put("c", 2); !c.Has(e) || c.Has(entries["c"]) {
		t.Errorf("after Put(c): Has = %v, and %v of the entry before, want true and false", c.Has(e), c.Has(entries["c"]))
	}
	c.Delete("a")
	if e := c.Get("a"); e != nil || c.Len() != 1 {
		t.Errorf("after Delete(a): Get(a) = %v, Len = %d, want nil and 1", e, c.Len())
	}
}

// Entries of one block are entries of their own, and Put never returns one that was removed.
func TestBlocks(t *testing.T) {
	c := Cache[int, int]{Block: 3}
	var all []*Entry[int, int]
	for i := range 7 {
		all = append(all, c.Put(i, 10*i))
	}
	c.Delete(1)
	all = append(all, c.Put(1, 11))
	for i, e := range all {
		want := c.Get(e.Key) == e
		if got := c.Has(e); got != want || got != (i != 1) {
			t.Errorf("Has(entry %d) = %v, Get finds it: %v", i, got, want)
		}
		if i != 7 && (e.Key != i || e.Value != 10*i) {
			t.Errorf("entry %d has key %d and value %d", i, e.Key, e.Value)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		c := Cache[int, int]{Block: 64, entries: c.entries}
		for range 64 {
			c.Put(0, 0)
		}
	}); n > 2 {
		t.Errorf("64 entries are %v objects, want 1", n)
	}
}

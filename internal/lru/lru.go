// Package lru holds the one cache of the module that forgets.
package lru

import (
	"cmp"
	"maps"
	"slices"
)

// A Cache holds values by key and the order of their last use. It is for one
// goroutine at a time. The zero Cache is empty.
type Cache[K comparable, V any] struct {
	entries map[K]*Entry[K, V]
	clock   int64 // counts uses
}

// An Entry is a key and its value.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
	used  int64
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Get returns the entry of a key and notes its use; nil if there is none.
func (c *Cache[K, V]) Get(key K) *Entry[K, V] {
	e := c.entries[key]
	if e != nil {
		c.Use(e)
	}
	return e
}

// Use notes the use of an entry, as Get does, without a lookup.
func (c *Cache[K, V]) Use(e *Entry[K, V]) {
	c.clock++
	e.used = c.clock
}

// Put sets the value of a key and returns its entry.
func (c *Cache[K, V]) Put(key K, v V) *Entry[K, V] {
	if c.entries == nil {
		c.entries = map[K]*Entry[K, V]{}
	}
	e := &Entry[K, V]{Key: key, Value: v}
	c.entries[key] = e
	c.Use(e)
	return e
}

// Delete removes the entry of a key, if there is one.
func (c *Cache[K, V]) Delete(key K) { delete(c.entries, key) }

// Trim does nothing up to limit entries. Beyond, it removes the least recently
// used until limit/2 are left, and calls evicted with each.
func (c *Cache[K, V]) Trim(limit int, evicted func(V)) {
	if len(c.entries) <= limit {
		return
	}
	oldest := slices.SortedFunc(maps.Values(c.entries), func(a, b *Entry[K, V]) int { return cmp.Compare(a.used, b.used) })
	for _, e := range oldest[:len(oldest)-limit/2] {
		delete(c.entries, e.Key)
		if evicted != nil {
			evicted(e.Value)
		}
	}
}

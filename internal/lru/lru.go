// Package lru holds the one cache of the module that forgets.
package lru

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/internal/sorts"
)

// A Cache holds values by key and the order of their last use. Any number of goroutines may
// use it; hits do not wait for each other. The zero Cache is empty.
type Cache[K comparable, V any] struct {
	// Block is the number of entries that are one object in memory, 0 for 1. Go's collector visits every
	// object, but an entry in use keeps all of its block, removed keys and values too.
	Block int

	mu      sync.RWMutex
	entries map[K]*Entry[K, V]
	clock   atomic.Int64  // counts calls of Put
	block   []Entry[K, V] // not used yet
}

// An Entry is a key and its value.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
	used  atomic.Int64 // the clock at the last use
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.entries)
}

// Get returns the entry of a key and notes its use, or nil.
func (c *Cache[K, V]) Get(key K) *Entry[K, V] {
	c.mu.RLock()
	e := c.entries[key]
	c.mu.RUnlock()
	if e != nil {
		c.Use(e)
	}
	return e
}

// Has reports whether an entry is in the cache. It is no use of the entry.
func (c *Cache[K, V]) Has(e *Entry[K, V]) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.entries[e.Key] == e
}

// Use notes the use of an entry, as Get does, without a lookup. It writes nothing if that
// use is known, so that the entry may stay in the caches of all cores.
func (c *Cache[K, V]) Use(e *Entry[K, V]) {
	if now := c.clock.Load() + 1; e.used.Load() != now {
		e.used.Store(now)
	}
}

// Put sets the value of a key and returns its entry.
func (c *Cache[K, V]) Put(key K, v V) *Entry[K, V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[K]*Entry[K, V]{}
	}
	if len(c.block) == 0 {
		c.block = make([]Entry[K, V], max(1, c.Block))
	}
	e := &c.block[0]
	c.block = c.block[1:]
	e.Key, e.Value = key, v
	e.used.Store(c.clock.Add(1))
	c.entries[key] = e
	return e
}

// Delete removes the entry of a key, if there is one.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}

// Trim does nothing up to limit entries. Beyond, it removes the least recently
// used until limit/2 are left, and calls evicted with each. Uses between two calls of
// Put are in no order.
func (c *Cache[K, V]) Trim(limit int, evicted func(V)) {
	for _, e := range c.trim(limit) {
		if evicted != nil {
			evicted(e.Value)
		}
	}
}

// trim removes entries and returns them.
func (c *Cache[K, V]) trim(limit int) []*Entry[K, V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) <= limit {
		return nil
	}
	oldest := slices.Collect(maps.Values(c.entries))
	sorts.Stable(oldest, func(a, b *Entry[K, V]) int { return cmp.Compare(a.used.Load(), b.used.Load()) })
	oldest = oldest[:len(oldest)-limit/2]
	for _, e := range oldest {
		delete(c.entries, e.Key)
	}
	return oldest
}

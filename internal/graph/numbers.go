package graph

import "unsafe"

// Numbers is a map from nodes to integers. It is a hash table with linear probing, which is
// cheaper than Go's map: graphs are made once and walked many times. The zero value is
// empty.
type Numbers struct {
	slots   []int32    // 1 + an index in entries, 0 if free; a power of two
	entries []numbered // in the order of Set; at most half as many as slots
}

type numbered struct {
	n      *Node
	number int
}

const minSlots = 64

// slot returns where the index of n is in slots, or where it belongs.
func (m *Numbers) slot(n *Node) uint {
	const golden = 0x9E3779B97F4A7C15 // 2⁶⁴ over the golden ratio, for Fibonacci hashing
	mask := uint(len(m.slots) - 1)
	// The address of an object on the heap does not change.
	i := uint(uint64(uintptr(unsafe.Pointer(n)))*golden>>32) & mask
	for m.slots[i] != 0 && m.entries[m.slots[i]-1].n != n {
		i = (i + 1) & mask
	}
	return i
}

// Len returns how many nodes have a number.
func (m *Numbers) Len() int { return len(m.entries) }

// Get returns the number of n, and whether it has one.
func (m *Numbers) Get(n *Node) (number int, ok bool) {
	if len(m.entries) == 0 {
		return 0, false
	}
	k := m.slots[m.slot(n)]
	if k == 0 {
		return 0, false
	}
	return m.entries[k-1].number, true
}

// Set gives n, which has none, a number.
func (m *Numbers) Set(n *Node, number int) {
	if 2*len(m.entries) == len(m.slots) {
		m.grow()
	}
	m.entries = append(m.entries, numbered{n, number})
	m.slots[m.slot(n)] = int32(len(m.entries))
}

func (m *Numbers) grow() {
	m.slots = make([]int32, max(2*len(m.slots), minSlots))
	m.entries = append(make([]numbered, 0, len(m.slots)/2), m.entries...)
	for k, e := range m.entries {
		m.slots[m.slot(e.n)] = int32(k + 1)
	}
}

// Clear removes all nodes and keeps the memory.
func (m *Numbers) Clear() {
	for k := len(m.entries) - 1; k >= 0; k-- { // the last first, so that probing finds the others
		m.slots[m.slot(m.entries[k].n)] = 0
	}
	clear(m.entries)
	m.entries = m.entries[:0]
}

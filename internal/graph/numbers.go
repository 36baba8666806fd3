package graph

import "unsafe"

// Numbers is a map from nodes to integers. It is open addressing with linear probing,
// several times as fast as Go's map: graphs are made once and walked many times. The zero
// value is empty.
type Numbers struct {
	slots []numbered // a power of two, at most half of them in use
	used  []int32    // positions in slots, in the order of Set
}

type numbered struct {
	n      *Node // nil if the slot is free
	number int
}

const minSlots = 64

// slot returns the position of n in slots, or of the free slot where it belongs.
func (m *Numbers) slot(n *Node) uint {
	const golden = 0x9E3779B97F4A7C15 // 2⁶⁴ over the golden ratio, for Fibonacci hashing
	mask := uint(len(m.slots) - 1)
	// The address of an object of the heap does not change.
	i := uint(uint64(uintptr(unsafe.Pointer(n)))*golden>>32) & mask
	for m.slots[i].n != n && m.slots[i].n != nil {
		i = (i + 1) & mask
	}
	return i
}

// Len returns how many nodes have a number.
func (m *Numbers) Len() int { return len(m.used) }

// Get returns the number of n, and whether it has one.
func (m *Numbers) Get(n *Node) (number int, ok bool) {
	if len(m.used) == 0 {
		return 0, false
	}
	s := &m.slots[m.slot(n)]
	return s.number, s.n != nil
}

// Set gives n a number.
func (m *Numbers) Set(n *Node, number int) {
	if 2*len(m.used) >= len(m.slots) {
		m.grow()
	}
	i := m.slot(n)
	if m.slots[i].n == nil {
		m.used = append(m.used, int32(i))
	}
	m.slots[i] = numbered{n, number}
}

func (m *Numbers) grow() {
	old := m.slots
	m.slots = make([]numbered, max(2*len(old), minSlots))
	for k, i := range m.used {
		s := old[i]
		at := m.slot(s.n)
		m.slots[at], m.used[k] = s, int32(at)
	}
}

// Clear removes all nodes and keeps the memory.
func (m *Numbers) Clear() {
	for _, i := range m.used {
		m.slots[i] = numbered{}
	}
	m.used = m.used[:0]
}

package subword

import (
	"math/bits"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
)

// pairs maps pairs of ids to the rank and the result of their merge, by open addressing.
type pairs struct {
	slots []pairSlot
	shift int
}

type pairSlot struct {
	key      uint64 // 0: free
	rank, id int32
}

func newPairs(n int) pairs {
	size := max(8, 1<<bits.Len(uint(n*2)))
	return pairs{make([]pairSlot, size), 64 - bits.Len(uint(size-1))}
}

// pairKey is not 0, and has no highest bit, for ids from -1 on.
func pairKey(a, b int32) uint64 { return uint64(uint32(a+1))<<32 | uint64(uint32(b+1)) }

func hashPair(key uint64) uint64 { return (key ^ key>>29) * 0x9e3779b97f4a7c15 }

// set adds a pair; the last of equal ones counts.
func (p *pairs) set(a, b, rank, id int32) {
	key := pairKey(a, b)
	for i := hashPair(key) >> p.shift; ; i = (i + 1) & uint64(len(p.slots)-1) {
		if s := &p.slots[i]; s.key == 0 || s.key == key {
			*s = pairSlot{key, rank, id}
			return
		}
	}
}

// get returns the rank of a pair, noRank if it is not merged, and the result.
func (p *pairs) get(a, b int32) (rank, id int32) {
	key := pairKey(a, b)
	for i := hashPair(key) >> p.shift; ; i = (i + 1) & uint64(len(p.slots)-1) {
		switch s := &p.slots[i]; s.key {
		case key:
			return s.rank, s.id
		case 0:
			return noRank, -1
		}
	}
}

// A candidate is a pair that may be merged: of the symbol at pos and the one after it.
type candidate struct {
	rank, pos, id int32
}

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.pos < d.pos
}

// merge merges symbols, which are linked in order, and returns the remaining ones.
func (m *BPE) merge(st *State, list []symbol) []symbol {
	heap := st.heap[:0]
	last := int32(len(list)) - 1
	for i := int32(0); i < last; i++ {
		if rank, id := m.merges.get(list[i].id, list[i+1].id); rank != noRank {
			heap = append(heap, candidate{rank, i, id})
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for len(heap) > 0 {
		c := heap[0]
		heap[0] = heap[len(heap)-1]
		heap = heap[:len(heap)-1]
		sink(heap, 0)
		at := &list[c.pos]
		if at.size < 0 || at.next > last {
			continue
		}
		right := &list[at.next]
		if rank, id := m.merges.get(at.id, right.id); rank == noRank || id != c.id {
			continue // one of the two has changed
		}
		at.id, at.size, at.next = c.id, at.size+right.size, right.next
		right.size = -1
		if at.next <= last {
			list[at.next].prev = c.pos
			if rank, id := m.merges.get(at.id, list[at.next].id); rank != noRank {
				heap = push(heap, candidate{rank, c.pos, id})
			}
		}
		if at.prev >= 0 {
			if rank, id := m.merges.get(list[at.prev].id, at.id); rank != noRank {
				heap = push(heap, candidate{rank, at.prev, id})
			}
		}
	}
	st.heap = heap
	n := 0
	for i := int32(0); i <= last; i = list[i].next {
		s := list[i]
		list[n].id, list[n].size = s.id, s.size
		n++
	}
	return list[:n]
}

func push(heap []candidate, c candidate) []candidate {
	heap = append(heap, c)
	for i := len(heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !heap[i].before(heap[up]) {
			break
		}
		heap[i], heap[up] = heap[up], heap[i]
		i = up
	}
	return heap
}

func sink(heap []candidate, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if heap[child].before(heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// cover appends the tokens that merging gives for a text whose characters all have tokens.
//
// A row of tokens is the result of merging if and only if each pair of neighbours is, when it is
// merged alone: no merge crosses their border then, and none is missing. So cover goes through the
// text from left to right, takes the longest token that may follow the one before, and where none
// may goes back and takes a shorter one; it marks places from which no way leads on, so that it
// passes each only once (the algorithm of GitHub's rust-gems, crate BPE).
func (m *BPE) cover(st *State, s string, base int, toks []Tok) []Tok {
	start, pos := len(toks), 0
	dead := st.deadEnds(len(s) + 1)
	next, _ := m.trie.Longest(s)
	for pos < len(s) {
		before := int32(-1)
		if len(toks) > start {
			before = toks[len(toks)-1].ID
		}
		for next >= 0 {
			end := pos + len(m.names[next])
			if dead[end>>6]>>(end&63)&1 == 0 && m.follows(st, before, next) {
				break
			}
			next = m.prefer[next]
		}
		if next >= 0 {
			end := pos + len(m.names[next])
			toks = append(toks, Tok{next, int32(base + pos), int32(base + end)})
			pos = end
			next, _ = m.trie.Longest(s[pos:])
			continue
		}
		dead[pos>>6] |= 1 << (pos & 63)
		if len(toks) == start { // cannot be: merging has a result
			return m.byHeap(st, s, base, toks)
		}
		t := toks[len(toks)-1]
		toks = toks[:len(toks)-1]
		pos -= int(t.Hi - t.Lo)
		next = t.ID
	}
	return toks
}

// byHeap is cover by its definition.
func (m *BPE) byHeap(st *State, s string, base int, toks []Tok) []Tok {
	list := m.chars(st.symbols[:0], s)
	list = m.merge(st, list)
	st.symbols = list
	for _, y := range list {
		toks = append(toks, Tok{y.id, int32(base), int32(base) + y.size})
		base += int(y.size)
	}
	return toks
}

// chars appends the characters of a text, which all have tokens.
func (m *BPE) chars(list []symbol, s string) []symbol {
	for i := 0; i < len(s); {
		size := 1
		if !m.Raw {
			size = match.RuneSize(s[i:])
		}
		n := int32(len(list))
		list = append(list, symbol{m.singleRune(s[i : i+size]), int32(size), n - 1, n + 1})
		i += size
	}
	return list
}

// follows reports whether merging the texts of a and b, one after the other, gives a and b; or, if
// a is -1, whether merging the text of b gives b.
func (m *BPE) follows(st *State, a, b int32) bool {
	const yes = 1 << 63
	key := pairKey(a, b)
	memo := &st.follows[hashPair(key)>>(64-followBits)]
	if *memo&^yes == key {
		return *memo&yes != 0
	}
	list := st.symbols[:0]
	if a >= 0 {
		list = m.chars(list, m.names[a])
	}
	list = m.chars(list, m.names[b])
	st.symbols = list
	list = m.merge(st, list)
	*memo = key
	if n := len(list); list[n-1].id == b && (n == 1 && a < 0 || n == 2 && list[0].id == a) {
		*memo |= yes
		return true
	}
	return false
}

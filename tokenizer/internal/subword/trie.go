package subword

import "slices"

// A Trie finds keys that begin a text. It is a double array: the child of node n by byte c is
// base[n] + c if that slot's check is n (J. Aoe, An Efficient Digital Search Algorithm by Using a
// Double-Array Structure, 1989).
type Trie struct {
	nodes []trieNode
}

type trieNode struct {
	base, check int32
	value       int32 // of the key that ends here, -1 if none does
}

// newTrie returns a trie of keys, sorted and without repetitions, and not empty; values belong to them.
func newTrie(keys []string, values []int32) *Trie {
	b := trieBuilder{Trie: &Trie{}, keys: keys, values: values, free: 1}
	b.grow(512)
	b.nodes[0].check = 0
	if len(keys) > 0 {
		b.place(0, 0, len(keys), 0)
	}
	return b.Trie
}

type trieBuilder struct {
	*Trie
	keys   []string
	values []int32
	free   int // no slot before it is worth a look
}

func (b *trieBuilder) grow(n int) {
	for len(b.nodes) < n {
		b.nodes = append(b.nodes, trieNode{check: -1, value: -1})
	}
}

// place gives node the children of keys lo to hi, which agree in their first depth bytes.
func (b *trieBuilder) place(node int32, lo, hi, depth int) {
	if len(b.keys[lo]) == depth {
		b.nodes[node].value = b.values[lo]
		lo++
	}
	if lo == hi {
		return
	}
	var bytes []byte
	var firsts []int
	for i := lo; i < hi; {
		c := b.keys[i][depth]
		bytes, firsts = append(bytes, c), append(firsts, i)
		for i < hi && b.keys[i][depth] == c {
			i++
		}
	}
	base := b.find(bytes)
	b.nodes[node].base = int32(base)
	for _, c := range bytes {
		b.nodes[base+int(c)].check = node
	}
	for i, c := range bytes {
		end := hi
		if i+1 < len(firsts) {
			end = firsts[i+1]
		}
		b.place(int32(base)+int32(c), firsts[i], end, depth+1)
	}
}

// find returns a base at which the slots of all bytes are free.
func (b *trieBuilder) find(bytes []byte) int {
	first, last := int(bytes[0]), int(bytes[len(bytes)-1])
	used, start := 0, max(b.free, first+1)
	for at := start; ; at++ {
		b.grow(at - first + last + 257)
		if b.nodes[at].check >= 0 {
			used++
			continue
		}
		base, fits := at-first, true
		for _, c := range bytes[1:] {
			if b.nodes[base+int(c)].check >= 0 {
				fits = false
				break
			}
		}
		if fits {
			if looked := at - start + 1; looked > 16 && used*20 > looked*19 {
				b.free = at // nearly all slots before are taken
			}
			return base
		}
		if at-start > 4096 { // look only at a part of a large, nearly full array
			b.free = max(b.free, at-1024)
			start, used = at, 0
		}
	}
}

// next returns the child of a node, -1 if it has none for this byte.
func (t *Trie) next(node int32, c byte) int32 {
	n := t.nodes[node].base + int32(c)
	if n > 0 && t.nodes[n].check == node {
		return n
	}
	return -1
}

// Longest returns the longest key that s begins with, and its length.
func (t *Trie) Longest(s string) (value int32, length int) {
	nodes, node, value := t.nodes, int32(0), int32(-1)
	for i := 0; i < len(s); i++ {
		n := nodes[node].base + int32(s[i])
		if nodes[n].check != node || n == 0 {
			break
		}
		node = n
		if v := nodes[n].value; v >= 0 {
			value, length = v, i+1
		}
	}
	return value, length
}

// TrieOf returns the trie of the keys of a map that are not empty.
func TrieOf(m map[string]int32) *Trie {
	keys := make([]string, 0, len(m))
	for s := range m {
		if s != "" {
			keys = append(keys, s)
		}
	}
	slices.Sort(keys)
	values := make([]int32, len(keys))
	for i, s := range keys {
		values[i] = m[s]
	}
	return newTrie(keys, values)
}

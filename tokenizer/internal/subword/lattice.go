package subword

import (
	"container/heap"
	"math"
	"slices"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
)

// A lattice has all ways to divide a word into pieces.
type lattice struct {
	model *Unigram
	nodes []latticeNode
	ends  [][]int32 // by place: the nodes that end there
	begin [][]int32
}

type latticeNode struct {
	id, lo, hi  int32
	score, best float64 // best: of a way that ends with this node
	prev        int32
}

func newLattice(pieces []Scored) *lattice {
	found := map[string]int32{}
	m := &Unigram{Scores: make([]float64, len(pieces)), least: math.Inf(1)}
	for i, p := range pieces {
		if m.Scores[i] = p.Score; i > 0 {
			found[p.Token] = int32(i)
			m.least = min(m.least, p.Score)
		}
	}
	m.trie = TrieOf(found)
	return &lattice{model: m}
}

// fill makes the nodes of a word. Node 0 is before it, the last one behind it.
func (l *lattice) fill(word string) {
	l.nodes = append(l.nodes[:0], latticeNode{id: -1, prev: -1})
	for len(l.ends) <= len(word) {
		l.ends, l.begin = append(l.ends, nil), append(l.begin, nil)
	}
	for i := range len(word) + 1 {
		l.ends[i], l.begin[i] = l.ends[i][:0], l.begin[i][:0]
	}
	l.ends[0] = append(l.ends[0], 0)
	add := func(id int32, lo, hi int, score float64) {
		n := int32(len(l.nodes))
		l.nodes = append(l.nodes, latticeNode{id: id, lo: int32(lo), hi: int32(hi), score: score})
		l.begin[lo], l.ends[hi] = append(l.begin[lo], n), append(l.ends[hi], n)
	}
	for pos := 0; pos < len(word); {
		size, single, node := match.RuneSize(word[pos:]), false, int32(0)
		for i := pos; i < len(word); i++ {
			if node = l.model.trie.next(node, word[i]); node < 0 {
				break
			}
			if id := l.model.trie.nodes[node].value; id >= 0 {
				add(id, pos, i+1, l.model.Scores[id])
				single = single || i+1 == pos+size
			}
		}
		if !single {
			add(0, pos, pos+size, l.model.least-unknownPenalty)
		}
		pos += size
	}
	n := int32(len(l.nodes))
	l.nodes = append(l.nodes, latticeNode{id: -1, lo: int32(len(word)), hi: int32(len(word))})
	l.begin[len(word)] = append(l.begin[len(word)], n)
	for i := range l.nodes[1:] { // in the order of their beginnings
		r := &l.nodes[i+1]
		for j, left := range l.ends[r.lo] {
			if score := l.nodes[left].best + r.score; j == 0 || score > r.best {
				r.best, r.prev = score, left
			}
		}
	}
}

// viterbi returns the best way to divide a word.
func (l *lattice) viterbi(word string) (ids []int32) {
	l.fill(word)
	for n := l.nodes[len(l.nodes)-1].prev; n > 0; n = l.nodes[n].prev {
		ids = append(ids, l.nodes[n].id)
	}
	slices.Reverse(ids)
	return ids
}

// expect returns how often each piece is expected in the words.
func (l *lattice) expect(words []WordCount) []float64 {
	expected := make([]float64, len(l.model.Scores))
	var alpha, beta []float64 // by place: of all ways to it, and from it
	for _, w := range words {
		l.fill(w.Word)
		n := len(w.Word)
		alpha, beta = slices.Grow(alpha[:0], n+1)[:n+1], slices.Grow(beta[:0], n+1)[:n+1]
		for pos := range n + 1 {
			for i, left := range l.ends[pos] {
				x := 0.0
				if left > 0 {
					x = l.nodes[left].score + alpha[l.nodes[left].lo]
				}
				alpha[pos] = logSumExp(alpha[pos], x, i == 0)
			}
		}
		beta[n] = 0
		for pos := n - 1; pos >= 0; pos-- {
			for i, right := range l.begin[pos] {
				beta[pos] = logSumExp(beta[pos], l.nodes[right].score+beta[l.nodes[right].hi], i == 0)
			}
		}
		for _, k := range l.nodes[1 : len(l.nodes)-1] {
			expected[k.id] += float64(w.Count) * math.Exp(alpha[k.lo]+k.score+beta[k.hi]-alpha[n])
		}
	}
	return expected
}

// logSumExp returns log(exp x + exp y), or y if it is the first.
func logSumExp(x, y float64, first bool) float64 {
	if first {
		return y
	}
	low, high := min(x, y), max(x, y)
	if high > low+50 {
		return high
	}
	return high + math.Log(math.Exp(low-high)+1)
}

// A hypothesis is a way from a node to the end of a word.
type hypothesis struct {
	node     int32
	next     *hypothesis
	fx, gx   float64 // the score of the best whole way that has it, and its own
	sequence int
}

type agenda []*hypothesis

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].fx > a[j].fx || a[i].fx == a[j].fx && a[i].sequence > a[j].sequence
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*hypothesis)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

// best2 returns the two best ways to divide a word, or the only one, by A* from its end.
func (l *lattice) best2(word string) (ways [][]int32) {
	l.fill(word)
	queue := agenda{{node: int32(len(l.nodes) - 1)}}
	for made := 1; len(queue) > 0 && len(ways) < 2; {
		top := heap.Pop(&queue).(*hypothesis)
		if top.node == 0 {
			var way []int32
			for h := top.next; h.next != nil; h = h.next {
				way = append(way, l.nodes[h.node].id)
			}
			ways = append(ways, way)
			continue
		}
		for _, left := range l.ends[l.nodes[top.node].lo] {
			heap.Push(&queue, &hypothesis{left, top, l.nodes[left].best + top.gx, l.nodes[left].score + top.gx, made})
			made++
		}
	}
	return ways
}

package subword

import (
	"container/heap"
	"math"
	"slices"
	"sort"
	"strings"
)

// BPEOptions are the settings of tokenizer.BPETrainer, without zeros that stand for other values.
type BPEOptions struct {
	VocabSize, MinFrequency, LimitAlphabet, MaxTokenLength int

	SpecialTokens                            []string
	InitialAlphabet                          []rune
	ContinuingSubwordPrefix, EndOfWordSuffix string
}

// A WordCount is a word and how often it occurs.
type WordCount struct {
	Word  string
	Count int
}

// TrainBPE returns the tokens that it learns from words, by id, and the merges.
func TrainBPE(o BPEOptions, words []WordCount) (tokens []string, merges [][2]string) {
	t := bpeTraining{BPEOptions: o, ids: map[string]int32{}}
	for _, token := range o.SpecialTokens {
		t.id(token)
	}
	t.alphabet(words)
	t.divide(words)
	t.merge()
	return t.names, t.merges
}

// bpeTraining is the state of a training.
type bpeTraining struct {
	BPEOptions
	ids    map[string]int32
	names  []string
	merges [][2]string
	words  [][]symbol // size is in characters
	counts []int
	pairs  map[[2]int32]int
}

// id returns the id of a token, a new one if need be.
func (t *bpeTraining) id(token string) int32 {
	id, ok := t.ids[token]
	if !ok {
		id = int32(len(t.names))
		t.ids[token] = id
		t.names = append(t.names, token)
	}
	return id
}

// alphabet gives ids to the characters.
func (t *bpeTraining) alphabet(words []WordCount) {
	counts := map[rune]int{}
	for _, w := range words {
		for _, r := range w.Word {
			counts[r] += w.Count
		}
	}
	for _, r := range t.InitialAlphabet {
		counts[r] = math.MaxInt
	}
	all := make([]rune, 0, len(counts))
	for r := range counts {
		all = append(all, r)
	}
	slices.Sort(all)
	if n := len(all) - t.LimitAlphabet; t.LimitAlphabet > 0 && n > 0 {
		sort.SliceStable(all, func(i, j int) bool { return counts[all[i]] < counts[all[j]] })
		all = all[n:]
		slices.Sort(all)
	}
	for _, r := range all {
		t.id(string(r))
	}
}

// divide turns words into rows of characters, without those that the alphabet lacks.
func (t *bpeTraining) divide(words []WordCount) {
	for _, w := range words {
		var row []symbol
		last := len(w.Word) - len(lastRune(w.Word))
		for i, r := range w.Word {
			s := string(r)
			if _, ok := t.ids[s]; !ok {
				continue
			}
			if i > 0 {
				s = t.ContinuingSubwordPrefix + s
			}
			if i == last {
				s += t.EndOfWordSuffix
			}
			row = append(row, symbol{id: t.id(s), size: 1})
		}
		t.words = append(t.words, row)
		t.counts = append(t.counts, w.Count)
	}
}

func lastRune(s string) string {
	runes := []rune(s)
	if len(runes) == 0 {
		return ""
	}
	return string(runes[len(runes)-1])
}

// A mergeCandidate is a pair, and the words that have it.
type mergeCandidate struct {
	pair  [2]int32
	count int
	words []int32
}

// mergeQueue has the most frequent pair first, among equal ones the pair with the lowest ids.
type mergeQueue []*mergeCandidate

func (q mergeQueue) Len() int { return len(q) }
func (q mergeQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	if a.count != b.count {
		return a.count > b.count
	}
	return slices.Compare(a.pair[:], b.pair[:]) < 0
}
func (q mergeQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *mergeQueue) Push(x any)   { *q = append(*q, x.(*mergeCandidate)) }
func (q *mergeQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// merge merges the most frequent pair again and again.
func (t *bpeTraining) merge() {
	t.pairs = map[[2]int32]int{}
	found := map[[2]int32][]int32{}
	note := func(pair [2]int32, word int32) {
		if f := found[pair]; len(f) == 0 || f[len(f)-1] != word {
			found[pair] = append(f, word)
		}
	}
	for i, row := range t.words {
		for j := 1; j < len(row); j++ {
			pair := [2]int32{row[j-1].id, row[j].id}
			t.pairs[pair] += t.counts[i]
			note(pair, int32(i))
		}
	}
	var queue mergeQueue
	enqueue := func() {
		order := make([][2]int32, 0, len(found))
		for pair := range found {
			order = append(order, pair)
		}
		slices.SortFunc(order, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
		for _, pair := range order {
			if n := t.pairs[pair]; n > 0 {
				heap.Push(&queue, &mergeCandidate{pair, n, found[pair]})
			}
		}
		clear(found)
	}
	enqueue()
	for len(t.names) < t.VocabSize && len(queue) > 0 {
		top := heap.Pop(&queue).(*mergeCandidate)
		if n := t.pairs[top.pair]; n != top.count { // it has changed since it was queued
			top.count = n
			heap.Push(&queue, top)
			continue
		}
		if top.count < max(1, t.MinFrequency) {
			return
		}
		a, b := t.names[top.pair[0]], t.names[top.pair[1]]
		id := t.id(a + strings.TrimPrefix(b, t.ContinuingSubwordPrefix))
		t.merges = append(t.merges, [2]string{a, b})
		for _, w := range top.words {
			t.mergeWord(w, top.pair, id, note)
		}
		enqueue()
	}
}

// mergeWord replaces a pair in a word, and counts the pairs that vanish and appear.
func (t *bpeTraining) mergeWord(w int32, pair [2]int32, id int32, note func(pair [2]int32, word int32)) {
	row, count := t.words[w], t.counts[w]
	most := int32(math.MaxInt32)
	if t.MaxTokenLength > 0 {
		most = int32(min(t.MaxTokenLength, math.MaxInt32))
	}
	for i := 0; i+1 < len(row); i++ {
		if row[i].id != pair[0] || row[i+1].id != pair[1] {
			continue
		}
		size := row[i].size + row[i+1].size
		if i > 0 {
			t.pairs[[2]int32{row[i-1].id, pair[0]}] -= count
			if row[i-1].size+size < most {
				t.pairs[[2]int32{row[i-1].id, id}] += count
				note([2]int32{row[i-1].id, id}, w)
			}
		}
		row = slices.Delete(row, i, i+1)
		row[i] = symbol{id: id, size: size}
		if i+1 < len(row) {
			t.pairs[[2]int32{pair[1], row[i+1].id}] -= count
			if row[i+1].size+size < most {
				t.pairs[[2]int32{id, row[i+1].id}] += count
				note([2]int32{id, row[i+1].id}, w)
			}
		}
	}
	t.words[w] = row
}

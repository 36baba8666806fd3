package tokenizer

import (
	"cmp"
	"container/heap"
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// A UnigramTrainer makes a Unigram vocabulary, as Hugging Face's trainer of this name does: it begins
// with all substrings that occur more than once, estimates their probabilities by expectation
// maximization, and takes away those that are missed least (T. Kudo, Subword Regularization, 2018).
type UnigramTrainer struct {
	// VocabSize is the number of tokens without the special ones; 0 stands for 8,000.
	VocabSize int
	// SubIterations is the number of estimations before tokens are taken away; 0 stands for 2.
	SubIterations int
	// ShrinkingFactor is the share of tokens that stays; 0 stands for 0.75.
	ShrinkingFactor float64
	// SpecialTokens come first, before them UnknownToken unless it is one of them. Without it, text with
	// characters that did not occur is an error.
	SpecialTokens []string
	UnknownToken  string
	// InitialAlphabet has characters that are tokens even if they do not occur.
	InitialAlphabet []rune
	// MaxPieceLength is the greatest length of tokens in characters; 0 stands for 16.
	MaxPieceLength int
	// SeedSize is the greatest number of tokens at the beginning; 0 stands for 1,000,000.
	SeedSize int
	// Pipeline is a tokenizer.json without a model: how text is normalized, divided and decoded. "" is
	// that of SentencePiece, without normalization.
	Pipeline string
}

const metaspacePipeline = `{
	"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
	"decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
}`

// Train returns the tokenizer that it learns from texts, such as the lines of a file.
func (u UnigramTrainer) Train(texts iter.Seq[string]) (*Tokenizer, error) {
	u.VocabSize = cmp.Or(u.VocabSize, 8000)
	u.SubIterations = cmp.Or(u.SubIterations, 2)
	u.ShrinkingFactor = cmp.Or(u.ShrinkingFactor, 0.75)
	u.MaxPieceLength = cmp.Or(u.MaxPieceLength, 16)
	u.SeedSize = cmp.Or(u.SeedSize, 1000000)
	s, err := readPipeline(u.Pipeline, metaspacePipeline)
	if err != nil {
		return nil, err
	}
	words, err := s.countWords(texts)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errorf("there is no text to train on")
	}
	pieces := append([]scored{{"<UNK>", math.NaN(), true}}, u.seeds(words)...)
	most := u.VocabSize * 11 / 10
	for {
		for range u.SubIterations {
			pieces = maximize(pieces, newLattice(pieces).expect(words))
		}
		if len(pieces) <= most {
			break
		}
		before := len(pieces)
		if pieces = u.prune(pieces, words); len(pieces) >= before {
			break // only characters are left
		}
	}
	final, unknown := u.finalize(pieces, words)
	if s.model, err = newUnigram(final, unknown, false); err != nil {
		return nil, errorf("%w", err)
	}
	return s.finish(u.SpecialTokens)
}

// seeds returns the tokens to begin with: characters, and substrings that occur more than once and are
// not always followed by the same character. The weight of one is its frequency times its length.
func (u *UnigramTrainer) seeds(words []wordCount) []scored {
	var flat []rune
	chars := map[rune]int{}
	for _, w := range words {
		for _, r := range w.word {
			flat = append(flat, r)
			if r != 0 {
				chars[r] += w.count
			}
		}
		flat = append(flat, 0)
	}
	type weighted struct {
		s string
		n int
	}
	descending := func(list []weighted) {
		slices.SortFunc(list, func(a, b weighted) int { return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(b.s, a.s)) })
	}
	var singles, longer []weighted
	for r, n := range chars {
		singles = append(singles, weighted{string(r), n})
	}
	for s, n := range repeats(flat, u.MaxPieceLength) {
		longer = append(longer, weighted{s, n * utf8.RuneCountInString(s)})
	}
	descending(singles)
	descending(longer)
	if room := max(0, u.SeedSize-len(singles)); len(longer) > room {
		longer = longer[:room]
	}
	var pieces []scored
	sum := 0.0
	for _, w := range append(singles, longer...) {
		pieces = append(pieces, scored{token: w.s, score: float64(w.n)})
		sum += float64(w.n)
	}
	for i := range pieces {
		pieces[i].score = math.Log(pieces[i].score) - math.Log(sum)
	}
	return pieces
}

// repeats returns the substrings of 2 to most characters that occur in more than one place, with
// different characters behind them, and their number: the inner nodes of the suffix tree. None
// has the character 0.
func repeats(flat []rune, most int) map[string]int {
	places := make([]int32, len(flat))
	for i := range places {
		places[i] = int32(i)
	}
	head := func(i int32) []rune { return flat[i:min(len(flat), int(i)+most+1)] }
	slices.SortFunc(places, func(a, b int32) int { return slices.Compare(head(a), head(b)) })
	common := func(a, b int32) int {
		x, y := head(a), head(b)
		n := 0
		for n < len(x) && n < len(y) && x[n] == y[n] {
			n++
		}
		return n
	}
	type open struct{ depth, from int }
	var stack []open
	found := map[string]int{}
	for i := 1; i <= len(places); i++ {
		depth, from := 0, i-1
		if i < len(places) {
			depth = common(places[i-1], places[i])
		}
		for len(stack) > 0 && stack[len(stack)-1].depth > depth {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			from = top.from
			s := flat[places[from]:][:top.depth]
			if top.depth >= 2 && top.depth <= most && !slices.Contains(s, 0) {
				found[string(s)] = i - from
			}
		}
		if depth > 0 && (len(stack) == 0 || stack[len(stack)-1].depth < depth) {
			stack = append(stack, open{depth, from})
		}
	}
	return found
}

// maximize returns the pieces that are used, with the logarithms of their probabilities under a
// sparse prior.
func maximize(pieces []scored, expected []float64) []scored {
	out := []scored{pieces[0]}
	sum := 0.0
	for i, p := range pieces[1:] {
		if n := expected[i+1]; n >= 0.5 {
			out = append(out, scored{token: p.token, score: n})
			sum += n
		}
	}
	for i := range out[1:] {
		out[i+1].score = digamma(out[i+1].score) - digamma(sum)
	}
	return out
}

// digamma is the derivative of the logarithm of the gamma function.
func digamma(x float64) float64 {
	result := 0.0
	for x < 7 {
		result -= 1 / x
		x++
	}
	x -= 0.5
	xx := 1 / x
	xx2 := xx * xx
	xx4 := xx2 * xx2
	return result + math.Log(x) + 1.0/24*xx2 - 7.0/960*xx4 + 31.0/8064*xx4*xx2 - 127.0/30720*xx4*xx4
}

// prune takes away the pieces without which the text is hardly less likely.
func (u *UnigramTrainer) prune(pieces []scored, words []wordCount) []scored {
	l := newLattice(pieces)
	keep := make([]bool, len(pieces))
	instead := make([][]int32, len(pieces)) // the second best way to divide a piece
	for i, p := range pieces[1:] {
		best := l.best2(p.token)
		keep[i+1] = len(best) == 1 || len(best[0]) == 1
		if len(best) > 1 && len(best[0]) == 1 {
			instead[i+1] = best[1]
		}
	}
	freq := make([]float64, len(pieces))
	found := make([]float64, len(pieces)) // the words that have a piece, by their frequency
	total := 0.0
	for _, w := range words {
		n := float64(w.count)
		total += n
		for _, id := range l.viterbi(w.word) {
			freq[id] += n
			found[id] += n
		}
	}
	sum := 0.0
	for _, f := range freq {
		sum += f
	}
	type candidate struct {
		id   int
		loss float64
	}
	var candidates []candidate
	out := []scored{pieces[0]}
	for id := 1; id < len(pieces); id++ {
		switch {
		case freq[id] == 0 && !keep[id]:
		case len(instead[id]) == 0:
			out = append(out, pieces[id])
		case found[id] == 0:
		default:
			// SentencePiece counts the pieces of this alternative here, Hugging Face's trainer all.
			sumAlt := math.Log(sum + freq[id]*float64(len(pieces)-1))
			alt := 0.0
			for _, n := range instead[id] {
				alt += math.Log(freq[n]+freq[id]) - sumAlt
			}
			candidates = append(candidates, candidate{id, found[id] / total * (math.Log(freq[id]) - math.Log(sum) - alt)})
		}
	}
	size := max(u.VocabSize*11/10, int(float64(len(pieces))*u.ShrinkingFactor))
	sort.SliceStable(candidates, func(i, j int) bool { return candidates[i].loss > candidates[j].loss })
	for _, c := range candidates {
		if len(out) == size {
			break
		}
		out = append(out, pieces[c.id])
	}
	return out
}

// finalize returns the vocabulary: all characters, and pieces up to its size, the likely ones first.
func (u *UnigramTrainer) finalize(pieces []scored, words []wordCount) (final []scored, unknown int) {
	scores := map[string]float64{}
	least := math.Inf(1)
	for _, p := range pieces[1:] {
		scores[p.token] = p.score
		least = min(least, p.score)
	}
	required := map[string]bool{}
	for _, w := range words {
		for _, r := range w.word {
			required[string(r)] = true
		}
	}
	for _, r := range u.InitialAlphabet {
		required[string(r)] = true
	}
	penalty := 0.0
	for _, c := range sortedKeys(required) {
		score, ok := scores[c]
		if !ok {
			score = least + penalty
			penalty += 0.0001
		}
		final = append(final, scored{token: c, score: score})
	}
	for _, p := range pieces[1:] {
		if len(final) >= u.VocabSize {
			break
		}
		if !required[p.token] {
			final = append(final, p)
		}
	}
	sort.SliceStable(final, func(i, j int) bool { return final[i].score > final[j].score })
	unknown = slices.Index(u.SpecialTokens, u.UnknownToken)
	special := u.SpecialTokens
	if u.UnknownToken != "" && unknown < 0 {
		special, unknown = append([]string{u.UnknownToken}, special...), 0
	}
	var out []scored
	for _, token := range special {
		out = append(out, scored{token: token})
	}
	return append(out, final...), unknown
}

// A lattice has all ways to divide a word into pieces.
type lattice struct {
	model *unigram
	nodes []latticeNode
	ends  [][]int32 // by place: the nodes that end there
	begin [][]int32
}

type latticeNode struct {
	id, lo, hi  int32
	score, best float64 // best: of a way that ends with this node
	prev        int32
}

func newLattice(pieces []scored) *lattice {
	found := map[string]int32{}
	m := &unigram{scores: make([]float64, len(pieces)), least: math.Inf(1)}
	for i, p := range pieces {
		if m.scores[i] = p.score; i > 0 {
			found[p.token] = int32(i)
			m.least = min(m.least, p.score)
		}
	}
	m.trie = trieOf(found)
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
		size, single, node := runeSize(word[pos:]), false, int32(0)
		for i := pos; i < len(word); i++ {
			if node = l.model.trie.next(node, word[i]); node < 0 {
				break
			}
			if id := l.model.trie.nodes[node].value; id >= 0 {
				add(id, pos, i+1, l.model.scores[id])
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
func (l *lattice) expect(words []wordCount) []float64 {
	expected := make([]float64, len(l.model.scores))
	var alpha, beta []float64 // by place: of all ways to it, and from it
	for _, w := range words {
		l.fill(w.word)
		n := len(w.word)
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
			expected[k.id] += float64(w.count) * math.Exp(alpha[k.lo]+k.score+beta[k.hi]-alpha[n])
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

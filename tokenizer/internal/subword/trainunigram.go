package subword

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// UnigramOptions are the settings of tokenizer.UnigramTrainer, without zeros that stand for other values.
type UnigramOptions struct {
	VocabSize, SubIterations, MaxPieceLength, SeedSize int

	ShrinkingFactor float64
	SpecialTokens   []string
	UnknownToken    string
	InitialAlphabet []rune
}

// TrainUnigram returns the tokens that it learns from words, and the id of the unknown one, or
// -1.
func TrainUnigram(u UnigramOptions, words []WordCount) (tokens []Scored, unknown int) {
	pieces := append([]Scored{{"<UNK>", math.NaN(), true}}, u.seeds(words)...)
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
	return u.finalize(pieces, words)
}

// seeds returns the tokens to begin with: characters, and substrings that occur more than once and are
// not always followed by the same character. The weight of one is its frequency times its length.
func (u *UnigramOptions) seeds(words []WordCount) []Scored {
	var flat []rune
	chars := map[rune]int{}
	for _, w := range words {
		for _, r := range w.Word {
			flat = append(flat, r)
			if r != 0 {
				chars[r] += w.Count
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
	var pieces []Scored
	sum := 0.0
	for _, w := range append(singles, longer...) {
		pieces = append(pieces, Scored{Token: w.s, Score: float64(w.n)})
		sum += float64(w.n)
	}
	for i := range pieces {
		pieces[i].Score = math.Log(pieces[i].Score) - math.Log(sum)
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
func maximize(pieces []Scored, expected []float64) []Scored {
	out := []Scored{pieces[0]}
	sum := 0.0
	for i, p := range pieces[1:] {
		if n := expected[i+1]; n >= 0.5 {
			out = append(out, Scored{Token: p.Token, Score: n})
			sum += n
		}
	}
	for i := range out[1:] {
		out[i+1].Score = digamma(out[i+1].Score) - digamma(sum)
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
func (u *UnigramOptions) prune(pieces []Scored, words []WordCount) []Scored {
	l := newLattice(pieces)
	keep := make([]bool, len(pieces))
	instead := make([][]int32, len(pieces)) // the second best way to divide a piece
	for i, p := range pieces[1:] {
		best := l.best2(p.Token)
		keep[i+1] = len(best) == 1 || len(best[0]) == 1
		if len(best) > 1 && len(best[0]) == 1 {
			instead[i+1] = best[1]
		}
	}
	freq := make([]float64, len(pieces))
	found := make([]float64, len(pieces)) // the words that have a piece, by their frequency
	total := 0.0
	for _, w := range words {
		n := float64(w.Count)
		total += n
		for _, id := range l.viterbi(w.Word) {
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
	out := []Scored{pieces[0]}
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
func (u *UnigramOptions) finalize(pieces []Scored, words []WordCount) (final []Scored, unknown int) {
	scores := map[string]float64{}
	least := math.Inf(1)
	for _, p := range pieces[1:] {
		scores[p.Token] = p.Score
		least = min(least, p.Score)
	}
	required := map[string]bool{}
	for _, w := range words {
		for _, r := range w.Word {
			required[string(r)] = true
		}
	}
	for _, r := range u.InitialAlphabet {
		required[string(r)] = true
	}
	penalty := 0.0
	for _, c := range slices.Sorted(maps.Keys(required)) {
		score, ok := scores[c]
		if !ok {
			score = least + penalty
			penalty += 0.0001
		}
		final = append(final, Scored{Token: c, Score: score})
	}
	for _, p := range pieces[1:] {
		if len(final) >= u.VocabSize {
			break
		}
		if !required[p.Token] {
			final = append(final, p)
		}
	}
	sort.SliceStable(final, func(i, j int) bool { return final[i].Score > final[j].Score })
	unknown = slices.Index(u.SpecialTokens, u.UnknownToken)
	special := u.SpecialTokens
	if u.UnknownToken != "" && unknown < 0 {
		special, unknown = append([]string{u.UnknownToken}, special...), 0
	}
	var out []Scored
	for _, token := range special {
		out = append(out, Scored{Token: token})
	}
	return append(out, final...), unknown
}

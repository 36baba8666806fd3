package tokenizer

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
	"github.com/tensorken/tensorken/tokenizer/internal/norm"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// An AddedToken is found in a text before the model sees it.
type AddedToken struct {
	ID      int32
	Content string
	// SingleWord: only where no letter, digit or mark stands beside it.
	SingleWord bool
	// LStrip and RStrip: white space on the left or on the right belongs to it.
	LStrip, RStrip bool
	// Normalized: it is looked for in the normalized text, in its normalized form.
	Normalized bool
	// Special: Decode leaves it out unless asked to keep it.
	Special bool
}

// addedTokens finds added tokens.
type addedTokens struct {
	list       []AddedToken // by ID
	byID       map[int32]*AddedToken
	byContent  map[string]int32
	special    map[string]bool
	shown      map[int32]string // the texts of tokens: in their normalized form, if they are looked for in it
	plain, own *finder          // in the text as it is; in the normalized one
}

// newAddedTokens returns the tokens of a file, which must have no content twice.
func newAddedTokens(list []AddedToken, n norm.Normalizer) (*addedTokens, error) {
	a := &addedTokens{
		list: slices.Clone(list), byID: map[int32]*AddedToken{}, byContent: map[string]int32{}, special: map[string]bool{}, shown: map[int32]string{},
	}
	sort.SliceStable(a.list, func(i, j int) bool { return a.list[i].ID < a.list[j].ID })
	var plain, own finderBuilder
	order := slices.Clone(list)
	sort.SliceStable(order, func(i, j int) bool { return order[i].Special && !order[j].Special })
	for i := range a.list {
		t := &a.list[i]
		if len(t.Content) > subword.MaxToken {
			return nil, subword.ErrToken
		}
		a.byID[t.ID] = t
		a.byContent[t.Content] = t.ID
		a.shown[t.ID] = t.Content
		if t.Special {
			a.special[t.Content] = true
		}
	}
	for _, t := range order {
		id := a.byContent[t.Content]
		if !t.Normalized {
			plain.add(t.Content, id)
			continue
		}
		content := norm.NewText(t.Content)
		if n != nil {
			var err error
			if content, err = n.Normalize(content); err != nil {
				return nil, err
			}
		}
		if len(content.S) > subword.MaxToken {
			return nil, subword.ErrToken
		}
		a.shown[id] = content.S
		own.add(content.S, id)
	}
	a.plain, a.own = plain.build(), own.build()
	return a, nil
}

// A finder finds the longest of some strings at each place.
type finder struct {
	trie   *subword.Trie
	starts [256]bool
}

type finderBuilder struct{ ids map[string]int32 }

// add adds a string; the first of equal ones counts.
func (b *finderBuilder) add(s string, id int32) {
	if b.ids == nil {
		b.ids = map[string]int32{}
	}
	if _, ok := b.ids[s]; !ok && s != "" {
		b.ids[s] = id
	}
}

// build returns nil if there are no strings.
func (b *finderBuilder) build() *finder {
	if len(b.ids) == 0 {
		return nil
	}
	f := &finder{trie: subword.TrieOf(b.ids)}
	for s := range b.ids {
		f.starts[s[0]] = true
	}
	return f
}

// split calls add with the parts of s: those that are tokens with their ids, the others with -1.
func (a *addedTokens) split(f *finder, s string, add func(lo, hi int, id int32)) {
	prev, blank := 0, 0 // the ends of the last token, and of the last white space beside one
	if f != nil {
		for pos := 0; pos < len(s); {
			if !f.starts[s[pos]] {
				pos++
				continue
			}
			id, n := f.trie.Longest(s[pos:])
			if n == 0 {
				pos++
				continue
			}
			lo, hi := pos, pos+n
			pos = hi
			t := a.byID[id]
			if t.SingleWord && besideWords(s[:lo], s[hi:]) {
				continue
			}
			if t.LStrip {
				lo = max(prev, min(prev, lo)+len(strings.TrimRightFunc(s[min(prev, lo):lo], unicode.IsSpace)))
			}
			if t.RStrip {
				hi = len(s) - len(strings.TrimLeftFunc(s[max(hi, blank):], unicode.IsSpace))
				blank = hi // each is read once
			}
			if prev < lo {
				add(prev, lo, -1)
			}
			if lo < hi { // else it is white space that belongs to the token before
				add(lo, hi, id)
				prev = hi
			}
		}
	}
	if prev < len(s) {
		add(prev, len(s), -1)
	}
}

// besideWords reports whether a word ends before or begins after a token. The ends of a text are
// U+FFFD here, which no word has.
func besideWords(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return wordRune(last) || wordRune(first)
}

// wordRune reports whether a character is \w in Rust's package regex: with joiners, without fractions
// and the like.
func wordRune(r rune) bool {
	p := match.Props(r)
	return p&match.Word != 0 && p&match.OtherNumber == 0 || r == 0x200c || r == 0x200d
}

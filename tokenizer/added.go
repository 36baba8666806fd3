package tokenizer

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
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
func newAddedTokens(list []AddedToken, n normalizer) (*addedTokens, error) {
	a := &addedTokens{
		list: slices.Clone(list), byID: map[int32]*AddedToken{}, byContent: map[string]int32{}, special: map[string]bool{}, shown: map[int32]string{},
	}
	sort.SliceStable(a.list, func(i, j int) bool { return a.list[i].ID < a.list[j].ID })
	var plain, own finderBuilder
	order := slices.Clone(list)
	sort.SliceStable(order, func(i, j int) bool { return order[i].Special && !order[j].Special })
	for i := range a.list {
		t := &a.list[i]
		if len(t.Content) > maxToken {
			return nil, errToken
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
		content := newText(t.Content)
		if n != nil {
			var err error
			if content, err = n.normalize(content); err != nil {
				return nil, err
			}
		}
		if len(content.s) > maxToken {
			return nil, errToken
		}
		a.shown[id] = content.s
		own.add(content.s, id)
	}
	a.plain, a.own = plain.build(), own.build()
	return a, nil
}

// A finder finds the longest of some strings at each place.
type finder struct {
	trie   *trie
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
	f := &finder{trie: trieOf(b.ids)}
	for s := range b.ids {
		f.starts[s[0]] = true
	}
	return f
}

// trieOf returns the trie of the keys of a map that are not empty.
func trieOf(m map[string]int32) *trie {
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

// split calls add with the parts of s: those that are tokens with their ids, the others with -1.
func (a *addedTokens) split(f *finder, s string, add func(lo, hi int, id int32)) {
	prev := 0
	if f != nil {
		for pos := 0; pos < len(s); {
			if !f.starts[s[pos]] {
				pos++
				continue
			}
			id, n := f.trie.longest(s[pos:])
			if n == 0 {
				pos++
				continue
			}
			lo, hi := pos, pos+n
			pos = hi
			t := a.byID[id]
			if t.SingleWord && (wordBefore(s[:lo]) || wordAfter(s[hi:])) {
				continue
			}
			if t.LStrip {
				lo = max(prev, len(strings.TrimRightFunc(s[:lo], unicode.IsSpace)))
			}
			if t.RStrip {
				hi = len(s) - len(strings.TrimLeftFunc(s[hi:], unicode.IsSpace))
			}
			if prev < lo {
				add(prev, lo, -1)
			}
			add(lo, hi, id)
			prev = hi
		}
	}
	if prev < len(s) {
		add(prev, len(s), -1)
	}
}

func wordBefore(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && wordRune(r)
}

func wordAfter(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && wordRune(r)
}

// wordRune reports whether a character is \w in Rust's package regex: with joiners, without fractions
// and the like.
func wordRune(r rune) bool {
	p := props(r)
	return p&isWord != 0 && p&catNo == 0 || r == 0x200c || r == 0x200d
}

package subword

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// cover finds the result of merging, whatever the order of the merges is.
func TestCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for trial := range 300 {
		ids := map[string]int32{}
		var names []string
		add := func(s string) {
			if _, ok := ids[s]; !ok {
				ids[s] = int32(len(names))
				names = append(names, s)
			}
		}
		for i := range 2 + rng.IntN(3) {
			add(string(rune('a' + i)))
		}
		m := &BPE{}
		for range rng.IntN(40) {
			a, b := names[rng.IntN(len(names))], names[rng.IntN(len(names))]
			if len(a)+len(b) < 12 {
				add(a + b)
				m.List = append(m.List, [2]string{a, b})
			}
		}
		rng.Shuffle(len(m.List), func(i, j int) {
			if trial%2 == 0 {
				m.List[i], m.List[j] = m.List[j], m.List[i]
			}
		})
		var err error
		if m.Words, err = NewVocabulary(ids, len(ids)); err != nil {
			t.Fatal(err)
		}
		if err := m.Init(false); err != nil {
			t.Fatal(err)
		}
		st := NewState()
		letters := names[:slices.IndexFunc(append(names, "xx"), func(s string) bool { return len(s) > 1 })]
		for range 30 {
			var b strings.Builder
			for range 1 + rng.IntN(60) {
				b.WriteString(letters[rng.IntN(len(letters))])
			}
			word := b.String()
			got, want := m.cover(st, word, 0, nil), m.byHeap(st, word, 0, nil)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("merges %q of %q: %v, want %v", m.List, word, got, want)
			}
		}
	}
}

func TestTrie(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	keys := map[string]int32{}
	for range 5000 {
		b := make([]byte, 1+rng.IntN(6))
		for i := range b {
			b[i] = byte(rng.IntN(256) & rng.IntN(256))
		}
		keys[string(b)] = int32(rng.IntN(1 << 20))
	}
	f := TrieOf(keys)
	for range 20000 {
		b := make([]byte, rng.IntN(9))
		for i := range b {
			b[i] = byte(rng.IntN(256) & rng.IntN(256))
		}
		want, length := int32(-1), 0
		for n := 1; n <= len(b); n++ {
			if v, ok := keys[string(b[:n])]; ok {
				want, length = v, n
			}
		}
		if got, n := f.Longest(string(b)); got != want || n != length {
			t.Fatalf("%q: %d of %d bytes, want %d of %d", b, got, n, want, length)
		}
	}
}

// An unknown character has more bytes with a suffix than in its text: their places stay in the word.
func TestBytesOfSuffix(t *testing.T) {
	ids := map[string]int32{"a": 0}
	for b := range 256 {
		ids[fmt.Sprintf("<0x%02X>", b)] = int32(b + 1)
	}
	words, err := NewVocabulary(ids, 10*len(ids))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*BPE{{Words: words, Fallback: true, Suffix: "</w>"}, {Words: words, Fallback: true, Prefix: "##"}} {
		if err := m.Init(false); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"b", "aé", "日本"} {
			toks, err := m.Tokenize(NewState(), text, nil)
			if n := int32(len(text)); err != nil || toks[len(toks)-1].Lo != n-1 || toks[len(toks)-1].Hi != n {
				t.Errorf("%q: %v, %v", text, toks, err)
			}
		}
	}
}

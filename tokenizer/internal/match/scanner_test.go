package match

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// runesOf are characters at which splitters differ.
var runesOf = []rune(" \t\n\r\u00a0\u2003\u3000\u0085aAzZéÉßſKIİǅʰªº09٣Ⅷ½²一龥ぁゟァヿ가'’sStTrReEvVmMlLdD!\"#$%&/\\^`|~.,;:-_+=«»—€©\u0301\u0903\u200d\ufe0f🙂👩\u0000\u007f\ue000")

func randomText(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		if rng.IntN(20) == 0 {
			b.WriteRune(rune(rng.IntN(0x3000)))
			continue
		}
		r := runesOf[rng.IntN(len(runesOf))]
		for range 1 + rng.IntN(3)*rng.IntN(2) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// longS adds a match of (?i:'s) in Oniguruma that regexp2 lacks: ſ is a small s.
func longS(source string) string { return strings.ReplaceAll(source, "(?i:'s|", "(?i:'s|'ſ|") }

func matches(t *testing.T, p Pattern, s string) string {
	var b strings.Builder
	if err := p.Each(s, func(lo, hi int) { fmt.Fprint(&b, lo, "-", hi, " ") }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Scanners find the same matches as regexp2, for the Splitters of all models that are known by name.
func TestScanners(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	all := maps.Clone(Splitters)
	all["sets in sets"] = []string{` ?[^(\s|[.,!?…。，、।۔،])]+`, `[[a-z]\p{N}&&[^aeiou3]]+`, `[^\S&&[^ ]]`}
	for name, sources := range all {
		for _, source := range sources {
			if seen[source] {
				continue
			}
			seen[source] = true
			s, err := NewRegex(source)
			if err != nil {
				t.Fatal(err)
			}
			if _, slow := s.(backtracking); slow {
				t.Errorf("%s: no scanner for %s", name, source)
				continue
			}
			re, err := newBacktracking(longS(source))
			if err != nil { // possessive counts, which regexp2 lacks: greedy ones match the same here
				re, err = newBacktracking(strings.NewReplacer("?+", "?", "++", "+", "*+", "*").Replace(source))
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 300 {
				text := randomText(rng, 1+rng.IntN(40))
				if got, want := matches(t, s, text), matches(t, re, text); got != want {
					t.Errorf("%s of %q: %s, regexp2 %s", source, text, got, want)
					break
				}
			}
		}
	}
}

// The empty string matches where the empty expression does.
func TestEmptyLiteral(t *testing.T) {
	re, err := NewRegex("")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "a", "aé日"} {
		if got, want := matches(t, Literal(""), text), matches(t, re, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// The limit of time is for all matches in a text, each of which is fast.
func TestSlowExpression(t *testing.T) {
	p, err := newBacktracking(digitTriples)
	if err != nil {
		t.Fatal(err)
	}
	slow := p.(backtracking)
	slow.limit = 20 * time.Millisecond
	found := 0
	err = slow.Each(strings.Repeat("1", 1<<15), func(lo, hi int) { found++ })
	if err == nil || len(err.Error()) > 200 || found == 0 {
		t.Errorf("%d matches, %v", found, err)
	}
	if err := slow.Each("1234", func(lo, hi int) {}); err != nil {
		t.Error(err)
	}
}

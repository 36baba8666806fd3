package policy

import (
	"maps"
	"regexp"
	"strings"
	"testing"
)

// wordings are turns of phrase that comments do not have, each with the remedy: relative
// clauses without a noun, which take two readings, and measurements, which age.
var wordings = []struct {
	word   string // in each of them, in lower case: quicker to find
	find   *regexp.Regexp
	remedy string
}{
	{"what", regexp.MustCompile(`(?i)\bwhat\b`), "name the thing: a noun and a relative clause, or a verb without it"},
	{"who", regexp.MustCompile(`(?i)(^|[.,:;] |\b(for|to|by|of|from|with|and|but) )who\b`), "name the person or program"},
	{" of", regexp.MustCompile(`(?i)\b(that|those) of\b`), "repeat the noun, or use a genitive"},
	{"none", regexp.MustCompile(`\b(is|are) none\b`), "say it otherwise: or nil, without any, 0 is off"},
	{"", figure, "give the reason; measurements are in docs/bench"},
}

// question is the start of an indirect question, which needs no noun, and an argument of
// that name.
var question = regexp.MustCompile(`(?i)\b(says?|knows?|tells?|asks?|decides?|argument) what\b`)

// A figure is a percentage, a speed, or the name of a machine that was measured.
var figure = regexp.MustCompile(`\d %(\W|$)|\d ?[GT](FLOP/s|B/s)|\b([AHV][12]00|RTX|Zen \d|Xeon|EPYC|Ryzen|Skylake)\b`)

// figures has the files whose comments may have figures, each with the figure's meaning.
var figures = map[string]string{
	"examples/autoencoder/main.go": "a quantile of the normal distribution",
	"examples/makemore/data.go":    "the shares of a data set",
	"internal/bench/gpuworks.go":   "the machine of the bars",
	"optim/schedules.go":           "a share of a schedule's steps",
	"tensor/trace.go":              "the whole of a device's peak",
}

func TestWords(t *testing.T) {
	unused := maps.Clone(figures)
	for _, f := range sources(t) {
		if f.dir == "internal/policy" {
			continue
		}
		for _, g := range f.ast.Comments {
			text := strings.Join(strings.Fields(g.Text()), " ")
			lower := strings.ToLower(text)
			if strings.Contains(lower, " what") {
				text = question.ReplaceAllString(text, "")
			}
			for _, w := range wordings {
				if !strings.Contains(lower, w.word) {
					continue
				}
				at := w.find.FindStringIndex(text)
				if at == nil {
					continue
				}
				if w.find == figure && figures[f.name] != "" {
					delete(unused, f.name)
					continue
				}
				t.Errorf("%s: %q: %s", fset.Position(g.Pos()), text[max(0, at[0]-20):min(len(text), at[1]+20)], w.remedy)
			}
		}
	}
	for _, name := range sorted(unused) {
		t.Errorf("the list figures needs no entry for %s", name)
	}
}

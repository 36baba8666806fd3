package llm

import (
	"strings"

	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tokenizer"
)

func encoding(raw bool) *tokenizer.EncodeOptions {
	return &tokenizer.EncodeOptions{NoSpecial: raw, IDsOnly: true, NoTruncation: true, NoPadding: true}
}

// An answer is a text that is being written.
type answer struct {
	index   int
	decoder *tokenizer.Decoder // nil: no texts
	stops   []string
	held    string // text that may begin one of stops
	tokens  int
	ended   bool
}

func (m *Model) newAnswer(index int, stops []string) *answer {
	a := &answer{index: index, stops: stops}
	if m.tokenizer != nil {
		a.decoder = m.tokenizer.Decoder(false)
	}
	return a
}

// add adds a token, and returns it with the text that is known now, and the end if it completes a
// text of stops.
func (a *answer) add(c models.Choice) []Token {
	if c.ID < 0 {
		return []Token{a.finish(EndStop)}
	}
	a.tokens++
	t := Token{ID: c.ID, Index: a.index, LogProb: c.LogProb, Top: c.Top}
	if a.decoder == nil {
		return []Token{t}
	}
	text, stopped := a.hold(a.decoder.Add(c.ID))
	if t.Text = text; stopped {
		a.ended = true
		return []Token{t, {ID: -1, Index: a.index, End: EndStop}}
	}
	return []Token{t}
}

// finish returns the last token.
func (a *answer) finish(end End) Token {
	t := Token{ID: -1, Index: a.index, End: end}
	if a.decoder != nil {
		text, stopped := a.hold(a.decoder.Flush())
		if t.Text = text + a.held; stopped {
			t.Text, t.End = text, EndStop
		}
	}
	a.ended, a.held = true, ""
	return t
}

// hold adds text, and returns the text that cannot be part of a text of stops any more, or the
// text before the first of stops.
func (a *answer) hold(text string) (free string, stopped bool) {
	a.held += text
	first := -1
	for _, s := range a.stops {
		if i := strings.Index(a.held, s); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first >= 0 {
		return a.held[:first], true
	}
	cut := len(a.held)
	for _, s := range a.stops {
		for n := min(len(s)-1, len(a.held)); n > 0; n-- {
			if strings.HasSuffix(a.held, s[:n]) {
				cut = min(cut, len(a.held)-n)
				break
			}
		}
	}
	free, a.held = a.held[:cut], a.held[cut:]
	return free, false
}

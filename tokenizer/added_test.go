package tokenizer

import (
	"strings"
	"testing"
)

// White space beside tokens that are white space is read once, not for each of them, as are the runs of a normalized text
// that they share.
func TestAddedTokensOfWhiteSpace(t *testing.T) {
	a, err := newAddedTokens([]AddedToken{{ID: 0, Content: " ", RStrip: true}, {ID: 1, Content: "\t"}, {ID: 2, Content: "\n", LStrip: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{" ", " \t", "\n\t", " \n"} {
		a.split(a.plain, strings.Repeat(s, 1<<20), func(lo, hi int, id int32) {})
	}
	tok, err := Read(strings.NewReader(`{"added_tokens":[{"id":1,"content":" ","single_word":false,"lstrip":false,"rstrip":true,"normalized":true,"special":false}],
"normalizer":{"type":"NFKC"},"model":{"type":"WordLevel","vocab":{"a":0," ":1},"unk_token":"a"}}`))
	if err != nil {
		t.Fatal(err)
	}
	const n = 1 << 18
	e, err := tok.Encode(strings.Repeat("\u3000", n), nil) // each is a run of its own
	if err != nil || e.Len() != n || e.Offsets[1] != [2]int32{1, n} || e.Offsets[n-1] != [2]int32{n - 1, n} {
		t.Error(err, e.Len(), e.Offsets[:2])
	}
}

// A token that a file has twice is special if one of them is.
func TestAddedTokenTwice(t *testing.T) {
	for _, flags := range []string{`true},{"id":1,"content":"<s>","special":false`, `false},{"id":1,"content":"<s>","special":true`} {
		tok, err := Read(strings.NewReader(`{"added_tokens":[{"id":1,"content":"<s>","special":` + flags + `}],"model":{"type":"WordLevel","vocab":{"a":0,"<s>":1},"unk_token":"a"}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Decode([]int32{1, 0}, false); got != "a" {
			t.Errorf("%s: %q", flags, got)
		}
	}
}

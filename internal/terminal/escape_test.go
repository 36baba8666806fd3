package terminal

import "testing"

func TestEscape(t *testing.T) {
	for _, c := range []struct{ text, keep, want string }{
		{"", "", ""},
		{"plain", "", "plain"},
		{"größe ▀⣿ 2²⁸ · \"quoted\" \\", "", "größe ▀⣿ 2²⁸ · \"quoted\" \\"},
		{"a\nb\tc", "\n\t", "a\nb\tc"},
		{"a\nb\tc\r", "", `a\nb\tc\r`},
		{"\x1b]0;title\a\x1b[2J", "\n\t", `\x1b]0;title\a\x1b[2J`},
		{"c1 \u009b2J", "\n\t", `c1 \u009b2J`},
		{"raw \x9b2J", "\n\t", `raw \x9b2J`},
		{"bidi \u202egnp.exe", "\n\t", `bidi \u202egnp.exe`},
		{"\x00\x7f\u2028\ufeff", "\n\t", `\x00\x7f\u2028\ufeff`},
		{"\ufffd", "", "\ufffd"},
	} {
		if got := Escape(c.text, c.keep); got != c.want {
			t.Errorf("Escape(%q, %q) = %q, want %q", c.text, c.keep, got, c.want)
		}
	}
}

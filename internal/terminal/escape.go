package terminal

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape replaces control and format characters, and bytes that are not UTF-8, by the escapes of a
// Go string, except the characters of keep. Text of files, drivers and other programs could
// otherwise command a terminal or forge lines of a log.
func Escape(s, keep string) string {
	var b strings.Builder
	done := 0 // bytes of s that b has
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !strconv.IsPrint(r) && !strings.ContainsRune(keep, r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.Quote(s[i : i+size])
			b.WriteString(s[done:i])
			b.WriteString(quoted[1 : len(quoted)-1])
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

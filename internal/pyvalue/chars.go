package pyvalue

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsSpace is Python's str.isspace of a character.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// isLineEnd reports whether Python's splitlines splits at a character.
func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}

func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }

// ASCIIDigits replaces decimal digits of all scripts by ASCII, as Python's int and float do.
func ASCIIDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !isDecimal(r) {
			return r
		}
		first := r // the digits of a script follow each other, and so may scripts
		for isDecimal(first - 1) {
			first--
		}
		return '0' + (r-first)%10
	}, text)
}

// IsDigit is Python's str.isdigit of a character: also digits above, below and in circles.
func IsDigit(r rune) bool {
	return isDecimal(r) || strings.ContainsRune("²³¹", r) || r == 0x2070 || r >= 0x2074 && r <= 0x2079 || r >= 0x2080 && r <= 0x2089 ||
		r >= 0x2460 && r <= 0x2468 || r >= 0x2474 && r <= 0x247c || r >= 0x2488 && r <= 0x2490
}

func isNumeric(r rune) bool {
	return unicode.IsNumber(r) || strings.ContainsRune("〇一二三四五六七八九十百千万億兆", r)
}

func isAlnum(r rune) bool { return unicode.IsLetter(r) || isNumeric(r) }

func IsWord(r rune) bool { return r == '_' || isAlnum(r) }

// isUpper and isLower also hold of marks and numbers that have a case, as Ⅷ and ª.
func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }

func isCased(r rune) bool { return isUpper(r) || isLower(r) || unicode.IsTitle(r) }

// Characters whose upper case is several, and how they start a word.
var (
	upperCase = map[rune]string{'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J̌", 'ΐ': "\u0399\u0308\u0301", 'ΰ': "\u03a5\u0308\u0301", 'և': "ԵՒ", 'ẖ': "H̱", 'ẗ': "T̈", 'ẘ': "W̊", 'ẙ': "Y̊", 'ẚ': "Aʾ",
		'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL", 'ﬅ': "ST", 'ﬆ': "ST"}
	titleCase = map[rune]string{'ß': "Ss", 'ŉ': "ʼN", 'ǰ': "J̌", 'ΐ': "\u0399\u0308\u0301", 'ΰ': "\u03a5\u0308\u0301", 'և': "Եւ", 'ẖ': "H̱", 'ẗ': "T̈", 'ẘ': "W̊", 'ẙ': "Y̊", 'ẚ': "Aʾ",
		'ﬀ': "Ff", 'ﬁ': "Fi", 'ﬂ': "Fl", 'ﬃ': "Ffi", 'ﬄ': "Ffl", 'ﬅ': "St", 'ﬆ': "St"}
)

func mapCase(text string, special map[rune]string, simple func(rune) rune) string {
	var b strings.Builder
	for _, r := range text {
		if to, ok := special[r]; ok {
			b.WriteString(to)
		} else {
			b.WriteRune(simple(r))
		}
	}
	return b.String()
}

func Upper(text string) string { return mapCase(text, upperCase, unicode.ToUpper) }

// Lower is Python's str.lower. A sigma that ends a word has a form of its own.
func Lower(text string) string {
	if !strings.ContainsAny(text, "Σİ") {
		return strings.ToLower(text)
	}
	var b strings.Builder
	for i, r := range text {
		switch r {
		case 'İ':
			b.WriteString("i̇")
		case 'Σ':
			b.WriteRune(lowerSigma(text, i))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// lowerSigma returns the lower case of the Σ at a byte of text.
func lowerSigma(text string, at int) rune {
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text[:at], isCaseIgnorable))
	after, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text[at+len("Σ"):], isCaseIgnorable))
	if isCased(before) && !isCased(after) {
		return 'ς'
	}
	return 'σ'
}

func isCaseIgnorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·’", r)
}

// Capitalize is Python's str.capitalize.
func Capitalize(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	return mapCase(text[:n], titleCase, unicode.ToTitle) + lowerAfter(text, n)
}

// lowerAfter returns the lower case of text from a byte on, in which a sigma sees the text before
// it.
func lowerAfter(text string, n int) string {
	if !strings.Contains(text, "Σ") {
		return Lower(text[n:])
	}
	return strings.TrimPrefix(Lower(text), Lower(text[:n]))
}

// title is Python's str.title.
func title(text string) string {
	var b strings.Builder
	inWord := false
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		after, _ := utf8.DecodeRuneInString(text[end:])
		switch {
		case !inWord:
			b.WriteString(mapCase(text[i:end], titleCase, unicode.ToTitle))
		case r == 'Σ' && !isCased(after):
			b.WriteRune('ς')
		default:
			b.WriteString(Lower(text[i:end]))
		}
		inWord = isCased(r)
	}
	return b.String()
}

func swapCase(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == 'Σ':
			b.WriteRune(lowerSigma(text, i))
		case isUpper(r):
			b.WriteString(Lower(string(r)))
		case isLower(r):
			b.WriteString(Upper(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isTitle is Python's str.istitle.
func isTitle(text string) bool {
	inWord, found := false, false
	for _, r := range text {
		up := isUpper(r) || unicode.IsTitle(r)
		if up && inWord || isLower(r) && !inWord {
			return false
		}
		inWord = up || isLower(r)
		found = found || inWord
	}
	return found
}

// isCase reports whether text has cased characters and all are of one case.
func isCase(text string, other func(rune) bool) bool {
	found := false
	for _, r := range text {
		if other(r) || unicode.IsTitle(r) {
			return false
		}
		found = found || isCased(r)
	}
	return found
}

// All reports whether text is not empty and has only such characters.
func All(text string, is func(rune) bool) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return !is(r) }) < 0
}

// isIdentifier is Python's str.isidentifier.
func isIdentifier(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return All(text, IsName) && (r == '_' || unicode.IsLetter(r))
}

// SplitLines is Python's str.splitlines.
func SplitLines(text string, keep bool) []string {
	var lines []string
	for text != "" {
		end := strings.IndexFunc(text, isLineEnd)
		if end < 0 {
			return append(lines, text)
		}
		_, size := utf8.DecodeRuneInString(text[end:])
		if strings.HasPrefix(text[end:], "\r\n") {
			size = 2
		}
		line := text[:end]
		if keep {
			line = text[:end+size]
		}
		lines = append(lines, line)
		text = text[end+size:]
	}
	return lines
}

// SignAt returns the sign, of a number or of whitespace control, that text starts with.
func SignAt(text string) string {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		return text[:1]
	}
	return ""
}

// IsName reports whether a name may have a character.
func IsName(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// Digits returns the length of the digits, with single underscores between them, of text.
func Digits(text, set string) int {
	n := 0
	for n < len(text) {
		switch {
		case strings.IndexByte(set, text[n]) >= 0:
			n++
		case text[n] == '_' && n > 0 && n+1 < len(text) && strings.IndexByte(set, text[n+1]) >= 0:
			n += 2
		default:
			return n
		}
	}
	return n
}

const Decimal = "0123456789"

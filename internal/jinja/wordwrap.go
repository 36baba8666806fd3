package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// wordWrap is the filter wordwrap, which wraps each line as Python's textwrap does.
func wordWrap(s *pyvalue.Run, a *pyvalue.Args) any {
	width, long, hyphens := a.Int(s, 0, 79), true, true
	if a.Pos[1] != nil {
		long = pyvalue.Truth(a.Pos[1])
	}
	if a.Pos[3] != nil {
		hyphens = pyvalue.Truth(a.Pos[3])
	}
	sep := "\n"
	if a.Has(2) {
		sep = a.Text(s, 2)
	}
	if width <= 0 {
		s.Fail("ValueError", "the width %d is not positive", width)
	}
	var lines []string
	for _, line := range pyvalue.SplitLines(s.ToText(a.Self), false) {
		s.Alloc(16 + len(line) + len(sep))
		lines = append(lines, strings.Join(wrapOf(s, chunksOf(s, line, hyphens), int(width), long, hyphens), sep))
	}
	return strings.Join(lines, sep)
}

// wrap joins chunks to lines.
func wrapOf(s *pyvalue.Run, parts []chunk, width int, long, hyphens bool) []string {
	var lines []string
	for len(parts) > 0 {
		if len(lines) > 0 && parts[0].blank() {
			parts = parts[1:]
		}
		var line []chunk
		room := width
		for len(parts) > 0 && parts[0].size <= room {
			room -= parts[0].size
			line = append(line, parts[0])
			parts = parts[1:]
		}
		if len(parts) > 0 && parts[0].size > width {
			if long {
				head, rest := breakWord(s, parts[0], room, hyphens)
				line = append(line, head)
				parts[0] = rest
			} else if len(line) == 0 {
				line = append(line, parts[0])
				parts = parts[1:]
			}
		}
		s.Alloc(32)
		if n := len(line); n > 0 && line[n-1].blank() {
			line = line[:n-1]
		}
		if len(line) > 0 {
			var b strings.Builder
			for _, c := range line {
				b.WriteString(c.text)
			}
			lines = append(lines, b.String())
		}
	}
	return lines
}

// breakWord splits a word after n characters, or after the last hyphen among them.
func breakWord(s *pyvalue.Run, word chunk, n int, hyphens bool) (head, rest chunk) {
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(word.text[end:])
		end += size
	}
	s.Step(1 + end>>6)
	text := word.text[:end]
	if i := strings.LastIndexByte(text, '-'); hyphens && i > 0 && strings.Trim(text[:i], "-") != "" {
		text = text[:i+1]
		n = utf8.RuneCountInString(text)
	}
	return chunk{text, n}, chunk{word.text[len(text):], word.size - n}
}

// A chunk is a word, a part of one, or spaces.
type chunk struct {
	text string
	size int // in characters
}

func (c chunk) blank() bool { return strings.TrimFunc(c.text, pyvalue.IsSpace) == "" }

// isWrapSpace reports whether textwrap breaks lines at a character.
func isWrapSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

// chunks splits a line into words, parts of words that end in a hyphen, dashes, and spaces.
func chunksOf(s *pyvalue.Run, line string, hyphens bool) []chunk {
	s.Alloc(8 * len(line))
	text := []rune(line)
	at := func(i int) rune {
		if i < 0 || i >= len(text) {
			return ' '
		}
		return text[i]
	}
	isLetter := func(r rune) bool { return r == '_' || unicode.IsLetter(r) }
	isPunct := func(r rune) bool { return pyvalue.IsWord(r) || strings.ContainsRune(`!"'&.,?`, r) }
	dashes := func(i int) int { // the length of a dash of several hyphens between words
		n := 0
		for at(i+n) == '-' {
			n++
		}
		if n < 2 || !isPunct(at(i-1)) || !pyvalue.IsWord(at(i+n)) {
			return 0
		}
		return n
	}
	// afterHyphen reports whether a word may break before i.
	afterHyphen := func(i, start int) bool {
		if i-start < 2 || at(i-1) != '-' || !isLetter(at(i-2)) || !isLetter(at(i-3)) && !(at(i-3) == '-' && isLetter(at(i-4))) {
			return false
		}
		return isLetter(at(i)) && (isLetter(at(i+1)) || at(i+1) == '-' && isLetter(at(i+2)))
	}
	var parts []chunk
	for i := 0; i < len(text); {
		start := i
		switch {
		case isWrapSpace(text[i]):
			for i < len(text) && isWrapSpace(text[i]) {
				i++
			}
		case hyphens && dashes(i) > 0:
			i += dashes(i)
		default:
			for i++; i < len(text) && !isWrapSpace(text[i]); i++ {
				if hyphens && (afterHyphen(i, start) || dashes(i) > 0) {
					break
				}
			}
		}
		s.Alloc(32)
		parts = append(parts, chunk{string(text[start:i]), i - start})
	}
	return parts
}

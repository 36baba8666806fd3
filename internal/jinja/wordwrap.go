package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordWrap is the filter wordwrap, which wraps each line as Python's textwrap does.
func (s *state) wordWrap(a *args) any {
	width, long, hyphens := a.int(s, 0, 79), true, true
	if a.pos[1] != nil {
		long = truth(a.pos[1])
	}
	if a.pos[3] != nil {
		hyphens = truth(a.pos[3])
	}
	sep := "\n"
	if a.has(2) {
		sep = a.text(s, 2)
	}
	if width <= 0 {
		s.fail("ValueError", "the width %d is not positive", width)
	}
	var lines []string
	for _, line := range splitLines(s.toText(a.self), false) {
		s.alloc(16 + len(line) + len(sep))
		lines = append(lines, strings.Join(s.wrap(chunks(line, hyphens), int(width), long, hyphens), sep))
	}
	return strings.Join(lines, sep)
}

// wrap joins chunks to lines.
func (s *state) wrap(parts []string, width int, long, hyphens bool) []string {
	var lines []string
	for len(parts) > 0 {
		if len(lines) > 0 && isBlank(parts[0]) {
			parts = parts[1:]
			if len(parts) == 0 {
				break
			}
		}
		var line []string
		room := width
		for len(parts) > 0 && utf8.RuneCountInString(parts[0]) <= room {
			room -= utf8.RuneCountInString(parts[0])
			line = append(line, parts[0])
			parts = parts[1:]
		}
		if len(parts) > 0 && utf8.RuneCountInString(parts[0]) > width {
			if long {
				n := s.breakAt(parts[0], room, hyphens)
				line = append(line, parts[0][:n])
				parts[0] = parts[0][n:]
			} else if len(line) == 0 {
				line = append(line, parts[0])
				parts = parts[1:]
			}
		}
		s.alloc(16)
		if n := len(line); n > 0 && isBlank(line[n-1]) {
			line = line[:n-1]
		}
		if len(line) > 0 {
			lines = append(lines, strings.Join(line, ""))
		}
	}
	return lines
}

// breakAt returns the byte after at most n characters of a word, after a hyphen if asked to.
func (s *state) breakAt(word string, n int, hyphens bool) int {
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(word[end:])
		end += size
	}
	s.step(1 + end>>6)
	if i := strings.LastIndexByte(word[:end], '-'); hyphens && i > 0 && strings.Trim(word[:i], "-") != "" {
		return i + 1
	}
	return end
}

func isBlank(text string) bool { return strings.TrimFunc(text, isSpace) == "" }

// isWrapSpace reports whether textwrap breaks lines at a character.
func isWrapSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

// chunks splits a line into words, parts of words that end in a hyphen, dashes, and spaces.
func chunks(line string, hyphens bool) []string {
	text := []rune(line)
	at := func(i int) rune {
		if i < 0 || i >= len(text) {
			return ' '
		}
		return text[i]
	}
	isLetter := func(r rune) bool { return r == '_' || unicode.IsLetter(r) }
	isPunct := func(r rune) bool { return isWord(r) || strings.ContainsRune(`!"'&.,?`, r) }
	dashes := func(i int) int { // the length of a dash of several hyphens between words
		n := 0
		for at(i+n) == '-' {
			n++
		}
		if n < 2 || !isPunct(at(i-1)) || !isWord(at(i+n)) {
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
	var parts []string
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
		parts = append(parts, string(text[start:i]))
	}
	return parts
}

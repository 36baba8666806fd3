package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// strMethods are the methods of str. Methods of markup return markup.
var strMethods = map[string]*builtin{
	"capitalize":   mapped(capitalize),
	"casefold":     mapped(func(t string) string { return strings.ToLower(strings.ReplaceAll(upper(t), "ẞ", "SS")) }),
	"center":       def("/ width fill?", func(s *run, a *args) any { return s.justify(a, 2) }),
	"count":        def("/ sub start? end?", func(s *run, a *args) any { return s.count(a) }),
	"encode":       refused("method encode"),
	"endswith":     def("/ suffix start? end?", func(s *run, a *args) any { return s.affix(a, strings.HasSuffix) }),
	"expandtabs":   def("tabsize?", func(s *run, a *args) any { return s.like(a.self, s.expandTabs(s.toText(a.self), a.int(s, 0, 8))) }),
	"find":         def("/ sub start? end?", func(s *run, a *args) any { return s.find(a, strings.Index) }),
	"format":       def("...", func(s *run, a *args) any { return s.format(a.self, a.pos, dictOf(a.named)) }),
	"format_map":   def("/ mapping", func(s *run, a *args) any { return s.format(a.self, nil, s.toDict(a.pos[0])) }),
	"index":        def("/ sub start? end?", func(s *run, a *args) any { return s.found(s.find(a, strings.Index)) }),
	"isalnum":      asked(func(t string) bool { return all(t, isAlnum) }),
	"isalpha":      asked(func(t string) bool { return all(t, unicode.IsLetter) }),
	"isascii":      asked(func(t string) bool { return t == "" || all(t, func(r rune) bool { return r < utf8.RuneSelf }) }),
	"isdecimal":    asked(func(t string) bool { return all(t, isDecimal) }),
	"isdigit":      asked(func(t string) bool { return all(t, isDigit) }),
	"isidentifier": asked(isIdentifier),
	"islower":      asked(func(t string) bool { return isCase(t, unicode.IsUpper) }),
	"isnumeric":    asked(func(t string) bool { return all(t, isNumeric) }),
	"isprintable":  asked(func(t string) bool { return t == "" || all(t, isPrintable) }),
	"isspace":      asked(func(t string) bool { return all(t, isSpace) }),
	"istitle":      asked(isTitle),
	"isupper":      asked(func(t string) bool { return isCase(t, unicode.IsLower) }),
	"join":         def("/ iterable", func(s *run, a *args) any { return s.joinStrings(a) }),
	"ljust":        def("/ width fill?", func(s *run, a *args) any { return s.justify(a, 0) }),
	"lower":        mapped(lower),
	"lstrip":       def("/ chars?", func(s *run, a *args) any { return s.strip(a, true, false) }),
	"maketrans":    refused("method maketrans"),
	"partition":    def("/ sep", func(s *run, a *args) any { return s.partition(a, false) }),
	"removeprefix": def("/ prefix", func(s *run, a *args) any { return s.like(a.self, strings.TrimPrefix(s.toText(a.self), a.text(s, 0))) }),
	"removesuffix": def("/ suffix", func(s *run, a *args) any { return s.like(a.self, strings.TrimSuffix(s.toText(a.self), a.text(s, 0))) }),
	"replace":      def("/ old new count?", func(s *run, a *args) any { return s.replace(a.self, a.text(s, 0), a.pos[1], a.int(s, 2, -1)) }),
	"rfind":        def("/ sub start? end?", func(s *run, a *args) any { return s.find(a, strings.LastIndex) }),
	"rindex":       def("/ sub start? end?", func(s *run, a *args) any { return s.found(s.find(a, strings.LastIndex)) }),
	"rjust":        def("/ width fill?", func(s *run, a *args) any { return s.justify(a, 1) }),
	"rpartition":   def("/ sep", func(s *run, a *args) any { return s.partition(a, true) }),
	"rsplit":       def("sep? maxsplit?", func(s *run, a *args) any { return s.split(a, true) }),
	"rstrip":       def("/ chars?", func(s *run, a *args) any { return s.strip(a, false, true) }),
	"split":        def("sep? maxsplit?", func(s *run, a *args) any { return s.split(a, false) }),
	"splitlines":   def("keepends?", func(s *run, a *args) any { return s.likeAll(a.self, splitLines(s.toText(a.self), a.truth(0))) }),
	"startswith":   def("/ prefix start? end?", func(s *run, a *args) any { return s.affix(a, strings.HasPrefix) }),
	"strip":        def("/ chars?", func(s *run, a *args) any { return s.strip(a, true, true) }),
	"swapcase":     mapped(swapCase),
	"title":        mapped(title),
	"translate":    refused("method translate"),
	"upper":        mapped(upper),
	"zfill":        def("/ width", func(s *run, a *args) any { return s.zeroFill(a) }),
}

func mapped(f func(string) string) *builtin {
	return def("/", func(s *run, a *args) any {
		text := s.toText(a.self)
		s.alloc(2 * len(text))
		return s.like(a.self, f(text))
	})
}

func asked(f func(string) bool) *builtin {
	return def("/", func(s *run, a *args) any { return f(s.toText(a.self)) })
}

// like returns text as markup if another value is markup.
func (s *run) like(self any, text string) any {
	if _, ok := self.(markup); ok {
		return markup(text)
	}
	return text
}

func (s *run) likeAll(self any, texts []string) *list {
	s.allocN(int64(len(texts)), 32)
	l := stringList(texts)
	for i := range l.items {
		l.items[i] = s.like(self, texts[i])
	}
	return l
}

// justify pads text at its right (0), left (1) or both sides (2, and 3 as str.format does).
func (s *run) justify(a *args, mode int) any {
	text, fill := s.toText(a.self), " "
	if a.pos[1] != nil {
		fill = a.text(s, 1)
	}
	if utf8.RuneCountInString(fill) != 1 {
		s.fail("TypeError", "the fill must be one character")
	}
	return s.like(a.self, s.pad(text, fill, a.int(s, 0, 0), mode))
}

func (s *run) pad(text, fill string, width int64, mode int) string {
	n := width - int64(utf8.RuneCountInString(text))
	if n <= 0 {
		return text
	}
	s.allocN(n, len(fill))
	s.alloc(len(text))
	left := []int64{0, n, n/2 + n&width&1, n / 2}[mode]
	return strings.Repeat(fill, int(left)) + text + strings.Repeat(fill, int(n-left))
}

// window returns the part of a method's text between the bounds after its first argument, and
// the index of its first character; ok is false if the bounds leave no room for any text.
func (s *run) window(a *args) (text string, from int64, ok bool) {
	text = s.toText(a.self)
	if a.pos[1] == nil && a.pos[2] == nil {
		return text, 0, true
	}
	n := int64(utf8.RuneCountInString(text))
	from, to := s.bound(a.get(1, None), 0), s.bound(a.get(2, None), n)
	from, to = max(0, fromEnd(from, n)), min(n, max(0, fromEnd(to, n)))
	if from > to {
		return "", from, false
	}
	return s.pick(text, &rangeValue{from, to, 1}).(string), from, true
}

func (s *run) find(a *args, index func(string, string) int) int64 {
	text, from, ok := s.window(a)
	i := index(text, a.text(s, 0))
	if i < 0 || !ok {
		return -1
	}
	return from + int64(utf8.RuneCountInString(text[:i]))
}

func (s *run) found(i int64) any {
	if i < 0 {
		s.fail("ValueError", "substring not found")
	}
	return i
}

func (s *run) count(a *args) any {
	text, _, ok := s.window(a)
	sub := a.text(s, 0)
	if !ok {
		return int64(0)
	}
	return int64(strings.Count(text, sub))
}

// affix reports whether text starts or ends with a string, or with one of a tuple.
func (s *run) affix(a *args, has func(string, string) bool) any {
	text, _, ok := s.window(a)
	t, isTuple := a.pos[0].(*tuple)
	if !isTuple {
		return has(text, a.text(s, 0)) && ok
	}
	for _, item := range t.items {
		s.step(1)
		if has(text, s.toText(item)) && ok {
			return true
		}
	}
	return false
}

func (s *run) joinStrings(a *args) any {
	sep := s.toText(a.self)
	_, safe := a.self.(markup)
	var b strings.Builder
	for i, item := range s.list(a.pos[0]) {
		if i > 0 {
			s.alloc(len(sep))
			b.WriteString(sep)
		}
		if safe {
			item = s.escape(item)
		}
		part := s.toText(item)
		s.alloc(len(part))
		b.WriteString(part)
	}
	return s.like(a.self, b.String())
}

func (s *run) strip(a *args, left, right bool) any {
	text, in := s.toText(a.self), isSpace
	if a.has(0) {
		chars := a.text(s, 0)
		s.step(len(text) * len(chars) >> 6)
		in = func(r rune) bool { return strings.ContainsRune(chars, r) }
	}
	if left {
		text = strings.TrimLeftFunc(text, in)
	}
	if right {
		text = strings.TrimRightFunc(text, in)
	}
	return s.like(a.self, text)
}

func (s *run) partition(a *args, last bool) any {
	text, sep := s.toText(a.self), a.text(s, 0)
	if sep == "" {
		s.fail("ValueError", "empty separator")
	}
	parts := []string{text, "", ""}
	i := strings.Index(text, sep)
	if last {
		parts = []string{"", "", text}
		i = strings.LastIndex(text, sep)
	}
	if i >= 0 {
		parts = []string{text[:i], sep, text[i+len(sep):]}
	}
	return &tuple{items: s.likeAll(a.self, parts).items}
}

func (s *run) split(a *args, last bool) any {
	text, limit := s.toText(a.self), a.int(s, 1, -1)
	if limit < 0 {
		limit = int64(len(text)) + 1
	}
	var sep string
	if a.has(0) {
		if sep = a.text(s, 0); sep == "" {
			s.fail("ValueError", "empty separator")
		}
	}
	var parts []string
	add := func(part string) {
		s.alloc(32)
		parts = append(parts, part)
	}
	trim, index := strings.TrimLeftFunc, strings.IndexFunc
	if last {
		trim, index = strings.TrimRightFunc, strings.LastIndexFunc
	}
	for {
		i, size := -1, len(sep)
		switch {
		case sep == "":
			if text = trim(text, isSpace); text == "" {
				return s.likeAll(a.self, turned(parts, last))
			}
			if i = index(text, isSpace); i >= 0 {
				_, size = utf8.DecodeRuneInString(text[i:])
			}
		case last:
			i = strings.LastIndex(text, sep)
		default:
			i = strings.Index(text, sep)
		}
		if i < 0 || int64(len(parts)) == limit {
			if sep == "" && int64(len(parts)) == limit && last {
				text = strings.TrimRightFunc(text, isSpace)
			}
			add(text)
			return s.likeAll(a.self, turned(parts, last))
		}
		if last {
			add(text[i+size:])
			text = text[:i]
		} else {
			add(text[:i])
			text = text[i+size:]
		}
	}
}

// turned reverses texts in place if asked to.
func turned(texts []string, reverse bool) []string {
	if reverse {
		for i, j := 0, len(texts)-1; i < j; i, j = i+1, j-1 {
			texts[i], texts[j] = texts[j], texts[i]
		}
	}
	return texts
}

func (s *run) replace(self any, old string, with any, limit int64) any {
	text, new := s.toText(self), s.toText(with)
	if _, ok := self.(markup); ok {
		new = string(s.escape(with))
	}
	n := int64(strings.Count(text, old))
	if limit >= 0 {
		n = min(n, limit)
	}
	if grow := len(new) - len(old); grow > 0 {
		s.allocN(n, grow)
	}
	s.alloc(len(text))
	return s.like(self, strings.Replace(text, old, new, int(n)))
}

func (s *run) expandTabs(text string, size int64) string {
	var b strings.Builder
	column := int64(0)
	for _, r := range text {
		switch r {
		case '\t':
			if size > 0 {
				n := size - column%size
				s.allocN(n, 1)
				b.WriteString(strings.Repeat(" ", int(n)))
				column += n
			}
			continue
		case '\n', '\r':
			column = -1
		}
		column++
		b.WriteRune(r)
	}
	return b.String()
}

func (s *run) zeroFill(a *args) any {
	text, width := s.toText(a.self), a.int(s, 0, 0)
	sign := signAt(text)
	return s.like(a.self, sign+s.pad(text[len(sign):], "0", width-int64(len(sign)), 1))
}

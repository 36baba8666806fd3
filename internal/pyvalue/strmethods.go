package pyvalue

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// StrMethods are the methods of str. Methods of markup return markup.
var StrMethods = map[string]*Builtin{
	"capitalize":   mapped(Capitalize),
	"casefold":     mapped(func(t string) string { return strings.ToLower(strings.ReplaceAll(Upper(t), "ẞ", "SS")) }),
	"center":       Def("/ width fill?", func(s *Run, a *Args) any { return s.justify(a, 2) }),
	"count":        Def("/ sub start? end?", func(s *Run, a *Args) any { return s.count(a) }),
	"encode":       Refused("method encode"),
	"endswith":     Def("/ suffix start? end?", func(s *Run, a *Args) any { return s.affix(a, strings.HasSuffix) }),
	"expandtabs":   Def("tabsize?", func(s *Run, a *Args) any { return s.Like(a.Self, s.expandTabs(s.ToText(a.Self), a.Int(s, 0, 8))) }),
	"find":         Def("/ sub start? end?", func(s *Run, a *Args) any { return s.find(a, strings.Index) }),
	"format":       Def("...", func(s *Run, a *Args) any { return s.format(a.Self, a.Pos, DictOf(a.Named)) }),
	"format_map":   Def("/ mapping", func(s *Run, a *Args) any { return s.format(a.Self, nil, s.ToDict(a.Pos[0])) }),
	"index":        Def("/ sub start? end?", func(s *Run, a *Args) any { return s.found(s.find(a, strings.Index)) }),
	"isalnum":      asked(func(t string) bool { return All(t, isAlnum) }),
	"isalpha":      asked(func(t string) bool { return All(t, unicode.IsLetter) }),
	"isascii":      asked(func(t string) bool { return t == "" || All(t, func(r rune) bool { return r < utf8.RuneSelf }) }),
	"isdecimal":    asked(func(t string) bool { return All(t, isDecimal) }),
	"isdigit":      asked(func(t string) bool { return All(t, IsDigit) }),
	"isidentifier": asked(isIdentifier),
	"islower":      asked(func(t string) bool { return isCase(t, isUpper) }),
	"isnumeric":    asked(func(t string) bool { return All(t, isNumeric) }),
	"isprintable":  asked(func(t string) bool { return t == "" || All(t, isPrintable) }),
	"isspace":      asked(func(t string) bool { return All(t, IsSpace) }),
	"istitle":      asked(isTitle),
	"isupper":      asked(func(t string) bool { return isCase(t, isLower) }),
	"join":         Def("/ iterable", func(s *Run, a *Args) any { return s.JoinStrings(a) }),
	"ljust":        Def("/ width fill?", func(s *Run, a *Args) any { return s.justify(a, 0) }),
	"lower":        mapped(Lower),
	"lstrip":       Def("/ chars?", func(s *Run, a *Args) any { return s.Strip(a, true, false) }),
	"maketrans":    Refused("method maketrans"),
	"partition":    Def("/ sep", func(s *Run, a *Args) any { return s.partition(a, false) }),
	"removeprefix": Def("/ prefix", func(s *Run, a *Args) any { return s.Like(a.Self, strings.TrimPrefix(s.ToText(a.Self), a.Text(s, 0))) }),
	"removesuffix": Def("/ suffix", func(s *Run, a *Args) any { return s.Like(a.Self, strings.TrimSuffix(s.ToText(a.Self), a.Text(s, 0))) }),
	"replace":      Def("/ old new count?", func(s *Run, a *Args) any { return s.Replace(a.Self, a.Text(s, 0), a.Pos[1], a.Int(s, 2, -1)) }),
	"rfind":        Def("/ sub start? end?", func(s *Run, a *Args) any { return s.find(a, strings.LastIndex) }),
	"rindex":       Def("/ sub start? end?", func(s *Run, a *Args) any { return s.found(s.find(a, strings.LastIndex)) }),
	"rjust":        Def("/ width fill?", func(s *Run, a *Args) any { return s.justify(a, 1) }),
	"rpartition":   Def("/ sep", func(s *Run, a *Args) any { return s.partition(a, true) }),
	"rsplit":       Def("sep? maxsplit?", func(s *Run, a *Args) any { return s.split(a, true) }),
	"rstrip":       Def("/ chars?", func(s *Run, a *Args) any { return s.Strip(a, false, true) }),
	"split":        Def("sep? maxsplit?", func(s *Run, a *Args) any { return s.split(a, false) }),
	"splitlines":   Def("keepends?", func(s *Run, a *Args) any { return s.likeAll(a.Self, SplitLines(s.ToText(a.Self), a.Truth(0))) }),
	"startswith":   Def("/ prefix start? end?", func(s *Run, a *Args) any { return s.affix(a, strings.HasPrefix) }),
	"strip":        Def("/ chars?", func(s *Run, a *Args) any { return s.Strip(a, true, true) }),
	"swapcase":     mapped(swapCase),
	"title":        mapped(title),
	"translate":    Refused("method translate"),
	"upper":        mapped(Upper),
	"zfill":        Def("/ width", func(s *Run, a *Args) any { return s.zeroFill(a) }),
}

func mapped(f func(string) string) *Builtin {
	return Def("/", func(s *Run, a *Args) any {
		text := s.ToText(a.Self)
		s.Alloc(2 * len(text))
		return s.Like(a.Self, f(text))
	})
}

func asked(f func(string) bool) *Builtin {
	return Def("/", func(s *Run, a *Args) any { return f(s.ToText(a.Self)) })
}

// Like returns text as markup if another value is markup.
func (s *Run) Like(self any, text string) any {
	if _, ok := self.(Markup); ok {
		return Markup(text)
	}
	return text
}

func (s *Run) likeAll(self any, texts []string) *List {
	s.AllocN(int64(len(texts)), 32)
	l := stringList(texts)
	for i := range l.Items {
		l.Items[i] = s.Like(self, texts[i])
	}
	return l
}

// justify pads text at its right (0), left (1) or both sides (2, and 3 as str.format does).
func (s *Run) justify(a *Args, mode int) any {
	text, fill := s.ToText(a.Self), " "
	if a.Pos[1] != nil {
		fill = a.Text(s, 1)
	}
	if utf8.RuneCountInString(fill) != 1 {
		s.Fail("TypeError", "the fill must be one character")
	}
	return s.Like(a.Self, s.Pad(text, fill, a.Int(s, 0, 0), mode))
}

func (s *Run) Pad(text, fill string, width int64, mode int) string {
	n := width - int64(utf8.RuneCountInString(text))
	if n <= 0 {
		return text
	}
	s.AllocN(n, len(fill))
	s.Alloc(len(text))
	left := []int64{0, n, n/2 + n&width&1, n / 2}[mode]
	return strings.Repeat(fill, int(left)) + text + strings.Repeat(fill, int(n-left))
}

// window returns the part of a method's text between the bounds after its first argument, and
// the index of its first character; ok is false if the bounds leave no room for any text.
func (s *Run) window(a *Args) (text string, from int64, ok bool) {
	text = s.ToText(a.Self)
	if a.Pos[1] == nil && a.Pos[2] == nil {
		return text, 0, true
	}
	n := int64(utf8.RuneCountInString(text))
	from, to := s.bound(a.Get(1, None), 0), s.bound(a.Get(2, None), n)
	from, to = max(0, fromEnd(from, n)), min(n, max(0, fromEnd(to, n)))
	if from > to {
		return "", from, false
	}
	return s.pick(text, &RangeValue{from, to, 1}).(string), from, true
}

func (s *Run) find(a *Args, index func(string, string) int) int64 {
	text, from, ok := s.window(a)
	i := index(text, a.Text(s, 0))
	if i < 0 || !ok {
		return -1
	}
	return from + int64(utf8.RuneCountInString(text[:i]))
}

func (s *Run) found(i int64) any {
	if i < 0 {
		s.Fail("ValueError", "substring not found")
	}
	return i
}

func (s *Run) count(a *Args) any {
	text, _, ok := s.window(a)
	sub := a.Text(s, 0)
	if !ok {
		return int64(0)
	}
	return int64(strings.Count(text, sub))
}

// affix reports whether text starts or ends with a string, or with one of a tuple.
func (s *Run) affix(a *Args, has func(string, string) bool) any {
	text, _, ok := s.window(a)
	t, isTuple := a.Pos[0].(*Tuple)
	if !isTuple {
		return has(text, a.Text(s, 0)) && ok
	}
	for _, item := range t.Items {
		s.Step(1)
		if has(text, s.ToText(item)) && ok {
			return true
		}
	}
	return false
}

func (s *Run) JoinStrings(a *Args) any {
	sep := s.ToText(a.Self)
	_, safe := a.Self.(Markup)
	var b strings.Builder
	for i, item := range s.List(a.Pos[0]) {
		if i > 0 {
			s.Alloc(len(sep))
			b.WriteString(sep)
		}
		if safe {
			item = s.Escape(item)
		}
		part := s.ToText(item)
		s.Alloc(len(part))
		b.WriteString(part)
	}
	return s.Like(a.Self, b.String())
}

func (s *Run) Strip(a *Args, left, right bool) any {
	text, in := s.ToText(a.Self), IsSpace
	if a.Has(0) {
		chars := a.Text(s, 0)
		s.Step(len(text) * len(chars) >> 6)
		in = func(r rune) bool { return strings.ContainsRune(chars, r) }
	}
	if left {
		text = strings.TrimLeftFunc(text, in)
	}
	if right {
		text = strings.TrimRightFunc(text, in)
	}
	return s.Like(a.Self, text)
}

func (s *Run) partition(a *Args, last bool) any {
	text, sep := s.ToText(a.Self), a.Text(s, 0)
	if sep == "" {
		s.Fail("ValueError", "empty separator")
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
	return &Tuple{Items: s.likeAll(a.Self, parts).Items}
}

func (s *Run) split(a *Args, last bool) any {
	text, limit := s.ToText(a.Self), a.Int(s, 1, -1)
	if limit < 0 {
		limit = int64(len(text)) + 1
	}
	var sep string
	if a.Has(0) {
		if sep = a.Text(s, 0); sep == "" {
			s.Fail("ValueError", "empty separator")
		}
	}
	var parts []string
	add := func(part string) {
		s.Alloc(32)
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
			if text = trim(text, IsSpace); text == "" {
				return s.likeAll(a.Self, turned(parts, last))
			}
			if i = index(text, IsSpace); i >= 0 {
				_, size = utf8.DecodeRuneInString(text[i:])
			}
		case last:
			i = strings.LastIndex(text, sep)
		default:
			i = strings.Index(text, sep)
		}
		if i < 0 || int64(len(parts)) == limit {
			if sep == "" && int64(len(parts)) == limit && last {
				text = strings.TrimRightFunc(text, IsSpace)
			}
			add(text)
			return s.likeAll(a.Self, turned(parts, last))
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

func (s *Run) Replace(self any, old string, with any, limit int64) any {
	text, new := s.ToText(self), s.ToText(with)
	if _, ok := self.(Markup); ok {
		new = string(s.Escape(with))
	}
	n := int64(strings.Count(text, old))
	if limit >= 0 {
		n = min(n, limit)
	}
	if grow := len(new) - len(old); grow > 0 {
		s.AllocN(n, grow)
	}
	s.Alloc(len(text))
	return s.Like(self, strings.Replace(text, old, new, int(n)))
}

func (s *Run) expandTabs(text string, size int64) string {
	var b strings.Builder
	column := int64(0)
	for _, r := range text {
		switch r {
		case '\t':
			if size > 0 {
				n := size - column%size
				s.AllocN(n, 1)
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

func (s *Run) zeroFill(a *Args) any {
	text, width := s.ToText(a.Self), a.Int(s, 0, 0)
	sign := SignAt(text)
	return s.Like(a.Self, sign+s.Pad(text[len(sign):], "0", width-int64(len(sign)), 1))
}

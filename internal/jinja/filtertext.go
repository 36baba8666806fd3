package jinja

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Filters of text and of numbers.

// titleFilter is Jinja's title, whose words also start after brackets and hyphens only.
func titleFilter(text string) string {
	var b strings.Builder
	isSplit := func(r rune) bool { return strings.ContainsRune("-({[<", r) || isSpace(r) }
	for text != "" {
		n := strings.IndexFunc(text, isSplit)
		if n < 0 {
			n = len(text)
		}
		if n > 0 {
			_, size := utf8.DecodeRuneInString(text)
			b.WriteString(upper(text[:size]) + lower(text[size:n]))
		} else {
			n = len(text) - len(strings.TrimLeftFunc(text, isSplit))
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

func wordCount(text string) int64 {
	return int64(len(strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) })))
}

func indentOf(s *run, a *args) any {
	if u, ok := a.self.(*undefined); ok {
		s.failUndefined(u)
	}
	by := ""
	if a.pos[0] == nil {
		by = "    "
	} else if t, ok := text(a.pos[0]); ok {
		by = t
	} else {
		by = s.repeat(" ", s.toInt(a.pos[0])).(string)
	}
	lines := splitLines(s.toText(a.self)+"\n", false)
	s.allocN(int64(len(lines)), 16+len(by))
	for i := range lines {
		if (i > 0 || a.truth(1)) && (lines[i] != "" || a.truth(2) || i == 0) {
			lines[i] = by + lines[i]
		}
	}
	return s.like(a.self, strings.Join(lines, "\n"))
}

func truncateOf(s *run, a *args) any {
	length, end, leeway := a.int(s, 0, 255), any("..."), int64(5)
	if a.pos[2] != nil {
		end = a.pos[2]
	}
	if a.has(3) {
		leeway = a.int(s, 3, 5)
	}
	keep := length - s.length(end)
	if keep < 0 || leeway < 0 {
		s.fail("AssertionError", "the length %d does not hold the end, or the leeway is negative", length)
	}
	if s.length(a.self) <= length+leeway {
		return a.self
	}
	cut := s.slice(a.self, None, keep, None)
	if !a.truth(1) {
		t := s.toText(cut)
		if i := strings.LastIndexByte(t, ' '); i >= 0 {
			cut = s.like(cut, t[:i])
		}
	}
	return s.operate("+", cut, end)
}

func urlEncodeOf(s *run, v any) any {
	quote := func(v any, plus bool) string {
		text := s.str(v)
		s.alloc(3 * len(text))
		text = strings.ReplaceAll(url.QueryEscape(text), "%7E", "~")
		if !plus {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "+", "%20"), "%2F", "/")
		}
		return text
	}
	_, isText := text(v)
	if isText || iterable(v) == nil {
		return quote(v, false)
	}
	if d, ok := v.(*Dict); ok {
		v = &view{d, "items"}
	}
	var parts []string
	for _, item := range s.list(v) {
		pair := s.list(item)
		if len(pair) != 2 {
			s.fail("ValueError", "urlencode needs pairs, not %d values", len(pair))
		}
		parts = append(parts, quote(pair[0], true)+"="+quote(pair[1], true))
	}
	return strings.Join(parts, "&")
}

func xmlAttr(s *run, a *args) any {
	var parts []string
	d := s.toDict(a.self)
	for _, e := range d.entries {
		if _, missing := e.value.(*undefined); missing || e.value == None {
			continue
		}
		key := s.toText(e.key)
		if strings.ContainsAny(key, " \t\n\r\f\v/>=") {
			s.fail("ValueError", "%s is no name of an attribute", quote(key))
		}
		parts = append(parts, string(s.escape(e.key))+`="`+string(s.escape(e.value))+`"`)
	}
	text := strings.Join(parts, " ")
	if text != "" && (a.pos[0] == nil || truth(a.pos[0])) {
		text = " " + text
	}
	return text
}

// pprint prints values that fit in a line of 80 characters as Python's pprint does: dicts are
// sorted.
func pprintOf(s *run, v any) any {
	text := s.repr(sortedDicts(s, v))
	if utf8.RuneCountInString(text) > 80 {
		s.fail("ValueError", "pprint supports values of at most 80 characters")
	}
	return text
}

func sortedDicts(s *run, v any) any {
	s.descend()
	defer func() { s.depth-- }()
	within := func(items []any) []any {
		s.allocN(int64(len(items)), 16)
		sorted := make([]any, len(items))
		for i, item := range items {
			s.step(1)
			sorted[i] = sortedDicts(s, item)
		}
		return sorted
	}
	switch v := v.(type) {
	case *list:
		return newList(within(v.items))
	case *tuple:
		return &tuple{items: within(v.items)}
	case *Dict:
		pairs := dictSort(s, &args{self: v, pos: []any{true, nil, nil}}).(*list)
		d := &Dict{}
		for _, p := range pairs.items {
			pair := p.(*tuple).items
			s.put(d, pair[0], sortedDicts(s, pair[1]))
		}
		return d
	}
	return v
}

func fileSize(s *run, a *args) any {
	size := toFloat(s, a.self)
	base, unit := 1000.0, "B"
	if a.truth(0) {
		base, unit = 1024, "iB"
	}
	if size == 1 {
		return "1 Byte"
	}
	if size < base {
		return fmt.Sprintf("%d Bytes", s.floatToInt(size))
	}
	letters := "kMGTPEZY"
	if a.truth(0) {
		letters = "KMGTPEZY"
	}
	limit := base
	for i := range letters {
		if limit *= base; size < limit || i == len(letters)-1 {
			return strconv.FormatFloat(base*size/limit, 'f', 1, 64) + " " + letters[i:i+1] + unit
		}
	}
	return nil
}

func absOf(s *run, v any) any {
	if f, ok := v.(float64); ok {
		return math.Abs(f)
	}
	i, ok := integer(v)
	if !ok {
		s.fail("TypeError", "a value of type %s has no absolute value", typeName(v))
	}
	if i == math.MinInt64 {
		s.overflow()
	}
	return max(i, -i)
}

func roundOf(s *run, a *args) any {
	places, how := a.int(s, 0, 0), a.get(1, "common")
	i, isInt := integer(a.self)
	f, ok := number(a.self)
	if !ok {
		s.fail("TypeError", "a value of type %s cannot be rounded", typeName(a.self))
	}
	switch how {
	case "common":
		if isInt {
			return roundInt(s, i, places)
		}
		return roundFloat(f, places)
	case "ceil", "floor":
		scale := math.Pow(10, float64(places))
		if f = f * scale; how == "ceil" {
			f = math.Ceil(f)
		} else {
			f = math.Floor(f)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			s.fail("ValueError", "the number cannot be rounded to an integer")
		}
		return (f + 0) / scale // no -0: Python makes an integer first
	}
	s.fail("FilterArgumentError", "the method of round is common, ceil or floor")
	return nil
}

// roundInt rounds to a multiple of a power of ten, half to even.
func roundInt(s *run, i, places int64) any {
	if places >= 0 {
		return i
	}
	if places < -18 {
		return int64(0)
	}
	unit := s.power(10, -places)
	q := s.operateInt("//", i, unit).(int64)
	r := i - q*unit
	if r > unit-r || r == unit-r && q%2 != 0 {
		q++
	}
	return s.multiply(q, unit)
}

func roundFloat(f float64, places int64) float64 {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || places > 323:
		return f
	case places >= 0:
		r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(places), 64), 64)
		return r
	case places < -308:
		return math.Copysign(0, f)
	}
	unit := math.Pow(10, float64(-places))
	return math.RoundToEven(f/unit) * unit
}

var (
	floatText = regexp.MustCompile(`^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?$|^(?i)[+-]?(inf|infinity|nan)$`)
	intText   = regexp.MustCompile(`^[+-]?[0-9a-zA-Z]+(_[0-9a-zA-Z]+)*$`)
)

// parseFloat is Python's float of a string.
func parseFloat(text string) (float64, bool) {
	text = strings.TrimFunc(text, isSpace)
	if !floatText.MatchString(text) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return f, true
}

func toFloat(s *run, v any) float64 {
	f, ok := number(v)
	if t, isText := text(v); isText {
		f, ok = parseFloat(t)
	}
	if u, isUndefined := v.(*undefined); isUndefined {
		s.failUndefined(u)
	}
	if !ok {
		s.fail("TypeError", "a value of type %s is no number", typeName(v))
	}
	return f
}

func floatFilter(s *run, a *args) any {
	if f, ok := number(a.self); ok {
		return f
	}
	if u, ok := a.self.(*undefined); ok {
		s.failUndefined(u)
	}
	t, _ := text(a.self)
	if f, ok := parseFloat(t); ok {
		return f
	}
	return a.get(0, 0.0)
}

// parseInt is Python's int of a string with a base, nil if it is none.
func parseInt(s *run, text string, base int64) any {
	text = strings.TrimFunc(text, isSpace)
	sign := signAt(text)
	digits := text[len(sign):]
	prefix := map[string]int64{"0b": 2, "0o": 8, "0x": 16}[lower(digits[:min(2, len(digits))])]
	if prefix != 0 && (base == 0 || base == prefix) {
		digits, base = strings.TrimPrefix(digits[2:], "_"), prefix
	} else if base == 0 {
		base = 10
		if strings.HasPrefix(digits, "0") && strings.Trim(digits, "0_") != "" {
			return nil
		}
	}
	if !intText.MatchString(digits) || signAt(digits) != "" {
		return nil
	}
	i, err := strconv.ParseInt(sign+strings.ReplaceAll(digits, "_", ""), int(base), 64)
	if err == nil {
		return i
	}
	if err.(*strconv.NumError).Err == strconv.ErrRange {
		s.overflow()
	}
	return nil
}

func intFilter(s *run, a *args) any {
	switch v := a.self.(type) {
	case *undefined:
		s.failUndefined(v)
	case float64:
		if math.IsNaN(v) {
			return a.get(0, int64(0))
		}
		return s.floatToInt(v)
	}
	if i, ok := integer(a.self); ok {
		return i
	}
	t, ok := text(a.self)
	if !ok {
		return a.get(0, int64(0))
	}
	base := a.int(s, 1, 10)
	if base == 0 || base >= 2 && base <= 36 {
		if i := parseInt(s, t, base); i != nil {
			return i
		}
	}
	f, ok := parseFloat(t)
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return a.get(0, int64(0))
	}
	return s.floatToInt(f)
}

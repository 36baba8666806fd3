package jinja

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// Filters of text and of numbers.

// titleFilter is Jinja's title, whose words also start after brackets and hyphens only.
func titleFilter(text string) string {
	var b strings.Builder
	isSplit := func(r rune) bool { return strings.ContainsRune("-({[<", r) || pyvalue.IsSpace(r) }
	for text != "" {
		n := strings.IndexFunc(text, isSplit)
		if n < 0 {
			n = len(text)
		}
		if n > 0 {
			_, size := utf8.DecodeRuneInString(text)
			b.WriteString(pyvalue.Upper(text[:size]) + pyvalue.Lower(text[size:n]))
		} else {
			n = len(text) - len(strings.TrimLeftFunc(text, isSplit))
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

func wordCount(text string) int64 {
	return int64(len(strings.FieldsFunc(text, func(r rune) bool { return !pyvalue.IsWord(r) })))
}

func indentOf(s *pyvalue.Run, a *pyvalue.Args) any {
	if u, ok := a.Self.(*pyvalue.Undefined); ok {
		s.FailUndefined(u)
	}
	by := ""
	if a.Pos[0] == nil {
		by = "    "
	} else if t, ok := pyvalue.Text(a.Pos[0]); ok {
		by = t
	} else {
		by = s.Repeat(" ", s.ToInt(a.Pos[0])).(string)
	}
	lines := pyvalue.SplitLines(s.ToText(a.Self)+"\n", false)
	s.AllocN(int64(len(lines)), 16+len(by))
	for i := range lines {
		if (i > 0 || a.Truth(1)) && (lines[i] != "" || a.Truth(2) || i == 0) {
			lines[i] = by + lines[i]
		}
	}
	return s.Like(a.Self, strings.Join(lines, "\n"))
}

func truncateOf(s *pyvalue.Run, a *pyvalue.Args) any {
	length, end, leeway := a.Int(s, 0, 255), any("..."), int64(5)
	if a.Pos[2] != nil {
		end = a.Pos[2]
	}
	if a.Has(3) {
		leeway = a.Int(s, 3, 5)
	}
	keep := length - s.Length(end)
	if keep < 0 || leeway < 0 {
		s.Fail("AssertionError", "the length %d does not hold the end, or the leeway is negative", length)
	}
	if s.Length(a.Self) <= length+leeway {
		return a.Self
	}
	cut := s.Slice(a.Self, pyvalue.None, keep, pyvalue.None)
	if !a.Truth(1) {
		t := s.ToText(cut)
		if i := strings.LastIndexByte(t, ' '); i >= 0 {
			cut = s.Like(cut, t[:i])
		}
	}
	return s.Operate("+", cut, end)
}

func urlEncodeOf(s *pyvalue.Run, v any) any {
	quote := func(v any, plus bool) string {
		text := s.Str(v)
		s.Alloc(3 * len(text))
		text = strings.ReplaceAll(url.QueryEscape(text), "%7E", "~")
		if !plus {
			text = strings.ReplaceAll(strings.ReplaceAll(text, "+", "%20"), "%2F", "/")
		}
		return text
	}
	_, isText := pyvalue.Text(v)
	if isText || pyvalue.Iterable(v) == nil {
		return quote(v, false)
	}
	if d, ok := v.(*pyvalue.Dict); ok {
		v = &pyvalue.View{Of: d, Kind: "items"}
	}
	var parts []string
	for _, item := range s.List(v) {
		pair := s.List(item)
		if len(pair) != 2 {
			s.Fail("ValueError", "urlencode needs pairs, not %d values", len(pair))
		}
		parts = append(parts, quote(pair[0], true)+"="+quote(pair[1], true))
	}
	return strings.Join(parts, "&")
}

func xmlAttr(s *pyvalue.Run, a *pyvalue.Args) any {
	var parts []string
	d := s.ToDict(a.Self)
	for _, e := range d.Entries {
		if _, missing := e.Value.(*pyvalue.Undefined); missing || e.Value == pyvalue.None {
			continue
		}
		key := s.ToText(e.Key)
		if strings.ContainsAny(key, " \t\n\r\f\v/>=") {
			s.Fail("ValueError", "%s is no name of an attribute", pyvalue.Quote(key))
		}
		parts = append(parts, string(s.Escape(e.Key))+`="`+string(s.Escape(e.Value))+`"`)
	}
	text := strings.Join(parts, " ")
	if text != "" && (a.Pos[0] == nil || pyvalue.Truth(a.Pos[0])) {
		text = " " + text
	}
	return text
}

// pprint prints values that fit in a line of 80 characters as Python's pprint does: dicts are
// sorted.
func pprintOf(s *pyvalue.Run, v any) any {
	text := s.Repr(sortedDicts(s, v))
	if utf8.RuneCountInString(text) > 80 {
		s.Fail("ValueError", "pprint supports values of at most 80 characters")
	}
	return text
}

func sortedDicts(s *pyvalue.Run, v any) any {
	s.Descend()
	defer func() { s.Depth-- }()
	within := func(items []any) []any {
		s.AllocN(int64(len(items)), 16)
		sorted := make([]any, len(items))
		for i, item := range items {
			s.Step(1)
			sorted[i] = sortedDicts(s, item)
		}
		return sorted
	}
	switch v := v.(type) {
	case *pyvalue.List:
		return pyvalue.NewList(within(v.Items))
	case *pyvalue.Tuple:
		return &pyvalue.Tuple{Items: within(v.Items)}
	case *pyvalue.Dict:
		pairs := dictSort(s, &pyvalue.Args{Self: v, Pos: []any{true, nil, nil}}).(*pyvalue.List)
		d := &pyvalue.Dict{}
		for _, p := range pairs.Items {
			pair := p.(*pyvalue.Tuple).Items
			s.Put(d, pair[0], sortedDicts(s, pair[1]))
		}
		return d
	}
	return v
}

func fileSize(s *pyvalue.Run, a *pyvalue.Args) any {
	size := toFloat(s, a.Self)
	base, unit := 1000.0, "B"
	if a.Truth(0) {
		base, unit = 1024, "iB"
	}
	if size == 1 {
		return "1 Byte"
	}
	if size < base {
		return fmt.Sprintf("%d Bytes", s.FloatToInt(size))
	}
	letters := "kMGTPEZY"
	if a.Truth(0) {
		letters = "KMGTPEZY"
	}
	limit := base
	for i := range letters {
		if limit *= base; size < limit || i == len(letters)-1 {
			return s.Percent("", "%.1f", &pyvalue.Tuple{Items: []any{base * size / limit}}).(string) + " " + letters[i:i+1] + unit
		}
	}
	return nil
}

func absOf(s *pyvalue.Run, v any) any {
	if f, ok := v.(float64); ok {
		return math.Abs(f)
	}
	i, ok := pyvalue.Integer(v)
	if !ok {
		s.Fail("TypeError", "a value of type %s has no absolute value", pyvalue.TypeName(v))
	}
	if i == math.MinInt64 {
		s.Overflow()
	}
	return max(i, -i)
}

func roundOf(s *pyvalue.Run, a *pyvalue.Args) any {
	places, how := a.Int(s, 0, 0), a.Get(1, "common")
	i, isInt := pyvalue.Integer(a.Self)
	f, ok := pyvalue.Number(a.Self)
	if !ok {
		s.Fail("TypeError", "a value of type %s cannot be rounded", pyvalue.TypeName(a.Self))
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
			s.Fail("ValueError", "the number cannot be rounded to an integer")
		}
		return (f + 0) / scale // no -0: Python makes an integer first
	}
	s.Fail("FilterArgumentError", "the method of round is common, ceil or floor")
	return nil
}

// roundInt rounds to a multiple of a power of ten, half to even.
func roundInt(s *pyvalue.Run, i, places int64) any {
	if places >= 0 {
		return i
	}
	if places < -18 {
		return int64(0)
	}
	unit := s.Power(10, -places)
	q := s.OperateInt("//", i, unit).(int64)
	r := i - q*unit
	if r > unit-r || r == unit-r && q%2 != 0 {
		q++
	}
	return s.Multiply(q, unit)
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
	text = pyvalue.ASCIIDigits(strings.TrimFunc(text, pyvalue.IsSpace))
	if !floatText.MatchString(text) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return f, true
}

func toFloat(s *pyvalue.Run, v any) float64 {
	f, ok := pyvalue.Number(v)
	if t, isText := pyvalue.Text(v); isText {
		f, ok = parseFloat(t)
	}
	if u, isUndefined := v.(*pyvalue.Undefined); isUndefined {
		s.FailUndefined(u)
	}
	if !ok {
		s.Fail("TypeError", "a value of type %s is no number", pyvalue.TypeName(v))
	}
	return f
}

func floatFilter(s *pyvalue.Run, a *pyvalue.Args) any {
	if f, ok := pyvalue.Number(a.Self); ok {
		return f
	}
	if u, ok := a.Self.(*pyvalue.Undefined); ok {
		s.FailUndefined(u)
	}
	t, _ := pyvalue.Text(a.Self)
	if f, ok := parseFloat(t); ok {
		return f
	}
	return a.Get(0, 0.0)
}

// parseInt is Python's int of a string with a base, or nil if the string is not a number.
func parseInt(s *pyvalue.Run, text string, base int64) any {
	text = pyvalue.ASCIIDigits(strings.TrimFunc(text, pyvalue.IsSpace))
	sign := pyvalue.SignAt(text)
	digits := text[len(sign):]
	prefix := map[string]int64{"0b": 2, "0o": 8, "0x": 16}[pyvalue.Lower(digits[:min(2, len(digits))])]
	if prefix != 0 && (base == 0 || base == prefix) {
		digits, base = strings.TrimPrefix(digits[2:], "_"), prefix
	} else if base == 0 {
		base = 10
		if strings.HasPrefix(digits, "0") && strings.Trim(digits, "0_") != "" {
			return nil
		}
	}
	if !intText.MatchString(digits) || pyvalue.SignAt(digits) != "" {
		return nil
	}
	i, err := strconv.ParseInt(sign+strings.ReplaceAll(digits, "_", ""), int(base), 64)
	if err == nil {
		return i
	}
	if err.(*strconv.NumError).Err == strconv.ErrRange {
		s.Overflow()
	}
	return nil
}

func intFilter(s *pyvalue.Run, a *pyvalue.Args) any {
	switch v := a.Self.(type) {
	case *pyvalue.Undefined:
		s.FailUndefined(v)
	case float64:
		if math.IsNaN(v) {
			return a.Get(0, int64(0))
		}
		return s.FloatToInt(v)
	}
	if i, ok := pyvalue.Integer(a.Self); ok {
		return i
	}
	t, ok := pyvalue.Text(a.Self)
	if !ok {
		return a.Get(0, int64(0))
	}
	base := a.Int(s, 1, 10)
	if base == 0 || base >= 2 && base <= 36 {
		if i := parseInt(s, t, base); i != nil {
			return i
		}
	}
	f, ok := parseFloat(t)
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return a.Get(0, int64(0))
	}
	return s.FloatToInt(f)
}

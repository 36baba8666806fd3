package pyvalue

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Values as text, by a spec.

func (s *Run) formatText(f spec, text string) string {
	if f.precision >= 0 && f.verb != 'c' {
		n := int64(utf8.RuneCountInString(text))
		text = s.pick(text, &RangeValue{0, min(n, f.precision), 1}).(string)
	}
	return s.Pad(text, f.fill, f.width, map[byte]int{'<': 0, '>': 1, '^': 3, '=': 1}[f.align])
}

func (s *Run) formatInt(f spec, i int64) string {
	base, prefix := 10, ""
	if at := strings.IndexByte("boxX", f.verb); at >= 0 {
		base = []int{2, 8, 16, 16}[at]
		prefix = "0" + string(f.verb)
	}
	text := strconv.FormatUint(magnitude(i), base)
	if f.verb == 'X' {
		text = strings.ToUpper(text)
	}
	if n := f.precision - int64(len(text)); n > 0 { // of %, digits
		s.AllocN(n, 1)
		text = strings.Repeat("0", int(n)) + text
	}
	if !f.alternate {
		prefix = ""
	}
	every := 3
	if base != 10 {
		every = 4
	}
	return s.formatNumber(f, i < 0, prefix, text, every)
}

func (s *Run) formatFloat(f spec, v float64) string {
	negative := math.Signbit(v) && !math.IsNaN(v)
	v = math.Abs(v)
	verb, precision := f.verb|' ', f.precision
	suffix := ""
	switch {
	case f.verb == 0 && precision < 0:
		text := floatRepr(v)
		return s.formatNumber(f, negative, "", text, 3)
	case f.verb == '%':
		v, verb, suffix = v*100, 'f', "%"
	case f.verb == 0 || f.verb == 'n':
		verb = 'g'
	}
	if precision < 0 {
		precision = 6
	}
	if precision > 1000 {
		s.Fail("ValueError", "a precision of %d is not supported", precision)
	}
	if verb == 'g' {
		precision = max(precision, 1)
	}
	text := ""
	switch {
	case math.IsNaN(v):
		text = "nan"
	case math.IsInf(v, 0):
		text = "inf"
	default:
		text = strconv.FormatFloat(v, verb, int(precision), 64)
		if f.verb == 0 { // repr's own, of so many digits
			if exp, err := strconv.Atoi(after(strconv.FormatFloat(v, 'e', int(precision)-1, 64), "e")); err == nil && exp == int(precision)-1 && !strings.Contains(text, "e") {
				text = strconv.FormatFloat(v, 'e', int(precision)-1, 64)
				mantissa, e, _ := strings.Cut(text, "e")
				if strings.Contains(mantissa, ".") {
					mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
				}
				text = mantissa + "e" + e
			} else if !strings.ContainsAny(text, ".e") {
				text += ".0"
			}
		}
		if f.alternate && verb == 'g' {
			text = alternateG(v, int(precision))
		} else if f.alternate && !strings.Contains(text, ".") {
			mantissa, e, found := strings.Cut(text, "e")
			text = mantissa + "."
			if found {
				text += "e" + e
			}
		}
	}
	if f.verb >= 'A' && f.verb <= 'Z' {
		text = strings.ToUpper(text)
	}
	return s.formatNumber(f, negative, "", text+suffix, 3)
}

func after(text, sep string) string {
	_, t, _ := strings.Cut(text, sep)
	return t
}

// alternateG is %#g, which keeps trailing zeros.
func alternateG(v float64, precision int) string {
	exp, _ := strconv.Atoi(after(strconv.FormatFloat(v, 'e', precision-1, 64), "e"))
	if exp < -4 || exp >= precision {
		text := strconv.FormatFloat(v, 'e', precision-1, 64)
		if precision == 1 {
			text = strings.Replace(text, "e", ".e", 1)
		}
		return text
	}
	text := strconv.FormatFloat(v, 'f', precision-1-exp, 64)
	if !strings.Contains(text, ".") {
		text += "."
	}
	return text
}

// formatNumber adds the sign, the prefix, separators between groups of digits, and padding.
func (s *Run) formatNumber(f spec, negative bool, prefix, text string, every int) string {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case f.sign != 0 && f.sign != '-':
		sign = string(f.sign)
	}
	head := sign + prefix
	whole := Digits(text, "0123456789abcdefABCDEF")
	if every == 3 {
		whole = Digits(text, Decimal)
	}
	room := f.width - int64(len(head)+len(text)-whole)
	if f.group != "" && whole > 0 {
		grouped := group(text[:whole], f.group, every)
		if f.align == '=' && f.fill == "0" {
			s.AllocN(room, 2)
			digits := text[:whole]
			for int64(len(grouped)) < room {
				digits = "0" + digits
				s.Step(1 + len(digits)>>6)
				grouped = group(digits, f.group, every)
			}
		}
		text = grouped + text[whole:]
	}
	if f.align == '=' {
		return head + s.Pad(text, f.fill, f.width-int64(len(head)), 1)
	}
	return s.formatText(spec{fill: f.fill, align: f.align, width: f.width, precision: -1}, head+text)
}

// group puts a separator between groups of digits.
func group(text, sep string, every int) string {
	var b strings.Builder
	for i := range len(text) {
		if i > 0 && (len(text)-i)%every == 0 {
			b.WriteString(sep)
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

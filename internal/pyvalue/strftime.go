package pyvalue

import (
	"fmt"
	"strings"
	"time"
)

// directives are the directives of C's strftime in the C locale, for times without a zone.
var directives = map[byte]func(t time.Time) string{
	'a': layout("Mon"), 'A': layout("Monday"), 'b': layout("Jan"), 'B': layout("January"), 'h': layout("Jan"),
	'c': layout("Mon Jan _2 15:04:05 2006"), 'D': layout("01/02/06"), 'x': layout("01/02/06"), 'F': layout("2006-01-02"),
	'X': layout("15:04:05"), 'T': layout("15:04:05"), 'R': layout("15:04"), 'r': layout("03:04:05 PM"),
	'd': layout("02"), 'e': layout("_2"), 'm': layout("01"), 'y': layout("06"), 'Y': layout("2006"),
	'H': layout("15"), 'I': layout("03"), 'M': layout("04"), 'S': layout("05"), 'p': layout("PM"), 'P': layout("pm"),
	'k': func(t time.Time) string { return fmt.Sprintf("%2d", t.Hour()) },
	'l': func(t time.Time) string { return fmt.Sprintf("%2d", (t.Hour()+11)%12+1) },
	'f': func(t time.Time) string { return fmt.Sprintf("%06d", t.Nanosecond()/1000) },
	'j': layout("002"), 'z': layout(""), 'Z': layout(""),
	'C': func(t time.Time) string { return fmt.Sprintf("%02d", t.Year()/100) },
	'u': func(t time.Time) string { return fmt.Sprint((int(t.Weekday())+6)%7 + 1) },
	'w': func(t time.Time) string { return fmt.Sprint(int(t.Weekday())) },
	'U': func(t time.Time) string { return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7) },
	'W': func(t time.Time) string { return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7) },
	'V': func(t time.Time) string { _, week := t.ISOWeek(); return fmt.Sprintf("%02d", week) },
	'G': func(t time.Time) string { year, _ := t.ISOWeek(); return fmt.Sprint(year) },
	'g': func(t time.Time) string { year, _ := t.ISOWeek(); return fmt.Sprintf("%02d", year%100) },
	's': func(t time.Time) string { return fmt.Sprint(t.Unix()) },
	'n': func(time.Time) string { return "\n" }, 't': func(time.Time) string { return "\t" }, '%': func(time.Time) string { return "%" },
}

func layout(text string) func(time.Time) string {
	return func(t time.Time) string { return t.Format(text) }
}

// strftime formats the time of the rendering.
func (s *Run) strftime(format string) string {
	now := s.now
	if now.IsZero() {
		now = time.Now()
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 || i+1 == len(format) {
			b.WriteString(format)
			s.Alloc(b.Len())
			return b.String()
		}
		b.WriteString(format[:i])
		s.Step(1)
		flag, c := byte(0), format[i+1]
		if strings.IndexByte("-_0^#", c) >= 0 && i+2 < len(format) {
			flag, c = c, format[i+2]
			i++
		}
		d := directives[c]
		if d == nil {
			s.Fail("ValueError", "strftime_now knows no directive %%%c", c)
		}
		b.WriteString(flagged(d(now), flag))
		format = format[i+2:]
	}
}

// flagged applies a flag of glibc: no padding, padding with spaces or zeros, capital letters.
func flagged(text string, flag byte) string {
	trimmed := strings.TrimLeft(text, "0 ")
	if trimmed == "" && text != "" {
		trimmed = text[len(text)-1:]
	}
	switch flag {
	case '-':
		return trimmed
	case '_':
		return strings.Repeat(" ", len(text)-len(trimmed)) + trimmed
	case '0':
		return strings.Repeat("0", len(text)-len(trimmed)) + trimmed
	case '^':
		return strings.ToUpper(text)
	}
	return text
}

package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
)

const (
	maxLine    = 64 << 20 // bytes of a line
	maxColumns = 1 << 20
)

// readText returns all of a reader, without a byte order mark. size is the number of bytes if
// that is known.
func readText(r io.Reader, size int) (text string, err error) {
	if err := files.Given(r); err != nil {
		return "", err
	}
	b, err := hostmem.Grow([]byte(nil), max(min(size, math.MaxInt-1), 512)+1)
	if err != nil {
		return "", err
	}
	start := 0 // of the last line
	for err == nil {
		if b, err = hostmem.Grow(b, 1); err != nil {
			return "", err
		}
		n := 0
		n, err = r.Read(b[len(b):min(cap(b), len(b)+maxLine/4)])
		if end := bytes.LastIndexByte(b[len(b):len(b)+n], '\n'); end >= 0 {
			start = len(b) + end + 1
		}
		if b = b[:len(b)+n]; len(b)-start > maxLine {
			return "", fmt.Errorf("line %d has more than %s: this is no table", bytes.Count(b, []byte("\n"))+1, hostmem.Size(maxLine))
		}
	}
	if err != io.EOF {
		return "", err
	}
	if len(b) == 0 {
		return "", errEmpty
	}
	text = strings.TrimPrefix(unsafe.String(&b[0], len(b)), "\uFEFF")
	return text, checkEncoding(text)
}

var errEmpty = errors.New("there are no rows: the file is empty")

// checkEncoding checks that a text is UTF-8 whose lines end in LF or CRLF. UTF-16 is recognized by
// its mark or by a zero in its first character.
func checkEncoding(text string) error {
	if len(text) >= 2 && (text[:2] == "\xFF\xFE" || text[:2] == "\xFE\xFF" || (text[0] == 0) != (text[1] == 0)) {
		return errors.New("the text is UTF-16: save it as UTF-8")
	}
	if strings.IndexByte(text, '\n') < 0 {
		if i := strings.IndexByte(text, '\r'); i >= 0 && i < len(text)-1 {
			return errors.New("its lines end in CR: save it with lines that end in LF or CRLF")
		}
	}
	if utf8.ValidString(text) {
		return nil
	}
	line := 1
	for l := range strings.Lines(text) {
		if !utf8.ValidString(l) {
			at := strings.IndexFunc(l, func(r rune) bool { return r == utf8.RuneError })
			return fmt.Errorf(`line %d: "%s" is not UTF-8: save the text as UTF-8`, line, excerpt(l[max(0, at-10):min(len(l), at+10)]))
		}
		line++
	}
	return nil
}

// A scanner splits a text into records. Fields may be in quotes, as in RFC 4180; white space
// around them is dropped, and so are empty lines.
type scanner struct {
	rest      string // of the text
	line      int    // of the rest, from 1
	comma     string
	comment   string   // begins lines that are left out, unless ""
	fields    []string // of the last record
	maxFields int      // of a record
	raw       bool     // fields in quotes are not copied, only counted
}

// next returns the fields of the next record, which are valid until the following call, and
// its first line. At the end it returns io.EOF.
func (s *scanner) next() (fields []string, line int, err error) {
	for {
		if s.rest == "" {
			return nil, s.line, io.EOF
		}
		l, _, _ := strings.Cut(s.rest, "\n")
		if (strings.TrimSpace(l) != "" || strings.Contains(l, s.comma)) && (s.comment == "" || !strings.HasPrefix(l, s.comment)) {
			break
		}
		s.rest = s.rest[min(len(l)+1, len(s.rest)):]
		s.line++
	}
	line, s.fields = s.line, s.fields[:0]
	for more := true; more; {
		var field string
		if field, more, err = s.field(); err != nil {
			return nil, line, fmt.Errorf("line %d, column %d: %w", line, len(s.fields)+1, err)
		}
		if len(s.fields) == s.maxFields {
			return s.fields, line, fmt.Errorf("line %d has more than %s", line, shape.Count(s.maxFields, "field"))
		}
		if s.fields, err = hostmem.Grow(s.fields, 1); err != nil {
			return nil, line, err
		}
		s.fields = append(s.fields, field)
	}
	return s.fields, line, nil
}

// field cuts a field off the rest, and reports whether others of the record follow.
func (s *scanner) field() (field string, more bool, err error) {
	s.skipSpace()
	if !strings.HasPrefix(s.rest, `"`) {
		end, more := 0, false
		for !more && end < len(s.rest) && s.rest[end] != '\n' {
			if more = s.rest[end] == s.comma[0] && strings.HasPrefix(s.rest[end:], s.comma); !more {
				end++
			}
		}
		field = strings.TrimSpace(s.rest[:end])
		if more {
			s.rest = s.rest[end+len(s.comma):]
		} else {
			s.newLine(end)
		}
		return field, more, nil
	}
	end := 1
	for doubled := false; ; doubled = true {
		i := strings.IndexByte(s.rest[end:], '"')
		if i < 0 {
			return "", false, errors.New(`a quote " has no end`)
		}
		end += i + 1
		if !strings.HasPrefix(s.rest[end:], `"`) {
			if field = s.rest[1 : end-1]; doubled && !s.raw {
				field = strings.ReplaceAll(field, `""`, `"`)
			}
			break
		}
		end++
	}
	s.line += strings.Count(field, "\n")
	if !s.raw {
		field = strings.TrimSpace(strings.ReplaceAll(field, "\r\n", "\n"))
	}
	s.rest = s.rest[end:]
	s.skipSpace()
	if rest, ok := strings.CutPrefix(s.rest, s.comma); ok {
		s.rest = rest
		return field, true, nil
	}
	if l, _, _ := strings.Cut(s.rest, "\n"); strings.TrimRight(l, "\r") == "" {
		s.newLine(len(l))
		return field, false, nil
	}
	return "", false, fmt.Errorf(`text after the quoted "%s": write a quote in a field twice`, excerpt(field))
}

// skipSpace drops white space before and after a field in quotes, other than the separator.
func (s *scanner) skipSpace() {
	for s.rest != "" && (s.rest[0] == ' ' || s.rest[0] == '\t') && s.comma[0] != s.rest[0] {
		s.rest = s.rest[1:]
	}
}

// newLine drops the rest of a line, which ends there.
func (s *scanner) newLine(end int) {
	s.rest = s.rest[min(end+1, len(s.rest)):]
	s.line++
}

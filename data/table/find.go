package table

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
)

// separators are those that are found, with their names in messages.
var separators = []struct {
	comma rune
	name  string
}{{',', `","`}, {';', `";"`}, {'\t', "a tab"}}

// sniffed is the number of records by which a separator is found.
const sniffed = 100

// findComma returns the separator of a text: of the candidates that divide its first record
// the only one, or the only one that divides all into equally many fields.
func (f *Frame) findComma() (rune, error) {
	type candidate struct {
		comma  rune
		text   string
		steady bool
	}
	var found []candidate
	for _, sep := range separators {
		if sep.comma == f.o.Decimal || sep.comma == f.o.Comment {
			continue
		}
		s := f.scanner(sep.comma)
		s.raw = true
		width, steady := 0, true
		for n := range sniffed {
			fields, _, err := s.next()
			if err != nil {
				steady = steady && err == io.EOF
				break
			}
			if n == 0 {
				width = len(fields)
			}
			steady = steady && len(fields) == width
		}
		if width > 1 {
			found = append(found, candidate{sep.comma, fmt.Sprintf("%s (%d fields)", sep.name, width), steady})
		}
	}
	if len(found) > 1 && slices.ContainsFunc(found, func(c candidate) bool { return c.steady }) {
		found = slices.DeleteFunc(found, func(c candidate) bool { return !c.steady })
	}
	switch len(found) {
	case 0:
		return ',', nil
	case 1:
		return found[0].comma, nil
	}
	return 0, fmt.Errorf("line %d is divided by %s and by %s: say which by Comma, and if the comma is before decimals by Decimal",
		f.first, found[0].text, found[1].text)
}

// examine finds the columns, their kinds and whether the first record is a header.
func (f *Frame) examine() error {
	if f.comma = f.o.Comma; f.comma == 0 {
		var err error
		if f.comma, err = f.findComma(); err != nil {
			return err
		}
	}
	s := f.scanner(f.comma)
	fields, line, err := s.next()
	if err == io.EOF {
		return errEmpty
	}
	if err != nil {
		return err
	}
	f.first = line
	if err := hostmem.Check(len(fields), 128); err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	if n := len(f.o.Names); n > 0 && n != len(fields) {
		return fmt.Errorf("line %d has %d fields, but there are %d Names", line, len(fields), n)
	}
	first := slices.Clone(fields)
	f.columns = make([]Info, len(first))
	for i := range f.columns {
		f.columns[i].Kind = empty
	}
	for s.most = len(first); ; f.rows++ {
		fields, line, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil && len(first) == 1 && len(fields) == s.most { // a title or a remark
			err = fmt.Errorf("%w, as line %d has: leave that out by Skip or Comment if it is no row", err, f.first)
		}
		if err == nil && len(fields) < len(first) {
			err = f.ragged(line, len(fields))
		}
		if err != nil {
			return err
		}
		if err := f.note(line, fields); err != nil {
			return err
		}
	}
	header, err := f.isHeader(first)
	if err != nil {
		return err
	}
	if f.header = header; !header {
		if err := f.note(f.first, first); err != nil {
			return err
		}
		f.kept.first(len(first))
		f.rows++
	}
	return f.name(first)
}

func (f *Frame) ragged(line, n int) error {
	return fmt.Errorf("line %d has %s, line %d has %d", line, shape.Count(n, "field"), f.first, len(f.columns))
}

// note adds a record to the kinds and missing values of the columns.
func (f *Frame) note(line int, fields []string) error {
	numbers, err := f.kept.add(fields)
	if err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	for i, field := range fields {
		c := &f.columns[i]
		switch {
		case numbers:
			c.Kind = join(c.Kind, Float)
		case f.o.isMissing(field):
			if c.Missing++; c.Missing == 1 || line < c.MissingLine {
				c.MissingLine = line
			}
		case c.Kind != Text:
			c.Kind = join(c.Kind, f.o.kindOf(field))
		}
	}
	return nil
}

// isHeader reports whether the first record is a header, and sets the reason. Above numbers and
// dates a text is for a header, another number or date is for data.
func (f *Frame) isHeader(first []string) (bool, error) {
	if f.o.Header != Found {
		f.reason = "as the options say"
		return f.o.Header == Present, nil
	}
	name, value := -1, -1 // columns for a header and for data
	for i, field := range first {
		if f.o.isMissing(field) {
			continue
		}
		_, told := f.o.Dates[field]
		below := f.columns[i].Kind
		switch kind := f.o.kindOf(field); {
		case told || kind == Text && below != Text && below != empty:
			if name < 0 {
				name = i
			}
		case kind != Text && (join(kind, below) != Text || below == empty):
			if value < 0 {
				value = i
			}
		}
	}
	quote := func(i int) string { return fmt.Sprintf(`"%s" in column %d`, excerpt(first[i]), i+1) }
	const say = "say by Header whether it has the names of the columns"
	switch {
	case name >= 0 && value >= 0:
		return false, fmt.Errorf(`line %d may be a header or data: %s is a name above other values, but %s is a value as those below it: %s, `+
			`leave it out by Skip, or add what stands for a missing value to Missing`, f.first, quote(name), quote(value), say)
	case name >= 0:
		f.reason = quote(name) + " is a name above other values"
		return true, nil
	case value >= 0:
		f.reason = quote(value) + " is a value as those below it"
		return false, nil
	}
	hint := ""
	if f.comma != ',' && f.o.Decimal == 0 && strings.Contains(f.text, ",") {
		hint = ", and Decimal if the comma is before decimals"
	}
	return false, fmt.Errorf(`line %d may be a header or data, as no column has numbers or dates: %s%s`, f.first, say, hint)
}

// name names the columns.
func (f *Frame) name(first []string) error {
	names := f.o.Names
	if len(names) == 0 {
		names = make([]string, len(first))
		for i := range names {
			if f.header {
				names[i] = strings.Clone(first[i])
			}
			if names[i] == "" {
				names[i] = fmt.Sprint("column", i+1)
			}
		}
	}
	if a, b := duplicate(names); a != b {
		return fmt.Errorf(`line %d: columns %d and %d are both named "%s": give others by Names`, f.first, a+1, b+1, excerpt(names[a]))
	}
	f.index = make(map[string]int, len(names))
	for i, n := range names {
		f.columns[i].Name, f.index[n] = n, i
		if f.columns[i].Kind == empty {
			f.columns[i].Kind = Float
		}
	}
	for _, n := range slices.Sorted(maps.Keys(f.o.Dates)) {
		if i, ok := f.index[n]; ok {
			f.columns[i].Kind = Date
			continue
		}
		return fmt.Errorf("for a layout in Dates %w", f.noColumn(n))
	}
	return nil
}

// noColumn returns the error that there is no column of a name.
func (f *Frame) noColumn(name string) error {
	const most = 20
	have := make([]string, 0, most)
	for _, c := range f.columns[:min(most, len(f.columns))] {
		have = append(have, `"`+excerpt(c.Name)+`"`)
	}
	if len(f.columns) > most {
		have = append(have, "…")
	}
	return errors.New(`there is no column "` + excerpt(name) + `", only ` + strings.Join(have, ", "))
}

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

// separators are the candidates of findComma, with their names in messages.
var separators = []struct {
	comma rune
	name  string
}{{',', `","`}, {';', `";"`}, {'\t', "a tab"}}

// sampleSize is the number of records that findComma tries a separator on.
const sampleSize = 100

// findComma returns the separator of the text: the only candidate that splits the first record,
// or else the only one that splits it and gives all records the same number of fields.
func (f *Frame) findComma() (rune, error) {
	type candidate struct {
		comma   rune
		text    string
		regular bool // all records have the same number of fields
	}
	var found []candidate
	for _, sep := range separators {
		if sep.comma == f.o.Decimal || sep.comma == f.o.Comment {
			continue
		}
		if width, regular := f.trySeparator(sep.comma); width > 1 {
			found = append(found, candidate{sep.comma, fmt.Sprintf("%s (%d fields)", sep.name, width), regular})
		}
	}
	if len(found) > 1 && slices.ContainsFunc(found, func(c candidate) bool { return c.regular }) {
		found = slices.DeleteFunc(found, func(c candidate) bool { return !c.regular })
	}
	switch len(found) {
	case 0:
		return ',', nil
	case 1:
		return found[0].comma, nil
	}
	return 0, fmt.Errorf("line %d is divided by %s and by %s: say which by Comma, and if the comma is before decimals by Decimal",
		f.firstLine, found[0].text, found[1].text)
}

// trySeparator splits the first records by a separator. It returns the number of fields of the
// first one, and whether the others have as many.
func (f *Frame) trySeparator(comma rune) (width int, regular bool) {
	s := f.scanner(comma)
	s.raw = true
	regular = true
	for n := range sampleSize {
		fields, _, err := s.next()
		if err != nil {
			return width, regular && err == io.EOF
		}
		if n == 0 {
			width = len(fields)
		}
		regular = regular && len(fields) == width
	}
	return width, regular
}

// examine finds the separator, the columns with their kinds, and whether the first record is a
// header. It reads the whole text.
func (f *Frame) examine() error {
	if f.comma = f.o.Comma; f.comma == 0 {
		var err error
		if f.comma, err = f.findComma(); err != nil {
			return err
		}
	}
	s := f.scanner(f.comma)
	first, err := f.readFirst(s)
	if err != nil {
		return err
	}
	if err := f.readOthers(s, first); err != nil {
		return err
	}
	if f.header, err = f.isHeader(first); err != nil {
		return err
	}
	if !f.header {
		if err := f.addRow(f.firstLine, first); err != nil {
			return err
		}
		f.kept.moveToStart(len(first))
		f.rows++
	}
	return f.nameColumns(first)
}

// readFirst returns the first record, which may be the header, and makes a column for each field.
func (f *Frame) readFirst(s *scanner) ([]string, error) {
	fields, line, err := s.next()
	if err == io.EOF {
		return nil, errEmpty
	}
	if err != nil {
		return nil, err
	}
	f.firstLine = line
	if err := hostmem.Check(len(fields), 128); err != nil {
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	if n := len(f.o.Names); n > 0 && n != len(fields) {
		return nil, fmt.Errorf("line %d has %d fields, but there are %d Names", line, len(fields), n)
	}
	f.columns = make([]Info, len(fields))
	for i := range f.columns {
		f.columns[i].Kind = empty
	}
	return slices.Clone(fields), nil
}

// readOthers adds all records after the first, which must have as many fields.
func (f *Frame) readOthers(s *scanner, first []string) error {
	for s.maxFields = len(first); ; f.rows++ {
		fields, line, err := s.next()
		if err == io.EOF {
			return nil
		}
		if err != nil && len(first) == 1 && len(fields) == s.maxFields { // a title or a remark
			err = fmt.Errorf("%w, as line %d has: leave that out by Skip or Comment if it is no row", err, f.firstLine)
		}
		if err == nil && len(fields) < len(first) {
			err = fmt.Errorf("line %d has %s, line %d has %d", line, shape.Count(len(fields), "field"), f.firstLine, len(first))
		}
		if err == nil {
			err = f.addRow(line, fields)
		}
		if err != nil {
			return err
		}
	}
}

// addRow updates the kinds and missing values of the columns for a record of the table.
func (f *Frame) addRow(line int, fields []string) error {
	allNumbers, err := f.kept.add(fields)
	if err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	for i, field := range fields {
		c := &f.columns[i]
		switch {
		case allNumbers:
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

// isHeader reports whether the first record is a header, and sets the reason. A text above numbers
// or dates speaks for a header, a number or date above others for data.
func (f *Frame) isHeader(first []string) (bool, error) {
	if f.o.Header != Found {
		f.reason = "as the options say"
		return f.o.Header == Present, nil
	}
	name, value := -1, -1 // the first columns that speak for a header and for data
	for i, field := range first {
		if f.o.isMissing(field) {
			continue
		}
		_, isOption := f.o.Dates[field] // the options name a column like this field
		below := f.columns[i].Kind
		switch kind := f.o.kindOf(field); {
		case isOption || kind == Text && below != Text && below != empty:
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
			`leave it out by Skip, or add what stands for a missing value to Missing`, f.firstLine, quote(name), quote(value), say)
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
	return false, fmt.Errorf(`line %d may be a header or data, as no column has numbers or dates: %s%s`, f.firstLine, say, hint)
}

// nameColumns names the columns by the options, by the first record if it is a header, or by number.
// Then it applies Options.Dates.
func (f *Frame) nameColumns(first []string) error {
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
		return fmt.Errorf(`line %d: columns %d and %d are both named "%s": give others by Names`, f.firstLine, a+1, b+1, excerpt(names[a]))
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

// noColumn returns the error for a name that no column has.
func (f *Frame) noColumn(name string) error {
	const maxListed = 20
	have := make([]string, 0, maxListed)
	for _, c := range f.columns[:min(maxListed, len(f.columns))] {
		have = append(have, `"`+excerpt(c.Name)+`"`)
	}
	if len(f.columns) > maxListed {
		have = append(have, "…")
	}
	return errors.New(`there is no column "` + excerpt(name) + `", only ` + strings.Join(have, ", "))
}

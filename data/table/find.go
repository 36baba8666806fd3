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

// separators are the candidates of findSeparator, with their names in messages.
var separators = []struct {
	comma rune
	name  string
}{{',', `","`}, {';', `";"`}, {'\t', "a tab"}}

// sampleSize is the number of records that findSeparator tries a separator on.
const sampleSize = 100

// findSeparator returns the separator of the text: the only candidate that splits the first record,
// or else the only one that splits it and gives all records the same number of fields.
func (f *Frame) findSeparator() (rune, error) {
	type candidate struct {
		comma   rune
		text    string
		regular bool // all records have the same number of fields
	}
	var found []candidate
	for _, sep := range separators {
		if sep.comma == f.options.Decimal || sep.comma == f.options.Comment {
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
	return 0, fmt.Errorf("line %d is divided by %s and by %s: %sset Options.Comma to the separator, and Options.Decimal to ',' if numbers have a decimal comma",
		f.firstLine, found[0].text, found[1].text, f.where())
}

// where says where options can be set, for a caller without them.
func (f *Frame) where() string {
	if f.kept != nil {
		return "by package table, "
	}
	return ""
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

// inferSchema finds the separator, the columns with their kinds, and whether the first record is a
// header. It reads the whole text.
func (f *Frame) inferSchema() error {
	if f.comma = f.options.Comma; f.comma == 0 {
		var err error
		if f.comma, err = f.findSeparator(); err != nil {
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
		f.kept.moveToStart(len(first)) // the first record is added last
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
	if n := len(f.options.Names); n > 0 && n != len(fields) {
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
		switch {
		case err == io.EOF:
			return nil
		case err != nil && len(first) == 1 && len(fields) == s.maxFields: // a title or a remark
			return fmt.Errorf("%w, as line %d has: leave that out by Skip or Comment if it is not data", err, f.firstLine)
		case err != nil:
			return err
		case len(fields) < len(first):
			return fmt.Errorf("line %d has %s, line %d has %d", line, shape.Count(len(fields), "field"), f.firstLine, len(first))
		}
		if err := f.addRow(line, fields); err != nil {
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
		case f.options.isMissing(field):
			if c.Missing++; c.Missing == 1 || line < c.MissingLine {
				c.MissingLine = line
			}
		case c.Kind != Text:
			c.Kind = join(c.Kind, f.options.kindOf(field))
		}
	}
	return nil
}

// isHeader reports whether the first record is a header, and sets the reason. Without Options.Header
// it decides by the kinds below each field: text above numbers or dates means a header; a number or
// date above the same kind means data. If columns disagree or none tells, it is an error.
func (f *Frame) isHeader(first []string) (bool, error) {
	if f.options.Header != Found {
		f.reason = "as the options say"
		return f.options.Header == Present, nil
	}
	headerColumn, dataColumn := -1, -1 // the first columns that tell of a header and of data
	for i, field := range first {
		if f.options.isMissing(field) {
			continue
		}
		_, isOption := f.options.Dates[field] // the options name a column like this field
		below := f.columns[i].Kind
		switch kind := f.options.kindOf(field); {
		case isOption || kind == Text && below != Text && below != empty:
			if headerColumn < 0 {
				headerColumn = i
			}
		case kind != Text && (join(kind, below) != Text || below == empty):
			if dataColumn < 0 {
				dataColumn = i
			}
		}
	}
	quote := func(i int) string { return fmt.Sprintf(`"%s" in column %d`, excerpt(first[i]), i+1) }
	say := f.where() + "say by Header whether it has the names of the columns"
	switch {
	case headerColumn >= 0 && dataColumn >= 0:
		return false, fmt.Errorf(`line %d may be a header or data: %s is a name above other values, but %s is a value as those below it: %s, `+
			`leave it out by Skip, or add what stands for a missing value to Missing`, f.firstLine, quote(headerColumn), quote(dataColumn), say)
	case headerColumn >= 0:
		f.reason = quote(headerColumn) + " is a name above other values"
		return true, nil
	case dataColumn >= 0:
		f.reason = quote(dataColumn) + " is a value as those below it"
		return false, nil
	}
	hint := ""
	switch {
	case f.comma != ',' && f.options.Decimal == 0 && strings.Contains(f.text, ","):
		hint = ", and Decimal if the comma is before decimals"
	case len(first) == 1 && f.options.Comma == 0 && strings.ContainsAny(first[0], " |:"):
		hint = ", and the separator by Comma if there is another than a comma, semicolon or tab"
	}
	return false, fmt.Errorf(`line %d may be a header or data, as no column has numbers or dates: %s%s`, f.firstLine, say, hint)
}

// nameColumns names the columns by the options, by the first record if it is a header, or by number.
// Then it applies Options.Dates.
func (f *Frame) nameColumns(first []string) error {
	names := f.options.Names
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
	for _, n := range slices.Sorted(maps.Keys(f.options.Dates)) {
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
	hint := ""
	if !f.header && len(f.options.Names) == 0 {
		hint = fmt.Sprintf(`, as line %d is data: %s; Header and Names say otherwise`, f.firstLine, f.reason)
	}
	return errors.New(`there is no column "` + excerpt(name) + `", only ` + strings.Join(have, ", ") + hint)
}

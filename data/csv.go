package data

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// ReadCSV reads comma-separated numbers, one row a line, into a float32 tensor
// [rows columns]. If a field of the first line is not a number, that line is the
// header, and columns has its fields; otherwise columns is nil.
//
// It is an error if the first line has more numbers than names and a missing value
// such as "" or "NA", if a later field is not a number, if lines differ in their
// number of fields, or if there is no line. A name begins with a letter.
func ReadCSV(r io.Reader) (columns []string, rows tensor.Tensor, err error) {
	text, err := skipMark(r)
	if err != nil {
		return nil, rows, err
	}
	in := csv.NewReader(text)
	in.ReuseRecord = true
	in.FieldsPerRecord = -1 // checked here, for a better message
	in.TrimLeadingSpace = true
	var values []float32
	width, count, first := 0, 0, 0
	for {
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, rows, plain(err)
		}
		line, _ := in.FieldPos(0)
		if first == 0 {
			width, first = len(record), line
			header, hole := isHeader(record)
			if hole >= 0 {
				return nil, rows, badHeader(in, hole, record[hole])
			}
			if header {
				columns = slices.Clone(record)
				continue
			}
		}
		if len(record) != width {
			err := fmt.Errorf("line %d has %d fields, line %d has %d", line, len(record), first, width)
			if len(columns) == 1 {
				err = fmt.Errorf("%w%s", err, separatorHint(columns[0]))
			}
			return nil, rows, err
		}
		if values, err = hostmem.Grow(values, width); err != nil {
			return nil, rows, fmt.Errorf("line %d: %w", line, err)
		}
		for i, field := range record {
			x, err := strconv.ParseFloat(strings.TrimSpace(field), 32)
			if err != nil {
				return nil, rows, badField(in, columns, i, field, err)
			}
			values = append(values, float32(x))
		}
		count++
	}
	if first == 0 {
		return nil, rows, errors.New("there is no line of numbers: the file is empty")
	}
	return columns, tensor.New(values, count, width), nil
}

// isHeader reports whether the first line is a header. If it is neither a header nor
// numbers, hole is the index of its first missing value; otherwise hole is -1.
func isHeader(record []string) (header bool, hole int) {
	numbers, names := 0, 0
	hole = -1
	for i, field := range record {
		if isNumber(field) {
			numbers++
			continue
		}
		header = true
		if isName(field) {
			names++
			continue
		}
		if hole < 0 {
			hole = i
		}
		if areNumbers(field) {
			numbers++
		}
	}
	if numbers <= names {
		hole = -1
	}
	return header, hole
}

func isNumber(field string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(field), 32)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// holes are the words, in lower case, for a missing value.
var holes = []string{"na", "n/a", "nil", "none", "null"}

// isName reports whether a field that is not a number may name a column.
func isName(field string) bool {
	field = strings.ToLower(strings.TrimSpace(field))
	first, _ := utf8.DecodeRuneInString(field)
	return (unicode.IsLetter(first) || first == '_') && !slices.Contains(holes, field)
}

// separators are common ones other than the comma.
var separators = []struct{ text, name string }{{";", `";"`}, {"\t", "a tab"}}

// areNumbers reports whether a field is several numbers with another separator.
func areNumbers(field string) bool {
	for _, s := range separators {
		parts := strings.Split(field, s.text)
		if len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool { return !isNumber(part) }) {
			return true
		}
	}
	return false
}

// separatorHint returns the end of an error about a field that contains another
// separator, "" for other fields.
func separatorHint(field string) string {
	for _, s := range separators {
		if strings.Contains(field, s.text) {
			return fmt.Sprintf(`: the separator seems to be %s, want ","`, s.name)
		}
	}
	return ""
}

// badHeader returns the error of a missing value in the first line.
func badHeader(in *csv.Reader, i int, field string) error {
	hint := separatorHint(field)
	if hint == "" {
		hint = ", and a line with more numbers than names is no header: write a number there, or add a line of column names"
	}
	line, _ := in.FieldPos(i)
	return fmt.Errorf(`line %d, column %d: "%s" is not a number%s`, line, i+1, excerpt(field), hint)
}

// badField returns the error of a field that is not a number.
func badField(in *csv.Reader, columns []string, i int, field string, err error) error {
	line, _ := in.FieldPos(i)
	where := fmt.Sprintf("line %d, column %d", line, i+1)
	if columns != nil {
		where += fmt.Sprintf(" (%s)", excerpt(columns[i]))
	}
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s: %s is too large for float32", where, excerpt(field))
	}
	return fmt.Errorf(`%s: "%s" is not a number%s`, where, excerpt(field), separatorHint(field))
}

// excerpt returns the start of a field, escaped as in a Go string.
func excerpt(field string) string {
	const most = 40 // characters
	count, rest := 0, ""
	for i := range field {
		if count == most {
			field, rest = field[:i], "…"
			break
		}
		count++
	}
	quoted := strconv.Quote(field)
	return quoted[1:len(quoted)-1] + rest
}

// plain adds line and column to a syntax error, in this package's words.
func plain(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("line %d, character %d: %w", p.Line, p.Column, p.Err)
	}
	return err
}

// skipMark skips a byte order mark. Text in UTF-16, recognized by its mark or by a
// zero in its first character, is an error.
func skipMark(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	mark, _ := b.Peek(3)
	if string(mark) == "\uFEFF" {
		b.Discard(3)
		return b, nil
	}
	if len(mark) >= 2 && (string(mark[:2]) == "\xFF\xFE" || string(mark[:2]) == "\xFE\xFF" || (mark[0] == 0) != (mark[1] == 0)) {
		return nil, errors.New("the text is UTF-16: save it as UTF-8")
	}
	return b, nil
}

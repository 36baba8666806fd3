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

	"github.com/tensorken/tensorken/tensor"
)

// ReadCSV reads comma-separated numbers: one row a line, as a float32 tensor
// [rows columns]. If a field of the first line is not a number, that line is
// the header, and columns has its fields; otherwise columns is nil. A later
// field that is not a number, a line with more or fewer fields than the
// first, and a file without a line are errors.
func ReadCSV(r io.Reader) (columns []string, rows tensor.Tensor, err error) {
	in := csv.NewReader(skipMark(r))
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
			if isHeader(record) {
				columns = slices.Clone(record)
				continue
			}
		}
		if len(record) != width {
			return nil, rows, fmt.Errorf("line %d has %d fields, line %d has %d", line, len(record), first, width)
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

// isHeader reports whether a field of the first line is not a number.
func isHeader(record []string) bool {
	return slices.ContainsFunc(record, func(field string) bool {
		_, err := strconv.ParseFloat(strings.TrimSpace(field), 32)
		return err != nil && !errors.Is(err, strconv.ErrRange)
	})
}

// badField is the error of a field that is no number.
func badField(in *csv.Reader, columns []string, i int, field string, err error) error {
	line, _ := in.FieldPos(i)
	where := fmt.Sprintf("line %d, column %d", line, i+1)
	if columns != nil {
		where += fmt.Sprintf(" (%s)", columns[i])
	}
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s: %s is too large for float32", where, field)
	}
	return fmt.Errorf("%s: %q is not a number", where, field)
}

// plain is a syntax error with its line and column.
func plain(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("line %d, character %d: %w", p.Line, p.Column, p.Err)
	}
	return err
}

// skipMark leaves out the byte order mark that some programs begin a file
// with.
func skipMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	if mark, _ := b.Peek(3); string(mark) == "\uFEFF" {
		b.Discard(3)
	}
	return b
}

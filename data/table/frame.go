package table

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/shape"
)

// A Frame is a table: the text that was read, whose lines, separator and columns have been
// checked. Each call of [Column] converts the column again, so [Frame.Into] and
// [Frame.Tensor], which convert many at once, are faster than many calls of [Column].
//
// Its errors name line, column and value; for a frame of [Load], the file too.
type Frame struct {
	options   Options
	file      string // the file's name for errors, "" for a reader's text
	text      string // without the lines of Options.Skip
	firstLine int    // the line of the first record
	comma     rune
	header    bool   // the first record is a header
	reason    string // for header
	columns   []Info
	index     map[string]int // of columns by name
	rows      int
	kept      *numbers // the rows as numbers, for Numbers; nil for others
}

// An Info describes a column.
type Info struct {
	Name        string // column3 for the third if it has no name
	Kind        Kind
	Missing     int // number of missing values
	MissingLine int // line of the first, or 0
}

// Load reads a table from a file. It is an error if the file is not a regular one, if it is
// not UTF-8, if its lines differ in their number of fields or have more than 64 MiB, or if
// two readings are possible; see [Options]. Nil options find everything.
func Load(path string, o *Options) (*Frame, error) {
	options := o.checked("Load")
	file, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files.Name(path), files.Reason(err))
	}
	defer file.Close()
	size := 0
	if info, err := file.Stat(); err == nil {
		size = int(info.Size())
	}
	f, err := read(file, size, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files.Name(path), files.Reason(err))
	}
	f.file = files.Name(path)
	return f, nil
}

// Read is [Load] of a reader's text.
func Read(r io.Reader, o *Options) (*Frame, error) { return read(r, 0, o.checked("Read")) }

func read(r io.Reader, size int, o Options) (*Frame, error) {
	text, err := readText(r, size)
	if err != nil {
		return nil, err
	}
	f := &Frame{options: o, text: text, firstLine: o.Skip + 1}
	for n := o.Skip; n > 0 && f.text != ""; n-- {
		_, f.text, _ = strings.Cut(f.text, "\n")
	}
	if start, rest, _ := strings.Cut(f.text, "\n"); o.Skip == 0 && strings.HasPrefix(start, "sep=") { // Excel names the separator
		if c, size := utf8.DecodeRuneInString(start[4:]); size > 0 && c != '\r' && strings.TrimSuffix(start[4+size:], "\r") == "" {
			if o.Comma == 0 && (!marks(c) || c == o.Comment || c == ',' && o.Decimal == ',') {
				return nil, fmt.Errorf("line 1 says that %q separates fields, which cannot be: set Comma, or take the line away", c)
			}
			f.options.Comma, f.options.Skip, f.text, f.firstLine = cmp.Or(o.Comma, c), 1, rest, 2
		}
	}
	return f, f.inferSchema()
}

// scanner returns a scanner of the text.
func (f *Frame) scanner(comma rune) *scanner {
	s := &scanner{rest: f.text, line: f.options.Skip + 1, comma: string(comma), maxFields: maxColumns}
	if f.options.Comment != 0 {
		s.comment = string(f.options.Comment)
	}
	return s
}

// each calls visit with the number, line and fields of each row.
func (f *Frame) each(visit func(row, line int, fields []string) error) error {
	s := f.scanner(f.comma)
	for row := -1; ; row++ {
		fields, line, err := s.next()
		if err != nil {
			return nil // io.EOF, as inferSchema has read all
		}
		if row < 0 {
			if f.header {
				continue
			}
			row++
		}
		if err := visit(row, line, fields); err != nil {
			return err
		}
	}
}

// Len returns the number of rows, without the header.
func (f *Frame) Len() int { return f.rows }

// Columns describes the columns, in order.
func (f *Frame) Columns() []Info { return append([]Info(nil), f.columns...) }

// Header reports whether the first line is a header, and why.
func (f *Frame) Header() (is bool, why string) { return f.header, f.reason }

// String describes the table: rows, separator, header and why it is one, and the columns.
func (f *Frame) String() string {
	var b strings.Builder
	is := "data"
	if f.header {
		is = "a header"
	}
	fmt.Fprintf(&b, "%s, separated by %q; line %d is %s: %s\n", shape.Count(f.rows, "row"), f.comma, f.firstLine, is, f.reason)
	width := 0
	for _, c := range f.columns {
		width = max(width, len([]rune(excerpt(c.Name))))
	}
	for _, c := range f.columns {
		missing := ""
		if c.Missing > 0 {
			missing = strings.Repeat(" ", 7-len(c.Kind.String())) + fmt.Sprint(c.Missing, " missing")
		}
		fmt.Fprintf(&b, "%-*s  %v%s\n", width, excerpt(c.Name), c.Kind, missing)
	}
	return b.String()
}

// fail adds line, column and value to the error of a field.
func (f *Frame) fail(line, column int, field string, err error) error {
	where := fmt.Sprintf("line %d, column %d", line, column+1)
	if f.header || len(f.options.Names) > 0 {
		where += " (" + excerpt(f.columns[column].Name) + ")"
	}
	return f.named(fmt.Errorf(`%s: "%s" %w`, where, excerpt(field), err))
}

// named adds the file's name to an error.
func (f *Frame) named(err error) error {
	if err == nil || f.file == "" {
		return err
	}
	return fmt.Errorf("%s: %w", f.file, err)
}

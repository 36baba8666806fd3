package table

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Options are the settings of [Read] and [Load].
type Options struct {
	Comma   rune     // the separator; 0: as Excel's first line sep=; says, or a comma, semicolon or tab, whichever the text has
	Decimal rune     // '.' or ',' before the decimals of a number; 0 is '.'
	Header  Header   // whether the first line has the names of the columns
	Names   []string // names of all columns, instead of those in the header
	Skip    int      // lines left out at the start
	Comment rune     // lines that begin with it are left out; 0: none

	// Missing are the fields that stand for a missing value, in addition to the empty one. Nil
	// means pandas' list: NA, N/A, n/a, #NA, #N/A, <NA>, NaN, nan, NULL, null, None and a few more.
	// Where NaN is not among them it is a number.
	Missing []string
	// Dates has layouts of dates (see [time.Layout]) by the names of columns, such as
	// "02.01.2006". Other columns are dates if all their fields are as in RFC 3339 or ISO 8601:
	// 2006-01-02, with a time after a T or a space, with or without seconds and zone.
	Dates map[string]string
}

// A Header says whether the first line has the names of the columns.
type Header int

// The first line is a header or not, or that is found: it is a header if it has a text above
// numbers or dates, and data if it has a number or a date above others of the column. Both,
// or neither, is an error.
const (
	Found Header = iota
	Present
	Absent
)

// A Kind is the common kind of a column's fields, missing ones aside.
type Kind int

// The kinds of columns. A column without values is Float.
const (
	Text  Kind = iota
	Int        // whole numbers within int64
	Float      // numbers
	Date       // dates
	empty      // no value so far
)

// String returns the name of a kind: text, int, float or date.
func (k Kind) String() string {
	if k < Text || k > empty {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return [...]string{"text", "int", "float", "date", "empty"}[k]
}

// defaultMissing is Options.Missing if that is nil.
var defaultMissing = []string{"NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None",
	"1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}

// checked returns the options with defaults in place of zeros. It panics with a *tensor.Error
// if they are invalid.
func (o *Options) checked(op string) Options {
	if o == nil {
		o = &Options{}
	}
	out := *o
	bad := func(r rune) bool { return r != 0 && !marks(r) }
	for _, c := range []struct {
		bad  bool
		want string
	}{
		{bad(o.Comma), fmt.Sprintf("the Comma %q cannot separate fields", o.Comma)},
		{bad(o.Comment), fmt.Sprintf("the Comment %q cannot begin a line", o.Comment)},
		{o.Comment != 0 && o.Comment == o.Comma, fmt.Sprintf("Comma and Comment are both %q", o.Comma)},
		{!slices.Contains([]rune{0, '.', ','}, o.Decimal), fmt.Sprintf("Decimal is %q, want '.' or ','", o.Decimal)},
		{o.Decimal == ',' && o.Comma == ',', "Comma and Decimal are both ','"},
		{o.Header < Found || o.Header > Absent, fmt.Sprintf("Header is %d, want Found, Present or Absent", int(o.Header))},
		{o.Skip < 0, fmt.Sprintf("Skip is %d, want a number of lines", o.Skip)},
		{slices.Contains(o.Names, ""), "one of the Names is empty"},
	} {
		if c.bad {
			misuse(op, c.want)
		}
	}
	if a, b := duplicate(o.Names); a != b {
		misuse(op, fmt.Sprintf("two of the Names are %q", o.Names[a]))
	}
	if out.Missing == nil {
		out.Missing = defaultMissing
	}
	return out
}

// duplicate returns the positions of two equal names, or 0 and 0.
func duplicate(names []string) (a, b int) {
	at := map[string]int{}
	for i, n := range names {
		if j, ok := at[n]; ok {
			return j, i
		}
		at[n] = i
	}
	return 0, 0
}

// misuse panics with a *tensor.Error.
func misuse(op, reason string) { tensor.Internal.Misuse(graph.Token{}, "table."+op, reason) }

// marks reports whether a character may separate fields or begin a comment.
func marks(r rune) bool {
	return (r >= ' ' || r == '\t') && r != '"' && r != utf8.RuneError && utf8.ValidRune(r)
}

package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parseFloat returns a number in text, rounded to a float of that many bits.
func (o *Options) parseFloat(field string, bits int) (float64, error) {
	text := field
	if o.Decimal == ',' {
		if strings.Contains(field, ".") {
			return 0, errNumber
		}
		text = strings.Replace(field, ",", ".", 1)
	}
	x, err := strconv.ParseFloat(text, bits)
	switch {
	case err == nil && !isHexadecimal(text):
		return x, nil
	case errors.Is(err, strconv.ErrRange):
		return x, fmt.Errorf("is too large for float%d", bits)
	case o.Decimal != ',' && (&Options{Decimal: ','}).numeral(field) != Text:
		return 0, errComma
	}
	return 0, errNumber
}

// isHexadecimal reports whether a number, as strconv takes it, is one such as -0x1p3.
func isHexadecimal(number string) bool {
	return len(number) > 3 && (number[1]|0x20 == 'x' || number[2]|0x20 == 'x')
}

var (
	errNumber = errors.New("is not a number")
	errComma  = errors.New("is not a number: set Decimal if the comma is before decimals")
)

// numeral returns the kind of a decimal number: Int without decimals and exponent, Float with
// them, and Text for all else. Go's syntax has others too.
func (o *Options) numeral(field string) Kind {
	point := byte('.')
	if o.Decimal == ',' {
		point = ','
	}
	i := 0
	sign := func() {
		if i < len(field) && (field[i] == '+' || field[i] == '-') {
			i++
		}
	}
	digits := func() (n int) {
		for ; i < len(field) && '0' <= field[i] && field[i] <= '9'; i++ {
			n++
		}
		return n
	}
	sign()
	kind, n := Int, digits()
	if i < len(field) && field[i] == point {
		i++
		kind, n = Float, n+digits()
	}
	if n > 0 && i < len(field) && (field[i] == 'e' || field[i] == 'E') {
		i++
		sign()
		kind, n = Float, digits()
	}
	if n == 0 || i < len(field) {
		return Text
	}
	return kind
}

// isSpecial reports whether a field is NaN or an infinity.
func isSpecial(field string) bool {
	field = strings.ToLower(strings.TrimLeft(field, "+-"))
	return field == "nan" || field == "inf" || field == "infinity"
}

// parseInt returns a whole number in text: 3, or 3.0 and 3e2 within 2⁵³.
func (o *Options) parseInt(field string, bits int) (int64, error) {
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil {
		x, floatErr := o.parseFloat(field, 64)
		switch {
		case floatErr != nil && !math.IsInf(x, 0):
			return 0, floatErr
		case errors.Is(err, strconv.ErrRange) || math.Abs(x) > 1<<53:
			return 0, fmt.Errorf("is too large for int%d", bits)
		case x != math.Trunc(x):
			return 0, errors.New("is not a whole number")
		}
		n = int64(x)
	}
	if shift := 64 - bits; n<<shift>>shift != n {
		return 0, fmt.Errorf("is too large for int%d", bits)
	}
	return n, nil
}

// isoLayouts are the layouts of dates that are found.
var isoLayouts = []string{
	time.DateOnly, time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00",
	"2006-01-02T15:04", "2006-01-02 15:04",
}

// parseDate returns a date of a layout, or of one of isoLayouts if that is "". Without a zone
// it is in UTC.
func parseDate(field, layout string) (time.Time, error) {
	if layout != "" {
		t, err := time.Parse(layout, field)
		if err != nil {
			return t, fmt.Errorf("is not a date such as %q", layout)
		}
		return t, nil
	}
	if len(field) >= len(time.DateOnly) && field[4] == '-' && field[7] == '-' {
		for _, l := range isoLayouts {
			if len(field) == len(time.DateOnly) && l != time.DateOnly {
				break
			}
			if t, err := time.Parse(l, field); err == nil {
				return t, nil
			}
		}
	}
	return time.Time{}, errors.New("is not a date such as 2006-01-02 or 2006-01-02T15:04:05Z")
}

// Days returns a date as tables have it where a number is asked for: days, with their fraction,
// since 1970-01-01T00:00:00Z.
func Days(t time.Time) float64 {
	return float64(t.Unix())/86400 + float64(t.Nanosecond())/86400e9
}

// parseBool returns a truth value.
func parseBool(field string) (bool, error) {
	switch strings.ToLower(field) {
	case "true", "t", "yes", "y", "1":
		return true, nil
	case "false", "f", "no", "n", "0":
		return false, nil
	}
	return false, errors.New("is not true or false")
}

// isMissing reports whether a field stands for a missing value.
func (o *Options) isMissing(field string) bool {
	return field == "" || slices.Contains(o.Missing, field)
}

// digits64 is the greatest n such that all whole numbers of n digits are int64.
const digits64 = 18

// kindOf returns the kind of a field that is not missing. A number that is too large for
// float64 is Float: reading the column returns the error.
func (o *Options) kindOf(field string) Kind {
	switch kind := o.numeral(field); {
	case kind == Int && len(field) > digits64:
		if _, err := strconv.ParseInt(field, 10, 64); err != nil {
			return Float
		}
		return Int
	case kind != Text:
		return kind
	case isSpecial(field):
		return Float
	}
	if _, err := parseDate(field, ""); err == nil {
		return Date
	}
	return Text
}

// join returns the kind of fields of two kinds.
func join(a, b Kind) Kind {
	switch {
	case a == b || b == empty:
		return a
	case a == empty:
		return b
	case isNumber(a) && isNumber(b):
		return Float
	}
	return Text
}

func isNumber(k Kind) bool { return k == Int || k == Float }

// excerpt returns the start of a text of a file, escaped as in a Go string.
func excerpt(field string) string {
	const maxLen = 40 // characters
	count, rest := 0, ""
	for i := range field {
		if count == maxLen {
			field, rest = field[:i], "…"
			break
		}
		count++
	}
	quoted := strconv.Quote(field)
	return quoted[1:len(quoted)-1] + rest
}

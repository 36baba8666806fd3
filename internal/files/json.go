package files

import (
	"encoding/json"
	"math"

	"github.com/tensorken/tensorken/internal/hostmem"
)

// A value of JSON takes at most perValue bytes while it is decoded, beside its text: an element of a
// slice that grows, or an entry of a map, and small allocations that are rounded up. Text is copied.
const (
	perValue = 256
	perByte  = 3
	mapRoom  = 4 // values for which a small map has room, with the decoder's own memory
)

// JSON decodes text, as json.Unmarshal does, if there is memory for all values that it may have. One
// byte of a stranger's file can be a value of hundreds.
func JSON(text []byte, into any) error {
	depth, room := math.MaxInt, 0
	switch into.(type) {
	case *map[string]json.RawMessage, *[]json.RawMessage:
		depth, room = 1, mapRoom // the rest stays text
	}
	if err := checkJSON(text, perValue, depth, room); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// CheckJSON fails if there is too little memory for the values of a text, of at most some bytes each.
func CheckJSON(text []byte, perValue int) error { return checkJSON(text, perValue, math.MaxInt, 0) }

func checkJSON(text []byte, perValue, depth, room int) error {
	if err := hostmem.Check(len(text), perByte); err != nil {
		return err
	}
	return hostmem.Check(countValues(text, depth)+room, perValue)
}

// countValues returns at least the number of values in JSON, in at most depth brackets: one begins after each comma
// and bracket.
func countValues(text []byte, depth int) int {
	n, in := 1, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',':
			if in <= depth {
				n++
			}
		case '[', '{':
			if in++; in <= depth {
				n++
			}
		case ']', '}':
			in--
		case '"':
			i = endOfString(text, i)
		}
	}
	return n
}

// endOfString returns the place of the quote that ends the string which begins at i.
func endOfString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++ // whatever is escaped
		}
	}
	return i
}

// ReadJSON decodes a regular file of at most limit bytes. Errors do not name it.
func ReadJSON(path string, limit int64, into any) error {
	text, err := ReadAll(path, limit)
	if err == nil {
		err = JSON(text, into)
	}
	return Reason(err)
}

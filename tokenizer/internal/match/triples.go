package match

import (
	"strings"
	"unicode/utf8"
)

// triples matches digitTriples: the digits of a number in threes, counted from its end. A number before a letter has
// no match. The expression itself looks ahead to the number's end from each digit.
type triples struct{}

func (triples) Each(s string, found func(lo, hi int)) error {
	var digits []int // the places of a number's digits
	for pos := 0; pos < len(s); {
		r, size := utf8.DecodeRuneInString(s[pos:])
		word := Props(r)&Word != 0 || strings.ContainsRune(latin1Numbers, r)
		if Props(r)&catNd != 0 {
			digits = append(digits, pos)
			if pos += size; pos < len(s) {
				continue
			}
			word = false
		}
		if n := len(digits); n > 0 && !word {
			digits = append(digits, pos)
			for lo, hi := 0, (n-1)%3+1; lo < n; lo, hi = hi, hi+3 {
				found(digits[lo], digits[hi])
			}
		}
		digits = digits[:0]
		pos += size
	}
	return nil
}

package shape

import (
	"fmt"
	"math"
)

// Broadcast returns the common shape of a and b by NumPy's rules:
// aligned at the last axis, a missing axis or one of length 1 is repeated. It
// reports false if two lengths differ otherwise. The result may be a or b.
func Broadcast(a, b []int) ([]int, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	extra := len(a) - len(b)
	var out []int // a copy of a, once it has to differ from a
	for i, n := range b {
		m := a[extra+i]
		switch {
		case n == m || n == 1:
		case m == 1:
			if out == nil {
				out = append([]int(nil), a...)
			}
			out[extra+i] = n
		default:
			return nil, false
		}
	}
	if out == nil {
		return a, true
	}
	return out, true
}

// BroadcastsTo reports whether a tensor of shape from can be repeated until
// it has shape to.
func BroadcastsTo(from, to []int) bool {
	extra := len(to) - len(from)
	if extra < 0 {
		return false
	}
	for i, n := range from {
		if n != 1 && n != to[extra+i] {
			return false
		}
	}
	return true
}

// MaxLen is the most elements a shape may have, so that their bytes can be
// counted.
const MaxLen = math.MaxInt / 16

// MaxFileRank is the most axes that a tensor of a file may have, NumPy's limit.
const MaxFileRank = 64

// CheckFile is [Check] for a shape that a file says, of at most MaxFileRank axes.
func CheckFile(shape []int) error {
	if len(shape) > MaxFileRank {
		return fmt.Errorf("more than %d axes", MaxFileRank)
	}
	return Check(shape)
}

// Check returns an error if shape has a negative length or more than MaxLen
// elements. A length of 0 counts as 1: the axis may be reduced to that.
func Check(shape []int) error {
	n := 1
	for _, d := range shape {
		switch {
		case d < 0:
			return fmt.Errorf("a length of %d", d)
		case d > MaxLen/n:
			return fmt.Errorf("more than %d elements", MaxLen)
		}
		n *= max(d, 1)
	}
	return nil
}

package loops

import (
	"errors"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/driver"
)

// A counted buffer counts the bytes that are held.
type counted struct {
	size int
	held *int
}

func (c counted) Size() int { return c.size }
func (c counted) Free()     { *c.held -= c.size }

func TestKept(t *testing.T) {
	held, full := 0, errors.New("full")
	alloc := func(n int) (driver.Buffer, error) {
		if held+n > 100 {
			return nil, full
		}
		held += n
		return counted{n, &held}, nil
	}
	var k Kept
	for _, c := range []struct {
		temps, scratch []int
		held           int
		err            error
	}{
		{[]int{10}, nil, 10, nil},
		{[]int{5, 7}, []int{3}, 20, nil},
		{nil, []int{30}, 47, nil},
		{[]int{60}, nil, 97, nil},
		{[]int{60, 50}, nil, 0, full},
		{[]int{60, 10}, []int{30}, 100, nil},
		{nil, []int{31}, 0, full},
	} {
		if err := k.Reserve(c.temps, c.scratch, alloc); err != c.err || held != c.held {
			t.Errorf("Reserve(%v, %v): %v, and %d are held, want %v, %d", c.temps, c.scratch, err, held, c.err, c.held)
		}
		for i, n := range c.temps {
			if c.err == nil && k.Temps[i].Size() < n {
				t.Errorf("Reserve(%v, %v): temporary %d has %d bytes", c.temps, c.scratch, i, k.Temps[i].Size())
			}
		}
	}
	if got := Enlarged([]int{1, 5}, []int{3, 2, 4}); !slices.Equal(got, []int{3, 5, 4}) {
		t.Errorf("Enlarged is %v", got)
	}
}

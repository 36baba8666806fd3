// Package limits says which numbers settings may have.
package limits

import (
	"fmt"
	"math"
	"reflect"
)

// Limits are the limits of a number, in numbers and in words.
type Limits struct {
	Least, Most float64
	Want        string
}

// Limits of finite numbers. NaN is out of all.
var (
	Finite      = Limits{-math.MaxFloat64, math.MaxFloat64, "a finite number"}
	NotNegative = Limits{0, math.MaxFloat64, "a number of at least 0"}
	Positive    = Limits{math.SmallestNonzeroFloat64, math.MaxFloat64, "a positive number"}
	AtLeastOne  = Limits{1, math.MaxFloat64, "a number of at least 1"}
	BelowOne    = Limits{0, math.Nextafter(1, 0), "a number from 0 to below 1"}
	AtMostOne   = Limits{0, 1, "a number from 0 to 1"}
	Share       = Limits{math.SmallestNonzeroFloat64, 1, "a number above 0, and at most 1"}
	Probability = Limits{0, 1, "a probability from 0 to 1"}
	Count       = Limits{1, math.MaxInt, "at least 1"}
)

// Check returns an error that names the number unless v is within the limits.
func (l Limits) Check(name string, v float64) error {
	if v >= l.Least && v <= l.Most {
		return nil
	}
	return fmt.Errorf("%s is %v, want %s", name, v, l.Want)
}

// Fields returns an error if a number in v, a struct or a pointer to one, is out of the limits of its
// field. 0, which stands for the default, is always allowed.
func Fields(v any, of func(field string) Limits) error {
	s := reflect.Indirect(reflect.ValueOf(v))
	for i := range s.NumField() {
		var x float64
		switch f := s.Field(i); f.Kind() {
		case reflect.Float64:
			x = f.Float()
		case reflect.Int:
			x = float64(f.Int())
		}
		if x != 0 {
			name := s.Type().Field(i).Name
			if err := of(name).Check(name, x); err != nil {
				return err
			}
		}
	}
	return nil
}

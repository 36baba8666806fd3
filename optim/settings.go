package optim

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A limits says which numbers a setting may have.
type limits struct {
	least, most float64
	want        string
}

var (
	notNegative = limits{0, math.MaxFloat64, "a number of at least 0"}
	belowOne    = limits{0, math.Nextafter(1, 0), "a number from 0 to below 1"}
	atMostOne   = limits{0, 1, "a number from 0 to 1"}
	factor      = limits{1, math.MaxFloat64, "a number of at least 1"}
	positive    = limits{1, math.MaxInt, "at least 1"}
)

// check returns an error unless v is within the limits.
func (l limits) check(name string, v float64) error {
	if v >= l.least && v <= l.most {
		return nil
	}
	return fmt.Errorf("%s is %v, want %s", name, v, l.want)
}

// must panics on behalf of op unless v is within the limits.
func (l limits) must(op, name string, v float64) {
	if err := l.check(name, v); err != nil {
		tensor.Internal.Misuse(graph.Token{}, "optim."+op, err.Error())
	}
}

// settings are the names of fields of rules, [LBFGS], [Scaling] and [Plateau] by their limits.
// What 0 stands for is always allowed.
var settings = []struct {
	limits
	names []string
}{
	{notNegative, []string{
		"Alpha", "Cooldown", "Eps", "Initial", "Interval", "LR", "LRDecay", "Lambda", "MaxEval", "MaxIter", "MaxStep",
		"MinStep", "Momentum", "MomentumDecay", "T0", "Threshold", "TolChange", "TolGrad", "WeightDecay",
	}},
	{belowOne, []string{"Backoff", "Beta1", "Beta2", "Decay", "EtaMinus", "Factor", "Rho"}},
	{atMostOne, []string{"Floor"}},
	{factor, []string{"EtaPlus", "Growth"}},
	{positive, []string{"History"}},
	{limits{-1, math.MaxInt, "at least -1"}, []string{"Patience"}},
}

// limitsOf returns the limits of a field, which allow 0 alone if settings has no such name.
func limitsOf(name string) limits {
	for _, s := range settings {
		if slices.Contains(s.names, name) {
			return s.limits
		}
	}
	return limits{}
}

// checkSettings returns an error if a number in v, a struct of this package or a pointer to
// one, is out of its limits. Other values have no limits.
func checkSettings(v any) error {
	s := reflect.Indirect(reflect.ValueOf(v))
	if s.Kind() != reflect.Struct || s.Type().PkgPath() != reflect.TypeFor[limits]().PkgPath() {
		return nil
	}
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
			if err := limitsOf(name).check(name, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// bounded returns a gradient whose square is in the type's range: greater numbers, such as
// infinite ones, count as the bound. NaN stays NaN.
func bounded(g tensor.Tensor) tensor.Tensor {
	most := 0x1p56
	if g.DType() == tensor.Float64 {
		most = 0x1p500
	}
	return g.Maximum(-most).Minimum(most)
}

// epsilon returns the ε that is added to roots of squares of g, or what stands for 0, but no
// less than the root of the least square that g's type has.
func epsilon(g tensor.Tensor, v, zero float64) float64 {
	least := 0x1p-63
	if g.DType() == tensor.Float64 {
		least = 0x1p-511
	}
	if v == 0 {
		v = zero
	}
	return max(v, least)
}
